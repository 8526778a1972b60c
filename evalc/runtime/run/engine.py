"""Engines, which give a run its workers, and the engine in this process; the options of runs, and local models."""

from __future__ import annotations

import asyncio
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, final

import msgspec

from evalc.base.errors import AgentUnavailable, UsageError
from evalc.base.guard import LoopBlocked, TimeLimit, bounded, is_of_the_run, said_by, unbounded, watched
from evalc.base.terminal import counted
from evalc.model.answer import AgentAnswer, AgentRequest, TraceContext
from evalc.model.case import Case, Gates
from evalc.model.result import CaseResult, SkippedCase
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime import CONCURRENCY
from evalc.runtime.agents import Agent, Session
from evalc.runtime.agents.pace import MOST_AT_A_TIME, Concurrency, Pace
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.judges.panel import JudgePool, Panel
from evalc.runtime.run.ask import ask_agent, broken_answer, request_of
from evalc.runtime.run.case import CaseOptions, result_of
from evalc.runtime.run.gates import Limits
from evalc.runtime.store.journal import Asked, CaseRun
from evalc.runtime.store.redact import NO_SECRETS, Redactor
from evalc.runtime.store.resume import AttemptLog
from evalc.runtime.store.runs import new_run_id
from evalc.tools import ToolRegistry

if TYPE_CHECKING:
    from evalc.runtime.run.user import UserPlayer


class CaseWorker(Protocol):
    """Attempts one case after the other, with one agent."""

    async def attempt(
        self, located: LocatedCase, log: AttemptLog | None = None, trace: TraceContext | None = None
    ) -> CaseRun:
        """Run the case once. Whatever the agent does, there is a result; only cancellation passes.

        A worker in this process logs the turns of a conversation, and continues a conversation in the log. Of a run
        that is exported, `trace` is the context of the case's span.

        Raises:
            EngineError: the engine itself has broken, so that no case can be attempted any more.
        """
        ...

    async def close(self) -> str | None:
        """Free what the worker holds; what went wrong is a text."""
        ...


NewWorker = Callable[[str | None], CaseWorker]
"""Makes a worker for an agent, by what results call it; None in a run of one agent."""


class Engine(Protocol):
    """Gives a run its workers. The run decides which cases are sent, when, and keeps their results."""

    def open(
        self, agents: Mapping[str | None, Agent], options: RunOptions, warnings: list[str]
    ) -> AbstractAsyncContextManager[NewWorker]:
        """Start; what the user should know goes to `warnings`, at the latest when the engine is closed.

        Raises:
            UsageError: it cannot be started, and nothing was run.
        """
        ...

    def at_a_time(self, agents: Sequence[Agent], options: RunOptions, warnings: list[str]) -> int:
        """How many cases can be run at a time; if they are fewer than the options say, `warnings` hear of it."""
        ...


_CLOSING_SECONDS: Final = 10.0
_YIELD_SECONDS: Final = 0.001
"""How long a worker may keep the event loop to itself: a case that another one has begun waits as long."""


