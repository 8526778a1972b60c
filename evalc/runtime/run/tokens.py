"""Loads the data that tokens name, or captures it from a file, a URL or code just before the run.

Contract, 3. Seed Manifest and 4. Snapshot Data.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn

from evalc.base.errors import AgentError, UsageError
from evalc.base.files import JSON_LIMIT, NotRegular, TooLarge, read_limited
from evalc.base.guard import DaemonThread, awaited, guarded_call
from evalc.base.json_fault import fault_of
from evalc.runtime.agents import Sending
from evalc.runtime.agents.http import checked_url
from evalc.runtime.agents.process import argv_of, ending_of, run_process
from evalc.runtime.agents.python import load_target


def load_object(path: Path, what: str) -> dict[str, Any]:
    """Read a JSON object from a file; `what` is its name in messages, such as `seed manifest`."""
    try:
        return parse_object(read_limited(path, JSON_LIMIT), what, str(path))
    except TooLarge:
        raise UsageError(f"the {what} `{path}` is larger than {JSON_LIMIT // 1_000_000} MB") from None
    except NotRegular as other:
        raise UsageError(f"the {what} `{path}` is {other.kind}, not a file") from None
    except OSError as error:
        raise UsageError(f"the {what} `{path}` cannot be read: {error.strerror}") from error


def parse_object(data: bytes, what: str, origin: str) -> dict[str, Any]:
    """Read a JSON object; NaN and infinities are not allowed."""
    text = ""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        fault = fault_of(error, text)
        line, column = fault.position(text)
        raise UsageError(f"{origin}:{line}:{column}: the {what} is not JSON: {fault.found}") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{origin}:{line}: the {what} is not UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{origin}: the {what} is nested too deeply") from error
    except _NoNumber as error:
        raise UsageError(f"{origin}: the {what} is not JSON: {error}") from error
    except ValueError as error:
        raise UsageError(f"{origin}: the {what} holds a number of too many digits") from error
    if not isinstance(value, dict):
        raise UsageError(f"{origin}:1:1: the {what} is not a JSON object")
    return value


class _NoNumber(ValueError):
    """A constant that Python takes for a number of JSON."""


def _refuse(constant: str) -> NoReturn:
    raise _NoNumber(f"`{constant}` is not a JSON number")


_MAX_BODY: Final = 64_000_000
_SECONDS: Final = 60.0


async def printed_snapshot(command: str, folder: Path) -> bytes:
    """The output of a program; it runs in `folder`, without a shell and with nothing on its standard input.

    Raises:
        UsageError: the command cannot be read, or there is no such program.
        AgentError: it cannot be started, prints too much, or does not end with status 0.
    """
    argv = argv_of(command, folder)
    try:
        completed = await run_process(argv, b"", folder=folder, max_output=_MAX_BODY)
    except OSError as error:
        raise AgentError(f"`{argv[0]}` cannot be started: {error.strerror or error}") from None
    if completed.status != 0:
        raise AgentError(ending_of(completed))
    return completed.stdout


async def returned_snapshot(target: str, folder: Path, brought: Mapping[str, object]) -> bytes:
    """The value of a function without parameters, async or not, as JSON: a `brought` function, or that of a module.

    Modules are looked for in `folder` first.

    It runs in a thread of its own, which is abandoned if the caller is cancelled.

    Raises:
        UsageError: it cannot be imported, does not exist, or is not a function.
        AgentError: it raises something, or returns what is no JSON or too much of it.
    """
    found = load_target(target, folder, brought)
    if not callable(found):
        raise UsageError(f"`python:{target}` is a `{type(found).__name__}`, not a function")
    thread = DaemonThread()
    try:
        outcome = await thread.call(lambda: _encoded(awaited(found())))
    finally:
        thread.abandon()
    if isinstance(outcome, AgentError):
        raise outcome
    if len(outcome) > _MAX_BODY:
        raise AgentError(f"it is longer than {_MAX_BODY} bytes")
    return outcome


def _encoded(value: object) -> bytes:
    encoded = guarded_call(lambda: json.dumps(value, allow_nan=False).encode())
    if isinstance(encoded, AgentError):
        raise AgentError(f"what it returns is not JSON: {encoded}")
    return encoded


async def capture_snapshot(
    source: str, *, project_root: Path, brought: Mapping[str, object] = MappingProxyType({})
) -> dict[str, Any]:
    """The snapshot that a file holds, a URL answers with, a function returns or a program prints.

    Programs run in the project's root, and modules are looked for there first, except for those that a caller has
    `brought`.
    """
    scheme, _, rest = source.partition(":")
    match scheme:
        case "http" | "https" if rest.startswith("//"):
            host = checked_url(source, whose="the snapshot's").hostname
            # The rest of the URL may hold credentials.
            return await _captured(f"the snapshot from {host}", _fetched(source))
        case "python":
            making = returned_snapshot(rest, project_root, brought)
            return await _captured(f"the snapshot from `{source}`", making)
        case "command":
            making = printed_snapshot(rest, project_root)
            return await _captured("the snapshot's command", making)  # its arguments may hold credentials
        case _:
            return load_object(Path(source), "snapshot")


async def _captured(origin: str, making: Awaitable[bytes]) -> dict[str, Any]:
    """The snapshot that is being made, within its time; `origin` is where, for messages."""
    try:
        async with asyncio.timeout(_SECONDS):
            data = await making
    except TimeoutError:
        raise UsageError(f"{origin}: nothing arrived within {_SECONDS:g} s") from None
    except (AgentError, UsageError) as error:
        raise UsageError(f"{origin}: {error}") from None
    return parse_object(data, "snapshot", origin)


async def _fetched(url: str) -> bytes:
    from evalc.runtime.agents.http.transport import open_transport  # noqa: PLC0415 - for start-up: httpx is behind it

    async with open_transport(url, Sending(max_body=_MAX_BODY)) as transport:
        reply = await transport.request("GET", url, None, {"Accept": "application/json", "Accept-Encoding": "identity"})
    if reply.status != 200:
        raise AgentError(f"HTTP {reply.status}")
    return reply.body
