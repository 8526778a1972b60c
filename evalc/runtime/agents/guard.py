"""Guards calls of foreign code: whatever it raises becomes an AgentError, and the run continues.

A failure is returned, not raised: a future cannot carry StopIteration, and an event loop stops on SystemExit.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from evalc.base.errors import AgentError
from evalc.runtime.agents import wire

T = TypeVar("T")

_RECURSION: Final = min(sys.getrecursionlimit(), 1_000)


def guarded_call(function: Callable[[], T]) -> T | AgentError:
    """Call the function in a thread of its own; there, even KeyboardInterrupt can only be its own doing."""
    process = os.getpid()
    try:
        return function()
    except BaseException as error:
        return agent_error(error)
    finally:
        _end_child_of(process)
        _restore_recursion()


async def guarded_await(awaitable: Awaitable[T]) -> T | AgentError:
    """Await in the loop's thread, where cancellation and Ctrl-C are the caller's and pass."""
    process = os.getpid()
    try:
        return await awaitable
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:
        return agent_error(error)
    finally:
        _end_child_of(process)
        _restore_recursion()


def _end_child_of(process: int) -> None:
    """End the child that the code has forked and comes back in: a second run would go on there, seen by nobody."""
    if os.getpid() != process:
        os._exit(1)


def _restore_recursion() -> None:
    """Take back a limit below that of the process, with which nothing of ours could go on; a higher one may stay."""
    if sys.getrecursionlimit() < _RECURSION:
        sys.setrecursionlimit(_RECURSION)


def agent_error(error: BaseException) -> AgentError:
    """The error as the result says it: `ValueError: text (agent.py:12)`. One of evalc's own stays what it is."""
    if isinstance(error, AgentError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    # The first frame is the guard's own; without another, the code could not even be called.
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if len(frames) > 1 else ""
    return AgentError(f"{said_by(error)}{place}")


def said_by(error: BaseException) -> str:
    """`ValueError: text`, or `ValueError` if it has none or cannot say it."""
    try:
        text = wire.shown(str(error))
    except BaseException:  # a broken `__str__` is one more mistake of the agent's, whatever it raises
        text = ""
    name = type(error).__name__
    return f"{name}: {text}" if text else name
