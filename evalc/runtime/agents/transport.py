"""From bytes and a URL to a reply over HTTP: the one place that knows the HTTP library.

Every exception of the library and of the operating system becomes one of evalc's here. There are no time limits
here either: whoever sends cancels when time is up, and a cancelled request takes its connection with it.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final
from urllib.parse import SplitResult, urlsplit

from evalc.errors import AgentError, AgentProtocolError, AgentUnavailable, UsageError

if TYPE_CHECKING:
    import httpx

# Shorter than the five seconds after which common servers drop an idle connection: a request that meets a server
# in the act of closing is lost, and may not be sent again.
_IDLE_SECONDS = 2.0

_FRAMING = frozenset({"content-length", "transfer-encoding"})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


class NotConnected(AgentUnavailable):
    """There was no connection, so nothing was sent, and sending it again is safe."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A complete HTTP answer. `headers` finds names whatever their case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """An HTTP connection that sends one request at a time."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a POST request and read the whole answer; redirects are answers like others.

        Raises:
            NotConnected: when no connection could be made.
            AgentUnavailable: when the connection was lost.
            AgentProtocolError: when the answer is not HTTP, incomplete, compressed or too long.
        """
        ...

    async def get(self, url: str, headers: Mapping[str, str]) -> Reply:
        """Send a GET request and read the whole answer; it raises as `post` does."""
        ...


@asynccontextmanager
async def open_transport(url: str, *, max_body: int) -> AsyncIterator[Transport]:
    """Open a transport to the host of a URL that `checked_url` has passed; it reads bodies of `max_body` bytes."""
    transport = HttpxTransport(urlsplit(url), max_body=max_body)
    try:
        yield transport
    finally:
        await transport.close()


def checked_url(url: str, *, whose: str = "the agent's") -> SplitResult:
    """The URL, known to be one that a transport can send to; `whose` it is, for messages.

    Raises:
        UsageError: when it is not; the message does not repeat the URL, which may hold credentials.
    """
    # Deferred for start-up time: httpx takes as long to import as all of evalc.
    import httpx  # noqa: PLC0415

    try:
        parts = urlsplit(url)
        httpx.URL(url)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")  # what the resolver will do
    except (ValueError, httpx.InvalidURL) as error:
        # The libraries quote what they cannot read; behind an `@` they may have taken a password for a port.
        reason = "is there a character in the credentials to write as %XX?" if "@" in url else str(error)
        raise UsageError(f"{whose} URL cannot be read: {reason}") from None
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{whose} URL begins with `{parts.scheme}:`, not with `http:` or `https:`")
    if not host:
        raise UsageError(f"{whose} URL names no host")
    return parts


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, known to be ones that HTTP can carry.

    Raises:
        UsageError: when one is not; the message does not repeat its value, which may be a secret.
    """
    for name, value in headers.items():
        if name.lower() in _FRAMING:
            raise UsageError(f"header `{name}` follows from the request and cannot be set")
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError(f"`{name}` cannot be the name of an HTTP header")
        if not _HEADER_VALUE.fullmatch(value):
            raise UsageError(f"the value of header `{name}` has a character that HTTP does not allow")
    return dict(headers)


@final
class HttpxTransport:
    """One connection of httpx's, kept between requests.

    httpx's transport serves without its client, whose cookie jar would carry state from one case into the next.
    Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY as everywhere, but never stand before the loopback
    interface: an agent on this machine is not to be had through a proxy.
    """

    def __init__(self, url: SplitResult, *, max_body: int) -> None:
        self._proxy = _proxy_for(url)
        self._tls = _tls_context() if url.scheme == "https" else _no_tls_context()
        self._max_body = max_body
        self._connection = self._connect()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a POST request and read the whole answer (see Transport)."""
        return await self._exchange("POST", url, headers, body)

    async def get(self, url: str, headers: Mapping[str, str]) -> Reply:
        """Send a GET request and read the whole answer (see Transport)."""
        return await self._exchange("GET", url, headers, None)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.aclose()

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        try:
            return await self._send(method, url, headers, body)
        except BaseException as error:
            # Half an exchange stays in no pool: the next request starts on a connection of its own.
            await self._reconnect()
            if (translated := _translated(error)) is None:
                raise
            raise translated from None

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        import httpx  # noqa: PLC0415

        request = httpx.Request(method, _parsed(url), headers=headers, content=body)
        response = await self._connection.handle_async_request(request)
        content = await self._read(response)
        return Reply(status=response.status_code, headers=response.headers, body=content)

    async def _read(self, response: httpx.Response) -> bytes:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            # A compressed body can be a thousand times what was read of it.
            raise AgentProtocolError(f"the answer is compressed (`{encoding[:40]}`), which was not asked for")
        parts: list[bytes] = []
        size = 0
        async with aclosing(response):
            async for part in response.aiter_raw():
                size += len(part)
                if size > self._max_body:
                    raise AgentProtocolError(f"the answer is longer than {self._max_body} bytes")
                parts.append(part)
        return b"".join(parts)

    async def _reconnect(self) -> None:
        broken, self._connection = self._connection, self._connect()
        await broken.aclose()

    def _connect(self) -> httpx.AsyncHTTPTransport:
        import httpx  # noqa: PLC0415

        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_IDLE_SECONDS)
        return httpx.AsyncHTTPTransport(verify=self._tls, limits=limits, proxy=self._proxy, trust_env=False)


def _translated(error: BaseException) -> AgentError | None:
    """What the exception is to evalc; None for one that passes as it is (cancellation, or evalc's own)."""
    import httpx  # noqa: PLC0415

    match error:
        case AgentError():
            return None
        case httpx.ConnectError() | httpx.ProxyError():
            return NotConnected(f"no connection: {_reason(error)}")
        case httpx.RemoteProtocolError() | httpx.LocalProtocolError() | httpx.DecodingError():
            return AgentProtocolError(f"the answer is not complete HTTP: {error}")
        case httpx.HTTPError() | OSError():
            return AgentUnavailable(f"the connection was lost: {_reason(error)}")
        case _:
            return None


def _reason(error: BaseException) -> str:
    """What the operating system said, which the library hides behind words of its own."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, BaseExceptionGroup):
            seen = seen.exceptions[0]
        if isinstance(seen, ConnectionError) and seen.errno:
            return os.strerror(seen.errno)
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror
        seen = seen.__cause__ or seen.__context__
    return str(error) or type(error).__name__


def _proxy_for(url: SplitResult) -> str | None:
    # Deferred for start-up time: the module brings http.client and email with it.
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415

    host = url.hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if proxy is None:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise UsageError(f"a `{urlsplit(proxy).scheme}:` proxy is not supported, only `http:` and `https:`")
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@functools.cache
def _tls_context() -> ssl.SSLContext:
    # One for all sessions: each would take 20 ms and most of a megabyte.
    import httpx  # noqa: PLC0415

    return httpx.create_ssl_context()


@functools.cache
def _no_tls_context() -> ssl.SSLContext:
    # For `http:`, so that no certificates are read; it trusts none.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@functools.lru_cache(maxsize=64)
def _parsed(url: str) -> httpx.URL:
    import httpx  # noqa: PLC0415

    return httpx.URL(url)