@final
class LocalEngine:
    """Workers in this process. Those of one agent share its pace."""

    @asynccontextmanager
    async def open(
        self, agents: Mapping[str | None, Agent], options: RunOptions, warnings: list[str]
    ) -> AsyncIterator[NewWorker]:
        """Watch for code that blocks the event loop while the engine is open."""
        own = {name: options.for_agent(agent) for name, agent in agents.items()}
        paces = {name: Pace.of(each.concurrency, each.rpm) for name, each in own.items()}
        with watched(warnings):
            yield lambda name: Worker(agents[name], own[name].of_cases, paces[name], options.panel)

    def at_a_time(self, agents: Sequence[Agent], options: RunOptions, warnings: list[str]) -> int:
        """As many as the options say, if this process may have as many files open."""
        meant = MOST_AT_A_TIME if options.concurrency == "auto" else options.concurrency
        seats = 0 if options.panel is None else len(options.panel.seats)
        played = () if options.user is None else (options.user,)
        of_each = sum(getattr(agent, "open_files", 0) for agent in (*agents, *played)) + seats
        left, limit = _files_left()
        most = max(1, left // of_each) if of_each else meant
        if most < meant:
            warnings.append(
                f"{counted(most, 'case')} at a time, rather than {meant}: this process may have only {limit} files "
                "open (`ulimit -n`)"
            )
        return min(most, meant)


_KEPT_FREE: Final = 16
"""The files that a run itself may have open for a moment: its journal, data of checks, pipes of a program to be."""


def _files_left() -> tuple[int, int]:
    """How many files the workers may have open, and how many this process may in all; without a limit very many."""
    try:
        import resource  # noqa: PLC0415 - not on Windows

        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        opened = len([*Path("/dev/fd").iterdir()])
    except (ImportError, OSError):
        return sys.maxsize, sys.maxsize
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize, sys.maxsize
    return limit - opened - _KEPT_FREE, limit


@final
class Worker:
    """Has a session of its own, opened for its first case, and again where it could not be opened; and its judges'."""

    def __init__(
        self, agent: Agent, options: CaseOptions, pace: Pace | None = None, panel: Panel | None = None
    ) -> None:
        self._agent = agent
        self._options = options
        self._pace = pace
        self._limit = TimeLimit(options.timeout_ms)
        self._judges = None if panel is None else JudgePool(panel)
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._user: Session | None = None
        self._yielded = 0.0

    async def attempt(
        self, located: LocatedCase, log: AttemptLog | None = None, trace: TraceContext | None = None
    ) -> CaseRun:
        """Run the case once. Whatever the agent does, there is a result; only cancellation passes."""
        # The agent may never suspend: timers, other workers and Ctrl-C get their turn here.
        if time.monotonic() - self._yielded >= _YIELD_SECONDS:
            await asyncio.sleep(0)
            self._yielded = time.monotonic()
        case, request = located.case, request_of(located.case)
        sent = fingerprint_of(request)  # before an agent has it, which may change what is in it
        if trace is not None:
            request = msgspec.structs.replace(request, trace=trace)
        started = time.time()
        if self._pace is None:
            answer = await self._ask(case, request, log)
        else:
            # Judges are asked outside: the agent's rate and load are nothing to them.
            async with self._pace.turn():
                started = time.time()
                answer = await self._ask(case, request, log)
        ended = time.time()
        run = await result_of(located, answer, self._options, self._judges)
        result = run.result
        if trace is not None:
            result = msgspec.structs.replace(result, started_at=_moment(started), ended_at=_moment(ended))
        return msgspec.structs.replace(run, result=result, sent=sent)

    async def _ask(self, case: Case, request: AgentRequest, log: AttemptLog | None) -> AgentAnswer:
        try:
            session = self._session = self._session or await self._open(self._agent)
        except BaseException as error:  # an agent that cannot be opened breaks this attempt only
            if is_of_the_run(error):
                raise
            return broken_answer(error)
        player: UserPlayer | None = None
        if case.input.user is not None:
            from evalc.runtime.run.user import UserPlayer  # noqa: PLC0415 - for start-up: its patterns take 6 ms to compile

            try:
                user = await self._user_session()
            except BaseException as error:
                if is_of_the_run(error):
                    raise
                return AgentAnswer(0.0, None, "error", f"user: {said_by(error)}")
            timeout_ms = self._options.timeout_ms
            player = None if user is None else UserPlayer(user, case.input.user, case_id=case.id, timeout_ms=timeout_ms)
        return await ask_agent(case, request, session, self._limit, log, player)

    async def _user_session(self) -> Session | None:
        """The session of whoever plays users; None if nobody does."""
        if self._user is None and self._options.user is not None:
            self._user = await self._open(self._options.user)
        return self._user

    async def close(self) -> str | None:
        """Close the session. What went wrong is a text: the cases are finished, whatever the agent does at its end."""
        self._limit.close()
        bound = bounded(asyncio.get_running_loop().time() + _CLOSING_SECONDS)
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                if self._judges is not None:
                    await self._judges.close()
                await self._stack.aclose()
        except (Exception, LoopBlocked) as error:
            return f"the agent could not be closed: {said_by(error)}"
        finally:
            unbounded(bound)
        return None

    async def _open(self, agent: Agent) -> Session:
        self._limit.begin()
        try:
            session = await self._stack.enter_async_context(agent.session())
        except BaseException as error:
            is_late = self._limit.end()
            if is_of_the_run(error):
                raise
            if is_late:
                raise AgentUnavailable(f"it was not ready within {self._limit.milliseconds:.15g} ms") from error
            if isinstance(error, asyncio.CancelledError):
                raise AgentUnavailable("it was cancelled from inside") from error
            raise
        self._limit.end()
        return session


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


# --- options ---------------------------------------------------------------------------------------------------------


@final
class RunOptions(CaseOptions, frozen=True, kw_only=True):
    """How to run."""

    output_dir: Path  # where runs are; the folder of this one is called `run_id`
    made_in: Path | None = None  # where that folder is, if the run is not saved
    run_id: str = msgspec.field(default_factory=new_run_id)
    engine: Engine = msgspec.field(default_factory=LocalEngine)  # where the cases are attempted
    # how many cases run at a time; `auto` finds out how many the agent keeps up with
    concurrency: Concurrency = CONCURRENCY
    rpm: int | None = None  # how many requests go to the agent a minute at most; None means no limit
    # the options that hold for one agent alone, by its name in results
    of_agents: Mapping[str, Mapping[str, Any]] = {}
    registry: ToolRegistry | None = None  # the tools as they are now; None leaves staleness unchecked
    # a run to compare with: a run id, `latest`, or a path; None for none but what gates of suites need
    baseline: str | None = None
    # the file of the baseline that the project has accepted, if it has; `latest` is that then
    accepted: Path | None = None
    gates: Gates | None = None  # what the run as a whole has to reach
    limits: Limits = msgspec.field(default_factory=Limits)  # when it stops before its end
    panel: Panel | None = None  # who judges what only a judge can decide; None if nobody does
    # how agents, judges and the player are asked, for resuming the run; None if that is not known
    asked: Asked | None = None
    skills_hash: str | None = (
        None  # of what is in the skills that agents are given in every case, if they are given any
    )
    # whether the run ends where its gates are decided, and the repeats of a case if that is
    stop_when_sure: bool = False
    rubrics_always: bool = False  # whether the rubric tier is run also where others did not pass
    redactor: Redactor = NO_SECRETS  # strikes secrets out of all that is written
    traced: bool = False  # whether the run is exported to OpenTelemetry, so that agents are given its trace
    root: Path | None = None  # the project's folder, from which journals name files; None where that is not known
    flags: Mapping[str, Any] = {}  # those of the command line, kept for resuming the run
    resumed: Path | None = None  # the folder of the run that is gone on with; None begins a new one
    retry_errors: bool = False  # whether the cases of that run which ended in error are run again
    command: str = "evalc run --resume latest"  # the command that resumes the run

    def for_agent(self, agent: Agent) -> RunOptions:
        """The options that hold for an agent: its own win."""
        return msgspec.structs.replace(self, **self.of_agents.get(agent.endpoint, {}))

    @property
    def of_cases(self) -> CaseOptions:
        """The options that each case needs, which go to other machines."""
        return CaseOptions(**{name: getattr(self, name) for name in CaseOptions.__struct_fields__})


class Observer:
    """Hears of the progress of a run; this one listens to nothing.

    An exception in an observer ends the run; the journal keeps what was finished.
    """

    def loading(self, name: str, size: int) -> None:
        """A model of so many bytes is being loaded, which may take a while."""

    def run_started(self, cases: int, kept: int) -> None:
        """A run of so many cases begins; those that are kept were done before it was resumed, and are not run again."""

    def suite_started(self, suite: Suite) -> None:
        """The first case of a suite is about to be sent."""

    def case_finished(self, suite: Suite, result: CaseResult) -> None:
        """A case has its result: in the order of finishing, which is not the source's."""

    def case_skipped(self, suite: Suite, skipped: SkippedCase) -> None:
        """A case is not run, because it says so."""


NOBODY: Final = Observer()

# --- local models ----------------------------------------------------------------------------------------------------


class ModelServer(ABC):
    """The server of a model on this machine, as the `local_server` of an agent or a judge.

    A base class, since agents and judges of other kinds may be anybody's code, with anything by that name.
    """

    name: str  # the model's name
    size: int  # the model's size in bytes

    @abstractmethod
    async def url(self) -> str:
        """Where it answers; it is started if it has not been.

        Raises:
            AgentUnavailable: it could not be started, or has ended since.
        """

    @abstractmethod
    def close(self) -> None:
        """End it."""


@asynccontextmanager
async def local_models(
    agents: Sequence[Agent], panel: Panel | None, observer: Observer = NOBODY
) -> AsyncIterator[None]:
    """Load the local models of a run; they end with the block."""
    servers = tuple(dict.fromkeys(_servers(agents, panel)))
    try:
        for server in servers:
            observer.loading(server.name, server.size)
            try:
                await server.url()
            except AgentUnavailable as error:
                raise UsageError(str(error)) from None
        yield
    finally:
        for server in servers:
            server.close()


def _servers(agents: Sequence[Agent], panel: Panel | None) -> Iterator[ModelServer]:
    judges = () if panel is None else (seat.judge for seat in panel.seats)
    for each in (*agents, *judges):
        if isinstance(server := getattr(each, "local_server", None), ModelServer):
            yield server
