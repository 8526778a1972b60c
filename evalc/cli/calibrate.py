"""`evalc calibrate`: measures how far a judge agrees with the labels of a CSV file."""

from __future__ import annotations

import asyncio
import csv
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evalc.base.errors import JudgeError, UsageError
from evalc.base.files import JSON_LIMIT, read_limited
from evalc.base.guard import exits_reported, watched
from evalc.base.source import Source
from evalc.base.terminal import Screen, counted, visible
from evalc.cli.ending import lent_streams, print_error, print_warning, supervise
from evalc.compare.means import Calibration, Estimate, LabelledAnswer, Unjudged, calibration_of
from evalc.compiler.rows import csv_reader, csv_spans
from evalc.config import Settings
from evalc.diagnostics.near import did_you_mean, listed
from evalc.model.answer import Exhibit, Question
from evalc.model.numbers import number_in, outward, rounded
from evalc.report.progress import Progress
from evalc.runtime.judges.panel import JudgePool, Meter, Panel
from evalc.runtime.run.engine import local_models
from evalc.runtime.store.redact import encoded, redacted
from evalc.setup.runner import panel_of, redactor_of, runs_code_of_others

_MOST_SHOWN: Final = 20


def calibrated(labels: str, settings: Settings) -> Calibration | None:
    """Let the judge score the answers of a CSV file; None if the file has mistakes, which are printed."""
    faults: list[str] = []
    rows = read_labels(labels, faults)
    if faults:
        for fault in faults:
            print_error(fault)
        return None
    panel = panel_of(settings, os.environ, redactor_of(settings, os.environ))
    if panel is None:
        raise UsageError("no judge is named: use `--judge`, or `judge` in the configuration")
    if runs_code_of_others(settings):
        supervise(settings.judge.timeout_ms, lambda: "")
    with lent_streams():
        return asyncio.run(_scored(rows, panel))


async def _scored(rows: Sequence[Labelled], panel: Panel) -> Calibration:
    pairs: list[LabelledAnswer] = []
    unlabelled: list[float] = []
    unjudged: list[Unjudged] = []
    blocked: list[str] = []
    meter = Meter()
    with (
        exits_reported(),
        watched(blocked),
        Progress(sys.stderr, Screen.of(sys.stderr, os.environ), drawn=sys.stderr.isatty()) as progress,
    ):
        async with local_models((), panel, progress), JudgePool(panel) as judges:
            for row in rows:
                _, shown = redacted(row.exhibit, encoded(row.exhibit), panel.redactor)
                try:
                    judged = await judges.score(row.question, msgspec.json.decode(shown, type=Exhibit), meter)
                except JudgeError as error:
                    unjudged.append(Unjudged(line=row.line, case=row.case, error=str(error)))
                    continue
                if row.label is None:
                    unlabelled.append(judged.score / judged.max_score)
                else:
                    pairs.append(
                        LabelledAnswer(
                            line=row.line,
                            case=row.case,
                            label=row.label,
                            score=judged.score,
                            max_score=judged.max_score,
                            reason=judged.reason,
                            length=len(row.exhibit.response),
                        )
                    )
    partly = [f"{fact}: {counted(n, 'answer')} scored by the others" for fact, n in Counter(meter.unscored).items()]
    for warning in (*blocked, *partly):
        print_warning(warning)
    return calibration_of(panel.names, pairs, unjudged, unlabelled)


def lines_of(found: Calibration) -> Iterator[str]:
    """The calibration as lines for a terminal."""
    yield f"{', '.join(map(visible, found.judges))} on {found.answers} labelled answers"
    yield f"  accuracy        {_share(found.accuracy)}"
    yield f"  kappa           {_share(found.kappa)}"
    yield f"  weighted kappa  {_share(found.weighted_kappa)}"
    if found.uncorrected is not None:
        mean = rounded(found.uncorrected)
        yield f"  {found.unlabelled} answers without a label: mean score {mean}{_corrected(found)}"
    if found.length_bias is not None:
        yield f"  {_length_bias(found.length_bias)}"
    if found.confusion:
        yield "  label  score  answers"
        yield from (f"  {each.label:>5g}  {each.score:>5g}  {each.count:>7}" for each in found.confusion)
    for pair in found.disagreements[:_MOST_SHOWN]:
        reason = f": {visible(pair.reason)}" if pair.reason else ""
        yield f"  line {pair.line}, {visible(pair.case)}: label {pair.label:g}, score {pair.score:g}{reason}"
    if (more := len(found.disagreements) - _MOST_SHOWN) > 0:
        yield f"  ... and {more} more disagreements: --json lists them all"
    yield from (f"  line {each.line}, {visible(each.case)}: no score: {visible(each.error)}" for each in found.unjudged)


