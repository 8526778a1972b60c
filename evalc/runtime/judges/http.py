"""The judge behind a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, final

import msgspec

from evalc.base.errors import AgentProtocolError, AgentUnavailable
from evalc.base.terminal import excerpt
from evalc.model.answer import Exhibit, Question
from evalc.runtime.agents import wire
from evalc.runtime.agents.http.address import Address
from evalc.runtime.agents.http.headers import SENT_ANYWAY, checked_headers, merged, without_credentials
from evalc.runtime.agents.http.route import Connecting
from evalc.runtime.agents.http.transport import Transport, open_transport, prepared
from evalc.runtime.agents.retry import RETRIED, Backoff, is_complete, send_with_retries
from evalc.runtime.judges.base import JudgeSession, Said
from evalc.runtime.judges.python import query_of


@final
class HttpJudge:
    """A service that is sent `{question, message, response, ...}` and answers `{"score", "reason"}`.

    Raises:
        UsageError: the URL or a header cannot be sent by HTTP, or something needed to connect is missing.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        backoff: Backoff | None = None,
        connecting: Connecting | None = None,
    ) -> None:
        self._address = Address.of(url, whose="the judge's")
        self._headers = merged(SENT_ANYWAY, self._address.authorization, checked_headers(headers or {}))
        self._identity = {"judge": self._address.url, "headers": without_credentials(headers or {})}
        self._backoff = backoff or Backoff()
        self._connecting = connecting or Connecting()
        prepared(self._address.url, self._connecting)

    @property
    def name(self) -> str:
        """The URL without user and password, the values of its query struck out."""
        return self._address.shown

    @property
    def identity(self) -> Mapping[str, Any]:
        """The whole URL without user and password, and the headers: no file holds them, since identities are hashed."""
        return self._identity

    @asynccontextmanager
    async def session(self) -> AsyncIterator[JudgeSession]:
        """Open a connection of one's own."""
        url = self._address.url
        async with open_transport(url, max_body=wire.MAX_BODY, connecting=self._connecting) as transport:
            yield _HttpSession(transport=transport, url=url, headers=self._headers, backoff=self._backoff)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _HttpSession:
    transport: Transport
    url: str
    headers: Mapping[str, str]
    backoff: Backoff

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:
        query = query_of(question, exhibit)
        body = msgspec.json.encode(query if complaint is None else {**query, "complaint": complaint})
        reply = await send_with_retries(
            lambda: self.transport.post(self.url, body, self.headers), self.backoff, deadline=deadline
        )
        if reply.status in RETRIED:
            raise AgentUnavailable(f"HTTP {reply.status}", status=reply.status)
        if not is_complete(reply.status):
            raise AgentProtocolError(f"HTTP {reply.status}", excerpt(reply.body))
        try:
            return Said(reply.body.decode())
        except UnicodeDecodeError:
            raise AgentProtocolError("the answer is not UTF-8", excerpt(reply.body)) from None
