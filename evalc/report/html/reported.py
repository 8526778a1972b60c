"""From the results of a run, and of the one it is compared with, to the suites as the report takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from evalc.model.result import CaseResult, SkippedCase, SuiteResult


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSuite:
    """A suite as the report shows it.

    Attributes:
        result: its totals; cases that stand in it are not looked at.
        cases: the cases in source order, read once, one at a time.
        skipped: likewise those that were not run.
        baseline: the cases of the run that it is compared with, by id; empty where there is none at hand.
    """

    result: SuiteResult
    cases: Iterable[CaseResult]
    skipped: Iterable[SkippedCase] = ()
    baseline: Mapping[str, CaseResult] = field(default_factory=dict)


def beside(suites: Sequence[SuiteResult], baseline: Sequence[SuiteResult] = ()) -> tuple[ReportedSuite, ...]:
    """Whole results, each with its cases of the baseline, where that has the suite: of the same agent if it can be."""
    return tuple(
        ReportedSuite(result=suite, cases=suite.cases, skipped=suite.skipped, baseline=_before(suite, baseline))
        for suite in suites
    )


def _before(suite: SuiteResult, baseline: Iterable[SuiteResult]) -> Mapping[str, CaseResult]:
    same = [past for past in baseline if (past.tool_name, past.tier) == (suite.tool_name, suite.tier)]
    same.sort(key=lambda past: past.agent_endpoint != suite.agent_endpoint)
    return {case.id: case for case in same[0].cases} if same else {}
