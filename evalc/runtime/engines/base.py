"""What an engine is: something that gives a run its workers, wherever these do their work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from evalc.model.suite import LocatedCase
from evalc.runtime.agents.base import Agent
from evalc.runtime.run.ask import ConversationLog
from evalc.runtime.run.run_case import CaseRun

if TYPE_CHECKING:
    from evalc.runtime.run.run_options import RunOptions


class CaseWorker(Protocol):
    """Attempts one case after the other, with one agent."""

    async def attempt(self, located: LocatedCase, log: ConversationLog | None = None) -> CaseRun:
        """Run the case once. Whatever the agent does, there is a result; only cancellation passes.

        A worker in this process logs the turns of a conversation, and continues a conversation in the log.

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
