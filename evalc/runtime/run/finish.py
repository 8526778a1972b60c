"""The outcome of a run: judged when it has ended, and written to result files from its journal.

Contract, Staleness Checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from evalc.model.case import Gates, Metadata
from evalc.model.result import (
    CaseResult,
    GateResult,
    MissingSuite,
    ResultMetadata,
    RunResult,
    RunSummary,
    SkippedCase,
    SuiteResult,
)
from evalc.model.suite import Suite, key_of
from evalc.runtime.run.gates import Decided, Measured, durations_of, judge_gates, scores_of
from evalc.runtime.run.score import below, score_run
from evalc.runtime.store.baseline import Baseline, PastSuite
from evalc.runtime.store.journal import Journal, JournaledCases
from evalc.runtime.store.redact import NO_SECRETS, Redactor, encoded, redacted
from evalc.runtime.store.results import SuiteTotals, sum_up, write_result
from evalc.runtime.store.runs import file_names
from evalc.runtime.store.scope import Scope
from evalc.tools import Tool, ToolRegistry


@final
class FinishedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite's outcome."""

    path: Path  # the EvalSuiteResult file
    result: SuiteResult  # everything in it but the cases, run and skipped, since there may be many
    gate: str | None  # why the suite's score does not meet its threshold; None if it does or has none
    regressions: int  # how many of its cases the gate on regressions minds
    new_failures: int  # how many of these the baseline does not have
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


_COUNTS: Final = (
    *("total_cases", "passed", "failed", "errors", "unverified", "expected_failures", "unexpected_passes"),
    *("flaky", "skipped", "skipped_assertions"),
)
"""The counts that both the summary of a suite and that of a run have."""


def summarize_run(suites: Sequence[SuiteResult]) -> RunSummary:
    """The totals of the suites' totals."""
    summaries = [suite.summary for suite in suites]
    counts = {name: sum(getattr(summary, name) for summary in summaries) for name in _COUNTS}
    return RunSummary(
        suites=len(suites),
        **counts,
        total_duration_ms=round(sum(summary.total_duration_ms for summary in summaries), 3),
        score=score_run(summary.score for summary in summaries),
        regressions=sum(len(suite.regressions) for suite in suites),
        new_passes=sum(len(suite.new_passes) for suite in suites),
    )


# --- how it ends -----------------------------------------------------------------------------------------------------


GROWTH: Final = 1.5
"""How much a registry may grow before labeled evals are doubted."""

_MOST_NAMED: Final = 5

_ROW_NUMBER: Final = re.compile(r"(.+)@[1-9][0-9]*(?:@[^@]*)?")
"""The id of a case that is made of a row, if nothing else distinguishes its rows."""

_MAJOR: Final = re.compile(r"[vV]?(\d+)")


