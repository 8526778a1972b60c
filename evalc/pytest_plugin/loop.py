"""From cases, each when its test is run, to their results: one event loop and one open agent for a test session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import final

from evalc.errors import EvalcError
from evalc.model.suite import LocatedCase
from evalc.runtime.agents.base import Agent
from evalc.runtime.local_model.served import local_models
from evalc.runtime.run.attempts import run_attempts
from evalc.runtime.run.blocking import watched
from evalc.runtime.run.exits import exits_told
from evalc.runtime.run.pace import Pace
from evalc.runtime.run.run_case import CaseRun
from evalc.runtime.run.run_options import RunOptions
from evalc.runtime.run.worker import Worker

_Job = tuple[LocatedCase, "asyncio.Future[CaseRun]"]


@final
class CaseLoop:
    """Runs cases of one agent. It is opened and closed in one task, as agents may ask of whoever opens them.

    Args:
        runner: the event loop, which goes on between the tests only while a case is run.
        agent: what the cases are sent to.
        options: what they are checked with.
        release_output: gives back the standard error that pytest has captured.
    """

    def __init__(
        self, runner: asyncio.Runner, agent: Agent, options: RunOptions, release_output: Callable[[], object]
    ) -> None:
        self._release_output = release_output
        self._runner = runner
        self._agent = agent
        self._options = options
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._serving: asyncio.Task[str | None] | None = None
        self._blocked: list[str] = []

    def run(self, located: LocatedCase) -> CaseRun:
        """Run a case as often as it says, to the end.

        Raises:
            UsageError: a local model cannot be loaded.
            KeyboardInterrupt: the session is to end.
        """
        return self._runner.run(self._run(located))

    def close(self) -> str | None:
        """Close the agent; what went wrong, here or before, is a text."""
        failure = self._runner.run(self._close())
        return "; ".join(dict.fromkeys((*self._blocked, *filter(None, (failure,))))) or None

    async def _run(self, located: LocatedCase) -> CaseRun:
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        done: asyncio.Future[CaseRun] = asyncio.get_running_loop().create_future()
        self._jobs.put_nowait((located, done))
        try:
            with exits_told(self._release_output), watched(self._blocked):
                await asyncio.wait((done, self._serving), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._serving.cancel()
            raise
        if not done.done():
            self._serving.result()
            raise EvalcError("the agent's session ended before the case did")
        return done.result()

    async def _serve(self) -> str | None:
        options = self._options
        async with local_models((self._agent,), options.panel, None):
            worker = Worker(self._agent, options.of_cases, Pace.of(1, options.rpm), options.panel)
            try:
                while (job := await self._jobs.get()) is not None:
                    located, done = job
                    done.set_result(await run_attempts(located, worker.attempt))
            finally:
                failure = await worker.close()
        return failure

    async def _close(self) -> str | None:
        if self._serving is None:
            return None
        self._jobs.put_nowait(None)
        await asyncio.wait((self._serving,))
        return None if self._serving.cancelled() or self._serving.exception() else self._serving.result()
