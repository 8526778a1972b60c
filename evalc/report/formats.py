"""Reports for programs: CSV, SARIF, annotations of GitHub Actions."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import UNSET

from evalc import __version__
from evalc.base.files import below_working_folder
from evalc.base.terminal import (
    SCHEMA,
    annotation,
    artifact_location,
    counted,
    message_text,
    visible,
)
from evalc.model.result import PASSING, CaseResult, SkippedCase, SuiteResult
from evalc.model.suite import key_of
from evalc.report import ReportedRun, message_of, said_in, transcript
from evalc.report.words import (
    Reason,
    legible,
    main_reason,
    missing_lines,
    not_met,
    place_of,
    reasons,
    why_skipped,
)

# --- tables of cases -------------------------------------------------------------------------------------------------

Cell = str | float | int | None


def cells_of(suite: SuiteResult, case: CaseResult | SkippedCase) -> dict[str, Cell]:
    """The columns of a case that all tables have; a case that was not run has only some of them."""
    known: dict[str, Cell] = {
        "suite": key_of(suite).name,
        "tier": suite.tier,
        "agent": suite.agent_endpoint,
        "tool": suite.tool_name,
        "case": case.id,
        "description": case.description,
    }
    if isinstance(case, SkippedCase):
        return {**known, "status": "skipped", "reason": why_skipped(case)}
    reason, place = main_reason(case), place_of(case)
    return {
        **known,
        "variant": case.variant or None,
        "status": case.status,
        "score": case.score,
        "duration_ms": case.duration_ms,
        "reason": None if reason is None else reason.in_short(),
        "file": None if place is None else place.file,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "message": message_of(case, None if reason is None else reason.turn),
        "response": case.details.response,
        "transcript": transcript(case) if any(said_in(case)) else None,
        "row_file": case.row.file if case.row else None,
        "row_line": case.row.line if case.row else None,
        "expected": case.label.expected if case.label else None,
        "predicted": case.label.predicted if case.label else None,
        "not_attempted": case.not_attempted or None,
    }


COLUMNS: Final = (
    *("suite", "tier", "agent", "case", "status", "passed", "score", "duration_ms", "file", "line", "column", "reason"),
    *("description", "variant", "tags", "attempts_passed", "attempts", "flaky", "criteria", "tools_called", "response"),
    *("not_attempted", "tool", "message", "expected", "predicted", "row_file", "row_line", "transcript"),
)
"""The columns of the CSV in their order; new ones are added at the end."""

_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that begin a formula in some spreadsheet; the last four are the full-width forms of the first."""

_LONGEST_CELL: Final = 30_000
"""Spreadsheets take 32,767 characters."""


def csv_table(run: ReportedRun) -> Iterator[bytes]:
    """CSV (RFC 4180): the header, then a row per case, cases that were not run after the others of their suite.

    It is UTF-8 without a BOM. A text that a spreadsheet would take for a formula gets an apostrophe in front of it.
    """
    yield _csv_row(COLUMNS)
    for row in rows_of(run):
        yield _csv_row([row.get(column) for column in COLUMNS])


def rows_of(run: ReportedRun) -> Iterator[dict[str, Cell]]:
    """A row of the CSV for each case, by the columns that it has."""
    for suite in run.suites:
        yield from (cells_of(suite.result, case) | _csv_cells(case) for case in suite.cases)
        yield from (cells_of(suite.result, skipped) for skipped in suite.skipped)


def _csv_cells(case: CaseResult) -> dict[str, Cell]:
    attempts = case.attempts or ()
    scores = (f"{each.name}={'' if each.score is None else f'{each.score:.4g}'}" for each in case.criteria)
    return {
        "passed": str(case.passed).lower(),
        "tags": "; ".join(case.tags or ()),
        "attempts_passed": sum(attempt.status in PASSING for attempt in attempts) if attempts else None,
        "attempts": len(attempts) or None,
        "flaky": None if case.flaky is UNSET else str(case.flaky).lower(),
        "criteria": "; ".join(scores),
        "tools_called": "; ".join(case.details.tools_called),
    }


def _csv_row(cells: Sequence[Cell]) -> bytes:
    """The cells with a line end. All texts are quoted, so that none is split where another separator is usual."""
    line = io.StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n").writerow(map(_guarded, cells))
    return line.getvalue().encode()


def _guarded(cell: Cell) -> str | float | int:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return cell
    text = legible(cell, _LONGEST_CELL)
    return f"'{text}" if text.startswith(_FORMULAS) else text


# --- SARIF -----------------------------------------------------------------------------------------------------------

