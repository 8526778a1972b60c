"""A one-line check while it is written: what could come next, and which check the cursor is in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, Literal, NamedTuple

from evalc.grammar.check_nodes import CHECK_STARTS
from evalc.grammar.lalr import Token
from evalc.grammar.parse import follow_check, parse_check
from evalc.grammar.unexpected import words_of
from evalc.model import checks as c
from evalc.model.checks.declaration import Declared, beginnings, by_type, sentence_of, type_name

Names = Literal["criteria", "tools", "parameters"]

_WORD: Final = re.compile(r"[A-Za-z][\w-]*$")
_BEFORE_CHECK: Final = frozenset({"", "NOT", "AND", "OR", "LPAR", "RESPONSE"})
_TOOL_LISTS: Final = frozenset({"CALLED", "ONE", "INCLUDE", "ORDER", "ONLY", "OF"})
_ONLY_BEGIN: Final = frozenset({"NON_EMPTY", "LATENCY"})
"""Terminals that only occur where a check begins: of the response, of the run."""
_WRAPPING: Final = frozenset({"NOT", "TURN", "RESPONSE", "AT"})
KINDS: Final = by_type(c.Check)
"""The kinds of checks by their types."""


class Continuation(NamedTuple):
    """How a check may go on.

    Attributes:
        word: what of the next word is there already.
        words: the words and signs that may come next.
        names: which names may; None if none may.
        tool: the tool whose parameters these are.
    """

    word: str
    words: tuple[str, ...]
    names: Names | None = None
    tool: str = ""


def continuation(before: str) -> Continuation | None:
    """How the check before the cursor may continue; None inside a text, or after a mistake."""
    match = _WORD.search(before)
    word = match[0] if match else ""
    head = before[: len(before) - len(word)]
    tokens, at, terminals = follow_check(head)
    if head[at:].strip():
        return None
    if word and tokens and tokens[-1].end_pos == len(head) and tokens[-1].type not in {"LPAR", "LSQB", "DOT", "COMMA"}:
        return None
    names, tool = _names(tokens, terminals)
    may_begin = not terminals.isdisjoint(_ONLY_BEGIN)
    words = [begin for kind in KINDS.values() for begin in _begins(kind, terminals)] if may_begin else []
    others = terminals - {"$END"} - (CHECK_STARTS - _WRAPPING if may_begin else frozenset())
    words += [each for terminal in sorted(others) for each in words_of(terminal)]
    return Continuation(word, tuple(dict.fromkeys(words)), names, tool)


def _begins(kind: type[Declared], terminals: frozenset[str]) -> Iterator[str]:
    """How a check of a kind begins, as far as it is always the same."""
    for begin in beginnings(kind):
        words = [*_fixed(begin)]
        if words and words[0].upper().replace("-", "_") in terminals & CHECK_STARTS:
            yield " ".join(words)


def _fixed(begin: str) -> Iterator[str]:
    """The words of a beginning before the first that carries a value: of `tool NAME.PARAM`, `tool`."""
    for word in begin.split():
        if not word[0].islower():
            return
        yield word.partition("(")[0]


def _names(tokens: tuple[Token, ...], terminals: frozenset[str]) -> tuple[Names | None, str]:
    last = tokens[-1].type if tokens else ""
    types = [token.type for token in tokens]
    if last == "FOR":
        return "criteria", ""
    if "PARAM" in terminals and last == "DOT":
        return "parameters", _text(tokens[-2])
    if last in {"HAS", "COMMA"} and "CALL" in types and "PATH" in terminals:
        called = types.index("OF", types.index("CALL"))
        return "parameters", _text(tokens[called + 1])
    if "NAME" not in terminals and "STRING" not in terminals:
        return None, ""
    if last == "TOOL" or (last == "OF" and "CALL" in types):
        return "tools", ""
    if last in {"LSQB", "COMMA"} and "TOOLS" in types and _TOOL_LISTS.intersection(types):
        return "tools", ""
    return None, ""


def _text(token: Token) -> str:
    return token[1:-1] if token.type == "STRING" else str(token)


def kind_at(line: str, offset: int) -> type[Declared] | None:
    """The kind of check at an offset of a line; None between checks."""
    node = parse_check(line).node
    if node is not None and not _is_composed(node.check):
        return type(node.check)
    tokens = follow_check(line).tokens
    starts = [
        index for index in range(len(tokens)) if _begins_check(tokens, index) and tokens[index].start_pos <= offset
    ]
    return _kind(tokens[starts[-1] :]) if starts else None


def _is_composed(check: Declared) -> bool:
    """Whether a check is made of others."""
    return isinstance(check, c.AnyOf | c.AllOf | c.Not | c.At | c.InTurn)


def _begins_check(tokens: tuple[Token, ...], index: int) -> bool:
    before = tokens[index - 1].type if index else ""
    earlier = tokens[index - 2].type if index > 1 else ""
    is_first = before in _BEFORE_CHECK or earlier in {"AT", "TURN"}
    return is_first and tokens[index].type in CHECK_STARTS - {"LPAR", "RESPONSE", "AT", "TURN", "NOT"}


def _kind(tokens: tuple[Token, ...]) -> type[Declared] | None:
    """The kind of the check that begins here: the one with the longest beginning in common."""
    words = [str(token) for token in tokens]
    best: tuple[int, type[Declared] | None] = (0, None)
    for kind in KINDS.values():
        for begin in beginnings(kind):
            fixed = [*_fixed(begin)]
            if fixed and words[: len(fixed)] == fixed and len(fixed) > best[0]:
                best = (len(fixed), kind)
    return best[1]


@cache
def described_kind(kind: type[Declared]) -> str:
    """What editors show of a kind of check, in Markdown."""
    lines = [f"**{type_name(kind)}**", "", sentence_of(kind)]
    forms = [kind.line] if kind.line else [*beginnings(kind)]
    if forms:
        lines += ["", *(f"`{form}`  " for form in forms)]
    return "\n".join(lines).strip()
