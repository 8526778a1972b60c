"""From a one-line check to its parse tree, by way of a check that differs from it only in its literals.

Two checks of one shape (`contains "a" for x`, `contains "docstring" for x`) have one parse tree, but for the texts of
its tokens and where they stand. So lark reads each shape once, and the tree is then made anew around the tokens of
each text. What is odd in any way (an escape, a mistake, a long line) is lark's own business.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast, final

from evalc.grammar.lark_tables import Stumble, read, tree_of

if TYPE_CHECKING:
    from evalc.grammar.lark_tables import Token, Tree

_LONGEST: Final = 300
"""The most characters of a text that is looked at for its shape; so short, it cannot nest too deep for recursion."""
_REMEMBERED: Final = 1_024

_LITERAL: Final = re.compile(
    r"""
    "[^"\\]*" | '[^'\\]*'
    | (?<=matches\ )/
      (?:[^/\\\[\r\n\u2028\u2029] | \\[^\r\n\u2028\u2029] | \[(?:[^\]\\\r\n\u2028\u2029] | \\[^\r\n\u2028\u2029])*\])+
      /
    """,
    re.VERBOSE,
)
_STAND_INS: Final = {'"': '"_"', "'": "'_'", "/": "/_/"}
_WIDTH: Final = 3  # of a stand-in


@final
class _Lexeme(str):
    """A token of a text: what the node builders read of lark's tokens, and as light as can be."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int


class _Leaf(NamedTuple):
    """A token of a shape: where it stands there, and how many literals begin before its start and its end."""

    type: str
    start: int
    end: int
    before_start: int
    before_end: int


class _Branch(NamedTuple):
    rule: str
    children: tuple[_Branch | _Leaf, ...]


def read_check(text: str) -> Tree | Stumble:
    """The parse tree of a one-line check, the same that lark gives, or where the text stumbles."""
    if len(text) <= _LONGEST:
        shifts = [0]
        pieces: list[str] = []
        at = shift = 0
        for literal in _LITERAL.finditer(text):
            start, end = literal.span()
            pieces += text[at:start], _STAND_INS[text[start]]
            shift += end - start - _WIDTH
            shifts.append(shift)
            at = end
        pieces.append(text[at:])
        shape = "".join(pieces)
        if "\\" not in shape and (branch := _branch(shape)) is not None:
            return _around(branch, text, shifts)
    return read("check", "line", text)


def _around(branch: _Branch, text: str, shifts: list[int]) -> Tree:
    """The tree of a text that has the shape; `shifts` is how far its characters stand behind those of the shape."""
    children: list[Tree | Token] = []
    for child in branch.children:
        if type(child) is _Branch:
            children.append(_around(child, text, shifts))
            continue
        type_, start, end, before_start, before_end = cast("_Leaf", child)
        start += shifts[before_start]
        end += shifts[before_end]
        lexeme = _Lexeme(text[start:end])
        lexeme.type = type_
        lexeme.start_pos = start
        lexeme.end_pos = end
        children.append(cast("Token", lexeme))
    return tree_of(branch.rule, children)


@lru_cache(_REMEMBERED)
def _branch(shape: str) -> _Branch | None:
    """The tree of a shape; None when it has none, or when a stand-in is not a token of its own."""
    tree = read("check", "line", shape)
    if isinstance(tree, Stumble):
        return None
    starts = [literal.start() for literal in _LITERAL.finditer(shape)]
    literals = sorted(
        cast("int", token.start_pos)
        for token in tree.scan_values(lambda token: cast("Token", token).type in ("STRING", "REGEXP"))
    )
    return _measured(tree, starts) if literals == starts else None


def _measured(tree: Tree | Token, starts: list[int]) -> _Branch:
    tree = cast("Tree", tree)
    return _Branch(
        str(tree.data),
        tuple(_leaf(child, starts) if isinstance(child, str) else _measured(child, starts) for child in tree.children),
    )


def _leaf(token: Token, starts: list[int]) -> _Leaf:
    start, end = cast("int", token.start_pos), cast("int", token.end_pos)
    return _Leaf(token.type, start, end, sum(at < start for at in starts), sum(at < end for at in starts))
