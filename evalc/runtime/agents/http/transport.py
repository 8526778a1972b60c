"""Sends requests over HTTP and reads replies: httpx through a proxy, else its engine, httpcore; retries what may be.

Every exception of these libraries and of the operating system becomes one of evalc's. The only time limit here is that
of connecting: the sender cancels when time is up, and a cancelled request takes its connection with it.
"""

from __future__ import annotations

import asyncio
import email.utils
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol, final
from urllib.parse import urlsplit

from evalc.base.errors import AgentError, AgentProtocolError
from evalc.base.terminal import excerpt
from evalc.runtime.agents import pace
from evalc.runtime.agents.http.address import Connecting, NotConnected, Route, route_to
from evalc.runtime.mapping import INCOMPLETE_STATUSES

Watch = Callable[[bytes], bool]
"""Is given a body piece by piece, and says when it has enough: the rest is then not waited for."""

Watcher = Callable[[int, Mapping[str, str]], Watch | None]
"""Decides, when the status and the headers of an answer have come, whether and how its body is watched."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A complete HTTP answer. `headers` finds names whatever their case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """An HTTP connection that sends one request at a time.

    All of its methods read the whole answer, and redirects are answers like others. They raise:

        NotConnected: when no connection could be made.
        AgentUnavailable: when the connection was lost, or the other side is not trusted.
        AgentProtocolError: when the answer is not HTTP, incomplete, compressed or too long.
    """

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a POST request."""
        ...

    async def get(self, url: str, headers: Mapping[str, str]) -> Reply:
        """Send a GET request."""
        ...

    async def request(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, watch: Watcher | None = None
    ) -> Reply:
        """Send a request; what `watch` makes of an answer's status and headers watches its body."""
        ...


