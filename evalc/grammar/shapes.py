"""From a one-line check to its node, by way of a check that differs from it only in its literals.

Two checks of one shape (`contains "a" for x`, `contains "docstring" for x`) have one node, but for the texts of its
literals and for where everything stands. So each shape is parsed once, and the node is then made anew for each text.
What is odd in any way (an escape, a mistake, a long line) is read with care, as if there were no shapes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, assert_never, final

from evalc.grammar.check_nodes import check_line
from evalc.grammar.nodes import CheckLine, Node, Path, Regexp, Text
from evalc.grammar.parsed import Parsed
from evalc.model.paths import path_of_key

_LONGEST: Final = 300
"""The most characters of a text that is looked at for its shape; so short, it cannot nest too deep for recursion."""
_REMEMBERED: Final = 1_024

_LITERAL: Final = re.compile(
    r"""
    (
      "[^"\\]*" | '[^'\\]*'
      | (?<=matches\ )/
        (?:[^/\\\[\r\n\u2028\u2029] | \\[^\r\n\u2028\u2029] | \[(?:[^\]\\\r\n\u2028\u2029] | \\[^\r\n\u2028\u2029])*\])+
        /
    )
    """,
    re.VERBOSE,
)
_STAND_INS: Final = {'"': '"_"', "'": "'_'", "/": "/_/"}
_WIDTH: Final = 3  # of a stand-in

_Make = Callable[[str, list[int]], Any]
"""Makes a node of a shape for a text: given how far behind their places in the shape its characters stand, at first
and behind each literal."""


def parse_by_shape(text: str) -> Parsed[CheckLine]:
    """A whole one-line check; the same as `check_line` gives, in a fraction of its time."""
    if len(text) > _LONGEST:
        return check_line(text)
    pieces = _LITERAL.split(text)  # the literals are every second piece
    shift = 0
    shifts = [0]
    for index in range(1, len(pieces), 2):
        literal = pieces[index]
        pieces[index] = _STAND_INS[literal[0]]
        shift += len(literal) - _WIDTH
        shifts.append(shift)
    make = _maker_of("".join(pieces))
    return check_line(text) if make is None else Parsed(make(text, shifts), ())


@lru_cache(_REMEMBERED)
def _maker_of(shape: str) -> _Make | None:
    """What makes the nodes of a shape; None for one with a fault, and where a stand-in is not a literal of its own."""
    node = None if "\\" in shape else check_line(shape).node
    if node is None:
        return None
    shaped = _Shape(shape)
    make = shaped.maker(node)
    return make if shaped.is_whole else None


@final
class _Shape:
    """A shape's literals, and what has become of them."""

    def __init__(self, text: str) -> None:
        self._starts = [literal.start() for literal in _LITERAL.finditer(text)]
        self._taken: set[int] = set()

    @property
    def is_whole(self) -> bool:
        """Whether each literal has become the text of a node."""
        return len(self._taken) == len(self._starts)

    def maker(self, node: Node) -> _Make:
        """What makes a node anew: its literal, or its parts and whatever else it holds, and both its ends moved."""
        first, last = node.start, node.end
        before_first, before_last = bisect_left(self._starts, first), bisect_left(self._starts, last)
        if isinstance(node, Text | Regexp | Path) and first in self._starts:
            self._taken.add(first)
            around = _around(node)
            return lambda text, shifts: around(text, first + shifts[before_first], last + shifts[before_last])
        kind = type(node)
        values = [getattr(node, name) for name in node.__struct_fields__[2:]]
        moving = [(at, self._part(value)) for at, value in enumerate(values) if _moves(value)]
        if not moving:
            return lambda _text, shifts: kind(first + shifts[before_first], last + shifts[before_last], *values)

        def make(text: str, shifts: list[int]) -> Any:
            moved = values.copy()
            for at, part in moving:
                moved[at] = part(text, shifts)
            return kind(first + shifts[before_first], last + shifts[before_last], *moved)

        return make

    def _part(self, value: object) -> _Make:
        if isinstance(value, Node):
            return self.maker(value)
        if isinstance(value, tuple):
            parts = [self._part(item) for item in value]
            return lambda text, shifts: tuple([part(text, shifts) for part in parts])
        return lambda _text, _shifts: value


def _moves(value: object) -> bool:
    """Whether a value of a node may have places, or hold what has."""
    return isinstance(value, Node | tuple)


def _path_of_key(text: str, start: int, end: int) -> Path:
    key = text[start + 1 : end - 1]
    return Path(start, end, (key,), path_of_key(key))


def _around(node: Text | Regexp | Path) -> Callable[[str, int, int], Node]:
    """What makes the node of a literal from its text, its start and its end."""
    match node:
        case Text():
            return lambda text, start, end: Text(start, end, text[start + 1 : end - 1])
        case Path():
            return _path_of_key
        case Regexp(flags=flags, literal=literal):
            behind = 1 + len(flags)
            return lambda text, start, end: Regexp(
                start, end, text[start + 1 : end - behind], start + 1, literal, flags
            )
        case _:
            assert_never(node)
