"""The engine that attempts cases on a Ray cluster: chunks of cases to its workers, results as they come.

The run itself stays in this process: it decides which case is sent next, holds the limits and writes the journal. Up to
`concurrency` cases are under way at a time; those that wait at the same moment are sent as one chunk. If a worker is
lost, it is replaced, and the cases that it did not finish are sent again, so an agent may be asked twice.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final

import msgspec
import ray

from evalc import __version__
from evalc.base.errors import AgentError, EngineError, UsageError
from evalc.base.guard import DaemonThread
from evalc.model.answer import TraceContext
from evalc.model.case import Case
from evalc.model.suite import LocatedCase
from evalc.runtime.agents import Agent
from evalc.runtime.agents.pace import Clock, Pace, RateLimit
from evalc.runtime.judges.panel import Panel
from evalc.runtime.run.case import CaseOptions, agent_broke, with_places
from evalc.runtime.run.engine import NewWorker, Worker
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.resume import AttemptLog

if TYPE_CHECKING:
    from evalc.runtime.run.engine import RunOptions


class Work(NamedTuple):
    """Work for every worker: the same agents, each with its options, and judges."""

    agents: Mapping[str | None, Agent]
    options: Mapping[str | None, CaseOptions]
    panel: Panel | None


class Attempt(NamedTuple):
    """One attempt to make; `number` distinguishes it from others of its chunk."""

    number: int
    agent: str | None
    case: Case
    trace: TraceContext | None


@final
class SharedRate:
    """An actor that lets so many requests a minute go out, from all workers together."""

    def __init__(self, per_minute: int) -> None:
        self._rate = RateLimit(per_minute, Clock())

    async def wait(self) -> None:
        """Return when one more request may go out."""
        await self._rate.wait()


@final
class _RemoteRate:
    def __init__(self, shared: Any) -> None:
        self._shared = shared

    async def wait(self) -> None:
        await self._shared.wait.remote()


@final
class RayWorker:
    """An actor that attempts many cases at a time. Each has a session to itself, which later cases use again.

    `work` is the pickled `Work`, `path` where the process that began the run looks for modules, such as that of its
    agent, and `rates` the actors of the agents' `SharedRate`; an agent whose rate nothing limits has none.
    """

    def __init__(self, work: bytes, path: Sequence[str], rates: Mapping[str | None, Any]) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]
        self._work: Work = pickle.loads(work)  # noqa: S301 - from the process that started this one
        self._paces = {agent: Pace(rate=_RemoteRate(rate)) for agent, rate in rates.items()}
        self._idle: dict[str | None, list[Worker]] = {agent: [] for agent in self._work.agents}

    async def ready(self) -> tuple[str, int]:
        """The version of evalc here, and the id of this process. Answered only while the event loop turns."""
        return __version__, os.getpid()

    async def run(self, chunk: Sequence[Attempt]) -> AsyncIterator[list[tuple[int, CaseRun]]]:
        """Make all the attempts at the same time; yield those that have just ended."""
        under_way = {asyncio.create_task(self._attempted(attempt)) for attempt in chunk}
        while under_way:
            ended, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            yield [task.result() for task in ended]

    async def _attempted(self, attempt: Attempt) -> tuple[int, CaseRun]:
        idle = self._idle[attempt.agent]
        agents, options, panel = self._work
        pace = self._paces.get(attempt.agent)
        worker = idle.pop() if idle else Worker(agents[attempt.agent], options[attempt.agent], pace, panel)
        run = await worker.attempt(LocatedCase(attempt.case, {}), trace=attempt.trace)
        idle.append(worker)
        return attempt.number, run

    async def close(self) -> list[str]:
        """Close all sessions; what went wrong, in words."""
        failures = [await worker.close() for idle in self._idle.values() for worker in idle]
        return [failure for failure in dict.fromkeys(failures) if failure is not None]


_START_SECONDS: Final = 60.0
"""How long a worker may take to start, which includes waiting for a free CPU of the cluster."""
_CLOSING_SECONDS: Final = 20.0
_BEAT_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 10.0
"""How long a worker's event loop may be blocked beyond the time that a case has."""
_MOST_CHUNKS: Final = 1_000
"""How many chunks a worker may have under way."""
_MOST_LOSSES: Final = 3
"""A case that loses so many workers is not sent again."""


