"""Runs suites against an agent: workers take one case after the other, and the journal keeps each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from itertools import count as numbers_from
from pathlib import Path
from typing import Any, NoReturn, final

import msgspec

from evalc.base.errors import MachineError, MachineFailed, UsageError, causes, not_writable
from evalc.base.files import make_folder
from evalc.base.guard import exits_reported
from evalc.base.terminal import counted
from evalc.model.answer import TraceContext
from evalc.model.json import UNREADABLE
from evalc.model.result import SkippedCase
from evalc.model.suite import LocatedCase, Suite, SuiteKey
from evalc.runtime.agents import Agent
from evalc.runtime.agents.trace import context_of
from evalc.runtime.run.attempts import Attempting, as_expected, run_attempts, skipped_case, why_no_rubrics
from evalc.runtime.run.engine import NOBODY, CaseWorker, NewWorker, Observer, RunOptions
from evalc.runtime.run.finish import Ending, FinishedRun, finish_run
from evalc.runtime.run.gates import (
    FIRST_CASES,
    Decided,
    Reachability,
    StopPolicy,
    Watches,
    in_random_order,
    measures_attempts,
    not_run,
)
from evalc.runtime.store.baseline import Baseline, find_baseline
from evalc.runtime.store.journal import (
    FILE_NAME,
    CaseRun,
    Header,
    Journal,
    JournaledSuite,
    changed_by_others,
    data_hash,
)
from evalc.runtime.store.redact import Redactor, encoded, redacted
from evalc.runtime.store.resume import TurnLog, checked_otherwise, checks_of, not_compared, refuse_another_run
from evalc.runtime.store.runs import LATEST, steps_back, withdrawn_if_refused
from evalc.runtime.store.scope import Scope, names_in_project


def begin_run(suites: Sequence[Suite], endpoints: Sequence[str], options: RunOptions) -> Journal:
    """The journal, to which nobody else writes; `endpoints` are what results call the agents.

    Raises:
        UsageError: it cannot be made or opened, or is that of another run.
        MachineError: the disk is full or broken.
    """
    header = header_of(suites, endpoints, options)
    return (
        new_journal(header, options) if options.resumed is None else _resumed(suites, header, options, options.resumed)
    )


def header_of(
    suites: Sequence[Suite], endpoints: Sequence[str], options: RunOptions, *, rescored_from: str | None = None
) -> Header:
    """The header of the journal of a run that begins now."""
    return Header(
        run_id=options.run_id,
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        agent_endpoint=", ".join(endpoints),
        options={
            "concurrency": options.concurrency,
            "rpm": options.rpm,
            "timeoutMs": options.timeout_ms,
            "allAssertions": options.all_assertions,
            # With the seats, since a judge asked three times is a different measure from a judge asked once.
            "judges": None if options.panel is None else list(options.panel.names),
            "judgements": None if options.panel is None else len(options.panel.seats),
            "asked": options.asked,
            "user": None if options.user is None else options.user.endpoint,
            "rubricsAlways": options.rubrics_always or None,
            "similarity": None if options.embeddings is None else "embeddings",
            "baseline": options.baseline,
            "checksHash": options.checks.text_hash(),
            "skillsHash": options.skills_hash,
            "seedHash": data_hash(options.seed),
            # Whole, not hashed alone: it was true once, and a run can only be finished or understood with it.
            "snapshot": options.snapshot,
            "snapshotHash": data_hash(options.snapshot),
        },
        flags=kept_flags(options.flags, endpoints, options.redactor),
        rescored_from=rescored_from,
        suites=journaled_suites(suites, options.root),
    )


def journaled_suites(suites: Sequence[Suite], root: Path | None) -> tuple[JournaledSuite, ...]:
    """The suites as the header names them; `root` is the project's folder."""
    # A file may have many suites.
    names_of = cache(lambda origin: () if root is None or origin.startswith("<") else names_in_project(origin, root))
    return tuple(
        JournaledSuite(
            suite=suite.name,
            tool_name=suite.tool_name,
            tier=suite.tier,
            file_hash=suite.file_hash,
            copied_hash=suite.copied_hash,
            origin=suite.origin,
            cases=suite.size,
            agent=suite.agent,
            file=next(iter(names_of(suite.origin)), None),
            also=names_of(suite.origin)[1:],
        )
        for suite in suites
    )


