"""Sends requests with httpx, through a proxy. The only module that uses it."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, final

import httpx

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.runtime.agents.http.httpcore_connection import holds_surplus
from evalc.runtime.agents.http.route import IDLE_SECONDS, Route
from evalc.runtime.agents.http.transport import NotConnected, no_connection, reason_of


@final
class HttpxConnection:
    """One connection of httpx's, through a proxy. Its transport serves without its client, which has a cookie jar."""

    def __init__(self, route: Route) -> None:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS)
        self._transport = httpx.AsyncHTTPTransport(verify=route.tls, limits=limits, proxy=route.proxy, trust_env=False)
        self._response: httpx.Response | None = None
        connect = route.connect_seconds
        self._extensions = {} if connect is None else {"timeout": httpx.Timeout(None, connect=connect).as_dict()}

    async def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> _Incoming:
        """Send a request (see Connection)."""
        target, stream = _parsed(url), httpx.ByteStream(body or b"")
        framed = _framed(headers, target, body)
        request = httpx.Request(method, target, headers=framed, stream=stream, extensions=self._extensions)
        self._response = await self._transport.handle_async_request(request)
        return _Incoming(self._response)

    def has_surplus(self) -> bool:
        """Whether more has come than was asked for (see Connection)."""
        pool: Any = self._transport._pool
        return any(map(holds_surplus, pool.connections))

    def translated(self, error: BaseException) -> AgentError | None:
        """What an exception is to evalc (see Connection)."""
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
class _Incoming:
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
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)
