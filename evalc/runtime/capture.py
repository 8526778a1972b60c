"""From a snapshot's source, a file or a URL, to its data, captured just before the run (contract, 4. Snapshot Data)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

from evalc.errors import AgentError, UsageError
from evalc.runtime.agents.transport import checked_url, open_transport
from evalc.runtime.snapshot import load_snapshot, parse_snapshot

_MAX_BODY: Final = 64_000_000
_SECONDS: Final = 60.0


async def capture_snapshot(source: str) -> dict[str, Any]:
    """The snapshot that a file holds or a URL answers with.

    Raises:
        UsageError: it cannot be had, is not JSON or no object.
    """
    if source.startswith(("python:", "command:")):
        raise UsageError("a snapshot comes from a file or a URL; snapshots made by code are not there yet")
    if not source.startswith(("http://", "https://")):
        return load_snapshot(Path(source))
    host = checked_url(source, whose="the snapshot's").hostname
    origin = f"the snapshot from {host}"  # the rest of the URL may hold credentials
    try:
        async with asyncio.timeout(_SECONDS), open_transport(source, max_body=_MAX_BODY) as transport:
            reply = await transport.get(source, {"Accept": "application/json", "Accept-Encoding": "identity"})
    except TimeoutError:
        raise UsageError(f"{origin} did not arrive within {_SECONDS:g} s") from None
    except AgentError as error:
        raise UsageError(f"{origin} cannot be had: {error}") from None
    if reply.status != 200:
        raise UsageError(f"{origin} cannot be had: HTTP {reply.status}")
    return parse_snapshot(reply.body, origin)
