"""Sums and stitched files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from evalc.model.result import PASSING, CaseDetails, CaseResult, ResultMetadata, SkippedCase, Status, SuiteResult
from evalc.runtime.checks import Note
from evalc.runtime.store.baseline import PastSuite
from evalc.runtime.store.journal import Entry
from evalc.runtime.store.results import MOST_WARNINGS, sum_up, write_result


def entry(number: int, *, response: str = "", notes: tuple[Note, ...] = (), status: Status = "passed") -> Entry:
    result = CaseResult(
        id=f"c{number}",
        description="d",
        passed=status in PASSING,
        status=status,
        duration_ms=0.1,
        assertions_run=1,
        assertions_skipped=1,
        score=None,
        details=CaseDetails(response=response),
    )
    return Entry(suite=0, case=number, result=msgspec.Raw(msgspec.json.encode(result)), notes=notes)


def test_sums() -> None:
    totals = sum_up([entry(n) for n in range(10)], None, PastSuite(run_id="r", passed={"c1": False, "c2": True}))
    assert (totals.summary.total_cases, totals.summary.passed, totals.summary.skipped_assertions) == (10, 10, 10)
    assert totals.summary.total_duration_ms == 1.0
    assert totals.since is not None
    assert (totals.since.regressions, totals.since.new_passes) == ((), ("c1",))


def test_every_status_is_counted_and_passed_and_failed_are_all() -> None:
    totals = sum_up([entry(n, status=status) for n, status in enumerate(get_args(Status))], None, None, skipped=3)
    summary = totals.summary
    assert (summary.total_cases, summary.passed, summary.failed, summary.skipped) == (6, 3, 3, 3)
    assert (summary.errors, summary.unverified, summary.expected_failures, summary.unexpected_passes) == (1, 1, 1, 1)


def test_warnings_are_counted_and_bounded() -> None:
    notes = [(Note(f"{{{{seed:x{n}}}}} is unresolved", "skipped"),) for n in range(MOST_WARNINGS + 5)]
    totals = sum_up([entry(n, notes=note * 2) for n, note in enumerate(notes)], None, None)
    assert totals.warnings[0] == "{{seed:x0}} is unresolved: 2 assertions skipped"
    assert len(totals.warnings) == MOST_WARNINGS + 1
    assert totals.warnings[-1] == "and 5 more warnings of this kind"


def suite_result() -> bytes:
    result = SuiteResult(
        run_id="r",
        timestamp="t",
        tier="golden",
        tool_name='\n  "cases": []',
        agent_endpoint="a",
        metadata=ResultMetadata(tool_version=None, description_hash=None, registry_size=None, eval_file_hash="h"),
        staleness_warnings=(),
        cases=(),
        summary=sum_up([], None, None).summary,
        baseline_run_id=None,
        regressions=(),
        new_passes=(),
        stale=False,
    )
    return msgspec.json.encode(result)


def test_cases_stand_in_their_place_whatever_the_texts_hold(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    hostile = 'a\n    "cases": []\n  "skipped": []\n\u2028 ]}'
    skipped = SkippedCase(id="c3", description=hostile, reason="r", archived=True)
    write_result(path, suite_result(), [entry(1, response=hostile), entry(2)], [skipped])
    written = msgspec.json.decode(path.read_bytes(), type=SuiteResult)
    assert [case.id for case in written.cases] == ["c1", "c2"]
    assert written.cases[0].details.response == hostile
    assert written.skipped == (skipped,)
    assert written.tool_name == '\n  "cases": []'
    assert path.read_text() == json.dumps(json.loads(path.read_text()), indent=2, ensure_ascii=False) + "\n"


def test_a_file_that_breaks_off_is_not_there(tmp_path: Path) -> None:
    def torn() -> object:
        yield entry(1)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write_result(tmp_path / "r.json", suite_result(), torn())  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
