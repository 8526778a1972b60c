"""From suites and an agent to a finished run: workers, the journal, and the result files stitched from it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, Protocol, final

from evalc.errors import UsageError
from evalc.model.codec import short_hash
from evalc.model.result import CaseResult, SkippedCase, SuiteResult
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents.base import Agent
from evalc.runtime.attempts import run_attempts
from evalc.runtime.baseline import LATEST, Baseline, find_baseline
from evalc.runtime.declared import as_expected, skipped_case
from evalc.runtime.finished import FinishedRun, FinishedSuite, summarize_run
from evalc.runtime.journal import FILE_NAME, Header, Journal, JournaledSuite
from evalc.runtime.results import file_names, sum_up, write_result
from evalc.runtime.run_case import CaseOptions, CaseRun
from evalc.runtime.run_id import new_run_id
from evalc.runtime.score import below
from evalc.runtime.staleness import check_staleness, state_at_run
from evalc.runtime.worker import Worker
from evalc.runtime.written import Redactor, encoded, redacted
from evalc.tools.registry import ToolRegistry

DEFAULT_TIMEOUT_MS: Final = 60_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run.

    Attributes:
        output_dir: where the run's folder is made; its name is `run_id`.
        concurrency: how many cases run at a time.
        timeout_ms: how long the agent may take for an attempt at a case.
        seed, snapshot: the data that tokens name; None where there is none.
        registry: the tools as they are now; None leaves staleness unchecked.
        baseline: a run to compare with: a run id, `latest`, or a path.
        all_assertions: evaluate what follows a failed assertion, too.
        redactor: strikes secrets out of all that is written.
    """

    output_dir: Path
    run_id: str = field(default_factory=new_run_id)
    concurrency: int = 1
    timeout_ms: float = DEFAULT_TIMEOUT_MS
    seed: object = None
    snapshot: object = None
    registry: ToolRegistry | None = None
    baseline: str | None = None
    all_assertions: bool = False
    redactor: Redactor | None = None


class Observer(Protocol):
    """Is told how a run goes on. What it raises ends the run; the journal keeps what was finished."""

    def suite_started(self, suite: Suite) -> None:
        """The first case of a suite is about to be sent."""
        ...

    def case_finished(self, suite: Suite, result: CaseResult) -> None:
        """A case has its result: in the order of finishing, which is not the source's."""
        ...

    def case_skipped(self, suite: Suite, skipped: SkippedCase) -> None:
        """A case is not run, because it says so."""
        ...

    def suite_finished(self, suite: Suite, finished: FinishedSuite) -> None:
        """A suite's result file is written: at the end of the run, in the suites' order."""
        ...


async def run_suites(
    suites: Sequence[Suite], agent: Agent, options: RunOptions, *, observer: Observer | None = None
) -> FinishedRun:
    """Run every case of the suites.

    Raises:
        UsageError: nothing was run, because the options or the suites do not allow it.
        OSError: a result could not be written; the journal keeps the cases before.
        asyncio.CancelledError: the run was interrupted; the journal keeps the finished cases.
    """
    _refuse_what_cannot_run(suites, options)
    baseline = find_baseline(options.baseline, options.output_dir, file_names(suites)) if options.baseline else None
    run = _Run(suites, agent, options, observer, baseline)
    try:
        await run.run_cases()
        return run.finish()
    finally:
        run.journal.close()


def _refuse_what_cannot_run(suites: Sequence[Suite], options: RunOptions) -> None:
    if options.concurrency < 1:
        raise UsageError(f"the concurrency is {options.concurrency}, and must be at least 1")
    if not 0 < options.timeout_ms < float("inf"):
        raise UsageError(f"the timeout is {options.timeout_ms} ms, and must be above 0")
    for (tool, tier), count in Counter((suite.tool_name, suite.tier) for suite in suites).items():
        if count > 1:
            origins = ", ".join(
                f"`{suite.origin}`" for suite in suites if (suite.tool_name, suite.tier) == (tool, tier)
            )
            raise UsageError(
                f"{count} suites are of tool `{tool}` and tier `{tier}`, so their results collide: {origins}"
            )


class _Job(NamedTuple):
    """A case to run: which of which suite."""

    suite: int
    case: int
    located: LocatedCase


