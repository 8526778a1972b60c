"""Where in the YAML a cursor is, even in a text that is still being written."""

from __future__ import annotations

import re
from collections.abc import Sequence as Sequence_
from typing import Any, Final, NamedTuple

from evalc.base.source import Source
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.read_yaml import read_yaml

_MARK: Final = "\ue000"
"""Stands where the cursor is while the text is read. No keyboard has it."""
_UNFINISHED_KEY: Final = re.compile(r"[ ]*(?:- +)*[\w-]*")

Step = tuple[Mapping | Sequence, str | int]
"""A collection, and the key or the index by which the path continues."""


class Place(NamedTuple):
    """A scalar, and the way to it from the document.

    Attributes:
        steps: the way; the last of them is the key or the index of the scalar itself.
        scalar: the scalar.
        is_key: whether it is a key; its mapping is then the last step's.
    """

    steps: tuple[Step, ...]
    scalar: Scalar
    is_key: bool

    @property
    def keys(self) -> tuple[str | int, ...]:
        """The keys and indexes of the way."""
        return tuple(key for _, key in self.steps)


def place_at(documents: Sequence_[Node], offset: int) -> Place | None:
    """The scalar that an offset is in, or at the end of."""
    for node in documents:
        if node.start <= offset <= node.end and (found := _within(node, offset, ())) is not None:
            return found
    return None


def _within(node: Node, offset: int, steps: tuple[Step, ...]) -> Place | None:
    match node:
        case Scalar():
            return Place(steps, node, is_key=False) if node.start <= offset <= node.end else None
        case Mapping():
            for key, value in node.pairs:
                way = (*steps, (node, key.text))
                if key.start <= offset <= key.end:
                    return Place(way, key, is_key=True)
                if value.alias is None and value.start <= offset <= value.end:
                    return _within(value, offset, way)
        case Sequence():
            for index, item in enumerate(node.items):
                if item.alias is None and item.start <= offset <= item.end:
                    return _within(item, offset, (*steps, (node, index)))
    return None


class Unfinished(NamedTuple):
    """A place that is being written: the part of its text before the cursor."""

    place: Place
    before: str


def unfinished_at(source: Source, offset: int) -> list[Unfinished]:
    """What the text at the cursor may be on its way to: a key, a value, an item of a list, or several of these."""
    text = source.text
    start = source.offset(source.position(offset)._replace(column=1))
    ends = text[offset:].partition("\n")[0].strip()
    found = []
    if not ends and _UNFINISHED_KEY.fullmatch(text, start, offset):
        found.append(_marked(text, offset, f"{_MARK}:"))
    if not _UNFINISHED_KEY.fullmatch(text, start, offset) or "-" in text[start:offset]:
        found.append(_marked(text, offset, _MARK))
    return [each for each in found if each is not None]


def _marked(text: str, offset: int, mark: str) -> Unfinished | None:
    documents = read_yaml(Source("", text[:offset] + mark + text[offset:]), lambda _span, _finding: None)
    place = next(filter(None, (_holding(node, ()) for node in documents if node is not None)), None)
    return None if place is None else Unfinished(place, place.scalar.text.partition(_MARK)[0])


def _holding(node: Node, steps: tuple[Step, ...]) -> Place | None:
    """The scalar with the mark in it."""
    match node:
        case Scalar():
            return Place(steps, node, is_key=False) if _MARK in node.text else None
        case Mapping():
            for key, value in node.pairs:
                way = (*steps, (node, key.text))
                if _MARK in key.text:
                    return Place(way, key, is_key=True)
                if (found := _holding(value, way)) is not None:
                    return found
        case Sequence():
            for index, item in enumerate(node.items):
                if (found := _holding(item, (*steps, (node, index)))) is not None:
                    return found
    return None


def plain(node: Node, depth: int = 4) -> Any:
    """A node as data, its scalars as texts; what lies deeper than so many levels is left out."""
    match node:
        case Scalar():
            return node.text
        case Sequence():
            return [plain(item, depth - 1) for item in node.items] if depth else []
        case Mapping():
            pairs = ((key.text, value) for key, value in node.pairs if _MARK not in key.text)
            return {key: plain(value, depth - 1) for key, value in pairs} if depth else {}
