"""Reads the CSV file of labelled answers that `evalc calibrate` takes."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from evalc.base.errors import UsageError
from evalc.base.files import read_limited
from evalc.base.source import Source
from evalc.base.terminal import counted
from evalc.compiler.rows import csv_reader, csv_spans
from evalc.diagnostics.near import did_you_mean, listed
from evalc.model.answer import Exhibit, Question

COLUMNS: Final = ("case", "message", "question", "criterion", "response", "reference", "maxScore", "label")
_REQUIRED: Final = ("response", "label")

_LARGEST: Final = 256_000_000


class BadLabels(UsageError):
    """The file has mistakes.

    Attributes:
        faults: a line each, `file:line:column: what is wrong`.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


class Labelled(NamedTuple):
    """An answer with its label, None if nobody has labelled it; `line` is where its row begins, from 1."""

    line: int
    case: str
    question: Question
    exhibit: Exhibit
    label: int | float | None


def read_labels(path: str) -> tuple[Labelled, ...]:
    """The rows.

    Raises:
        UsageError: the file cannot be read, or has no rows.
        BadLabels: it has mistakes.
    """
    try:
        text = read_limited(Path(path), _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise UsageError(f"`{path}` cannot be read: {why}") from None
    faults: list[str] = []
    rows = tuple(row for row in _rows(path, text, faults) if row is not None)
    if faults:
        raise BadLabels(faults)
    if all(row.label is None for row in rows):
        raise UsageError(f"`{path}` has no labelled answers")
    return rows


class _Record(NamedTuple):
    source: Source
    cells: list[str]

    def fault(self, column: int, what: str) -> str:
        """A message about a cell, at its place."""
        spans = list(csv_spans(self.source.text))
        place = self.source.position(spans[column].start if column < len(spans) else 0)
        return f"{self.source.name}:{place.line}:{place.column}: {what}"


def _rows(name: str, text: str, faults: list[str]) -> Iterator[Labelled | None]:
    records = _records(name, text, faults)
    header = next(records, None)
    if header is None or not _is_header(header, faults):
        return
    for record in records:
        count = len(record.cells)
        if count != len(header.cells):
            faults.append(
                record.fault(0, f"{counted(count, 'cell')}, and the header names {len(header.cells)} columns")
            )
        else:
            yield _labelled(record, header.cells, faults)


def _records(name: str, text: str, faults: list[str]) -> Iterator[_Record]:
    """The records that are not empty, each with the lines that it is on."""
    pieces: list[str] = []

    def fed() -> Iterator[str]:
        for line in text.splitlines(keepends=True):
            pieces.append(line)
            yield line

    reader = csv_reader(fed())
    while True:
        first = reader.line_num + 1
        pieces.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            faults.append(f"{name}:{first}:1: not CSV: {error}")
            return
        if cells is None:
            return
        if cells:
            yield _Record(Source(name, "".join(pieces), first_line=first), cells)


def _is_header(header: _Record, faults: list[str]) -> bool:
    for index, column in enumerate(header.cells):
        if column not in COLUMNS:
            near = did_you_mean(column, COLUMNS)
            faults.append(
                header.fault(index, f"no column `{column}` is known: {near or f'there are {listed(COLUMNS)}'}")
            )
        elif column in header.cells[:index]:
            faults.append(header.fault(index, f"the column `{column}` is there twice"))
    missing = [column for column in _REQUIRED if column not in header.cells]
    if missing and not faults:
        faults.append(header.fault(0, f"the header lacks the column `{missing[0]}`"))
    return not faults


def _labelled(record: _Record, columns: list[str], faults: list[str]) -> Labelled | None:
    cells = dict(zip(columns, record.cells, strict=True))
    top = _number("maxScore", cells, record, columns, faults, default=1)
    unlabelled = not cells["label"].strip()
    label = None if unlabelled else _number("label", cells, record, columns, faults)
    if top is None or (label is None and not unlabelled):
        return None
    if top == 0:
        faults.append(record.fault(columns.index("maxScore"), "`maxScore` has to be above 0"))
        return None
    if label is not None and label > top:
        faults.append(record.fault(columns.index("label"), f"the label {label} is above the scale's {top}"))
        return None
    line = record.source.first_line
    return Labelled(
        line=line,
        case=cells.get("case") or f"line {line}",
        question=Question(name=cells.get("criterion") or "quality", criteria=cells.get("question", ""), max_score=top),
        exhibit=Exhibit(
            message=cells.get("message", ""), response=cells["response"], expected=cells.get("reference") or None
        ),
        label=label,
    )


def _number(
    column: str,
    cells: Mapping[str, str],
    record: _Record,
    columns: list[str],
    faults: list[str],
    *,
    default: int | None = None,
) -> int | float | None:
    """The number from 0 in a cell; None if there is none, which is reported."""
    text = cells.get(column, "").strip()
    if not text and default is not None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number) and number >= 0:
        return int(number) if number.is_integer() else number
    faults.append(record.fault(columns.index(column), f"`{column}` must be a number from 0, not `{text[:40]}`"))
    return None
