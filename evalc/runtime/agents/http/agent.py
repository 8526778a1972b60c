"""The agent behind a URL: builds its request bodies, reads the JSON or events that it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, final
from urllib.parse import urljoin, urlsplit

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable, UsageError
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse, TraceContext
from evalc.runtime.agents import HttpOptions, Session, wire
from evalc.runtime.agents.http import DEFAULT_HEADERS, Address, checked_headers, merged, url_without_credentials
from evalc.runtime.agents.http.stream import CONTENT_TYPE, StreamedAnswer
from evalc.runtime.agents.http.transport import (
    RETRIED,
    NotConnected,
    Reply,
    Transport,
    Watch,
    is_complete,
    open_transport,
    route_to,
    send_with_retries,
)
from evalc.runtime.mapping import NoInput, Values

_KEEPING: Final = frozenset({307, 308})
_CHANGING: Final = frozenset({301, 302, 303})
_SENT_ANYWAY: Final = {**DEFAULT_HEADERS, "accept": f"application/json, {CONTENT_TYPE}"}


@final
class HttpAgent:
    """An agent behind a URL.

    Args:
        url: where to send; a user and password in it become an `Authorization` header.
        headers: sent with every request, over the default headers.
        options: how it is called, and how its answers are read.

    Raises:
        UsageError: when the URL or a header cannot be sent by HTTP, or something needed to connect is missing.
    """

    open_files = 1  # the connection of a session

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        options: HttpOptions | None = None,
    ) -> None:
        self._address = Address.of(url)
        self.endpoint = self._address.shown
        self._headers = merged(_SENT_ANYWAY, self._address.authorization, checked_headers(headers or {}))
        self._options = options or HttpOptions()
        route_to(self._address.url, self._options.sending.tls)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a connection of one's own."""
        async with self._open(self._address.url) as transport:
            yield _HttpSession(
                transport=transport,
                opener=self._open,
                url=self._address.url,
                headers=self._headers,
                options=self._options,
            )

    def _open(self, url: str) -> AbstractAsyncContextManager[Transport]:
        return open_transport(url, self._options.sending)


@final
class _HttpSession(msgspec.Struct, frozen=True, kw_only=True):
    transport: Transport
    opener: Callable[[str], AbstractAsyncContextManager[Transport]]
    url: str
    headers: Mapping[str, str]
    options: HttpOptions

    async def send(self, request: AgentRequest) -> AgentResponse:
        exchange = _Exchange(session=self, body=self._body(request), trace=request.trace)
        reply = await send_with_retries(exchange.attempt, self.options.sending, deadline=request.deadline)
        if not is_complete(reply.status, self.options.accepted):
            raise _refusal(reply, self.url, self.options.redirects)
        return exchange.answer(reply)

    def _body(self, request: AgentRequest) -> bytes:
        if self.options.body is None:
            return wire.encode_request(request)
        values = Values(
            message=request.message,
            messages=request.messages,
            case_id=request.case_id,
            inputs=request.inputs,
            conversation=request.conversation,
        )
        try:
            return wire.encode_body(self.options.body.fill(values))
        except NoInput as error:
            raise AgentError(str(error)) from None


@final
class _Exchange:
    """A request and the answer that it is going to get, streamed or not."""

    def __init__(self, *, session: _HttpSession, body: bytes, trace: TraceContext | None) -> None:
        self._session = session
        self._body = body
        # A configured header of the same name is sent instead.
        self._headers = session.headers if trace is None else merged(trace._asdict(), session.headers)
        self._streamed: StreamedAnswer | None = None

    async def attempt(self) -> Reply:
        session = self._session
        try:
            reply = await session.transport.request(
                session.options.method, session.url, self._body, self._headers, watch=self._watch
            )
        except NotConnected as error:
            raise NotConnected(f"{error} ({url_without_credentials(urlsplit(session.url))})") from None
        return await self._followed(reply)

    async def _followed(self, reply: Reply) -> Reply:
        """The reply at the end of as many redirects as are configured or fewer; if there are more, the last of them.

        307 and 308 repeat the request; after 301, 302 and 303 the answer is fetched with GET. What the user configured
        goes to the origin that it was configured for: to another one only the default headers are sent on. No redirect
        leads from `https:` to `http:`.
        """
        session = self._session
        method: str = session.options.method
        url, headers = session.url, self._headers
        body: bytes | None = self._body
        for _ in range(session.options.redirects):
            location = reply.headers.get("location")
            if reply.status not in _KEEPING | _CHANGING or location is None:
                break
            target = _redirect_target(url, location)
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                headers = {name: value for name, value in headers.items() if name.lower() in _SENT_ANYWAY}
            if reply.status in _CHANGING:
                method, body = "GET", None
                headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
            url = target
            async with session.opener(url) as transport:
                reply = await transport.request(method, url, body, headers, watch=self._watch)
        return reply

    def answer(self, reply: Reply) -> AgentResponse:
        if self._streamed is not None:
            return self._streamed.answer(reply.body)
        return wire.decode_answer(reply.body, self._session.options.answer)

    def _watch(self, status: int, headers: Mapping[str, str]) -> Watch | None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        options = self._session.options
        if kind != CONTENT_TYPE or not is_complete(status, options.accepted):
            return None
        self._streamed = StreamedAnswer(options.stream, options.answer)
        return self._streamed.feed


def _refusal(reply: Reply, url: str, redirects: int) -> AgentError:
    if reply.status in RETRIED:
        body = excerpt(reply.body)
        message = f"HTTP {reply.status}: {body}" if body else f"HTTP {reply.status}"
        return AgentUnavailable(message, status=reply.status)
    location = reply.headers.get("location")
    if 300 <= reply.status < 400 and location is not None:
        if redirects:
            return AgentProtocolError(f"HTTP {reply.status} after {redirects} redirects, which is as far as they go")
        return AgentProtocolError(f"HTTP {reply.status}: redirects are not followed, here to {_target(url, location)}")
    if 200 <= reply.status < 300:
        why = (
            "this is not the whole answer; if it is, list the status in `agent.accepted_statuses` of the configuration"
        )
        return AgentProtocolError(f"HTTP {reply.status}: {why}", excerpt(reply.body))
    return AgentProtocolError(f"HTTP {reply.status}", excerpt(reply.body))


def _target(url: str, location: str) -> str:
    try:
        return excerpt(url_without_credentials(urlsplit(urljoin(url, location))))
    except ValueError:
        return "a URL that cannot be read"


def _redirect_target(url: str, location: str) -> str:
    try:
        target = Address.of(urljoin(url, location)).url
    except (ValueError, UsageError):
        raise AgentProtocolError("a redirect leads to a URL that cannot be read") from None
    if url.startswith("https:") and target.startswith("http:"):
        raise AgentProtocolError("a redirect leads from `https:` to `http:`, and is not followed")
    return target
