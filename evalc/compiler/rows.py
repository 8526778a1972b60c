"""Reads the rows of `for_each:`, from a list or a file, one at a time.

A file is read anew for each use of its rows, so that no more than a row of it is ever held, or else the text of a list
of JSON. Of each row the lines of it are kept, as an excerpt of the file, for as long as something may have to be said
about it. The places of cells are only looked for when something is wrong.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, assert_never, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import JSON_LIMIT
from evalc.base.json_fault import fault_of, unique_keys
from evalc.base.source import Source, Span
from evalc.base.terminal import counted
from evalc.compiler.discover import shown
from evalc.compiler.fill import root_of, text_of_input, value_of, variables
from evalc.compiler.libraries import named_file
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_case import ForEachTree, InputValue
from evalc.dsl.nodes import Mapping, N, Node, Scalar, Sequence, stretch_of
from evalc.dsl.read_json import JsonPlaces, half_characters
from evalc.dsl.sources import open_lines, read_source
from evalc.dsl.tree import Str
from evalc.grammar.parse import parse_template
from evalc.model.json import Fingerprints, pointer_step

if TYPE_CHECKING:
    import _csv

Report = Callable[[Source, Span, Finding], None]
"""Reports a mistake in a row; with an empty source, in the file as a whole."""

LONGEST_LINE: Final = 1_000_000
"""The longest line of a file of rows, in bytes."""

_KEY_COLUMNS: Final = ("id", "name")
_ENDINGS: Final = (".csv", ".json", ".jsonl", ".ndjson")


class Row(NamedTuple):
    """A row: its cells as inputs, its place, and the text that identifies it.

    `numbered` says that this text is only the row's number, which changes when rows move.
    """

    source: Source
    span: Span
    cells: tuple[InputValue, ...]
    key: str = ""
    numbered: bool = False


@final
class Rows(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The rows of a case, which may be iterated several times."""

    source: Source  # the eval file
    tree: ForEachTree  # what `for_each:` says
    path: Path | None  # the file of the rows; None for a list
    stamp: tuple[int, ...] = ()  # distinguishes this state of the file from a later one
    called: str = ""  # the id or else the name of the case, which may be a template that a row fills

    def read(self, report: Report) -> Iterator[Row]:
        """The rows that are as they should be; what is wrong with the others is reported."""
        seen = Fingerprints()
        for number, written in enumerate(self._written(report), start=1):
            row = self._with_key(written, number)
            if not self.keyed:
                yield row
            elif not row.key:
                report(row.source, row.span, Finding("EV215", column=self.tree.key.value if self.tree.key else ""))
            elif (line := seen.add(row.key, self._line_of(row))) is not None:
                report(row.source, self._place_of_key(row), Finding("EV206", what="row", name=row.key, line=line))
            else:
                yield row

    def read_again(self, *, sound: bool) -> Iterator[Row]:
        """The same rows once more; `sound` says that each of them is as it should be.

        Raises:
            UsageError: their file has changed since it was found, so that they may not be the same.
        """
        self._hold()
        if sound:
            yield from map(self._with_key, self._written(say_nothing), count(1))
        else:
            yield from self.read(say_nothing)
        self._hold()

    @cached_property
    def keyed(self) -> bool:
        """Whether the key of its row is in the id of each case: a template that rows fill differs without it."""
        template = parse_template(self.called).node if "{{" in self.called and self.tree.key is None else None
        names = () if template is None else (variable.name for variable, _ in variables(template.parts))
        return all(root_of(name, self.columns) is None for name in names)

    def _hold(self) -> None:
        if self.path is not None and self.stamp != _stamp_of(self.path):
            raise UsageError(f"the table `{shown(self.path)}` has changed since it was compiled: start again")

    def _line_of(self, row: Row) -> int:
        """The line that a row begins at; of one in a file, its source is the excerpt that begins there."""
        return row.source.position(row.span.start).line if self.path is None else row.source.first_line

    def placed(self, row: Row) -> Row:
        """The row with each of its cells at its own place; those of a file are read without."""
        if self.path is None:
            return row
        return row._replace(cells=tuple((_placed_csv if self.is_csv else _placed_json)(row)))

    def _place_of_key(self, row: Row) -> Span:
        """The place of the text that identifies the row."""
        column = self._column_of_key(row)
        cells = self.placed(row).cells if column is not None and self.path is not None else ()
        value = value_of(column or "", {cell.name.value: cell.value for cell in cells})
        return row.span if value is None else value.span

    @cached_property
    def columns(self) -> frozenset[str]:
        """Every column that some row has."""
        if self.path is None or self.is_csv:
            rows = islice(self._written(say_nothing), 1 if self.is_csv else None)  # a header holds for all
            return frozenset(cell.name.value for row in rows for cell in row.cells)
        return _json_columns(self._lines(say_nothing))

    @property
    def is_csv(self) -> bool:
        """Whether its cells are texts."""
        return self.path is not None and self.path.suffix.lower() == ".csv"

    def _written(self, report: Report) -> Iterator[Row]:
        if self.path is None:
            yield from (_of_mapping(self.source, row) for row in self.tree.rows)
            return
        read = _csv_rows if self.is_csv else _json_rows
        yield from read(self._lines(report), shown(self.path), report)

    def _lines(self, report: Report) -> Iterator[_Line]:
        """The lines of the file, or the objects of a list; that it cannot be read is reported."""
        if self.path is None:
            return
        if self.path.suffix.lower() == ".json":
            listed = read_source(self.path, report, name=shown(self.path), limit=JSON_LIMIT)
            yield from () if listed is None else _objects(listed, report)
            return
        file = open_lines(self.path, report, name=shown(self.path))
        if file is not None:
            with file:
                yield from _lines(file, shown(self.path), report)

    def _with_key(self, row: Row, number: int) -> Row:
        """The row with the text of the key column; else of `id` or `name`, else with its number."""
        if not self.keyed:
            return row
        column = self._column_of_key(row)
        if column is None:
            return row._replace(key=str(number), numbered=True)
        value = value_of(column, {cell.name.value: cell.value for cell in row.cells})
        return row._replace(key=text_of_input(value).strip() if isinstance(value, Scalar) else "")

    def _column_of_key(self, row: Row) -> str | None:
        if self.tree.key is not None:
            return self.tree.key.value
        names = {cell.name.value for cell in row.cells if isinstance(cell.value, Scalar)}
        return next((column for column in _KEY_COLUMNS if column in names), None)


