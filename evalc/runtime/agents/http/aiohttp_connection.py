"""From a request to the head and the body of an answer by aiohttp: the one place that knows it (extra `fast`)."""

from __future__ import annotations

import asyncio
import functools
import string
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final
from urllib.parse import quote, urlsplit

import aiohttp
from yarl import URL

from evalc.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.runtime.agents.http.route import IDLE_SECONDS, Route
from evalc.runtime.agents.http.transport import NotConnected, no_connection, reason_of

_LONGEST_LINE: Final = 65_536


@final
class AiohttpConnection:
    """One connection of aiohttp's, with a cookie jar that keeps nothing."""

    def __init__(self, route: Route) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=1, keepalive_timeout=IDLE_SECONDS, ssl=route.tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=route.connect_seconds),
            auto_decompress=False,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        self._proxy = route.proxy
        self._response: aiohttp.ClientResponse | None = None
        self._watched: asyncio.Future[None] | None = None

    async def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> _Incoming:
        """Send a request (see Connection)."""
        self._response = await self._session.request(
            method, _parsed(url), data=body, headers=headers, proxy=self._proxy, allow_redirects=False
        )
        self._watch_connection()
        return _Incoming(self._response)

    def has_surplus(self) -> bool:
        """Whether more has come than was asked for (see Connection): aiohttp would answer with it."""
        protocol: Any = getattr(self._response, "_protocol", None)
        return protocol is not None and bool(protocol.is_connected() and protocol.should_close)

    def translated(self, error: BaseException) -> AgentError | None:
        """What an exception is to evalc (see Connection)."""
        match error:
            case AgentError():
                return None
            case aiohttp.ConnectionTimeoutError():
                return NotConnected("no connection: it took too long")
            case aiohttp.ClientConnectorError():
                return no_connection(error.os_error)
            case aiohttp.ClientHttpProxyError():
                return NotConnected(f"no connection: {error.status} {error.message}")
            case aiohttp.ClientResponseError():
                # As a text it would hold the URL; the lines behind the first draw a picture of the place.
                said = error.message.partition("\n")[0].rstrip(":")
                return AgentProtocolError(f"the answer is not complete HTTP: {said}")
            case aiohttp.ClientPayloadError() if "ConnectionResetError" in str(error):
                # aiohttp keeps what the network said as a text only.
                return AgentUnavailable("the connection was lost: Connection reset by peer")
            case aiohttp.ClientPayloadError():
                return AgentProtocolError("the answer is not complete HTTP: it broke off within the body")
            case aiohttp.ServerDisconnectedError():
                return AgentProtocolError("the answer is not complete HTTP: the server closed the connection")
            case aiohttp.ClientError() | OSError():
                return AgentUnavailable(f"the connection was lost: {reason_of(error)}")
            case _:
                return None

    def _watch_connection(self) -> None:
        """See to it that a body ends with its connection.

        aiohttp closes the connection at a chunk that is none, and says so only to whoever waits for a head.
        """
        connection = None if self._response is None else self._response.connection
        if connection is None or connection.protocol is None or connection.protocol.closed is self._watched:
            return
        self._watched = connection.protocol.closed
        if self._watched is not None:
            self._watched.add_done_callback(self._end_body)

    def _end_body(self, closed: asyncio.Future[None]) -> None:
        if not closed.cancelled():
            closed.exception()  # asked for, so that the loop does not report it as lost
        body = None if self._response is None else self._response.content
        if closed is self._watched and body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError("the connection was closed"))

    async def close(self) -> None:
        """Close it, with an answer that was not read to its end."""
        if self._response is not None:
            self._response.close()
        await self._session.close()


@final
@dataclass(frozen=True, slots=True)
class _Incoming:
    response: aiohttp.ClientResponse

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.response.headers

    def pieces(self) -> AsyncIterator[bytes]:
        return self.response.content.iter_any()


@functools.lru_cache(maxsize=64)
def _parsed(url: str) -> URL:
    """The URL as it stands, with what only ASCII can carry encoded; aiohttp would respell more than that."""
    parts = urlsplit(url)
    host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    return URL(quote(parts._replace(netloc=host).geturl(), safe=string.punctuation), encoded=True)
