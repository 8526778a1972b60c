r"""From a pattern to the same pattern as QuickJS reads it: where it takes a plain `-` or `/` for an error, an escape.

Under `v` it allows neither outside a class, and in a class without `u` or `v` no `-` behind a set and before another
(`[\d-a--]`). The escape means the same everywhere, so each such character is written as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.ecma.regexp.nodes import (
    Alternation,
    Character,
    Class,
    ClassMember,
    Group,
    Look,
    Pattern,
    PatternSequence,
    Range,
    Repeat,
    SetOperation,
    Term,
)

_ESCAPES: Final = {"-": r"\x2d", "/": r"\x2f"}


def respell(pattern: Pattern) -> str:
    """The pattern's text with every `-` and `/` that stands for itself escaped."""
    source = pattern.source
    if "-" not in source and "/" not in source:
        return source
    pieces: list[str] = []
    at = 0
    for start, end in _characters(pattern.body):
        if escape := _ESCAPES.get(source[start:end]):
            pieces += (source[at:start], escape)
            at = end
    return "".join(pieces) + source[at:]


def _characters(term: Term | ClassMember) -> Iterator[tuple[int, int]]:
    """Where the characters of a term stand, first ends of ranges included, in the order in which they are written."""
    match term:
        case Character():
            yield term.start, term.end
        case Range():
            yield term.start, term.start + 1
        case (
            PatternSequence(items=inner)
            | Alternation(branches=inner)
            | Class(members=inner)
            | SetOperation(operands=inner)
        ):
            for part in inner:
                yield from _characters(part)
        case Look() | Group() | Repeat():
            yield from _characters(term.body)
        case _:
            return