def find_rows(source: Source, tree: ForEachTree, called: str, problems: Diagnostics) -> Rows | None:
    """The rows of a case; None if its file may not be read or is of another kind, which is reported."""
    if tree.file is None:
        return Rows(source=source, tree=tree, path=None, called=called)
    path = named_file(source, tree.file, problems)
    if path is None:
        return None
    if path.suffix.lower() not in _ENDINGS:
        finding = Finding("EV612", path=tree.file.value, reason="is no .csv, .json or .jsonl file")
        problems.add(source, tree.file.span, finding)
        return None
    if not os.path.lexists(path):
        problems.add(source, tree.file.span, Finding("EV600", path=tree.file.value, link=False))
        return None
    return Rows(source=source, tree=tree, path=path, stamp=_stamp_of(path), called=called)


def _stamp_of(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def say_nothing(_source: Source, _span: Span, _finding: Finding) -> None:
    """Report nothing: mistakes in rows are reported once, when they are first read."""


def _of_mapping(source: Source, row: Mapping) -> Row:
    cells = tuple(InputValue(name=Str(key.at, key.text), value=value) for key, value in row.pairs)
    return Row(source, row.pairs[0][0].span if row.pairs else row.span, cells)


# --- files -----------------------------------------------------------------------------------------------------------

_LONGEST_CELL: Final = 16_000_000


def csv_reader(lines: Iterable[str], delimiter: str = ",") -> _csv.Reader:
    """The rows of CSV (RFC 4180), with cells as long as anything that is worth asking; the module's own limit is short.

    Its `line_num` is how many lines it has read.
    """
    csv.field_size_limit(_LONGEST_CELL)
    return csv.reader(lines, delimiter=delimiter, strict=True)


class _Line(NamedTuple):
    number: int
    text: str


def _lines(file: BinaryIO, name: str, report: Report) -> Iterator[_Line]:
    """The lines with their ends. The first line that is not text ends the reading."""
    number = 0
    while data := file.readline(LONGEST_LINE + 1):
        number += 1
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if len(data) > LONGEST_LINE:
            reason = f"is longer than {LONGEST_LINE:,} bytes"
            report(_excerpt(name, number, "..."), Span(0, 3), Finding("EV613", reason=reason))
            return
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            at = len(data[: error.start].decode())
            source = _excerpt(name, number, data.decode(errors="replace"))
            report(source, Span(at, at + 1), Finding("EV605", byte=data[error.start]))
            return
        if "\0" in text:
            at = text.index("\0")
            report(_excerpt(name, number, text), Span(at, at + 1), Finding("EV613", reason="holds a NUL character"))
            return
        yield _Line(number, text)


def _excerpt(name: str, number: int, text: str) -> Source:
    return Source(name, text, first_line=number)


def _csv_rows(lines: Iterator[_Line], name: str, report: Report) -> Iterator[Row]:
    """The rows of a CSV file (RFC 4180), whose first one names the columns. Cells are texts."""
    pieces: list[_Line] = []

    def fed() -> Iterator[str]:
        for line in lines:
            pieces.append(line)
            yield line.text

    reader = csv_reader(fed())
    columns: list[str] | None = None
    while True:
        pieces.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            report(*_place(name, pieces), Finding("EV613", reason=f"is not CSV: {error}"))
            return
        if cells is None:
            return
        if not cells:
            continue  # an empty line
        source, span = _place(name, pieces)
        if columns is None:
            columns = cells
            fault = _fault_of_header(columns)
            if fault is not None:
                column, finding = fault
                report(source, list(csv_spans(source.text))[column], finding)
                return
        elif len(cells) != len(columns):
            reason = f"has {counted(len(cells), 'cell')}, and the header names {len(columns)} columns"
            report(source, span, Finding("EV613", reason=reason))
        else:
            values = zip(columns, cells, strict=True)
            yield Row(source, span, tuple(_cell(column, _text(cell, span), span) for column, cell in values))


def _fault_of_header(columns: list[str]) -> tuple[int, Finding] | None:
    """The first column that has no name or that of an earlier one, and what is said of it."""
    separator = next((mark for mark in (";", "\t") if len(columns) == 1 and mark in columns[0]), None)
    if separator is not None:
        shown = "tabs" if separator == "\t" else f"`{separator}`"
        return 0, Finding("EV613", reason=f"is the header, and its columns are separated by {shown}: use commas")
    for index, column in enumerate(columns):
        if not column.strip():
            return index, Finding("EV613", reason="is the header, and leaves a column without a name")
        if column in columns[:index]:
            return index, Finding("EV206", what="column", name=column)
    return None


def _place(name: str, pieces: list[_Line]) -> tuple[Source, Span]:
    """The lines of a row, and the first of them without its end."""
    text = "".join(line.text for line in pieces)
    number = pieces[0].number if pieces else 1
    return _excerpt(name, number, text), Span(0, len(pieces[0].text.rstrip("\r\n")) if pieces else 0)


def _cell(column: str, value: Node, span: Span) -> InputValue:
    return InputValue(name=Str(stretch_of(span), column), value=value)


def _text(value: str, span: Span) -> Scalar:
    return Scalar(stretch_of(span), value, "double")


def _json_rows(lines: Iterator[_Line], name: str, report: Report) -> Iterator[Row]:
    """The rows of a JSON Lines file: an object a line, values with their types."""
    for line in lines:
        if not line.text.strip():
            continue
        source, whole = _place(name, [line])
        span = Span(len(line.text) - len(line.text.lstrip()), whole.end)
        try:
            data = _JSON.decode(line.text)
        except RecursionError:
            report(source, span, Finding("EV613", reason="is nested too deep"))
        except json.JSONDecodeError as error:
            fault = fault_of(error, line.text)
            at = min(fault.start, span.end)
            reason = f"is not JSON: {fault.found}"
            report(source, Span(at, min(max(fault.end, at + 1), span.end)), Finding("EV613", reason=reason))
        except ValueError as error:
            report(source, span, Finding("EV613", reason=f"is not JSON: {error}"))
        else:
            half = next(half_characters(line.text, 0, len(line.text)), None) if "\\u" in line.text else None
            if half is not None:
                report(source, Span(half.start, half.end), half.finding)
            elif isinstance(data, dict):
                yield Row(source, span, tuple(_cell(key, _node(value, span), span) for key, value in data.items()))
            else:
                report(source, span, Finding("EV613", reason="is not a JSON object"))


_BEFORE_ITEM: Final = re.compile(r"[\s,]*")


def _objects(source: Source, report: Report) -> Iterator[_Line]:
    """The items of a list of JSON, each as a line with spaces in place of what is before it."""
    try:
        listed = _PLAIN.decode(source.text)
    except RecursionError:
        report(source, Span(0, 1), Finding("EV613", reason="is nested too deep"))
        return
    except json.JSONDecodeError as error:
        fault = fault_of(error, source.text)
        report(source, Span(fault.start, fault.end), Finding("EV613", reason=f"is not JSON: {fault.found}"))
        return
    if not isinstance(listed, list):
        reason = "is not in a list: a .json file of rows is a list of objects"
        report(source, Span(0, 1), Finding("EV613", reason=reason))
        return
    end = source.text.index("[") + 1
    for _ in listed:
        before = _BEFORE_ITEM.match(source.text, end)
        start = end if before is None else before.end()
        _, end = _PLAIN.raw_decode(source.text, start)
        line, column = source.position(start)
        yield _Line(line, " " * (column - 1) + source.text[start:end])


def _json_columns(lines: Iterator[_Line]) -> frozenset[str]:
    """The names that the objects of a JSON Lines file have; what is wrong with a line is reported with its row."""
    columns: set[str] = set()
    for line in lines:
        try:
            data = _JSON.decode(line.text)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            columns.update(data)
    return frozenset(columns)


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


def _refuse(word: str) -> object:
    raise ValueError(f"`{word}` is not a number of JSON")


_JSON: Final = json.JSONDecoder(
    parse_int=_Number, parse_float=_Number, parse_constant=_refuse, object_pairs_hook=unique_keys
)


_PLAIN: Final = json.JSONDecoder(parse_int=str)


def _node(value: Any, span: Span) -> Node:
    """A value of JSON as a node; its place is that of its row."""
    at = stretch_of(span)
    match value:
        case _Number():
            return Scalar(at, str(value), "plain")
        case str():
            return _text(value, span)
        case list():
            return Sequence(at, tuple(_node(item, span) for item in value))
        case dict():
            pairs = tuple((_text(key, span), _node(item, span)) for key, item in value.items())
            return Mapping(at, pairs)
        case None:
            return Scalar(at, "null", "plain")
        case _:
            return Scalar(at, "true" if value else "false", "plain")


# --- places of cells -------------------------------------------------------------------------------------------------

_CELL: Final = re.compile(r'"[^"]*(?:""[^"]*)*"|[^,\r\n]*')


def _placed_csv(row: Row) -> Iterator[InputValue]:
    for cell, span in zip(row.cells, csv_spans(row.source.text), strict=True):
        yield _cell(cell.name.value, _at(cell.value, span), span)


def csv_spans(text: str) -> Iterator[Span]:
    """The places of the cells of a row of CSV, quotes included."""
    at = 0
    while (cell := _CELL.match(text, at)) is not None:
        yield Span(*cell.span())
        at = cell.end() + 1
        if not text.startswith(",", cell.end()):
            return


def _placed_json(row: Row) -> Iterator[InputValue]:
    places = JsonPlaces(row.source)
    for cell in row.cells:
        pointer = f"/{pointer_step(cell.name.value)}"
        yield _cell(cell.name.value, _placed(cell.value, places, pointer), places.key(pointer))


def _placed(node: Node, places: JsonPlaces, pointer: str) -> Node:
    moved: Node = _at(node, places.value(pointer))
    match moved:
        case Scalar():
            return moved
        case Sequence(items=items):
            placed = tuple(_placed(item, places, f"{pointer}/{index}") for index, item in enumerate(items))
            return msgspec.structs.replace(moved, items=placed)
        case Mapping(pairs=pairs):
            inner = ((key, value, f"{pointer}/{pointer_step(key.text)}") for key, value in pairs)
            members = tuple((_at(key, places.key(at)), _placed(value, places, at)) for key, value, at in inner)
            return msgspec.structs.replace(moved, pairs=members)
        case _:
            assert_never(moved)


def _at(node: N, span: Span) -> N:
    return msgspec.structs.replace(node, at=stretch_of(span))
