"""Input of reports: a run whose cases are read anew, and the runs it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, final

from evalc.model.reports import Coverage, Strength, Trend
from evalc.model.result import CaseResult, GateResult, MissingSuite, RunSummary, SkippedCase, SuiteResult
from evalc.model.suite import KnownSuites, Selected, key_of
from evalc.report.source_lines import PlacesOf, no_places


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSuite:
    """A suite as the report shows it."""

    result: SuiteResult  # its totals; its cases are not used
    cases: Iterable[CaseResult]  # the cases in source order, read one at a time, as often as there are reports to write
    skipped: Iterable[SkippedCase] = ()  # the cases that were not run, read in the same way
    # the cases of the run that it is compared with, by id; empty if none is at hand
    baseline: Mapping[str, CaseResult] = field(default_factory=dict)

    @classmethod
    def of(cls, result: SuiteResult) -> Self:
        """A result that has its cases in it."""
        return cls(result=result, cases=result.cases, skipped=result.skipped)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run as reports show it."""

    run_id: str  # the id that its suites share
    folder: str  # where its result files are, for the reader; empty if nothing was run
    suites: tuple[ReportedSuite, ...]  # their totals, and cases that can be iterated several times
    summary: RunSummary  # the totals of all suites
    root: Path  # the folder that the places in results are relative to
    gates: tuple[GateResult, ...] = ()  # the verdicts on the gates of the run as a whole
    below: tuple[str, ...] = ()  # the suites whose score does not meet their threshold, in words
    selected: Selected | None = None  # which of all cases were chosen; None if it was all of them
    missing: tuple[MissingSuite, ...] = ()  # the suites of the baseline that it should have had
    warnings: tuple[str, ...] = ()  # those that belong to no suite
    trends: tuple[Trend, ...] = ()  # the courses of its suites over all runs, for the formats that plot them
    # which faulty answers its checks notice, where it was challenged, for the HTML report
    strength: Strength | None = None
    coverage: Coverage | None = None  # what its cases look at, for the HTML report
    # strikes secrets out of what is quoted from eval files; results have none any more
    redact: Callable[[str], str] = str
    # where the parts of a case of an eval file were authored, given the file and the id of the case
    places: PlacesOf = no_places

    @property
    def several_agents(self) -> bool:
        """Whether the suites are of more than one agent."""
        return len({suite.result.agent_endpoint for suite in self.suites}) > 1

    def all_warnings(self) -> Iterator[str]:
        """The warnings of each suite with its name, then those of the run."""
        for suite in self.suites:
            result = suite.result
            yield from (f"{self.name_of(result)}: {text}" for text in (*result.staleness_warnings, *result.warnings))
        yield from self.warnings

    def name_of(self, suite: SuiteResult) -> str:
        """`SUITE.TIER`, and the agent behind it if the run has several, so that each suite has a name of its own."""
        name = str(key_of(suite))
        return f"{name} ({suite.agent_endpoint})" if self.several_agents else name

    def title_of(self, suite: SuiteResult) -> str:
        """The suite in sentences: `SUITE (TIER)`, with its agent where the run has several."""
        return key_of(suite).title(suite.agent_endpoint if self.several_agents else None)


def beside(suites: Iterable[ReportedSuite], baseline: Sequence[ReportedSuite] = ()) -> tuple[ReportedSuite, ...]:
    """The suites, each with its cases of the baseline, where that has the suite: of the same agent if it can be."""
    suites = tuple(suites)
    known = KnownSuites.named_by(reported.result for reported in (*suites, *baseline))
    return tuple(replace(suite, baseline=_before(suite.result, baseline, known)) for suite in suites)


def _before(suite: SuiteResult, baseline: Iterable[ReportedSuite], known: KnownSuites) -> Mapping[str, CaseResult]:
    key = known.key_of(suite)
    same = [past for past in baseline if key is not None and known.key_of(past.result) == key]
    same.sort(key=lambda past: past.result.agent_endpoint != suite.agent_endpoint)
    return {case.id: case for case in same[0].cases} if same else {}
