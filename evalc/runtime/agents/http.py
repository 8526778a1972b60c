"""From a request to a POST of `{"message": ...}`, and from the JSON that comes back to an answer."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import final
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from evalc.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.runtime.agents import wire
from evalc.runtime.agents.base import AgentRequest, AgentResponse, Session
from evalc.runtime.agents.retry import RETRIED, Backoff, send_with_retries
from evalc.runtime.agents.transport import (
    Reply,
    Transport,
    checked_headers,
    checked_url,
    open_transport,
)

_DEFAULT_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    # A body is capped as it comes, so it must come as long as it is.
    "Accept-Encoding": "identity",
    "User-Agent": "evalc",
}


@final
class HttpAgent:
    """An agent behind a URL.

    Args:
        url: where to POST; a user and password in it become an `Authorization` header.
        headers: sent with every request, over the ones that are sent anyway.
        backoff: how connection faults and the statuses 429, 502, 503 and 504 are tried again.
        max_body: bytes of an answer that are read at most.

    Raises:
        UsageError: when the URL or a header is not one that HTTP can carry.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        backoff: Backoff | None = None,
        max_body: int = wire.MAX_BODY,
    ) -> None:
        parts = checked_url(url)
        self._endpoint = without_credentials(parts)
        self._url = parts._replace(netloc=_host_and_port(parts), fragment="").geturl()
        self._headers = _merged(_DEFAULT_HEADERS, _basic_authorization(parts), checked_headers(headers or {}))
        self._backoff = backoff or Backoff()
        self._max_body = max_body

    @property
    def endpoint(self) -> str:
        """The URL without user and password, the values of its query struck out."""
        return self._endpoint

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a connection of one's own."""
        async with open_transport(self._url, max_body=self._max_body) as transport:
            yield _HttpSession(
                transport=transport,
                url=self._url,
                headers=self._headers,
                backoff=self._backoff,
            )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _HttpSession:
    transport: Transport
    url: str
    headers: Mapping[str, str]
    backoff: Backoff

    async def send(self, request: AgentRequest) -> AgentResponse:
        body = wire.encode_request(request)
        reply = await send_with_retries(lambda: self.transport.post(self.url, body, self.headers), self.backoff)
        if not 200 <= reply.status < 300:
            raise _refusal(reply, self.url)
        return wire.decode_answer(reply.body)


def _refusal(reply: Reply, url: str) -> AgentError:
    if reply.status in RETRIED:
        body = wire.shown(reply.body)
        return AgentUnavailable(f"HTTP {reply.status}: {body}" if body else f"HTTP {reply.status}")
    location = reply.headers.get("location")
    if 300 <= reply.status < 400 and location is not None:
        return AgentProtocolError(f"HTTP {reply.status}: redirects are not followed, here to {_target(url, location)}")
    return AgentProtocolError(f"HTTP {reply.status}", wire.shown(reply.body))


def _target(url: str, location: str) -> str:
    try:
        return wire.shown(without_credentials(urlsplit(urljoin(url, location))))
    except ValueError:
        return "a URL that cannot be read"


def without_credentials(parts: SplitResult) -> str:
    """The URL for people: without user, password and fragment, and with `***` for the values of its query."""
    fields = [field.partition("=") for field in parts.query.split("&")] if parts.query else []
    # A field without `=` may be the secret itself.
    query = "&".join(f"{name}=***" if equals else "***" for name, equals, _ in fields)
    return parts._replace(netloc=_host_and_port(parts), query=query, fragment="").geturl()


def _host_and_port(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _basic_authorization(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def _merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """The headers of all layers; a later one replaces an earlier one of the same name in any case."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(merged.values())
