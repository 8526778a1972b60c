"""Sends requests with httpcore, the engine of httpx, and reads replies; retries what may be retried.

httpx drives httpcore through a client and a pool. One connection needs neither, and a request then takes half the
processor time (`docs/decisions/http.md`). httpx itself reads the URLs, of agents and of proxies.

Every exception of these libraries and of the operating system becomes one of evalc's. The only time limit here is that
of connecting: the sender cancels when time is up, and a cancelled request takes its connection with it.
"""

from __future__ import annotations

import asyncio
import email.utils
import functools
import ipaddress
import os
import random
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast, final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx
import msgspec

from evalc.base.errors import AgentProtocolError, AgentUnavailable, MachineFailed, UsageError, causes
from evalc.base.terminal import excerpt
from evalc.runtime.agents import Sending, Tls, pace
from evalc.runtime.agents.http import checked_url
from evalc.runtime.mapping import INCOMPLETE_STATUSES

_IDLE_SECONDS: Final = 2.0
"""How long a connection is kept idle. Common servers drop it after five seconds: a request that meets a server in the
act of closing is lost, and may not be sent again."""

Watch = Callable[[bytes], bool]
"""Is given a body piece by piece, and says when it has enough: the rest is then not waited for."""

Watcher = Callable[[int, Mapping[str, str]], Watch | None]
"""Decides, when the status and the headers of an answer have come, whether and how its body is watched."""


@final
class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A complete HTTP answer; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotConnected(AgentUnavailable):
    """There was no connection, so nothing was sent, and sending it again is safe."""


@asynccontextmanager
async def open_transport(url: str, sending: Sending) -> AsyncIterator[Transport]:
    """Open a transport to the host of a URL that `checked_url` has passed."""
    transport = Transport(route_to(url, sending.tls), sending)
    try:
        yield transport
    finally:
        await transport.close()