@final
class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The data that the end of a run needs beside its journal."""

    baseline: Baseline | None = None  # the run that it is compared with
    registry: ToolRegistry | None = None  # the tools as they are now
    redactor: Redactor = NO_SECRETS  # strikes secrets out of all that is written
    gates: Gates | None = None  # what the run as a whole has to reach
    # of suites whose cases did not all run, by the suite's number, why
    stopped: Mapping[int, str] = {}
    watched: bool = False  # whether the run ends where its gates are decided
    surely_stopped: frozenset[int] = frozenset()  # the suites, by number, that stopped because gates are decided
    # the gates that were decided before all cases had run: of suites by number, None for the run's
    decided: Mapping[int | None, Decided] = {}
    warnings: tuple[str, ...] = ()  # those that belong to no suite
    # further warnings of suites, by the suite's number
    suite_warnings: Mapping[int, tuple[str, ...]] = {}


def finish_run(suites: Sequence[Suite], journal: Journal, ending: Ending) -> FinishedRun:
    """Write the result files.

    Raises:
        OSError: one cannot be written; the cases are in the journal.
    """
    finished = tuple(
        _finish_suite(number, suite, name, journal, ending)
        for number, (suite, name) in enumerate(zip(suites, file_names(suites), strict=True))
    )
    missing = _missing(suites, finished, journal, ending)
    gates = _judged_run(ending, finished, missing, journal)
    return FinishedRun(
        run_id=journal.header.run_id,
        folder=journal.path.parent,
        suites=finished,
        summary=summarize_run([suite.result for suite in finished]),
        gates=_as_decided(gates, ending.decided.get(None)),
        missing=missing,
        warnings=(*ending.warnings, *(ending.baseline.warnings if ending.baseline else ())),
    )


def _missing(
    suites: Sequence[Suite], finished: Sequence[FinishedSuite], journal: Journal, ending: Ending
) -> tuple[MissingSuite, ...]:
    """The suites of the baseline that the run should have had."""
    if ending.baseline is None:
        return ()
    there = {suite.key for suite in suites}
    agents = dict.fromkeys(suite.result.agent_endpoint for suite in finished)
    return tuple(ending.baseline.missing(there, agents, Scope.of(journal.header.flags)))


def _judged_run(
    ending: Ending, finished: Sequence[FinishedSuite], missing: Sequence[MissingSuite], journal: Journal
) -> tuple[GateResult, ...]:
    results = [suite.result for suite in finished]
    summary = summarize_run(results)
    measured = Measured(
        passed=summary.passed - summary.unverified,
        total=summary.total_cases - summary.unverified,
        score=summary.score,
        durations=lambda: chain.from_iterable(
            durations_of(journal.cases.entries(number)) for number in range(len(finished))
        ),
        scores=lambda: chain.from_iterable(scores_of(journal.cases.entries(number)) for number in range(len(finished))),
        regressions=sum(suite.regressions for suite in finished),
        new_failures=sum(suite.new_failures for suite in finished),
        new_passes=_new_passes(results),
        watched=ending.watched,
        missing=sum(suite.missing for suite in finished) + sum(max(1, suite.cases) for suite in missing),
    )
    return judge_gates(ending.gates, measured)


def _as_decided(gates: tuple[GateResult, ...], decided: Decided | None) -> tuple[GateResult, ...]:
    """The gates with the verdict on the whole run, if that is known from a part of it."""
    if decided is None:
        return gates
    return tuple(
        msgspec.structs.replace(
            gate,
            passed=gate.gate not in decided.fails,
            verdict="fails" if gate.gate in decided.fails else "holds",
            confidence=decided.confidence,
            more_cases=msgspec.UNSET,
        )
        if (decided.verdict == "holds" and not gate.missing) or gate.gate in decided.fails
        else gate
        for gate in gates
    )


def _new_passes(results: Sequence[SuiteResult]) -> int | None:
    """How many cases pass that failed in the baseline; None if a suite has none."""
    if any(result.baseline_run_id is None for result in results):
        return None
    return sum(len(result.new_passes) for result in results)


def _finish_suite(number: int, suite: Suite, name: str, journal: Journal, ending: Ending) -> FinishedSuite:
    metadata, path, cases = suite.metadata, journal.path.parent / name, journal.cases
    header = journal.header
    agent = header.agent_endpoint if suite.agent is None else suite.agent
    past = ending.baseline.of(suite.key, agent) if ending.baseline else None
    totals = sum_up(
        cases.entries(number),
        metadata.criteria if metadata else None,
        past,
        skipped=cases.count_skipped(number),
        not_run=cases.skipped(number) if past else (),
    )
    went = () if totals.since is None or suite.narrowed else totals.since.went
    staleness = check_staleness(metadata, ending.registry)
    measured = Measured(
        passed=totals.summary.passed - totals.summary.unverified,
        total=totals.summary.total_cases - totals.summary.unverified,
        score=totals.summary.score,
        durations=lambda: durations_of(cases.entries(number)),
        scores=lambda: scores_of(cases.entries(number)),
        regressions=_counted_by_gate(totals),
        new_failures=totals.summary.failed if totals.since is None else len(totals.since.came_failing),
        new_passes=None if totals.since is None else len(totals.since.new_passes),
        watched=ending.watched,
        missing=len(went) + (0 if totals.since is None else len(totals.since.lapsed)),
        labels=totals.summary.labels or None,
    )
    result = SuiteResult(
        run_id=header.run_id,
        timestamp=header.timestamp,
        tier=suite.tier,
        suite=suite.name,
        tool_name=suite.tool_name,
        agent_endpoint=agent,
        metadata=state_at_run(suite, ending.registry),
        staleness_warnings=staleness.warnings,
        cases=(),
        summary=totals.summary,
        baseline_run_id=past.run_id if past is not None else None,
        regressions=totals.since.regressions if totals.since else (),
        new_passes=totals.since.new_passes if totals.since else (),
        came=(totals.since and totals.since.came) or msgspec.UNSET,
        changed=(totals.since and totals.since.changed) or msgspec.UNSET,
        went=went or msgspec.UNSET,
        stale=staleness.stale,
        warnings=(
            *totals.warnings,
            *_warnings_of(suite, past, ending),
            *_shifted(past, totals, went),
            *ending.suite_warnings.get(number, ()),
        ),
        gates=_as_decided(judge_gates(metadata.gates if metadata else None, measured), ending.decided.get(number))
        or msgspec.UNSET,
        selected=suite.selected or msgspec.UNSET,
        stopped=ending.stopped.get(number, msgspec.UNSET),
        decided=True if number in ending.stopped and number in ending.surely_stopped else msgspec.UNSET,
        rescored_from=msgspec.UNSET if header.rescored_from is None else header.rescored_from,
        # Where the cases themselves decided when it ends, the test of a fixed number of them says too much.
        significance=(None if number in ending.surely_stopped else totals.significance) or msgspec.UNSET,
        judges=tuple(header.options.get("judges") or ()) or msgspec.UNSET,
        similarity=header.options.get("similarity") or msgspec.UNSET,
    )
    result, written = redacted(result, encoded(result), ending.redactor)
    write_result(path, written, cases.entries(number), cases.skipped(number))
    gate = below(totals.summary.score, metadata.threshold if metadata else None)
    return FinishedSuite(
        path=path,
        result=result,
        gate=gate,
        regressions=measured.regressions,
        new_failures=measured.new_failures,
        missing=measured.missing,
        _cases=cases,
        _index=number,
    )


def _counted_by_gate(totals: SuiteTotals) -> int:
    """How many cases the gate on regressions minds: those that regressed, and those that fail without a baseline.

    Else a case that regressed would only have to be renamed. What lapsed counts as missing, which is never chance.
    """
    since = totals.since
    if since is None:
        return totals.summary.failed
    return len(since.regressions) - len(since.lapsed) + len(since.came_failing)


def _warnings_of(suite: Suite, past: PastSuite | None, ending: Ending) -> Iterator[str]:
    if (left_out := not_compared(suite.metadata, ending.registry)) is not None:
        yield left_out
    if ending.baseline is not None and past is None:
        asked = "" if suite.agent is None else " with this agent"
        yield f"the baseline `{ending.baseline.name}` has no suite of this name and tier{asked}"


def _shifted(past: PastSuite | None, totals: SuiteTotals, went: Iterable[str]) -> Iterator[str]:
    """A warning that rows without ids of their own may be compared with other rows."""
    if past is None or totals.since is None:
        return
    changed = dict.fromkeys(_tables(chain(went, totals.since.came)))
    before = set(_tables(past.passed)) if changed else set()
    tables = [table for table in changed if table in before]
    if tables:
        named = ", ".join(f"`{table}`" for table in tables[:_MOST_NAMED])
        yield (
            f"the rows of {named} seem to be known by their numbers: a row that is inserted or removed shifts all rows "
            "after it, and each of them is compared with another row of the baseline; give the rows an `id`"
        )


def _tables(ids: Iterable[str]) -> Iterator[str]:
    """The cases with rows that differ only by their number, as it seems."""
    return (found[1] for found in map(_ROW_NUMBER.fullmatch, ids) if found is not None)


# --- staleness -------------------------------------------------------------------------------------------------------


class Staleness(NamedTuple):
    """The findings: whether the description is another than the evals were written for, and the warnings."""

    stale: bool
    warnings: tuple[str, ...]


def check_staleness(metadata: Metadata | None, registry: ToolRegistry | None) -> Staleness:
    """The contract's three checks; without metadata or registry there is nothing to compare."""
    if metadata is None or registry is None:
        return Staleness(False, ())
    tool = registry.get(metadata.tool_name)
    description = _description_warning(metadata, tool) if tool else None
    warnings = (
        description,
        _growth_warning(metadata, len(registry)),
        _version_warning(metadata, tool) if tool else None,
    )
    return Staleness(description is not None, tuple(filter(None, warnings)))


