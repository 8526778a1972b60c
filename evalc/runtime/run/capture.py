"""From a snapshot's source, which is a file, a URL or code, to its data, captured just before the run.

Contract, 4. Snapshot Data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final

from evalc.errors import AgentError, UsageError
from evalc.runtime.agents.http.address import checked_url
from evalc.runtime.agents.http.transport import open_transport
from evalc.runtime.run.capture_code import printed_snapshot, returned_snapshot
from evalc.runtime.run.snapshot import load_snapshot, parse_snapshot

_MAX_BODY: Final = 64_000_000
_SECONDS: Final = 60.0


async def capture_snapshot(source: str, *, project_root: Path) -> dict[str, Any]:
    """The snapshot that a file holds, a URL answers with, a function returns or a program prints.

    Programs run in the project's root, and modules are looked for there first.

    Raises:
        UsageError: it cannot be had, is not JSON or no object.
    """
    scheme, _, rest = source.partition(":")
    match scheme:
        case "http" | "https" if rest.startswith("//"):
            host = checked_url(source, whose="the snapshot's").hostname
            # The rest of the URL may hold credentials.
            return await _captured(f"the snapshot from {host}", _fetched(source))
        case "python":
            making = returned_snapshot(rest, folder=project_root, max_bytes=_MAX_BODY)
            return await _captured(f"the snapshot from `{source}`", making)
        case "command":
            making = printed_snapshot(rest, folder=project_root, max_bytes=_MAX_BODY)
            return await _captured("the snapshot's command", making)  # its arguments may hold credentials
        case _:
            return load_snapshot(Path(source))


async def _captured(origin: str, making: Awaitable[bytes]) -> dict[str, Any]:
    """The snapshot that is being made, within its time; `origin` is where, for messages."""
    try:
        async with asyncio.timeout(_SECONDS):
            data = await making
    except TimeoutError:
        raise UsageError(f"{origin}: nothing arrived within {_SECONDS:g} s") from None
    except (AgentError, UsageError) as error:
        raise UsageError(f"{origin}: {error}") from None
    return parse_snapshot(data, origin)


async def _fetched(url: str) -> bytes:
    async with open_transport(url, max_body=_MAX_BODY) as transport:
        reply = await transport.get(url, {"Accept": "application/json", "Accept-Encoding": "identity"})
    if reply.status != 200:
        raise AgentError(f"HTTP {reply.status}")
    return reply.body
