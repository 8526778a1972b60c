"""From an expression of `-k` to whether texts satisfy it: `paris and not (slow or flaky)`.

A word holds where any text contains it, whatever its case. `not` binds closer than `and`, `and` closer than `or`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, final

from evalc.errors import UsageError

Expression = Callable[[Sequence[str]], bool]
"""Whether texts, folded to one case, satisfy the expression."""

_TOKEN: Final = re.compile(r"""\s*(?:(?P<sign>[()])|"(?P<quoted>[^"]+)"|(?P<word>[^\s()"]+))""")
_DEEPEST: Final = 50
_WORDS: Final = frozenset({"and", "or", "not"})


class _Token(NamedTuple):
    """A token: `(`, `)`, an operator, or a word to look for. `at` counts from 1."""

    kind: str
    text: str
    at: int


def parse_keywords(text: str) -> Expression:
    """The expression.

    Raises:
        UsageError: it is none; the message has the column.
    """
    parser = _Parser(text)
    expression = parser.either(0)
    parser.expect_end()
    return expression


@final
class _Parser:
    """The tokens that are left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text)

    def _split(self, text: str) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error("a closing quote is missing", len(text) - len(text[at:].lstrip()) + 1)
            word = match["sign"] or match["quoted"] or match["word"]
            kind = "word" if match["quoted"] or word not in {"(", ")", *_WORDS} else word
            tokens.append(_Token(kind, word.casefold(), match.end() - len(match[0].lstrip()) + 1))
            at = match.end()
        return [*tokens, _Token("end", "", len(text) + 1)]

    def either(self, depth: int) -> Expression:
        """`A or B`."""
        first = self._both(depth)
        while self._accept("or"):
            first = _or(first, self._both(depth))
        return first

    def _both(self, depth: int) -> Expression:
        first = self._one(depth)
        while self._accept("and"):
            first = _and(first, self._one(depth))
        return first

    def _one(self, depth: int) -> Expression:
        token = self._tokens.pop(0)
        if depth > _DEEPEST:
            raise self._error("it is nested too deep", token.at)
        match token.kind:
            case "word":
                return _contains(token.text)
            case "not":
                return _not(self._one(depth + 1))
            case "(":
                inner = self.either(depth + 1)
                if not self._accept(")"):
                    raise self._unexpected(self._tokens[0], "`)`, `and` or `or`")
                return inner
            case _:
                raise self._unexpected(token, "a word, `not` or `(`")

    def expect_end(self) -> None:
        """Nothing may follow."""
        if self._tokens[0].kind != "end":
            raise self._unexpected(self._tokens[0], "`and` or `or`")

    def _accept(self, kind: str) -> bool:
        if self._tokens[0].kind != kind:
            return False
        self._tokens.pop(0)
        return True

    def _unexpected(self, token: _Token, expected: str) -> UsageError:
        found = "its end" if token.kind == "end" else f"`{token.text}`"
        return self._error(f"expected {expected}, found {found}", token.at)

    def _error(self, what: str, at: int) -> UsageError:
        return UsageError(f"`-k {self._text}`: {what} at column {at}")


def _contains(word: str) -> Expression:
    return lambda texts: any(word in text for text in texts)


def _not(inner: Expression) -> Expression:
    return lambda texts: not inner(texts)


def _and(first: Expression, second: Expression) -> Expression:
    return lambda texts: first(texts) and second(texts)


def _or(first: Expression, second: Expression) -> Expression:
    return lambda texts: first(texts) or second(texts)
