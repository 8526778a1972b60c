"""What a run leaves in memory: totals, and handles that read cases from disk when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import msgspec

from evalc.model.result import CaseResult, RunResult, RunSummary, SkippedCase, SuiteResult
from evalc.runtime.journal import Journal
from evalc.runtime.score import score_run


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSuite:
    """A suite's outcome.

    Attributes:
        path: the EvalSuiteResult file.
        result: everything in it but the cases, run and skipped, of which there may be many.
        gate: why the suite's score does not meet its threshold; None where it does or has none.
    """

    path: Path
    result: SuiteResult
    gate: str | None
    _journal: Journal
    _index: int

    def cases(self) -> Iterator[CaseResult]:
        """The results of the cases in source order, read one at a time."""
        decoder = msgspec.json.Decoder(CaseResult)
        for entry in self._journal.entries(self._index):
            yield decoder.decode(entry.result)

    def skipped(self) -> Iterator[SkippedCase]:
        """The cases that were not run, in source order, read one at a time."""
        return self._journal.skipped(self._index)

    def load(self) -> SuiteResult:
        """The whole result, with all its cases in memory."""
        return msgspec.structs.replace(self.result, cases=tuple(self.cases()), skipped=tuple(self.skipped()))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A run's outcome. `warnings` are those that belong to no suite."""

    run_id: str
    folder: Path
    suites: tuple[FinishedSuite, ...]
    summary: RunSummary
    warnings: tuple[str, ...] = ()

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates that were not met, each with its suite: a reason to fail though every case passed."""
        return tuple(
            f"{suite.result.tool_name} ({suite.result.tier}): {suite.gate}" for suite in self.suites if suite.gate
        )

    def load(self) -> RunResult:
        """The whole run, with all its cases in memory."""
        suites = tuple(suite.load() for suite in self.suites)
        return RunResult(run_id=self.run_id, suites=suites, summary=self.summary)


def summarize_run(suites: Sequence[SuiteResult]) -> RunSummary:
    """The totals of the suites' totals."""
    summaries = [suite.summary for suite in suites]
    return RunSummary(
        suites=len(suites),
        total_cases=sum(summary.total_cases for summary in summaries),
        passed=sum(summary.passed for summary in summaries),
        failed=sum(summary.failed for summary in summaries),
        errors=sum(summary.errors for summary in summaries),
        unverified=sum(summary.unverified for summary in summaries),
        expected_failures=sum(summary.expected_failures for summary in summaries),
        unexpected_passes=sum(summary.unexpected_passes for summary in summaries),
        flaky=sum(summary.flaky for summary in summaries),
        skipped=sum(summary.skipped for summary in summaries),
        skipped_assertions=sum(summary.skipped_assertions for summary in summaries),
        total_duration_ms=round(sum(summary.total_duration_ms for summary in summaries), 3),
        score=score_run(summary.score for summary in summaries),
        regressions=sum(len(suite.regressions) for suite in suites),
        new_passes=sum(len(suite.new_passes) for suite in suites),
    )