def new_journal(header: Header, options: RunOptions) -> Journal:
    """The journal of a new run, in a folder of its own."""
    folder = _make_folder(options.made_in or options.output_dir, options.run_id)
    with withdrawn_if_refused((folder,)):
        return Journal(folder / FILE_NAME, header, options.redactor)


def _resumed(suites: Sequence[Suite], header: Header, options: RunOptions, folder: Path) -> Journal:
    """The journal of the run that is resumed, known to be of these suites and options."""
    now, _ = redacted(header, encoded(header), options.redactor)
    journal = Journal.resumed(
        folder / FILE_NAME,
        header,
        options.redactor,
        check=lambda past: refuse_another_run(past, now),
        retry_errors=options.retry_errors,
    )
    try:
        for number, suite in enumerate(suites):
            _refuse_other_cases(suite, journal.cases.ids(number), journal.header.run_id)
    except BaseException:
        journal.close()
        raise
    return journal


def _refuse_other_cases(suite: Suite, journaled: Iterator[tuple[int, str]], run_id: str) -> None:
    """The same file may have been run with another choice of its cases."""
    cases = enumerate(suite.cases)
    for number, name in journaled:
        located = next(located for index, located in cases if index == number)
        if located.case.id != name:
            raise UsageError(f"the run `{run_id}` cannot be resumed: the case `{name}` is now `{located.case.id}`")


def _make_folder(output_dir: Path, run_id: str) -> Path:
    folder = output_dir / run_id
    try:
        make_folder(output_dir)
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise UsageError(f"the run's folder `{folder}` cannot be made: a file has its name") from None
    except OSError as error:
        raise not_writable(f"the run's folder `{folder}` cannot be made", error) from error
    if (folder / FILE_NAME).exists():
        raise UsageError(f"the run's folder `{folder}` already exists, with a run in it")
    return folder


def kept_flags(flags: Mapping[str, Any], endpoints: Sequence[str], redactor: Redactor) -> dict[str, Any]:
    """The flags as a journal may keep them: None for agents if one of their names holds more than results may show."""
    kept = dict(flags)
    for agent, endpoint in zip(kept.get("agent") or (), endpoints, strict=False):
        if not endpoint.startswith(agent) or redactor.redact(agent) != agent:
            kept["agent"] = None
    if any(redactor.redact(judge) != judge for judge in kept.get("judge") or ()):
        del kept["judge"]  # The header names the judges without secrets; a run without them is refused.
    return kept


async def run_suites(
    suites: Sequence[Suite], agents: Agent | Sequence[Agent], options: RunOptions, *, observer: Observer = NOBODY
) -> FinishedRun:
    """Run every case of the suites; of a run that is resumed, those that its journal does not have.

    Several agents take their turns suite by suite. They share the workers, the limits and the gates; each is paced for
    itself.

    Raises:
        UsageError: nothing was run, because the options or the suites do not allow it.
        MachineError: this machine lacks something; the journal keeps the cases before.
        OSError: a result could not be written; the journal keeps the cases before.
        asyncio.CancelledError: the run was interrupted; the journal keeps the finished cases.
    """
    _refuse_what_cannot_run(suites, options)
    by_endpoint = _by_endpoint(agents if isinstance(agents, Sequence) else [agents], options)
    baseline = _baseline(suites, tuple(by_endpoint), options)
    if len(by_endpoint) > 1:
        suites = [msgspec.structs.replace(suite, agent=endpoint) for suite in suites for endpoint in by_endpoint]
    names = dict.fromkeys(suite.agent for suite in suites)
    warnings: list[str] = []
    with ExitStack() as at_the_end:
        async with options.engine.open(dict(zip(names, by_endpoint.values(), strict=True)), options, warnings) as new:
            journal = at_the_end.enter_context(closing(begin_run(suites, tuple(by_endpoint), options)))
            at_a_time = options.engine.at_a_time(tuple(by_endpoint.values()), options, warnings)
            run = _Run(suites, new, options, observer, journal, warnings, baseline, at_a_time)
            with exits_reported():
                await run.run_cases()
            journal.restore()
        # Only now: summing up would count in the latency of cases still under way.
        ending = Ending(
            baseline=baseline,
            registry=options.registry,
            redactor=options.redactor,
            warnings=(
                *run.warnings,
                *filter(None, [journal.warning]),
                *_without_baseline(suites, baseline, options),
            ),
            gates=options.gates,
            stopped=run.stopped,
            watched=options.stop_when_sure,
            surely_stopped=run.surely_stopped,
            decided=run.decided(),
        )
        try:
            return finish_run(suites, journal, ending)
        except UNREADABLE as error:  # of a line that is JSON, and no case
            raise changed_by_others(journal.path) from error