@final
class Transport:
    """A connection that sends one request at a time; opened anew where it was lost. It has no cookies.

    All answers are read to their end, and redirects are answers like others. What it raises:

        NotConnected: when no connection could be made.
        AgentUnavailable: when the connection was lost, or the other side is not trusted.
        AgentProtocolError: when the answer is not HTTP, incomplete, compressed or too long.
    """

    def __init__(self, route: httpcore.AsyncConnectionPool, sending: Sending) -> None:
        self._route = route
        self._extensions = {"timeout": {"connect": sending.connect_seconds}}
        self._max_body = sending.max_body
        self._connection: httpcore.AsyncConnectionInterface | None = None
        self._response: httpcore.Response | None = None

    async def request(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, watch: Watcher | None = None
    ) -> Reply:
        """Send a request; what `watch` makes of an answer's status and headers watches its body."""
        target, host = _parsed(url)
        framed = [] if body is None else [(b"Content-Length", b"%d" % len(body))]
        if "host" not in map(str.lower, headers):
            framed.append((b"Host", host))
        framed += ((name.encode(), value.encode()) for name, value in headers.items())
        request = httpcore.Request(method, target, headers=framed, content=body or b"", extensions=self._extensions)
        try:
            connection = await self._opened(target.origin)
            response = self._response = await connection.handle_async_request(request)
            answered = headers_of(response.headers)
            content = await self._read(response, answered, watch)
        except BaseException as error:
            # Half an exchange is not gone on with: the next request starts on a connection of its own.
            await self.close()
            if (translated := _translated(error)) is None:
                raise
            raise translated from None
        return Reply(status=response.status, headers=answered, body=content)

    async def close(self) -> None:
        """Close the connection, with an answer that was not read to its end."""
        response, connection = self._response, self._connection
        self._response = self._connection = None
        if response is not None:
            await response.aclose()
        if connection is not None:
            await connection.aclose()

    async def _opened(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        """The connection, if it is still good for a request to there; else another one."""
        connection = self._connection
        if connection is not None:
            is_good = connection.is_available() and connection.can_handle_request(origin)
            if is_good and not connection.has_expired() and not _holds_surplus(connection):
                return connection
            await self.close()
        self._connection = self._route.create_connection(origin)
        return self._connection

    async def _read(self, response: httpcore.Response, headers: Mapping[str, str], watch: Watcher | None) -> bytes:
        encoding = headers.get("content-encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            # A compressed body can be a thousand times what was read of it.
            raise AgentProtocolError(f"the answer is compressed (`{excerpt(encoding)}`), which was not asked for")
        has_enough = None if watch is None else watch(response.status, headers)
        pieces: list[bytes] = []
        size = 0
        async for piece in cast(AsyncIterable[bytes], response.stream):
            size += len(piece)
            if size > self._max_body:
                raise AgentProtocolError(f"the answer is longer than {self._max_body} bytes")
            pieces.append(piece)
            if has_enough is not None and has_enough(piece):
                await self.close()
                return b"".join(pieces)
        await response.aclose()
        return b"".join(pieces)


def _holds_surplus(connection: object) -> bool:
    """Whether bytes have come that belong to no answer, on a connection beneath others; what comes late, expires it."""
    while (inner := getattr(connection, "_connection", None)) is not None:
        connection = inner
    state = getattr(connection, "_h11_state", None)
    return state is not None and bool(state.trailing_data[0])


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by their names in lower case; what is sent several times is joined by commas."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), _text(value)
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _text(value: bytes) -> str:
    """A header's value: in UTF-8, as servers write it that use more than ASCII, else in what HTTP once was in."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


@functools.lru_cache(maxsize=64)
def _parsed(url: str) -> tuple[httpcore.URL, bytes]:
    """The URL with what only ASCII can carry encoded, and its host as the header names it."""
    parsed = httpx.URL(url)
    return _for_httpcore(parsed), parsed.netloc


def _for_httpcore(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


# --- failures --------------------------------------------------------------------------------------------------------


def _translated(error: BaseException) -> BaseException | None:
    """evalc's error for an exception; None if it passes unchanged (cancellation, or evalc's own)."""
    match error:
        case httpcore.ConnectTimeout():
            return NotConnected("no connection: it took too long")
        case httpcore.ConnectError() | httpcore.ProxyError():
            return _no_connection(error)
        case httpcore.ProtocolError():
            return AgentProtocolError(f"the answer is not complete HTTP: {error}")
        case httpcore.NetworkError() | httpcore.TimeoutException() | OSError():
            return AgentUnavailable(f"the connection was lost: {_reason_of(error)}")
        case _:
            return None


def _no_connection(error: BaseException) -> BaseException:
    """The error for a failure to connect; a certificate that is not trusted will not be so at the next attempt."""
    for seen in causes(error):
        if isinstance(seen, ssl.SSLCertVerificationError):
            why = seen.verify_message.rstrip(".")
            return AgentUnavailable(f"no connection: the server's certificate is not trusted: {why}")
    return MachineFailed.of("no connection can be made", error) or NotConnected(f"no connection: {_reason_of(error)}")


def _reason_of(error: BaseException) -> str:
    """The words of the operating system, which libraries replace by their own."""
    for seen in causes(error):
        if isinstance(seen, ConnectionError) and seen.errno:
            return os.strerror(seen.errno)
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror
    return str(error) or type(error).__name__


# --- routes ----------------------------------------------------------------------------------------------------------


def route_to(url: str, tls: Tls) -> httpcore.AsyncConnectionPool:
    """The route to the host of a URL: what makes connections to it. As a pool it is not used.

    It is asked for once when an agent or a judge is made, before anybody waits: the first time takes a tenth of a
    second, and usage errors can still be reported.

    Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY as everywhere, but are never used for the loopback
    interface: an agent on this machine is not to be had through a proxy.
    """
    parts = urlsplit(url)
    context = _tls_context(tls) if parts.scheme == "https" else _no_tls_context()
    return httpcore.AsyncConnectionPool(context, _proxy_for(parts, tls), keepalive_expiry=_IDLE_SECONDS)


def _proxy_for(url: SplitResult, tls: Tls) -> httpcore.Proxy | None:
    host = url.hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if named is None:
        return None
    proxy = httpx.Proxy(checked_url(named if "://" in named else f"http://{named}", whose="the proxy's").geturl())
    context = _tls_context(tls) if proxy.url.scheme == "https" else None
    return httpcore.Proxy(_for_httpcore(proxy.url), auth=proxy.raw_auth, ssl_context=context)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@functools.cache
def _tls_context(tls: Tls) -> ssl.SSLContext:
    # One for all sessions: each would take 20 ms and most of a megabyte.
    file = tls.authorities
    if file is None and not (os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")):
        import certifi  # noqa: PLC0415 - for start-up: `https:` only

        file = Path(certifi.where())
    try:
        context = ssl.create_default_context(cafile=file)
    except OSError as error:  # ssl.SSLError too
        reason = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
        raise UsageError(f"the certificates in `{file}` cannot be used: {reason}") from None
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@functools.cache
def _no_tls_context() -> ssl.SSLContext:
    # For `http:`, so that no certificates are read; it trusts none.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


# --- retries ---------------------------------------------------------------------------------------------------------

RETRIED: Final = frozenset({429, 502, 503, 504})
"""The statuses that say "not now"."""


def is_complete(status: int, accepted: Collection[int] = ()) -> bool:
    """Whether the body of a reply with this status is a whole answer; `accepted` are those that always are."""
    return 200 <= status < 300 and (status not in INCOMPLETE_STATUSES or status in accepted)


_LONGEST_WAIT: Final = 8.0
_LONGEST_RETRY_AFTER: Final = 60.0


def wait_of(number: int, first_wait: float, retry_after: float) -> float:
    """Seconds to wait after the attempt of this number (0 first): what the server asked, and jitter on top."""
    longest: float = min(_LONGEST_WAIT, first_wait * 2.0**number)
    jitter = random.uniform(0.5, 1.0)  # noqa: S311
    return retry_after + longest * jitter


async def send_with_retries(
    attempt: Callable[[], Awaitable[Reply]], sending: Sending, *, deadline: float | None = None
) -> Reply:
    """The first reply that is not a "not now", or the last one; waits between attempts.

    A request is sent again only when nothing of it was sent or the server refused it: agents act on what they get.
    It is not waited for what would come after the deadline, a time of the event loop's clock.

    Raises:
        AgentError: what the last attempt raised, or what any attempt did that must not be repeated.
    """
    turn = pace.current()
    number = 0
    while True:
        is_last = number == sending.retries
        await turn.before_request()
        try:
            reply = await attempt()
        except NotConnected:
            wait = wait_of(number, sending.first_wait, 0.0)
            if is_last or _is_too_late(wait, deadline):
                raise
        else:
            turn.answered(reply.status)
            if reply.status not in RETRIED:
                return reply
            asked = _retry_after(reply.headers.get("retry-after", ""))
            wait = wait_of(number, sending.first_wait, asked)
            if is_last or asked > _LONGEST_RETRY_AFTER or _is_too_late(wait, deadline):
                return reply
        await asyncio.sleep(wait)
        number += 1


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
