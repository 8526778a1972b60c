"""What the Ray engine places on a cluster: workers that attempt cases, and the rate that all of them share."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple, final

from evalc import __version__
from evalc.model.case import Case
from evalc.model.suite import LocatedCase
from evalc.runtime.agents.base import Agent
from evalc.runtime.engines.local import Worker
from evalc.runtime.judges.panel import Panel
from evalc.runtime.run.pace import LoopClock, Pace, RateLimit
from evalc.runtime.run.run_case import CaseOptions, CaseRun


class Work(NamedTuple):
    """What a run asks of every worker: the same agents, options and judges."""

    agents: Mapping[str | None, Agent]
    options: CaseOptions
    panel: Panel | None


class Attempt(NamedTuple):
    """One attempt to make; `number` tells it from others of its chunk."""

    number: int
    agent: str | None
    case: Case


class Attempted(NamedTuple):
    """An attempt that was made."""

    number: int
    run: CaseRun


@final
class SharedRate:
    """An actor that lets so many requests a minute go out, from all workers together."""

    def __init__(self, per_minute: int) -> None:
        self._rate = RateLimit(per_minute, LoopClock())

    async def wait(self) -> None:
        """Return when one more request may go out."""
        await self._rate.wait()


@final
class _RemoteRate:
    """That rate, as a worker sees it."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    async def wait(self) -> None:
        await self._shared.wait.remote()


@final
class RayWorker:
    """An actor that attempts many cases at a time. Each has a session to itself, which later cases use again.

    Args:
        work: the pickled `Work`.
        path: where the process that began the run looks for modules, such as that of its agent.
        rate: the actor of a `SharedRate`; None if nothing limits the rate.
    """

    def __init__(self, work: bytes, path: Sequence[str], rate: Any | None) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]
        self._work: Work = pickle.loads(work)  # noqa: S301 - from the process that started this one
        self._pace = None if rate is None else Pace(rate=_RemoteRate(rate))
        self._idle: dict[str | None, list[Worker]] = {agent: [] for agent in self._work.agents}

    async def ready(self) -> tuple[str, int]:
        """The version of evalc here, and the id of this process. Answered only while the event loop turns."""
        return __version__, os.getpid()

    async def run(self, chunk: Sequence[Attempt]) -> AsyncIterator[list[Attempted]]:
        """Make all the attempts at the same time; yield those that have just ended."""
        under_way = {asyncio.create_task(self._attempted(attempt)) for attempt in chunk}
        while under_way:
            ended, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            yield [task.result() for task in ended]

    async def _attempted(self, attempt: Attempt) -> Attempted:
        idle = self._idle[attempt.agent]
        worker = idle.pop() if idle else self._new_worker(attempt.agent)
        run = await worker.attempt(LocatedCase(attempt.case, {}))
        idle.append(worker)
        return Attempted(attempt.number, run)

    def _new_worker(self, agent: str | None) -> Worker:
        return Worker(self._work.agents[agent], self._work.options, self._pace, self._work.panel)

    async def close(self) -> list[str]:
        """Close all sessions; what went wrong, in words."""
        told = [await worker.close() for idle in self._idle.values() for worker in idle]
        return [failure for failure in dict.fromkeys(told) if failure is not None]
