"""Gives each cell of a row its own place in the file that the row comes from.

Nobody asks for these places while nothing is wrong, so rows are read without them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, assert_never

import msgspec

from evalc.base.source import Source, Span
from evalc.dsl.nodes import Mapping, N, Node, Scalar, Sequence
from evalc.dsl.read_json import JsonPlaces
from evalc.dsl.tree import InputValue, Str

if TYPE_CHECKING:
    import _csv

_LONGEST_CELL: Final = 16_000_000
_CELL: Final = re.compile(r'"[^"]*(?:""[^"]*)*"|[^,\r\n]*')


def csv_reader(lines: Iterable[str], delimiter: str = ",") -> _csv.Reader:
    """The rows of CSV (RFC 4180), with cells as long as anything that is worth asking; the module's own limit is short.

    Its `line_num` is how many lines it has read.
    """
    csv.field_size_limit(_LONGEST_CELL)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def placed_csv(source: Source, cells: tuple[InputValue, ...]) -> tuple[InputValue, ...]:
    """The cells of a CSV row; `source` is its lines."""
    return tuple(
        InputValue(name=Str(cell.name.value, span), value=_at(cell.value, span))
        for cell, span in zip(cells, csv_spans(source.text), strict=True)
    )


def csv_spans(text: str) -> Iterator[Span]:
    """The places of the cells of a row of CSV, quotes included."""
    at = 0
    while (cell := _CELL.match(text, at)) is not None:
        yield Span(*cell.span())
        at = cell.end() + 1
        if not text.startswith(",", cell.end()):
            return


def placed_json(source: Source, cells: tuple[InputValue, ...]) -> tuple[InputValue, ...]:
    """The cells of a row of JSON Lines; `source` is its line."""
    places = JsonPlaces(source)
    return tuple(_placed_member(cell, places) for cell in cells)


def _placed_member(cell: InputValue, places: JsonPlaces) -> InputValue:
    pointer = _below("", cell.name.value)
    return InputValue(name=Str(cell.name.value, places.key(pointer)), value=_placed(cell.value, places, pointer))


def _placed(node: Node, places: JsonPlaces, pointer: str) -> Node:
    moved: Node = _at(node, places.value(pointer))
    match moved:
        case Scalar():
            return moved
        case Sequence(items=items):
            placed = tuple(_placed(item, places, f"{pointer}/{index}") for index, item in enumerate(items))
            return msgspec.structs.replace(moved, items=placed)
        case Mapping(pairs=pairs):
            inner = ((key, value, _below(pointer, key.text)) for key, value in pairs)
            members = tuple((_at(key, places.key(at)), _placed(value, places, at)) for key, value, at in inner)
            return msgspec.structs.replace(moved, pairs=members)
        case _:
            assert_never(moved)


def _below(pointer: str, key: str) -> str:
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def _at(node: N, span: Span) -> N:
    return msgspec.structs.replace(node, start=span.start, end=span.end)