@final
class _Request(msgspec.Struct, eq=False):
    """An attempt that a case waits for; `losses` counts the workers that were lost with it."""

    agent: str | None
    case: Case
    trace: TraceContext | None
    done: asyncio.Future[CaseRun]
    losses: int = 0


@final
class _Seat(msgspec.Struct, eq=False):
    """A place for one worker."""

    actor: Any = None  # the worker; None while there is no worker
    load: int = 0  # how many attempts are under way
    alone: bool = False  # whether one of them is a suspect, beside which nothing is to run
    blocked: bool = False  # whether an agent blocks the worker's event loop, for which it is killed
    lost: asyncio.Event = msgspec.field(default_factory=asyncio.Event)  # set once the worker is lost

    @property
    def takes_more(self) -> bool:
        """Whether attempts can be sent to the worker."""
        return self.actor is not None and not self.alone and not self.lost.is_set()


@final
class RayEngine(msgspec.Struct, frozen=True):
    """Workers on a Ray cluster."""

    # the cluster, as `HOST:PORT` or `auto`; None means that of `RAY_ADDRESS`, else a cluster started on this machine
    # and ends with the run
    address: str | None = None

    @asynccontextmanager
    async def open(
        self, agents: Mapping[str | None, Agent], options: RunOptions, warnings: list[str]
    ) -> AsyncIterator[NewWorker]:
        """Start the workers: as many as the cluster has CPUs, but no more than cases run at a time.

        Raises:
            UsageError: Ray or the cluster is not there, or the agents cannot be sent to it.
        """
        if options.concurrency == "auto":
            raise UsageError("the Ray engine needs `--concurrency N`: how many cases run at a time on the cluster")
        own = {name: options.for_agent(agent) for name, agent in agents.items()}
        work = _packed(Work(agents, {name: each.of_cases for name, each in own.items()}, options.panel))
        async with AsyncExitStack() as at_the_end:
            if self.address is not None or not ray.is_initialized():  # else the caller is connected, and stays so
                # The processes of a cluster that Ray starts end with the thread that has started them.
                thread = DaemonThread()
                at_the_end.callback(thread.abandon)
                await _connect(self.address, thread)
                at_the_end.callback(ray.shutdown)
            shared = ray.remote(SharedRate).options(num_cpus=0)
            rates = {name: shared.remote(each.rpm) for name, each in own.items() if each.rpm is not None}
            count = max(1, min(options.concurrency, int(ray.cluster_resources().get("CPU", 1))))
            longest = max(each.timeout_ms for each in own.values())
            pool = _Pool(work, rates, patience=longest / 1000 + _PATIENCE_SECONDS)
            try:
                await pool.start(count)
                yield lambda agent: _CaseWorker(pool, agent)
            finally:
                warnings += await pool.close()

    def at_a_time(self, agents: Sequence[Agent], options: RunOptions, warnings: list[str]) -> int:  # noqa: ARG002
        """As many as the options say: `open` has refused `auto`."""
        return cast(int, options.concurrency)