class Incoming(Protocol):
    """An answer whose head has come."""

    @property
    def status(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by names in any case."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        ...


class Connection(Protocol):
    """A connection of a library's, kept between requests; it has no cookies and follows no redirects."""

    async def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Incoming:
        """Send a request and wait for the head of its answer."""
        ...

    def has_surplus(self) -> bool:
        """Whether more has come than the answers that were asked for; the next one would be taken from it."""
        ...

    def translated(self, error: BaseException) -> AgentError | None:
        """evalc's error for an exception; None if it passes unchanged (cancellation, or evalc's own)."""
        ...

    async def close(self) -> None:
        """Close it, with the answer that was not read to its end."""
        ...


@asynccontextmanager
async def open_transport(url: str, *, max_body: int, connecting: Connecting | None = None) -> AsyncIterator[Transport]:
    """Open a transport to the host of a URL that `checked_url` has passed.

    Args:
        url: where the host is.
        max_body: bytes of an answer that are read at most.
        connecting: how connections are made.
    """
    connect, route = prepared(url, connecting or Connecting())
    transport = _Transport(lambda: connect(route), max_body=max_body)
    try:
        yield transport
    finally:
        await transport.close()


def prepared(url: str, connecting: Connecting) -> tuple[Callable[[Route], Connection], Route]:
    """The maker of connections, and the route that they take. The first time takes a tenth of a second.

    So it is called once when an agent or a judge is made, before anybody waits: usage errors can still be reported.

    Raises:
        UsageError: when the certificates or the proxy cannot be used.
    """
    # Imported when they are used, for start-up time: they take as long as all of evalc.
    from evalc.runtime.agents.http.connections import HttpcoreConnection, HttpxConnection  # noqa: PLC0415

    route = route_to(urlsplit(url), connecting)
    return (HttpcoreConnection if route.proxy is None else HttpxConnection), route


@final
class _Transport:
    """A connection, and another one where an exchange on it did not come to its end."""

    def __init__(self, connect: Callable[[], Connection], *, max_body: int) -> None:
        self._connect = connect
        self._max_body = max_body
        self._connection = connect()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        return await self.request("POST", url, body, headers)

    async def get(self, url: str, headers: Mapping[str, str]) -> Reply:
        return await self.request("GET", url, None, headers)

    async def request(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, watch: Watcher | None = None
    ) -> Reply:
        if self._connection.has_surplus():
            await self._reconnect()
        try:
            incoming = await self._connection.send(method, url, body, headers)
            content = await self._read(incoming, watch)
        except BaseException as error:
            # Half an exchange stays in no pool: the next request starts on a connection of its own.
            broken = await self._reconnect()
            if (translated := broken.translated(error)) is None:
                raise
            raise translated from None
        return Reply(status=incoming.status, headers=incoming.headers, body=content)

    async def close(self) -> None:
        await self._connection.close()

    async def _read(self, incoming: Incoming, watch: Watcher | None) -> bytes:
        encoding = incoming.headers.get("content-encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            # A compressed body can be a thousand times what was read of it.
            raise AgentProtocolError(f"the answer is compressed (`{excerpt(encoding)}`), which was not asked for")
        has_enough = None if watch is None else watch(incoming.status, incoming.headers)
        pieces: list[bytes] = []
        size = 0
        async for piece in incoming.pieces():
            size += len(piece)
            if size > self._max_body:
                raise AgentProtocolError(f"the answer is longer than {self._max_body} bytes")
            pieces.append(piece)
            if has_enough is not None and has_enough(piece):
                await self._reconnect()
                break
        return b"".join(pieces)

    async def _reconnect(self) -> Connection:
        broken, self._connection = self._connection, self._connect()
        await broken.close()
        return broken


RETRIED: Final = frozenset({429, 502, 503, 504})
"""The statuses that say "not now"."""


def is_complete(status: int, accepted: Collection[int] = ()) -> bool:
    """Whether the body of a reply with this status is a whole answer; `accepted` are those that always are."""
    return 200 <= status < 300 and (status not in INCOMPLETE_STATUSES or status in accepted)


_LONGEST_WAIT: Final = 8.0
_LONGEST_RETRY_AFTER: Final = 60.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How often to try again, and how long to wait before the first time; the wait doubles from then on.

    The caller bounds the whole by cancelling, so no deadline is kept here.
    """

    retries: int = 2
    first_wait: float = 0.25

    def wait(self, attempt: int, retry_after: float) -> float:
        """Seconds to wait after the attempt of this number (0 first): what the server asked, and jitter on top."""
        longest: float = min(_LONGEST_WAIT, self.first_wait * 2.0**attempt)
        jitter = random.uniform(0.5, 1.0)  # noqa: S311
        return retry_after + longest * jitter


async def send_with_retries(
    attempt: Callable[[], Awaitable[Reply]], backoff: Backoff, *, deadline: float | None = None
) -> Reply:
    """The first reply that is not a "not now", or the last one; waits between attempts.

    A request is sent again only when nothing of it was sent or the server refused it: agents act on what they get.
    It is not waited for what would come after the deadline, a time of the event loop's clock.

    Raises:
        AgentError: what the last attempt raised, or what any attempt did that must not be repeated.
    """
    turn = pace.current()
    for number in range(backoff.retries):
        await turn.before_request()
        try:
            reply = await attempt()
        except NotConnected:
            wait = backoff.wait(number, 0.0)
            if _is_too_late(wait, deadline):
                raise
        else:
            if reply.status not in RETRIED:
                return reply
            turn.refused(reply.status)
            asked = _retry_after(reply.headers.get("retry-after", ""))
            wait = backoff.wait(number, asked)
            if asked > _LONGEST_RETRY_AFTER or _is_too_late(wait, deadline):
                return reply
        await asyncio.sleep(wait)
    await turn.before_request()
    reply = await attempt()
    if reply.status in RETRIED:
        turn.refused(reply.status)
    return reply


def _is_too_late(wait: float, deadline: float | None) -> bool:
    return deadline is not None and asyncio.get_running_loop().time() + wait >= deadline


def _retry_after(value: str) -> float:
    """Seconds that a Retry-After header asks for, given as a number or a date; 0 if it makes no sense."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, IndexError, OverflowError):
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
