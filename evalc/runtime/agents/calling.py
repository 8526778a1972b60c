"""Calls a foreign function, async or not, and turns its failure into an AgentError."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

from evalc.base.errors import AgentError
from evalc.base.guard import DaemonThread, guarded_await

_GRACE_SECONDS = 0.5


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Something to call. What is not async runs in a thread, and may hand over something to await."""

    function: Callable[[Any], Any]
    is_async: bool

    @classmethod
    def of(cls, function: Callable[[Any], Any]) -> Self:
        """The function, looked at once."""
        return cls(function=function, is_async=_is_async(function))

    async def call(self, argument: object, thread: DaemonThread) -> Any:
        """The function's value.

        Raises:
            AgentError: whatever the function raised.
        """
        if self.is_async:
            value = await _run_task(lambda: self.function(argument))
        else:
            value = await thread.call(lambda: self.function(argument))
            if inspect.isawaitable(value):
                awaitable = value
                value = await _run_task(lambda: awaitable)
        if isinstance(value, AgentError):
            raise value
        return value


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await, as far as can be told beforehand."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def _run_task(start: Callable[[], Any]) -> Any:
    """The value of what `start` returns to be awaited, or the AgentError that its failure became.

    It runs in a task of its own, for two reasons: starting one yields to the loop once a case, so that an agent
    that never suspends cannot starve timers and Ctrl-C; and a task that ignores cancellation can be left behind.
    """

    async def run() -> Any:
        return await start()

    loop = asyncio.get_running_loop()
    task = loop.create_task(guarded_await(run()))
    done = loop.create_future()
    task.add_done_callback(lambda _: None if done.done() else done.set_result(None))
    try:
        await done  # rather than the task, which may ignore that it is cancelled
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_SECONDS)
        raise
    finally:
        if not task.done():
            _leave_behind(task)
    return AgentError("the agent cancelled itself") if task.cancelled() else task.result()


def _leave_behind(task: asyncio.Task[Any]) -> None:
    import ctypes  # noqa: PLC0415 - for start-up: hardly an agent is left behind

    # A loop that ends waits for every task it knows, so this one, which will not be cancelled, is taken from its
    # books, and from those that say "destroyed but pending". It is never destroyed: that would wake it once more, to
    # catch and go on for ever if nothing can be awaited.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))
    task.cancel()
    asyncio.tasks._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
