"""Builds checks written as `{PREDICATE: VALUE}`: key and value are a line, which is read as any other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from evalc.base.source import Span
from evalc.diagnostics.problem import Fault
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.scalars import kind_of, to_plain
from evalc.dsl.tree import CheckLeaf
from evalc.grammar.nodes import Atom, Parsed, PatternAtom, ReadCheck, Text
from evalc.grammar.read_check import read_check

SUBJECTS: Final = ("turn", "at")
"""The keys that say what is asked; the key beside them says what."""
_SAYS_MORE: Final = re.compile(
    r"""
    \bignoring\ case\Z | \sfor\s+[\w-]+\Z | && | \|\| | \b(?:and|or)\s.*["'/]
    | \A\w+(?:,\ \w+)+\Z | \A/.*/[a-z]*\Z
    """,
    re.VERBOSE,
)
"""Return what a text without quotes may say beside itself, in the language of checks."""
_BOUNDS: Final = {"min": ">=", "max": "<=", "above": ">", "below": "<"}


Pairs = tuple[tuple[Scalar, Node], ...]


class _Piece(NamedTuple):
    """A part of a line, and the node that it says; None for what no node says."""

    text: str
    node: Node | None = None
    is_key: bool = False


class Asked(NamedTuple):
    """A mapping as a line: its parse, and the pieces of the line."""

    parse: Parsed[ReadCheck]
    pieces: tuple[_Piece, ...]

    def leaf(self, span: Span) -> CheckLeaf | None:
        """The check, with the places of its texts in the source; None if it is none."""
        line = self.parse.node
        if line is None:
            return None
        return CheckLeaf(span=span, check=line.check, places=tuple(map(self._placed, line.places)))

    def faults(self) -> Iterator[tuple[Span, Fault]]:
        """Return what is wrong with it, each with its place in the source."""
        for fault in self.parse.faults:
            yield span_of(self._node_at(fault.start)), fault

    @property
    def is_of_value(self) -> bool:
        """Whether all faults are in the value of the last key, and not where a text could be."""
        key = max(index for index, piece in enumerate(self.pieces) if piece.is_key)
        begins = sum(len(piece.text) for piece in self.pieces[: key + 1])
        return all(fault.start >= begins for fault in self.parse.faults)

    def _placed(self, place: Atom) -> Atom:
        span = span_of(self._node_at(place.start))
        if isinstance(place, PatternAtom):
            return PatternAtom(*span, place.pattern, int(place.literal), place.literal, place.flags)
        return Text(*span, place.value)

    def _node_at(self, offset: int) -> Node:
        """The node that the line has at an offset, or the nearest one before."""
        at, node = 0, next(piece.node for piece in self.pieces if piece.node is not None)
        for piece in self.pieces:
            if at > offset:
                break
            node = node if piece.node is None else piece.node
            at += len(piece.text)
        return node


def asked(pairs: Pairs) -> Asked | None:
    """The mapping of these keys as a line: the one way to read its value that is right, else the first.

    None if it is not a check and would be none with another value.
    """
    subjects = {key.text: (key, value) for key, value in pairs if key.text in SUBJECTS}
    own = [pair for pair in pairs if pair[0].text not in SUBJECTS]
    if len(own) != 1:
        return None
    ((key, value),) = own
    before: list[_Piece] = []
    for name in SUBJECTS:
        if name in subjects and isinstance(node := subjects[name][1], Scalar):
            before += [_Piece(f"{name} ", subjects[name][0]), _Piece(f"{node.text} ", node)]
    first: Asked | None = None
    for pieces in _ways(key, value):
        whole = (*before, *pieces)
        line = Asked(read_check("".join(piece.text for piece in whole)), whole)
        if line.parse.node is not None and line.parse.node.criterion is None:
            return line
        first = first or line
    return first if first is not None and (first.parse.node is not None or first.is_of_value) else None


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
    """The lines that a key and its value may be: the value as it is, then what its text says."""
    name = _Piece(f"{key.text} ", key, is_key=True)
    match value:
        case Scalar(text=text) if kind_of(value) == "str":
            ways = [_quoted(value), _Piece(text, value)]
            if says_more(value):
                ways = ways[1:]  # `bob ignoring case` may be no text
            for way in reversed(ways) if text.startswith("/") else ways:  # `/a/i` is a literal where one may stand
                yield [name, way]
        case Scalar(text="", style="plain"):
            yield [name]
        case Scalar(text=text):
            yield [name, *_json(value)]
            if kind_of(value) == "bool":
                yield [name] if to_plain(value, _say_nothing) else [_Piece("not ", key), name]
        case Mapping(pairs=pairs) if pairs and all(bound.text in _BOUNDS for bound, _ in pairs):
            limits = {bound.text: limit for bound, limit in pairs if isinstance(limit, Scalar)}
            if limits.keys() == {"min", "max"}:
                yield [name, _bare(limits["min"]), _Piece(".."), _bare(limits["max"])]
            elif len(limits) == 1:
                ((bound, limit),) = limits.items()
                yield [name, _Piece(f"{_BOUNDS[bound]} "), _bare(limit)]
            yield [name, *_json(value)]
        case Sequence(items=(Scalar() as first, Scalar() as last)):
            yield [name, *_json(value)]
            yield [name, _bare(first), _Piece(" and "), _bare(last)]
        case _:
            yield [name, *_json(value)]


def _bare(node: Scalar) -> _Piece:
    return _Piece(node.text, node)


def _quoted(node: Scalar) -> _Piece:
    return _Piece(json.dumps(node.text, ensure_ascii=False), node)


def _json(node: Node) -> Iterator[_Piece]:
    """A value as a line has it, each of its texts a piece."""
    match node:
        case Scalar():
            text = kind_of(node) == "str"
            yield _quoted(node) if text else _Piece(json.dumps(to_plain(node, _say_nothing)), node)
        case Sequence(items=items):
            yield _Piece("[")
            for index, item in enumerate(items):
                yield from [_Piece(", ")] if index else ()
                yield from _json(item)
            yield _Piece("]")
        case Mapping(pairs=pairs):
            yield _Piece("{")
            for index, (name, item) in enumerate(pairs):
                yield _Piece(f"{', ' if index else ''}{json.dumps(name.text, ensure_ascii=False)}: ", name)
                yield from _json(item)
            yield _Piece("}")


def _say_nothing(_span: Span, _finding: object) -> None:
    """Values that cannot be read are texts here."""
