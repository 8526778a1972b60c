"""Sends requests with httpcore, and with httpx through a proxy. The only module that uses either.

httpx drives httpcore through a pool. One connection needs neither: a request then takes half the processor time
(`docs/decisions/http.md`).
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, final

import httpcore
import httpx

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.runtime.agents.http.address import IDLE_SECONDS, NotConnected, Route, no_connection, reason_of


@final
class HttpcoreConnection:
    """One connection of httpcore's, to a host without a proxy before it; opened anew where it was lost."""

    def __init__(self, route: Route) -> None:
        self._tls = route.tls
        self._connection: httpcore.AsyncHTTPConnection | None = None
        self._response: httpcore.Response | None = None
        self._extensions = {"timeout": {"connect": route.connect_seconds}}

    async def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> _Incoming:
        """Send a request (see Connection)."""
        target, host = _parsed(url)
        framed = [] if body is None else [(b"Content-Length", b"%d" % len(body))]
        if "host" not in map(str.lower, headers):
            framed.append((b"Host", host))
        framed += ((name.encode(), value.encode()) for name, value in headers.items())
        request = httpcore.Request(method, target, headers=framed, content=body or b"", extensions=self._extensions)
        connection = await self._opened(target.origin)
        self._response = await connection.handle_async_request(request)
        return _Incoming(self._response)

    async def _opened(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        """The connection, if it is still good for a request to there; else another one."""
        connection = self._connection
        if connection is not None:
            if connection.is_available() and connection.can_handle_request(origin) and not connection.has_expired():
                return connection
            await connection.aclose()
        self._connection = httpcore.AsyncHTTPConnection(origin, self._tls, keepalive_expiry=IDLE_SECONDS)
        return self._connection

    def has_surplus(self) -> bool:
        """Whether more has come than was asked for (see Connection). What comes late, httpcore itself sees."""
        return self._connection is not None and holds_surplus(self._connection)

    def translated(self, error: BaseException) -> AgentError | None:
        """evalc's error for an exception (see Connection)."""
        match error:
            case AgentError():
                return None
            case httpcore.ConnectTimeout():
                return NotConnected("no connection: it took too long")
            case httpcore.ConnectError():
                return no_connection(error)
            case httpcore.ProtocolError():
                return AgentProtocolError(f"the answer is not complete HTTP: {error}")
            case httpcore.NetworkError() | httpcore.TimeoutException() | OSError():
                return AgentUnavailable(f"the connection was lost: {reason_of(error)}")
            case _:
                return None

    async def close(self) -> None:
        """Close it, with an answer that was not read to its end."""
        if self._response is not None:
            await self._response.aclose()
        if self._connection is not None:
            await self._connection.aclose()


def holds_surplus(connection: object) -> bool:
    """Whether bytes have come on a connection of httpcore's, beneath any others around it, that belong to no answer."""
    while (inner := getattr(connection, "_connection", None)) is not None:
        connection = inner
    state = getattr(connection, "_h11_state", None)
    return state is not None and bool(state.trailing_data[0])


@final
class _Incoming:
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response
        self.status = response.status
        self.headers = Headers(response.headers)

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in cast(AsyncIterable[bytes], self._response.stream):
            yield piece
        await self._response.aclose()


@final
class Headers(Mapping[str, str]):
    """Headers by names in any case; what is sent several times is joined by commas."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in raw:
            key, text = name.decode("latin-1").lower(), _text(value)
            earlier = self._values.get(key)
            self._values[key] = text if earlier is None else f"{earlier}, {text}"

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


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
    whole = httpcore.URL(scheme=parsed.raw_scheme, host=parsed.raw_host, port=parsed.port, target=parsed.raw_path)
    return whole, parsed.netloc


@final
class HttpxConnection:
    """One connection of httpx's, through a proxy. Its transport serves without its client, which has a cookie jar."""

    def __init__(self, route: Route) -> None:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS)
        self._transport = httpx.AsyncHTTPTransport(verify=route.tls, limits=limits, proxy=route.proxy, trust_env=False)
        self._response: httpx.Response | None = None
        connect = route.connect_seconds
        self._extensions = {} if connect is None else {"timeout": httpx.Timeout(None, connect=connect).as_dict()}

    async def send(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> _IncomingThroughProxy:
        """Send a request (see Connection)."""
        target, stream = _parsed_for_httpx(url), httpx.ByteStream(body or b"")
        framed = _framed(headers, target, body)
        request = httpx.Request(method, target, headers=framed, stream=stream, extensions=self._extensions)
        self._response = await self._transport.handle_async_request(request)
        return _IncomingThroughProxy(self._response)

    def has_surplus(self) -> bool:
        """Whether more has come than was asked for (see Connection)."""
        pool: Any = self._transport._pool
        return any(map(holds_surplus, pool.connections))

    def translated(self, error: BaseException) -> AgentError | None:
        """evalc's error for an exception (see Connection)."""
        match error:
            case AgentError():
                return None
            case httpx.ConnectTimeout():
                return NotConnected("no connection: it took too long")
            case httpx.ConnectError() | httpx.ProxyError():
                return no_connection(error)
            case httpx.RemoteProtocolError() | httpx.LocalProtocolError() | httpx.DecodingError():
                return AgentProtocolError(f"the answer is not complete HTTP: {error}")
            case httpx.HTTPError() | OSError():
                return AgentUnavailable(f"the connection was lost: {reason_of(error)}")
            case _:
                return None

    async def close(self) -> None:
        """Close it, with an answer that was not read to its end."""
        if self._response is not None:
            await self._response.aclose()
        await self._transport.aclose()


@final
@dataclass(frozen=True, slots=True)
class _IncomingThroughProxy:
    response: httpx.Response

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self.response.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        # `aiter_raw` yields the same, but counts it and cuts it up anew: measurable in a run of short answers.
        async for piece in cast(httpx.AsyncByteStream, self.response.stream):
            yield piece
        await self.response.aclose()


def _framed(headers: Mapping[str, str], url: httpx.URL, body: bytes | None) -> dict[str, str]:
    """The headers with those that follow from the request; httpx would take three times as long to add them."""
    host = {} if "host" in map(str.lower, headers) else {"Host": url.netloc.decode()}
    length = {} if body is None else {"Content-Length": str(len(body))}
    return {**host, **length, **headers}


@functools.lru_cache(maxsize=64)
def _parsed_for_httpx(url: str) -> httpx.URL:
    return httpx.URL(url)
