"""From an answer that leads elsewhere to the answer that is there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol
from urllib.parse import urljoin, urlsplit

from evalc.errors import AgentProtocolError, UsageError
from evalc.runtime.agents.http.address import Address
from evalc.runtime.agents.http.transport import Reply, Transport, Watcher

_KEEPING: Final = frozenset({307, 308})
_CHANGING: Final = frozenset({301, 302, 303})


class Opener(Protocol):
    """Opens a transport to the host of a URL."""

    def __call__(self, url: str, /) -> AbstractAsyncContextManager[Transport]:
        """Open it."""
        ...


async def follow(
    reply: Reply,
    *,
    most: int,
    opener: Opener,
    method: str,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    own: Collection[str],
    watch: Watcher,
) -> Reply:
    """The reply at the end of `most` redirects or fewer; where there are more, the last of them.

    307 and 308 repeat the request; after 301, 302 and 303 the answer is fetched with GET. What the user configured
    goes to the origin that it was configured for: to another one only the headers in `own` are sent on. No redirect
    leads from `https:` to `http:`.

    Raises:
        AgentError: as `Transport.request` does.
    """
    sent: bytes | None = body
    for _ in range(most):
        location = reply.headers.get("location")
        if reply.status not in _KEEPING | _CHANGING or location is None:
            break
        target = _target(url, location)
        if urlsplit(target)[:2] != urlsplit(url)[:2]:
            headers = {name: value for name, value in headers.items() if name.lower() in own}
        if reply.status in _CHANGING:
            method, sent = "GET", None
            headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
        url = target
        async with opener(url) as transport:
            reply = await transport.request(method, url, sent, headers, watch=watch)
    return reply


def _target(url: str, location: str) -> str:
    try:
        target = Address.of(urljoin(url, location)).url
    except (ValueError, UsageError):
        raise AgentProtocolError("a redirect leads to a URL that cannot be read") from None
    if url.startswith("https:") and target.startswith("http:"):
        raise AgentProtocolError("a redirect leads from `https:` to `http:`, and is not followed")
    return target