def _corrected(found: Calibration) -> str:
    if found.corrected is None:
        return ", which too few labels correct"
    mean = found.corrected
    return (
        f", corrected by the labels {rounded(mean.value)} (95 % interval {' to '.join(outward(mean.low, mean.high))})"
    )


def _length_bias(bias: Estimate) -> str:
    """A sentence on the correlation of score minus label with the answer's length."""
    words = f"r = {bias.value:.2f}, 95 % interval {' to '.join(outward(bias.low, bias.high))}"
    if bias.low <= 0 <= bias.high:
        return f"no length bias is shown ({words})"
    return f"length bias: {'longer' if bias.value > 0 else 'shorter'} answers are scored too high ({words})"


def _share(value: float | None) -> str:
    return "unknown" if value is None else rounded(value)


# --- the file --------------------------------------------------------------------------------------------------------

COLUMNS: Final = ("case", "message", "question", "criterion", "response", "reference", "maxScore", "label")
_REQUIRED: Final = ("response", "label")


class Labelled(NamedTuple):
    """An answer with its label, None if nobody has labelled it; `line` is where its row begins, from 1."""

    line: int
    case: str
    question: Question
    exhibit: Exhibit
    label: int | float | None


def read_labels(path: str, faults: list[str]) -> Sequence[Labelled]:
    """The rows; mistakes are added to the faults, a line each: `file:line:column: what is wrong`."""
    try:
        text = read_limited(Path(path), JSON_LIMIT).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise UsageError(f"`{path}` cannot be read: {why}") from None
    rows = [row for row in _rows(path, text, faults) if row is not None]
    if not faults and all(row.label is None for row in rows):
        raise UsageError(f"`{path}` has no labelled answers")
    return rows


class _Record(NamedTuple):
    """A row of the file, with the lines that it is on, and the faults of the file."""

    source: Source
    cells: list[str]
    faults: list[str]

    def report(self, column: int, what: str) -> None:
        """Report what is wrong with a cell, at its place."""
        spans = list(csv_spans(self.source.text))
        place = self.source.position(spans[column].start if column < len(spans) else 0)
        self.faults.append(f"{self.source.name}:{place.line}:{place.column}: {what}")


def _rows(name: str, text: str, faults: list[str]) -> Iterator[Labelled | None]:
    records = _records(name, text, faults)
    header = next(records, None)
    if header is None:
        return
    columns = header.cells
    for index, column in enumerate(columns):
        if column not in COLUMNS:
            meant = did_you_mean(column, COLUMNS) or f"there are {listed(COLUMNS)}"
            header.report(index, f"no column `{column}` is known: {meant}")
        elif column in columns[:index]:
            header.report(index, f"the column `{column}` is there twice")
    missing = [column for column in _REQUIRED if column not in columns]
    if missing and not faults:
        header.report(0, f"the header lacks the column `{missing[0]}`")
    if faults:
        return
    for record in records:
        count = len(record.cells)
        if count == len(columns):
            yield _labelled(record, columns)
        else:
            record.report(0, f"{counted(count, 'cell')}, and the header names {len(columns)} columns")


def _records(name: str, text: str, faults: list[str]) -> Iterator[_Record]:
    """The records that are not empty."""
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
            yield _Record(Source(name, "".join(pieces), first_line=first), cells, faults)


def _labelled(record: _Record, columns: list[str]) -> Labelled | None:
    cells = dict(zip(columns, record.cells, strict=True))
    top = _number("maxScore", record, columns) if cells.get("maxScore", "").strip() else 1
    unlabelled = not cells["label"].strip()
    label = None if unlabelled else _number("label", record, columns)
    if top is None or (label is None and not unlabelled):
        return None
    if top == 0:
        return record.report(columns.index("maxScore"), "`maxScore` has to be above 0")
    if label is not None and label > top:
        return record.report(columns.index("label"), f"the label {label} is above the scale's {top}")
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


def _number(column: str, record: _Record, columns: list[str]) -> int | float | None:
    """The number from 0 in a cell; None if there is none, which is reported."""
    index = columns.index(column)
    text = record.cells[index]
    number = number_in(text)
    if number is not None and number >= 0:
        return number
    return record.report(index, f"`{column}` must be a number from 0, not `{text[:40]}`")
