"""The CSV report: a row for each case (RFC 4180), in which no cell becomes a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET

from evalc.model.result import PASSING, CaseResult, SkippedCase, SuiteResult
from evalc.model.suite import key_of
from evalc.report.reported import ReportedRun
from evalc.report.words import legible, main_reason, place_of

COLUMNS: Final = (
    "suite",
    "tier",
    "agent",
    "case",
    "status",
    "passed",
    "score",
    "duration_ms",
    "file",
    "line",
    "column",
    "reason",
    "description",
    "variant",
    "tags",
    "attempts_passed",
    "attempts",
    "flaky",
    "criteria",
    "tools_called",
    "response",
    "not_attempted",
    "tool",
)
"""The columns in their order; new ones are added at the end."""

_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that begin a formula in some spreadsheet; the last four are the full-width forms of the first."""

_LONGEST_CELL: Final = 30_000
"""Spreadsheets take 32,767 characters."""

Cell = str | float | int | None


def render(run: ReportedRun) -> Iterator[bytes]:
    """The header, then a row per case, cases that were not run after the others of their suite; UTF-8 without a BOM.

    A text that a spreadsheet would take for a formula gets an apostrophe in front of it.
    """
    yield _row(COLUMNS)
    for suite in run.suites:
        yield from (_row(_case(case, suite.result)) for case in suite.cases)
        yield from (_row(_not_run(skipped, suite.result)) for skipped in suite.skipped)


def _case(case: CaseResult, suite: SuiteResult) -> tuple[Cell, ...]:
    reason = main_reason(case)
    place = place_of(case)
    attempts = () if case.attempts is UNSET else case.attempts
    return (
        key_of(suite).name,
        suite.tier,
        suite.agent_endpoint,
        case.id,
        case.status,
        _flag(case.passed),
        case.score,
        case.duration_ms,
        None if place is None else place.file,
        None if place is None else place.line,
        None if place is None else place.column,
        None if reason is None else reason.in_short(),
        case.description,
        case.variant or None,
        _listed(case.tags or ()),
        sum(attempt.status in PASSING for attempt in attempts) if attempts else None,
        len(attempts) or None,
        None if case.flaky is UNSET else _flag(case.flaky),
        _listed(f"{each.name}={'' if each.score is None else f'{each.score:.4g}'}" for each in case.criteria),
        _listed(case.details.tools_called),
        case.details.response,
        case.not_attempted or None,
        suite.tool_name,
    )


def _not_run(skipped: SkippedCase, suite: SuiteResult) -> tuple[Cell, ...]:
    known: dict[str, Cell] = {
        "suite": key_of(suite).name,
        "tier": suite.tier,
        "agent": suite.agent_endpoint,
        "case": skipped.id,
        "status": "skipped",
        "reason": f"archived: {skipped.reason}" if skipped.archived else skipped.reason,
        "description": skipped.description,
        "tool": suite.tool_name,
    }
    return tuple(known.get(column) for column in COLUMNS)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _listed(items: Iterable[str]) -> str:
    return "; ".join(items)


def _row(cells: Sequence[Cell]) -> bytes:
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
