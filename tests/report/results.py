"""Results for tests of reports, as small as a test wants them."""

from __future__ import annotations

import msgspec

from evalc.model.result import (
    PASSING,
    AssertionResult,
    AttemptResult,
    CaseDetails,
    CaseResult,
    CriterionSummary,
    ResultMetadata,
    RunSummary,
    SkippedCase,
    Status,
    SuiteResult,
    Summary,
)
from evalc.model.suite import Place


def case(
    identity: str,
    description: str = "says so",
    duration: float = 100,
    *,
    status: Status = "passed",
    error: str | None = None,
    assertions: tuple[AssertionResult, ...] = (),
    place: Place | None = None,
    skipped_tokens: tuple[str, ...] = (),
    expected_failure: str | None = None,
    attempts: tuple[Status, ...] = (),
) -> CaseResult:
    """One case's result."""
    outcomes = {attempt in PASSING for attempt in attempts}
    said = [each.at for each in assertions if (error or "").endswith(f"{each.field}: {each.message}")]
    return CaseResult(
        id=identity,
        description=description,
        passed=status in PASSING,
        status=status,
        duration_ms=duration,
        assertions_run=1,
        assertions_skipped=0,
        score=None,
        error=msgspec.UNSET if error is None else error,
        error_at=said[0] if said else msgspec.UNSET,
        timed_out=True if error is not None and error.startswith("timeout:") else msgspec.UNSET,
        expected_failure=msgspec.UNSET if expected_failure is None else expected_failure,
        flaky=len(outcomes) > 1 if attempts else msgspec.UNSET,
        details=CaseDetails(skipped_tokens=skipped_tokens),
        assertions=assertions,
        attempts=tuple(map(attempt, attempts)) or msgspec.UNSET,
        place=msgspec.UNSET if place is None else place,
    )


def attempt(status: Status) -> AttemptResult:
    """One attempt at a case that is repeated."""
    return AttemptResult(status=status, duration_ms=50, score=None, response="a")


def suite(
    *cases: CaseResult,
    tool: str = "get_weather",
    tier: str = "golden",
    score: float | None = None,
    scored_weight: float | None = None,
    criteria: tuple[CriterionSummary, ...] = (),
    staleness_warnings: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
    regressions: tuple[str, ...] = (),
    new_passes: tuple[str, ...] = (),
    skipped: tuple[SkippedCase, ...] = (),
) -> SuiteResult:
    """A suite's result, its totals counted."""
    return SuiteResult(
        run_id="run-1",
        timestamp="2026-01-01T00:00:00.000Z",
        tier=tier,
        suite=tool,
        tool_name="weather_api",
        agent_endpoint="demo",
        metadata=ResultMetadata(tool_version=None, description_hash=None, registry_size=None, eval_file_hash="0" * 12),
        staleness_warnings=staleness_warnings,
        cases=cases,
        summary=Summary(
            total_cases=len(cases),
            passed=sum(entry.passed for entry in cases),
            failed=sum(not entry.passed for entry in cases),
            skipped_assertions=0,
            total_duration_ms=sum(entry.duration_ms for entry in cases),
            errors=sum(entry.status == "error" for entry in cases),
            unverified=sum(entry.status == "unverified" for entry in cases),
            expected_failures=sum(entry.status == "expected-failure" for entry in cases),
            unexpected_passes=sum(entry.status == "unexpected-pass" for entry in cases),
            flaky=sum(entry.flaky is True for entry in cases),
            skipped=len(skipped),
            score=score,
            scored_weight=scored_weight,
            criteria=criteria,
        ),
        baseline_run_id="run-0" if regressions or new_passes else None,
        regressions=regressions,
        new_passes=new_passes,
        stale=False,
        warnings=warnings,
        skipped=skipped,
    )


def totals(*, suites: int = 1, regressions: int = 0, score: float | None = None) -> RunSummary:
    """A run's totals."""
    return RunSummary(
        suites=suites,
        total_cases=6,
        passed=5,
        failed=1,
        errors=0,
        unverified=0,
        skipped_assertions=0,
        total_duration_ms=7930,
        score=score,
        regressions=regressions,
        new_passes=0,
    )