_RULES: Final = {
    "failed": "The case failed: a check does not hold, or no answer came in time",
    "error": "The case ended in an error: the agent, a judge or a check broke",
    "unexpected-pass": "The case passed, though its failure is expected",
}
_MOST_REASONS: Final = 20


def sarif(run: ReportedRun) -> Iterator[bytes]:
    """The log in SARIF 2.1.0 and ASCII, a case at a time: its main reason, then the others, each a result."""
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}
        for name, text in _RULES.items()
    ]
    driver = {"name": "evalc", "version": __version__, "rules": rules}
    frame = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", **_notifications(run), "results": []}
    head, key, tail = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [frame]}).partition('"results": [')
    yield (head + key).encode()
    separator = "\n"
    for suite, case in run.not_passed():
        # A result of another runner may have no reason.
        for reason in [*islice(reasons(case), _MOST_REASONS)] or [Reason(case.status, case.place or None)]:
            yield f"{separator}{json.dumps(_result(case, reason, run.name_of(suite)))}".encode()
            separator = ",\n"
    yield f"\n{tail}\n".encode()


def _notifications(run: ReportedRun) -> dict[str, Any]:
    """Cases missing since the baseline, and warnings of the suites and the run."""
    texts = (*missing_lines(run), *run.all_warnings())
    notes = [{"level": "warning", "message": {"text": message_text(visible(text))}} for text in texts]
    return {"invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}]} if notes else {}


def _result(case: CaseResult, reason: Reason, suite: str) -> dict[str, Any]:
    # The same for the same check of a case, wherever it is in its file and whatever the agent said.
    name = f"{suite}\n{case.id}\n{reason.at or ''}".encode("utf-8", "surrogatepass")
    result: dict[str, Any] = {
        "ruleId": case.status,
        "ruleIndex": list(_RULES).index(case.status),
        "level": "error",
        "message": {"text": message_text(f"{visible(case.id)}: {reason.in_short()}")},
        "partialFingerprints": {"check/v1": hashlib.sha256(name).hexdigest()[:16]},
    }
    if reason.place is not None:
        region = {"startLine": reason.place.line, "startColumn": reason.place.column}
        physical = {"artifactLocation": artifact_location(reason.place.file), "region": region}
        result["locations"] = [{"physicalLocation": physical}]
    return result


# --- annotations of GitHub Actions -----------------------------------------------------------------------------------

_MOST_SHOWN: Final = 10
"""The errors that GitHub shows of a step, and the warnings, the first of each; the log has all errors."""


def github(run: ReportedRun) -> Iterator[bytes]:
    """A command for each gate that is not met and each reason why a case did not pass, at the line of its check.

    The main reasons of all cases come before the others, so that the ten that GitHub shows are about as many cases as
    they can; a notice says how many it does not show. The first ten warnings of the suites and the run follow.
    """
    fails = any(gate.missing and not gate.passed for gate in run.all_gates)
    unmet = (_annotated("error", words) for words in not_met(run))
    missing = (_annotated("error" if fails else "warning", words) for words in missing_lines(run))
    failures = starmap(_at_its_line, chain(_reasons(run, 0, 1), _reasons(run, 1, _MOST_REASONS)))
    count = 0
    for command in chain(unmet, missing, failures):
        count += 1
        yield _written(command)
    if count > _MOST_SHOWN:
        left_out = f"{counted(count - _MOST_SHOWN, 'more error')}: GitHub shows the first {_MOST_SHOWN}"
        yield _written(_annotated("notice", f"{left_out}, the log has all"))
    for warning in islice(run.all_warnings(), _MOST_SHOWN):
        yield _written(_annotated("warning", warning))


def _reasons(run: ReportedRun, first: int, stop: int) -> Iterator[tuple[CaseResult, Reason]]:
    return ((case, reason) for _, case in run.not_passed() for reason in islice(reasons(case), first, stop))


def _annotated(level: Literal["error", "warning", "notice"], words: str) -> str:
    return annotation(level, {"title": "evalc"}, [words])


def _at_its_line(case: CaseResult, reason: Reason) -> str:
    properties = {"title": f"{case.id}: {case.status}"}
    if reason.place is not None:
        place = reason.place
        file = below_working_folder(Path(place.file)).as_posix()
        properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
    return annotation("error", properties, [reason.in_short()])


def _written(command: str) -> bytes:
    return f"{command}\n".encode(errors="backslashreplace")


WRITERS: Final[dict[str, Callable[[ReportedRun], Iterator[bytes]]]] = {
    "csv": csv_table,
    "github": github,
    "sarif": sarif,
}
"""The function that writes each format."""