def _by_endpoint(agents: Sequence[Agent], options: RunOptions) -> Mapping[str, Agent]:
    """The agents by what results call them, which distinguish them."""
    by_endpoint: dict[str, Agent] = {}
    for agent in agents:
        name = options.redactor.redact(agent.endpoint)
        if name in by_endpoint:
            raise UsageError(f"results call two agents `{name}`, so nothing would tell theirs apart")
        by_endpoint[name] = agent
    return by_endpoint


def _baseline(suites: Sequence[Suite], agents: Sequence[str], options: RunOptions) -> Baseline | None:
    name = options.baseline or (LATEST if any(map(_asks_for_regressions, suites)) else None)
    if name is None:
        return None
    return find_baseline(
        name,
        options.output_dir,
        suites,
        agents=agents,
        before=options.resumed,
        accepted=options.accepted,
        scope=Scope.of(options.flags),
    )


def _asks_for_regressions(suite: Suite) -> bool:
    gates = suite.metadata.gates if suite.metadata else None
    return gates is not None and bool(gates.fail_on_regression)


def _kept(suites: Sequence[Suite], journal: Journal) -> str:
    """The note on how much a resumed run had done before."""
    done = sum(journal.cases.count(number) for number in range(len(suites)))
    total = sum(suite.size for suite in suites)
    errors = len(journal.retried)
    if errors:
        again = f"and {counted(errors, 'case')} that had ended in error {'is' if errors == 1 else 'are'} run again"
        return f"the run was resumed: {done} of {total} cases were done before, {again}"
    if lines := journal.cases.unreadable:
        what = "a line" if lines == 1 else f"{lines} lines"
        unreadable = f"{what} of the journal cannot be read, and the cases on them are run again"
        return f"{unreadable}: {done} of {total} cases were done before"
    if done == total:
        return (
            "the run was complete: no case was run again, and the results are written from its journal"
            f"{_hint_at_errors(suites, journal)}"
        )
    return f"the run was resumed: {done} of {total} cases were done before"


def _hint_at_errors(suites: Sequence[Suite], journal: Journal) -> str:
    """How the cases that ended in error are run again, if there are any."""
    entries = chain.from_iterable(journal.cases.entries(number) for number in range(len(suites)))
    errors = sum(entry.status == "error" for entry in entries)
    what = "case again that" if errors == 1 else f"{errors} cases again that"
    return f"; `--retry-errors` runs the {what} ended in error" if errors else ""


def _without_baseline(suites: Sequence[Suite], baseline: Baseline | None, options: RunOptions) -> tuple[str, ...]:
    """The warning that there is nothing to compare with, and its meaning for the gate on regressions."""
    if baseline is not None:
        return ()
    is_gate = bool(options.gates and options.gates.fail_on_regression) or any(map(_asks_for_regressions, suites))
    if not is_gate and steps_back(options.baseline or "") is None:
        return ()
    warning = (
        f"there is no run of these suites and agents in `{options.output_dir}` that met its gates, to compare with"
    )
    if is_gate:
        warning += "; without a baseline every case has to pass (`evalc accept` makes a run the baseline)"
    return (warning,)