@final
class _Run:
    """A run under way."""

    def __init__(
        self,
        suites: Sequence[Suite],
        agent: Agent,
        options: RunOptions,
        observer: Observer | None,
        baseline: Baseline | None,
    ) -> None:
        self._suites = suites
        self._agent = agent
        self._options = options
        self._observer = observer
        self._baseline = baseline
        self._case_options = CaseOptions(
            timeout_ms=options.timeout_ms,
            all_assertions=options.all_assertions,
            seed=options.seed,
            snapshot=options.snapshot,
        )
        self._warnings: list[str] = []
        self._timestamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._folder = _make_folder(options.output_dir, options.run_id)
        self.journal = Journal(self._folder / FILE_NAME, self._header(), options.redactor)

    async def run_cases(self) -> None:
        """Let the workers take every case from one iterator, so that none waits behind another worker's."""
        jobs = self._jobs()
        workers = min(self._options.concurrency, max(1, sum(suite.size for suite in self._suites)))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(jobs))
        except BaseExceptionGroup as errors:
            _raise_first(errors)

    def finish(self) -> FinishedRun:
        """Write the result files. Only now: summing up would count in the latency of cases still under way."""
        names = file_names(self._suites)
        suites = tuple(map(self._finish_suite, range(len(self._suites)), self._suites, names))
        summary = summarize_run([suite.result for suite in suites])
        if self._options.baseline == LATEST and self._baseline is None:
            self._warnings.append(
                f"there is no earlier run of these suites in `{self._options.output_dir}` to compare with"
            )
        return FinishedRun(
            run_id=self._options.run_id,
            folder=self._folder,
            suites=suites,
            summary=summary,
            warnings=tuple(self._warnings),
        )

    def _jobs(self) -> Iterator[_Job]:
        """Every case of the suites; those of rubrics last, since what they cost is for nothing where others fail."""
        for number, suite in sorted(enumerate(self._suites), key=lambda numbered: numbered[1].tier == "rubric"):
            if self._observer:
                self._observer.suite_started(suite)
            for index, located in enumerate(suite.cases):
                yield _Job(number, index, located)

    async def _work(self, jobs: Iterator[_Job]) -> None:
        worker = Worker(self._agent, self._case_options)
        try:
            for job in jobs:
                if (skipped := skipped_case(job.located.case)) is not None:
                    # Before anything is awaited, and so in source order.
                    self._skip(job, skipped)
                    await asyncio.sleep(0)
                else:
                    self._keep(job, await run_attempts(job.located, worker.attempt))
        finally:
            if (failure := await worker.close()) is not None:
                self._warn(failure)

    def _skip(self, job: _Job, skipped: SkippedCase) -> None:
        skipped = self.journal.skip(job.suite, job.case, skipped)
        if self._observer:
            self._observer.case_skipped(self._suites[job.suite], skipped)

    def _keep(self, job: _Job, run: CaseRun) -> None:
        run = run._replace(result=as_expected(job.located.case, run.result))
        result = self.journal.append(job.suite, job.case, run)
        if self._observer:
            self._observer.case_finished(self._suites[job.suite], result)

    def _warn(self, text: str) -> None:
        redactor = self._options.redactor
        warning = text if redactor is None else redactor.redact(text)
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _finish_suite(self, number: int, suite: Suite, name: str) -> FinishedSuite:
        metadata, path = suite.metadata, self._folder / name
        past = self._baseline.of(suite.tool_name, suite.tier) if self._baseline else None
        passed_before = past.passed if past is not None else None
        totals = sum_up(
            self.journal.entries(number),
            metadata.criteria if metadata else None,
            passed_before,
            skipped=self.journal.count_skipped(number),
        )
        staleness = check_staleness(metadata, self._options.registry)
        result = SuiteResult(
            run_id=self._options.run_id,
            timestamp=self._timestamp,
            tier=suite.tier,
            tool_name=suite.tool_name,
            agent_endpoint=self._agent.endpoint,
            metadata=state_at_run(suite, self._options.registry),
            staleness_warnings=staleness.warnings,
            cases=(),
            summary=totals.summary,
            baseline_run_id=past.run_id if past is not None else None,
            regressions=totals.regressions,
            new_passes=totals.new_passes,
            stale=staleness.stale,
            warnings=totals.warnings + self._warnings_of(suite),
        )
        result, written = redacted(result, encoded(result), self._options.redactor)
        write_result(path, written, self.journal.entries(number), self.journal.skipped(number))
        gate = below(totals.summary.score, metadata.threshold if metadata else None)
        finished = FinishedSuite(path=path, result=result, gate=gate, _journal=self.journal, _index=number)
        if self._observer:
            self._observer.suite_finished(suite, finished)
        return finished

    def _warnings_of(self, suite: Suite) -> tuple[str, ...]:
        warnings: list[str] = []
        registry, baseline = self._options.registry, self._baseline
        if registry is not None and suite.metadata is not None and suite.tool_name not in registry:
            warnings.append(f"tool `{suite.tool_name}` is not in the registry, so its description was not compared")
        if baseline is not None and baseline.of(suite.tool_name, suite.tier) is None:
            warnings.append(f"the baseline `{baseline.name}` has no suite of this tool and tier")
        return tuple(warnings)

    def _header(self) -> Header:
        options = self._options
        return Header(
            run_id=options.run_id,
            timestamp=self._timestamp,
            agent_endpoint=self._agent.endpoint,
            options={
                "concurrency": options.concurrency,
                "timeoutMs": options.timeout_ms,
                "allAssertions": options.all_assertions,
                "baseline": options.baseline,
                "seedHash": _hash(options.seed),
                # Whole, not hashed: it was true once, and a run can only be finished or understood with it.
                "snapshot": options.snapshot,
            },
            suites=tuple(
                JournaledSuite(
                    tool_name=suite.tool_name,
                    tier=suite.tier,
                    file_hash=suite.file_hash,
                    origin=suite.origin,
                    cases=suite.size,
                )
                for suite in self._suites
            ),
        )


def _make_folder(output_dir: Path, run_id: str) -> Path:
    folder = output_dir / run_id
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"the run's folder `{folder}` is already there, or something that is no folder") from None
    except OSError as error:
        raise UsageError(f"the run's folder `{folder}` cannot be made: {error.strerror}") from error
    return folder


def _hash(data: object) -> str | None:
    """What tells one seed from another; None where there is none."""
    return None if data is None else short_hash(json.dumps(data, default=repr))


def _raise_first(errors: BaseExceptionGroup[BaseException]) -> NoReturn:
    """A worker's exception ends the others; it is the one that callers know how to catch."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    raise error from None
