"""Awaits a blocking function in a daemon thread, and abandons it if it never returns."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar, final

from evalc.base.errors import AgentError
from evalc.runtime.agents.guard import guarded_call

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    function: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    outcome: asyncio.Future[Any]

    def run(self) -> None:
        result = guarded_call(self.function)
        # A closed loop says RuntimeError: the run is over, and nobody waits any more.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._deliver, result)

    def _deliver(self, result: object) -> None:
        if not self.outcome.done():
            self.outcome.set_result(result)


@final
class DaemonThread:
    """A thread that runs one function after another, started when first needed.

    A call that is cancelled is left behind with its thread, and the next call gets a new thread. Being a daemon, a
    thread whose function never returns keeps neither the run nor the process.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] | None = None

    async def call(self, function: Callable[[], T]) -> T | AgentError:
        """The function's value, or the AgentError that its failure became."""
        loop = asyncio.get_running_loop()
        job = _Job(function=function, loop=loop, outcome=loop.create_future())
        try:
            self._queue().put(job)
        except RuntimeError as error:  # No more threads can be started.
            return AgentError(str(error))
        try:
            result: T | AgentError = await job.outcome
        except asyncio.CancelledError:
            self.abandon()
            raise
        return result

    def abandon(self) -> None:
        """Let the thread end once its function returns, if it ever does."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    def _queue(self) -> SimpleQueue[_Job | None]:
        if self._jobs is None:
            jobs: SimpleQueue[_Job | None] = SimpleQueue()
            threading.Thread(target=_work, args=(jobs,), name="evalc-agent", daemon=True).start()
            self._jobs = jobs
        return self._jobs


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        job.run()
        del job  # What an agent was given and gave is not kept while waiting for the next.
