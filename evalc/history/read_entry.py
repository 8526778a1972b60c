"""From a result file, of whichever runner, to its entry in the history."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from evalc.compare.past import Measure
from evalc.errors import UsageError
from evalc.model.history import HistoryEntry
from evalc.runtime.run.finished import FinishedSuite
from evalc.runtime.run.run_id import began_at
from evalc.runtime.store.past.results import read_result
from evalc.runtime.store.past.runs import age

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class _Read(msgspec.Struct, frozen=True, rename="camel"):
    pass


class _Criterion(_Read, frozen=True):
    name: str
    score: Measure | None = None


class _Summary(_Read, frozen=True):
    total_cases: _Count
    passed: _Count
    errors: _Count = 0
    score: Measure | None = None
    estimated_cost_usd: Measure | None = None
    total_duration_ms: Measure | None = None
    criteria: tuple[_Criterion, ...] = ()


class _Case(_Read, frozen=True, gc=False):
    id: Any = ""


class _Result(_Read, frozen=True):
    """What the history needs of an EvalSuiteResult."""

    tool_name: str
    tier: str
    summary: _Summary
    cases: tuple[_Case, ...] = ()
    run_id: str | None = None
    timestamp: str | None = None
    agent_endpoint: str = ""
    selected: Any = None
    stopped: str | None = None
    rescored_from: str | None = None


def read_entry(folder: Path, file: str) -> HistoryEntry | None:
    """The entry of a file in a run's folder; None where it is no result of a suite."""
    try:
        found = read_result(folder / file, _Result)
        return _entry(folder, file, found, str(found.cases[0].id) if found.cases else "")
    except (UsageError, OSError):
        return None


def entry_of(folder: Path, file: str, finished: FinishedSuite) -> HistoryEntry:
    """The entry of a result that is written to the file and still at hand."""
    result = msgspec.structs.replace(finished.result, cases=())
    first = next((case.id for case in finished.cases()), "")
    return _entry(folder, file, msgspec.convert(msgspec.to_builtins(result), _Result), first)


def _entry(folder: Path, file: str, result: _Result, first_case: str) -> HistoryEntry:
    name, slash, _ = first_case.partition("/")
    began = _time(result.timestamp) or _time_of(folder)
    summary = result.summary
    return HistoryEntry(
        run=folder.name,
        file=file,
        run_id=result.run_id or folder.name,
        timestamp=began.isoformat(timespec="seconds").replace("+00:00", "Z"),
        began=(began_at(folder.name) if result.run_id == folder.name else None) or began.timestamp(),
        tool_name=result.tool_name,
        tier=result.tier,
        suite=name if slash else None,
        agent_endpoint=result.agent_endpoint,
        total_cases=summary.total_cases,
        passed=summary.passed,
        errors=summary.errors,
        score=summary.score,
        estimated_cost_usd=summary.estimated_cost_usd,
        total_duration_ms=summary.total_duration_ms,
        criteria={criterion.name: criterion.score for criterion in summary.criteria},
        partial=result.selected is not None or result.stopped is not None,
        rescored=result.rescored_from is not None,
    )


def _time(timestamp: str | None) -> datetime | None:
    """The time, where the text is one. One without a zone is UTC."""
    try:
        parsed = datetime.fromisoformat(timestamp or "")
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _time_of(folder: Path) -> datetime:
    """When the run of a folder began, by its name or its own time; an id may name a time that no calendar has."""
    try:
        return datetime.fromtimestamp(age(folder)[0], UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)
