"""The engine that attempts all cases in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, final

from evalc.runtime.agents.base import Agent
from evalc.runtime.engines.base import NewWorker
from evalc.runtime.run.blocking import watched
from evalc.runtime.run.pace import Pace
from evalc.runtime.run.worker import Worker

if TYPE_CHECKING:
    from evalc.runtime.run.run_options import RunOptions


@final
class LocalEngine:
    """Workers in this process. Those of one agent share its pace."""

    @asynccontextmanager
    async def open(
        self, agents: Mapping[str | None, Agent], options: RunOptions, warnings: list[str]
    ) -> AsyncIterator[NewWorker]:
        """Watch for code that blocks the event loop while the engine is open."""
        paces = {name: Pace.of(options.concurrency, options.rpm) for name in agents}
        case_options = options.of_cases
        with watched(warnings):
            yield lambda name: Worker(agents[name], case_options, paces[name], options.panel)