def not_compared(metadata: Metadata | None, registry: ToolRegistry | None) -> str | None:
    """Why an eval file that says what it was written for could not be compared as a whole; None if it could."""
    if metadata is None or registry is None or (metadata.description_hash or metadata.tool_version) is None:
        return None
    tool = registry.get(metadata.tool_name)
    if tool is None:
        return f"tool `{metadata.tool_name}` is not in the registry, so its description was not compared"
    if metadata.description_hash is not None and tool.description is None:
        return f"the description of `{metadata.tool_name}` in the registry cannot be read, so it was not compared"
    return None


def state_at_run(suite: Suite, registry: ToolRegistry | None) -> ResultMetadata:
    """The tool as it is now, for the result; null if no registry knows."""
    tool = registry.get(suite.tool_name) if registry is not None else None
    return ResultMetadata(
        tool_version=tool.version if tool else None,
        description_hash=tool.description_hash if tool else None,
        registry_size=registry.size if registry is not None else None,
        eval_file_hash=suite.file_hash,
    )


def _description_warning(metadata: Metadata, tool: Tool) -> str | None:
    current = tool.description_hash
    if metadata.description_hash is None or current is None or current == metadata.description_hash:
        return None
    return (
        f"Evals for {metadata.tool_name} generated against description hash {metadata.description_hash}, "
        f"current is {current}. Results may not reflect current routing contract."
    )


def _growth_warning(metadata: Metadata, size: int) -> str | None:
    if metadata.registry_size is None or size <= metadata.registry_size * GROWTH:
        return None
    return (
        f"Registry has grown from {metadata.registry_size} to {size} tools. "
        "Labeled evals may have under-specified toolsAcceptable sets."
    )


def _version_warning(metadata: Metadata, tool: Tool) -> str | None:
    if metadata.tool_version is None or tool.version is None:
        return None
    if _major(metadata.tool_version) == _major(tool.version):
        return None
    return (
        f"Tool {metadata.tool_name} is version {tool.version}, evals were generated for {metadata.tool_version}. "
        "Schema may have changed."
    )


def _major(version: str) -> str:
    number = _MAJOR.match(version.strip())
    return number[1].lstrip("0") if number else version.strip()