async def _connect(address: str | None, thread: DaemonThread) -> None:
    """Connect in a thread: Ray tries for many minutes, and cannot be stopped.

    Raises:
        UsageError: there is no cluster, or it does not answer.
    """

    def failure() -> str | None:
        try:
            ray.init(address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # it raises a dozen kinds
            return str(error)
        return None

    where = "a Ray cluster" if address is None else f"the Ray cluster at `{address}`"
    try:
        async with asyncio.timeout(_START_SECONDS):
            failed = await thread.call(failure)
    except TimeoutError:
        raise UsageError(f"{where} did not answer within {_START_SECONDS:g} s") from None
    if failed is not None:
        raise UsageError(f"{where} cannot be reached: {failed}")


def _packed(work: Work) -> bytes:
    """The message to every worker. An agent that is defined in a script goes along with its code.

    Raises:
        UsageError: an agent or a judge is nothing that can be sent.
    """
    try:
        packed: bytes = ray.cloudpickle.dumps(work)
    except Exception as error:  # whatever an agent of the caller's raises there
        names = ", ".join(f"`{agent.endpoint}`" for agent in work.agents.values())
        raise UsageError(f"{names} or a judge cannot be sent to the workers of a cluster: {error}") from None
    return packed


@final
class _CaseWorker:
    """Hands one case after the other to the cluster."""

    def __init__(self, pool: _Pool, agent: str | None) -> None:
        self._pool = pool
        self._agent = agent

    async def attempt(
        self,
        located: LocatedCase,
        log: AttemptLog | None = None,  # noqa: ARG002
        trace: TraceContext | None = None,
    ) -> CaseRun:
        """Let any worker run the case once; the turns of a conversation are in its result, and kept nowhere before."""
        try:
            run = await self._pool.ask(self._agent, located.case, trace)
        except AgentError as error:
            return agent_broke(located, error)
        return with_places(run, located)

    async def close(self) -> str | None:
        """Nothing: the pool closes what its workers hold."""
        return None


@final
class _Pool:
    """The workers of a run, each in its seat, and the attempts that wait for them.

    `work` and `rates` are as for `RayWorker`; `patience` is how many seconds a worker's event loop may be blocked.
    """

    def __init__(self, work: bytes, rates: Mapping[str | None, Any], *, patience: float) -> None:
        self._new_actor = ray.remote(RayWorker).options(num_cpus=1, max_concurrency=_MOST_CHUNKS)
        self._given = (ray.put(work), sys.path, rates)
        self._patience = patience
        self._seats: list[_Seat] = []
        self._waiting: list[_Request] = []
        self._wake = asyncio.Event()
        self._broken: EngineError | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, count: int) -> None:
        """Fill so many seats; one is enough to begin.

        Raises:
            UsageError: no worker can be started.
        """
        try:
            first = await self._started()
        except EngineError as error:
            raise UsageError(str(error)) from None
        self._seats = [_Seat(first), *(_Seat() for _ in range(count - 1))]
        for seat in self._seats:
            self._begin(self._keep_filled(seat))
        self._begin(self._send_chunks())

    async def ask(self, agent: str | None, case: Case, trace: TraceContext | None) -> CaseRun:
        """The run of one attempt.

        Raises:
            AgentError: the attempt was lost with its worker, again and again.
            EngineError: no worker is left.
        """
        if self._broken is not None:
            raise self._broken
        request = _Request(agent, case, trace, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self._wake.set()
        return await request.done

    async def close(self) -> list[str]:
        """End all workers; what could not be closed, in words."""
        for task in self._tasks:
            task.cancel()
        closing = [self._closed(seat.actor) for seat in self._seats if seat.actor is not None]
        failures = [failure for failures in await asyncio.gather(*closing) for failure in failures]
        return list(dict.fromkeys(failures))

    async def _closed(self, actor: Any) -> list[str]:
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                failures: list[str] = await actor.close.remote()
        except (TimeoutError, ray.exceptions.RayError):
            return ["a worker of the cluster could not be closed"]
        finally:
            ray.kill(actor)
        return failures

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _started(self) -> Any:
        """A new worker that answers.

        Raises:
            EngineError: it cannot be started, or is of another version.
        """
        actor = self._new_actor.remote(*self._given)
        try:
            async with asyncio.timeout(_START_SECONDS):
                version, _ = await actor.ready.remote()
        except TimeoutError:
            ray.kill(actor)
            raise EngineError(
                f"no worker of the cluster was ready within {_START_SECONDS:g} s: does it have a free CPU?"
            ) from None
        except ray.exceptions.RayError as error:
            raise EngineError(f"no worker of the cluster can be started: {_reason(error)}") from None
        if version != __version__:
            ray.kill(actor)
            raise EngineError(f"the cluster has evalc {version}, and this is evalc {__version__}")
        return actor

    async def _keep_filled(self, seat: _Seat) -> None:
        """Replace the worker of a seat whenever it is lost, as long as that is possible."""
        while True:
            if seat.actor is None:
                try:
                    seat.actor = await self._started()
                except EngineError as error:
                    if all(each.actor is None for each in self._seats):
                        self._give_up(error)
                    await asyncio.sleep(_BEAT_SECONDS)
                    continue
            seat.lost.clear()
            seat.blocked = False
            self._wake.set()
            await self._until_lost(seat)
            ray.kill(seat.actor)  # its chunks fail, and are sent again
            seat.actor = None

    async def _until_lost(self, seat: _Seat) -> None:
        """Return when a worker has ended, or its event loop is blocked, so that it would never end its cases."""
        with suppress(ray.exceptions.RayError):
            while not seat.lost.is_set():
                try:
                    async with asyncio.timeout(self._patience):
                        await seat.actor.ready.remote()
                except TimeoutError:
                    seat.blocked = True
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(_BEAT_SECONDS):
                        await seat.lost.wait()

    def _give_up(self, error: EngineError) -> None:
        self._broken = error
        for request in self._waiting:
            if not request.done.done():
                request.done.set_exception(error)
        self._waiting.clear()

    async def _send_chunks(self) -> None:
        """Send what waits at the same moment as one chunk for each worker, more to those with less to do.

        An attempt that has lost a worker is a suspect. It runs alone, so that it takes no other down with it again.
        """
        while True:
            await self._wake.wait()
            await asyncio.sleep(0)  # whoever asks in this turn of the event loop goes along
            self._wake.clear()
            waiting = [request for request in self._waiting if not request.done.done()]
            suspects = [request for request in waiting if request.losses]
            others = [request for request in waiting if not request.losses]
            seats = [seat for seat in self._seats if seat.takes_more]
            seats.sort(key=lambda seat: seat.load)
            while suspects and seats:
                seat = seats.pop(0)
                if seat.load:
                    break  # it is given nothing more, and so a suspect soon
                seat.alone = True
                self._send(seat, [suspects.pop(0)])
            if seats:
                chunks: dict[_Seat, list[_Request]] = {}
                for request in others:
                    seat = min(seats, key=lambda seat: seat.load + len(chunks.get(seat, ())))
                    chunks.setdefault(seat, []).append(request)
                for seat, chunk in chunks.items():
                    self._send(seat, chunk)
                others.clear()
            self._waiting = [*suspects, *others]

    def _send(self, seat: _Seat, chunk: Sequence[_Request]) -> None:
        seat.load += len(chunk)
        self._begin(self._run_chunk(seat, seat.actor, chunk))

    async def _run_chunk(self, seat: _Seat, actor: Any, chunk: Sequence[_Request]) -> None:
        exceptions = ray.exceptions
        why = "it ended too early"
        left = len(chunk)
        try:
            attempts = [Attempt(number, each.agent, each.case, each.trace) for number, each in enumerate(chunk)]
            async for reference in actor.run.remote(attempts):
                for number, run in await reference:
                    seat.load -= 1
                    left -= 1
                    if not chunk[number].done.done():
                        chunk[number].done.set_result(run)
        except exceptions.RayError as error:
            why = "an agent blocks its event loop" if seat.blocked else _reason(error)
            if not isinstance(error, exceptions.RayTaskError):
                seat.lost.set()
        finally:
            seat.load -= left
            seat.alone = False
        for request in chunk:
            if not request.done.done():
                self._ask_again(request, why)
        self._wake.set()

    def _ask_again(self, request: _Request, why: str) -> None:
        request.losses += 1
        if request.losses >= _MOST_LOSSES:
            request.done.set_exception(AgentError(f"the case was lost with its worker {_MOST_LOSSES} times: {why}"))
        elif self._broken is not None:
            request.done.set_exception(self._broken)
        else:
            self._waiting.append(request)


def _reason(error: Exception) -> str:
    """Ray's reason in one line: it explains itself over many, with ids and paths."""
    if isinstance(error, ray.exceptions.ActorDiedError | ray.exceptions.ActorUnavailableError):
        return "its process ended, or its machine cannot be reached"
    cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
    return f"{type(cause).__name__}: {cause}".splitlines()[0]
