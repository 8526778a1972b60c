"""Builds checks written as `{PREDICATE: VALUE}`: key and value become a line, which is read like any other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from evalc.base.source import Span
from evalc.diagnostics import Fault
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, Stretch, span_of
from evalc.dsl.scalars import kind_of, to_plain
from evalc.dsl.tree import CheckLeaf
from evalc.grammar.nodes import Atom, Parsed, PatternAtom, ReadCheck, Text
from evalc.grammar.read_check import read_check

SUBJECTS: Final = ("turn", "at")
"""The keys that name a subject; the key beside them names the predicate."""
_SAYS_MORE: Final = re.compile(
    r"""
    \bignoring\ case\Z | \sfor\s+[\w-]+\Z | && | \|\| | \b(?:and|or)\s.*["'/]
    | \A\w+(?:,\ \w+)+\Z | \A/.*/[a-z]*\Z
    """,
    re.VERBOSE,
)
"""Texts without quotes that may be more than a text in the language of checks."""
_BOUNDS: Final = {"min": ">=", "max": "<=", "above": ">", "below": "<"}
_EQUALITY: Final = frozenset(("is", "equals", "==", "="))

Pairs = tuple[tuple[Scalar, Node], ...]


class _Piece(NamedTuple):
    """A part of a line, and the node that it stands for, if any."""

    text: str
    node: Node | None = None


class Asked(NamedTuple):
    """A mapping as a line: its parse, the pieces of the line, and the key that names the predicate."""

    parse: Parsed[ReadCheck]
    pieces: tuple[_Piece, ...]
    key: Scalar

    @property
    def text(self) -> str:
        """The line."""
        return "".join(piece.text for piece in self.pieces)

    def leaf(self, at: Stretch) -> CheckLeaf | None:
        """The check, with the places of its texts in the source; None if it is none."""
        line = self.parse.node
        if line is None:
            return None
        return CheckLeaf(at, check=line.check, places=tuple(map(self._placed, line.places)))

    def faults(self) -> Iterator[tuple[Span, Fault]]:
        """The mistakes in it, each with its place in the source."""
        for fault in self.parse.faults:
            yield span_of(self._node_at(fault.start)), fault

    @property
    def may_be_check(self) -> bool:
        """Whether it is a check, or would be one with another value: all faults are behind the key."""
        ends = accumulate(len(piece.text) for piece in self.pieces)
        begins = max(end for end, piece in zip(ends, self.pieces, strict=True) if piece.node is self.key)
        return all(fault.start >= begins for fault in self.parse.faults)

    def without_quotes(self) -> Scalar | None:
        """The text which, as it is written, is a predicate on a line and means another check: `is not: empty`."""
        *before, (text, node) = self.pieces
        if not isinstance(node, Scalar) or node.style != "plain" or text == node.text or self.parse.node is None:
            return None
        other = read_check("".join(piece.text for piece in before) + node.text).node
        return None if other is None or other.check == self.parse.node.check else node

    def _placed(self, place: Atom) -> Atom:
        span = span_of(self._node_at(place.start))
        if isinstance(place, PatternAtom):
            return PatternAtom(*span, place.pattern, int(place.literal), place.literal, place.flags)
        return Text(*span, place.value)

    def _node_at(self, offset: int) -> Node:
        """The node that the line has at an offset, or the nearest one before."""
        starts = accumulate((len(piece.text) for piece in self.pieces), initial=0)
        said = zip(starts, self.pieces, strict=False)
        return [piece.node for start, piece in said if start <= offset and piece.node is not None][-1]


def asked(pairs: Pairs) -> Asked | None:
    """The mapping with these keys as a line. Its value is read in the one way that makes a check, else in the first.

    None if it is no check, whatever the value.
    """
    own = [pair for pair in pairs if pair[0].text not in SUBJECTS]
    if len(own) != 1:
        return None
    ((key, value),) = own
    subjects = {key.text: (key, value) for key, value in pairs}
    before: list[_Piece] = []
    for name in SUBJECTS:
        if name in subjects and isinstance(node := subjects[name][1], Scalar):
            before += [_Piece(f"{name} ", subjects[name][0]), _Piece(f"{node.text} ", node)]
    first: Asked | None = None
    for pieces in _ways(key, value):
        whole = (*before, *pieces)
        line = Asked(read_check("".join(piece.text for piece in whole)), whole, key)
        if line.parse.node is not None and line.parse.node.criterion is None:
            return line
        first = first or line
    return first if first is not None and first.may_be_check else None


def says_more(value: Node) -> bool:
    """Whether a value without quotes may be more than a text, such as `bob ignoring case`, or is not written yet."""
    match value:
        case Scalar(text=text, style="plain"):
            return not text or _SAYS_MORE.search(text) is not None
        case Scalar():
            return False
        case Sequence(items=items):
            return any(map(says_more, items))
        case Mapping(pairs=pairs):
            return any(says_more(inner) for _, inner in pairs)


def _ways(key: Scalar, value: Node) -> Iterator[list[_Piece]]:
    """The lines that a key and its value may stand for: with the value as it is, then with its text as words."""
    name = _Piece(f"{key.text} ", key)
    match value:
        case Scalar(text=text) if kind_of(value) == "str":
            ways = [*_json(value), _Piece(text, value)]
            if says_more(value):
                ways = ways[1:]  # `bob ignoring case` may be no text
            for way in reversed(ways) if text.startswith("/") else ways:  # `/a/i` is a literal where one may stand
                yield [name, way]
            return
        case Scalar(text="", style="plain"):
            yield [name]
            return
        case Mapping(pairs=pairs) if key.text not in _EQUALITY and all(bound.text in _BOUNDS for bound, _ in pairs):
            limits = {bound.text: _Piece(limit.text, limit) for bound, limit in pairs if isinstance(limit, Scalar)}
            if limits.keys() == {"min", "max"}:
                yield [name, limits["min"], _Piece(".."), limits["max"]]
            elif len(limits) == 1:
                ((bound, limit),) = limits.items()
                yield [name, _Piece(f"{_BOUNDS[bound]} "), limit]
    yield [name, *_json(value)]
    match value:
        case Scalar() if kind_of(value) == "bool":
            yield [name] if _value(value) else [_Piece("not ", key), name]
        case Sequence(items=(Scalar() as low, Scalar() as high)):
            yield [name, _Piece(low.text, low), _Piece(" and "), _Piece(high.text, high)]


def _json(node: Node) -> Iterator[_Piece]:
    """A value as a line has it, each of its texts a piece."""
    parts: list[tuple[Scalar | None, Node]]
    match node:
        case Scalar():
            yield _Piece(json.dumps(_value(node), ensure_ascii=False), node)
            return
        case Sequence(items=items):
            brackets, parts = "[]", [(None, item) for item in items]
        case Mapping(pairs=pairs):
            brackets, parts = "{}", [*pairs]
    yield _Piece(brackets[0])
    for index, (name, item) in enumerate(parts):
        of_name = "" if name is None else f"{json.dumps(name.text, ensure_ascii=False)}: "
        yield _Piece(f"{', ' if index else ''}{of_name}", name)
        yield from _json(item)
    yield _Piece(brackets[1])


def _value(node: Scalar) -> object:
    """The value of a scalar; what cannot be read is a text here."""
    return node.text if kind_of(node) == "str" else to_plain(node, lambda _span, _finding: None)