def _refuse_what_cannot_run(suites: Sequence[Suite], options: RunOptions) -> None:
    if options.concurrency != "auto" and options.concurrency < 1:
        raise UsageError(f"the concurrency is {options.concurrency}, and must be at least 1")
    if options.rpm is not None and options.rpm < 1:
        raise UsageError(f"the rate is {options.rpm} requests a minute, and must be at least 1")
    if not 0 < options.timeout_ms < float("inf"):
        raise UsageError(f"the timeout is {options.timeout_ms} ms, and must be above 0")
    for key, count in Counter(suite.key for suite in suites).items():
        if count > 1:
            origins = ", ".join(f"`{suite.origin}`" for suite in suites if suite.key == key)
            raise UsageError(
                f"{count} suites are called `{key.name}` in the tier {key.tier}, so their results collide: {origins}"
            )


class _Job(msgspec.Struct, frozen=True):
    """A case to run: the numbers of its suite and of the case."""

    suite: int
    case: int
    located: LocatedCase


@final
class _Run:
    """A run under way.

    `warnings` are those that belong to no suite; `stopped` says of suites, by number, why not all of their cases ran.
    """

    def __init__(
        self,
        suites: Sequence[Suite],
        new_worker: NewWorker,
        options: RunOptions,
        observer: Observer,
        journal: Journal,
        warnings: list[str],
        baseline: Baseline | None,
        at_a_time: int,
    ) -> None:
        self.warnings = warnings
        self._at_a_time = at_a_time
        self._baseline = baseline
        if options.resumed is not None:
            warnings += [
                _kept(suites, journal),
                *(() if options.asked is None else not_compared([journal.header], suites)),
            ]
            warnings += checked_otherwise((checks_of(journal.header), options.checks.text_hash()), options.run_id)
        self._suites = suites
        self._agents = tuple(dict.fromkeys(suite.agent for suite in suites))
        self._new_worker = new_worker
        self._options = options
        self._observer = observer
        self._journal = journal
        self._turns = TurnLog(
            journal.path.parent, options.redactor, resumed=options.resumed is not None, but_for=journal.retried
        )
        self._brake = StopPolicy(options.limits)
        self._reach = Reachability(self._agents if options.limits.max_errors is None else ())
        self._no_rubrics: dict[str | None, str | None] = {}
        self._watches = Watches()
        self.stopped: dict[int, str] = {}
        self.surely_stopped: frozenset[int] = frozenset()

    async def run_cases(self) -> None:
        """Run the suites: those of rubrics last, since what they cost is for nothing where others fail."""
        if self._brake.held:
            for number in range(len(self._suites)):
                self._brake.recall(self._journal.cases.entries(number))
        kept = sum(map(self._journal.cases.count, range(len(self._suites))))
        self._observer.run_started(sum(suite.size for suite in self._suites), kept)
        rubrics = [number for number, suite in enumerate(self._suites) if suite.tier == "rubric"]
        others = [number for number, suite in enumerate(self._suites) if suite.tier != "rubric"]
        if others:
            await self._run_suites(others)
        if rubrics:
            if not self._options.rubrics_always:
                gated = {number for number in others if self._is_gated(number)}
                for agent in self._agents:  # whose other suites alone say
                    numbers = (number for number in others if self._suites[number].agent == agent)
                    self._no_rubrics[agent] = why_no_rubrics(numbers, self._journal.cases, gated)
            await self._run_suites(rubrics)
        for warning in (self._brake.warning(), self._turns.failure, *self._ways_on()):
            if warning is not None:
                self._warn(warning)
        if not self.stopped:
            self._turns.remove()

    def _ways_on(self) -> Iterator[str]:
        """How a run goes on whose agent could not be reached, or in which too many cases ended in error."""
        if not self._options.command:
            return
        again = f"`{self._options.command} --retry-errors` runs"
        for agent, tries in self._reach.tries.items():
            rest = ", and the rest" if self._reach.gives_up(agent) else ""
            if tries:
                yield f"{_named(agent)} could not be reached: once it can be, {again} its cases again{rest}"
        if self._brake.broke:
            yield f"{self._brake.reason}: {again} them again, and the rest"

    async def _run_suites(self, numbers: Sequence[int]) -> None:
        """Let the workers take every case from one iterator, so that no case waits for another worker."""
        jobs = self._watched_jobs(numbers) if self._options.stop_when_sure else self._jobs(numbers)
        workers = min(self._at_a_time, max(1, sum(self._suites[number].size for number in numbers)))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(jobs))
        except BaseExceptionGroup as errors:
            _raise_first(errors)

    def _jobs(self, numbers: Sequence[int]) -> Iterator[_Job]:
        """Every case of the suites that has no line in the journal yet."""
        for number in numbers:
            suite = self._suites[number]
            kept = self._journal.cases.count(number)
            self._observer.suite_started(suite)
            for index, located in enumerate(suite.cases):
                if not kept or not self._journal.cases.has(number, index):
                    yield _Job(number, index, located)

    def _watched_jobs(self, numbers: Sequence[int]) -> Iterator[_Job]:
        """Every case in a random order, whose beginning decides the gates; those that the journal has are not run."""
        seed = "".join(suite.file_hash for suite in self._suites)
        everything = [
            _Job(number, index, located)
            for number in numbers
            for index, located in enumerate(self._suites[number].cases)
        ]
        jobs = in_random_order(everything, seed)
        run = [job for job in jobs if skipped_case(job.located.case, self._no_rubrics_for(job)) is None]
        past = {(job.suite, job.case): passed for job in run if (passed := self._passed_before(job)) is not None}
        for number in numbers:
            suite = self._suites[number]
            if suite.metadata is not None and suite.metadata.gates:
                cases = [(job.suite, job.case) for job in run if job.suite == number]
                self._watches.add(suite.metadata.gates, cases, past, number)
        if self._options.gates and len(numbers) == len(self._suites):
            self._watches.add(self._options.gates, [(job.suite, job.case) for job in run], past, None)
        elif self._options.gates:
            self._watches.need_all()
            self._warn("the gates of the run are not decided early, since the rubric tier runs after the others")
        for number in numbers:
            self._observer.suite_started(self._suites[number])
            for entry in self._journal.cases.entries(number):
                self._watches.finished((number, entry.case), entry.status)
        return (job for job in jobs if not self._journal.cases.has(job.suite, job.case))

    def _passed_before(self, job: _Job) -> bool | None:
        """Whether the case passed in the baseline; None if that does not know it."""
        suite = self._suites[job.suite]
        past = None if self._baseline is None else self._baseline.of(suite.key, self._agent_of(suite))
        return None if past is None else past.passed.get(job.located.case.id)

    def decided(self) -> Mapping[int | None, Decided]:
        """The gates that are decided though not all of their cases have run; None means the gates of the run."""
        return self._watches.decided(self.surely_stopped)

    async def _work(self, jobs: Iterator[_Job]) -> None:
        workers = {agent: self._new_worker(agent) for agent in self._agents}
        try:
            for job in jobs:
                if (skipped := self._not_sent(job)) is not None:
                    # Before anything is awaited, and so in source order.
                    self._skip(job, skipped)
                    await asyncio.sleep(0)
                else:
                    worker = workers[self._suites[job.suite].agent]
                    self._keep(job, await self._attempted(job, worker))
        finally:
            for worker in workers.values():
                if (failure := await worker.close()) is not None:
                    self._warn(failure)

    def _attempted(self, job: _Job, worker: CaseWorker) -> Coroutine[Any, Any, CaseRun]:
        until_sure = self._options.stop_when_sure and not self._needs_all_attempts(job.suite)
        sent = job.located.case.input
        is_conversation = bool(sent.follow_ups) or sent.user is not None
        attempt: Callable[..., Coroutine[Any, Any, CaseRun]] = worker.attempt
        if self._options.traced:
            attempt = partial(attempt, trace=self._trace_of(job))
        if is_conversation:
            attempt = self._with_turns_kept(job, attempt)
        return run_attempts(job.located, attempt, until_sure=until_sure)

    def _with_turns_kept(self, job: _Job, attempt: Callable[..., Coroutine[Any, Any, CaseRun]]) -> Attempting:
        """How a conversation is attempted: its turns are kept as they are answered."""
        numbers = numbers_from()
        return lambda located: attempt(located, self._turns.attempt(job.suite, job.case, next(numbers)))

    def _trace_of(self, job: _Job) -> TraceContext:
        """The context of a case's span, by the names that results have."""
        suite, redact = self._suites[job.suite], self._options.redactor.redact
        key = SuiteKey(redact(suite.name), suite.tier)
        return context_of(self._journal.header.run_id, self._agent_of(suite), key, redact(job.located.case.id))

    def _agent_of(self, suite: Suite) -> str:
        return self._journal.header.agent_endpoint if suite.agent is None else suite.agent

    def _is_gated(self, suite: int) -> bool:
        """Whether gates, of the run or of the suite, decide it in place of each case."""
        metadata = self._suites[suite].metadata
        return bool(self._options.gates or (metadata is not None and metadata.gates))

    def _needs_all_attempts(self, suite: int) -> bool:
        """Whether the attempts that a decided case lacks would still count: for its score, or for the time of each."""
        metadata = self._suites[suite].metadata
        gates = (self._options.gates, None if metadata is None else metadata.gates)
        threshold = None if metadata is None else metadata.threshold
        return threshold is not None or any(map(measures_attempts, gates))

    def _not_sent(self, job: _Job) -> SkippedCase | None:
        """The record of a case that is not to be sent: it says so, others failed before it, or the run has stopped."""
        no_rubrics = self._no_rubrics_for(job) if self._no_rubrics else None
        skipped = skipped_case(job.located.case, no_rubrics)
        if skipped is not None:
            return skipped
        surely = self._watches.enough_of(job.suite) if self._options.stop_when_sure else None
        agent = self._suites[job.suite].agent
        if surely is not None:
            self.surely_stopped |= {job.suite}
            reason = surely.reason
        elif self._reach.tries and self._reach.gives_up(agent):
            reason = f"{_named(agent)} could not be reached in its first {FIRST_CASES} cases"
        elif not self._brake.held or self._brake.lets_go():
            return None
        else:
            reason = self._brake.reason or ""
        self.stopped[job.suite] = reason
        return not_run(job.located, reason)

    def _no_rubrics_for(self, job: _Job) -> str | None:
        return self._no_rubrics.get(self._suites[job.suite].agent)

    def _skip(self, job: _Job, skipped: SkippedCase) -> None:
        skipped = self._journal.skip(job.suite, job.case, skipped)
        self._observer.case_skipped(self._suites[job.suite], skipped)

    def _keep(self, job: _Job, run: CaseRun) -> None:
        if (result := as_expected(job.located.case, run.result)) is not run.result:
            run = msgspec.structs.replace(run, result=result)
        if self._brake.held:
            self._brake.finished(run.result, run.cost_usd)
        if self._reach.tries:
            self._reach.finished(self._suites[job.suite].agent, run)
        if self._options.stop_when_sure:
            self._watches.finished((job.suite, job.case), run.result.status)
        result = self._journal.append(job.suite, job.case, run)
        self._observer.case_finished(self._suites[job.suite], result)

    def _warn(self, text: str) -> None:
        warning = self._options.redactor.redact(text)
        if warning not in self.warnings:
            self.warnings.append(warning)


def _named(agent: str | None) -> str:
    """The agent in messages: by its name where there are several."""
    return "the agent" if agent is None else f"the agent `{agent}`"


def _raise_first(errors: BaseExceptionGroup[BaseException]) -> NoReturn:
    """A worker's exception ends the others; it is the exception that callers know how to catch."""
    error = next(causes(errors))
    raise MachineError(str(error)) if isinstance(error, MachineFailed) else error from None
