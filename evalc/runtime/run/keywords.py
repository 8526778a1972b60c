"""Evaluates expressions of `-k`, such as `paris and not (slow or flaky)`.

A word holds where any text contains it, whatever its case. `not` binds closer than `and`, `and` closer than `or`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, final

from evalc.base.errors import UsageError
from evalc.base.terminal import shortened

Expression = Callable[[Sequence[str]], bool]
"""Whether texts, folded to one case, satisfy the expression."""

_TOKEN: Final = re.compile(r"""\s*(?:(?P<sign>[()])|"(?P<quoted>[^"]+)"|(?P<word>[^\s()"]+))""")
_DEEPEST: Final = 50
_SHOWN: Final = 80
"""How many characters of an expression a message shows."""

_WORDS: Final = frozenset({"and", "or", "not"})


class _Token(NamedTuple):
    """A token: `(`, `)`, an operator, or a word to look for. `at` counts from 1."""

    kind: str
    text: str
    at: int


def parse_keywords(text: str) -> Expression:
    """The expression.

    Raises:
        UsageError: it is not an expression; the message has the column.
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
        self._tokens = deque(self._split(text))

    def _split(self, text: str) -> Iterator[_Token]:
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error("a closing quote is missing", text.index('"', at) + 1)
            word = match["sign"] or match["quoted"] or match["word"]
            kind = "word" if match["quoted"] or word not in {"(", ")", *_WORDS} else word
            yield _Token(kind, word.casefold(), match.end() - len(match[0].lstrip()) + 1)
            at = match.end()
        yield _Token("end", "", len(text) + 1)

    def either(self, depth: int) -> Expression:
        """`A or B`."""
        parts = [self._both(depth)]
        while self._accept("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else lambda texts: any(part(texts) for part in parts)

    def _both(self, depth: int) -> Expression:
        parts = [self._one(depth)]
        while self._accept("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else lambda texts: all(part(texts) for part in parts)

    def _one(self, depth: int) -> Expression:
        token = self._tokens.popleft()
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
        self._tokens.popleft()
        return True

    def _unexpected(self, token: _Token, expected: str) -> UsageError:
        found = "its end" if token.kind == "end" else f"`{shortened(token.text, _SHOWN)}`"
        return self._error(f"expected {expected}, found {found}", token.at)

    def _error(self, what: str, at: int) -> UsageError:
        return UsageError(f"`-k {_around(self._text, at)}`: {what} at column {at}")


def _around(text: str, at: int) -> str:
    """The text, or, if it is long, the part around a column."""
    begin = max(0, at - 1 - _SHOWN // 2)
    shown = text[begin : begin + _SHOWN]
    return f"{'…' if begin else ''}{shown}{'…' if begin + _SHOWN < len(text) else ''}"


def _contains(word: str) -> Expression:
    return lambda texts: any(word in text for text in texts)


def _not(inner: Expression) -> Expression:
    return lambda texts: not inner(texts)
