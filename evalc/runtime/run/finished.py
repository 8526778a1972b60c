"""The outcome of a run: totals, and handles that read cases from disk when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final

import msgspec

from evalc.model.result import CaseResult, GateResult, MissingSuite, RunResult, RunSummary, SkippedCase, SuiteResult
from evalc.model.suite import key_of
from evalc.runtime.run.score import score_run
from evalc.runtime.store.journal import JournaledCases


@final
class FinishedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite's outcome."""

    path: Path  # the EvalSuiteResult file
    result: SuiteResult  # everything in it but the cases, run and skipped, since there may be many
    gate: str | None  # why the suite's score does not meet its threshold; None if it does or has none
    regressions: int  # how many of its cases the gate on regressions minds
    missing: int  # how many cases of the baseline it should have and no longer has
    _cases: JournaledCases
    _index: int

    def cases(self) -> Iterator[CaseResult]:
        """The results of the cases in source order, read one at a time."""
        decoder = msgspec.json.Decoder(CaseResult)
        for entry in self._cases.entries(self._index):
            yield decoder.decode(entry.result)

    def skipped(self) -> Iterator[SkippedCase]:
        """The cases that were not run, in source order, read one at a time."""
        return self._cases.skipped(self._index)

    def load(self) -> SuiteResult:
        """The whole result, with all its cases in memory."""
        return msgspec.structs.replace(self.result, cases=tuple(self.cases()), skipped=tuple(self.skipped()))


@final
class FinishedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run's outcome.

    `gates` are those of the run as a whole, `missing` the suites of the baseline that it should have had, and
    `warnings` those that belong to no suite.
    """

    run_id: str
    folder: Path
    suites: tuple[FinishedSuite, ...]
    summary: RunSummary
    gates: tuple[GateResult, ...] = ()
    missing: tuple[MissingSuite, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents in results, in their order."""
        return tuple(dict.fromkeys(suite.result.agent_endpoint for suite in self.suites))

    @property
    def below_threshold(self) -> tuple[str, ...]:
        """The suites whose score does not meet their threshold: a reason to fail though every case passed."""
        several = len(self.agents) > 1
        below = ((suite.result, suite.gate) for suite in self.suites if suite.gate)
        return tuple(
            f"{key_of(result).title(result.agent_endpoint if several else None)}: {gate}" for result, gate in below
        )

    @property
    def failed(self) -> bool:
        """Whether anything is not as it should be: a gate, or, of what has no gate, a case; or the run stopped."""
        results = [suite.result for suite in self.suites]
        judged = (*self.gates, *(gate for result in results for gate in result.gates or ()))
        return (
            not all(gate.passed for gate in judged)
            or bool(self.below_threshold)
            or any(result.stopped and not result.decided for result in results)
            or (not self.gates and any(result.summary.failed for result in results if not result.gates))
        )

    def load(self) -> RunResult:
        """The whole run, with all its cases in memory."""
        suites = tuple(suite.load() for suite in self.suites)
        return RunResult(
            run_id=self.run_id,
            suites=suites,
            summary=self.summary,
            gates=self.gates or msgspec.UNSET,
            missing=self.missing or msgspec.UNSET,
        )


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


# --- the file that closes a run --------------------------------------------------------------------------------------
