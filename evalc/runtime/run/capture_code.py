"""From `python:module:name` or `command:...` to the snapshot that this code makes (contract, 4. Snapshot Data)."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from evalc.errors import AgentError, UsageError
from evalc.runtime.agents.command import argv_of, ending_of
from evalc.runtime.agents.daemon_thread import DaemonThread
from evalc.runtime.agents.guard import guarded_call
from evalc.runtime.agents.process import run_process
from evalc.runtime.agents.python import load_target

_NOTHING: Final = b""


async def printed_snapshot(command: str, *, folder: Path, max_bytes: int) -> bytes:
    """What a program prints; it runs in `folder`, without a shell and with nothing on its standard input.

    Raises:
        UsageError: the command cannot be read, or there is no such program.
        AgentError: it cannot be started, prints too much, or does not end with status 0.
    """
    argv = argv_of(command, folder)
    try:
        completed = await run_process(argv, _NOTHING, folder=folder, max_output=max_bytes)
    except OSError as error:
        raise AgentError(f"`{argv[0]}` cannot be started: {error.strerror or error}") from None
    if completed.status != 0:
        raise AgentError(ending_of(completed))
    return completed.stdout


async def returned_snapshot(target: str, *, folder: Path, max_bytes: int) -> bytes:
    """What a function without parameters returns, async or not, as JSON; modules are looked for in `folder` first.

    It runs in a thread of its own, which is left behind when the caller is cancelled.

    Raises:
        UsageError: it cannot be imported, is not there, or is no function.
        AgentError: it raises something, or returns what is no JSON or too much of it.
    """
    found = load_target(target, folder)
    if not callable(found):
        raise UsageError(f"`python:{target}` is a `{type(found).__name__}`, not a function")
    thread = DaemonThread()
    try:
        outcome = await thread.call(lambda: _encoded(_value_of(found)))
    finally:
        thread.abandon()
    if isinstance(outcome, AgentError):
        raise outcome
    if len(outcome) > max_bytes:
        raise AgentError(f"it is longer than {max_bytes} bytes")
    return outcome


def _value_of(function: Callable[[], Any]) -> object:
    value = function()
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> object:
    return await value


def _encoded(value: object) -> bytes:
    encoded = guarded_call(lambda: json.dumps(value, allow_nan=False).encode())
    if isinstance(encoded, AgentError):
        raise AgentError(f"what it returns is not JSON: {encoded}")
    return encoded
