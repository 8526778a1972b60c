"""Judges that are no models: `python:module:name`, an author's own code, and a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, final

import msgspec

from evalc.base.errors import AgentProtocolError, AgentUnavailable, UsageError
from evalc.base.guard import DaemonThread
from evalc.base.terminal import excerpt
from evalc.model.answer import Exhibit, Question
from evalc.runtime.agents import Sending
from evalc.runtime.agents.http import DEFAULT_HEADERS, Address, checked_headers, headers_without_credentials, merged
from evalc.runtime.agents.http.transport import (
    RETRIED,
    Transport,
    is_complete,
    open_transport,
    route_to,
    send_with_retries,
)
from evalc.runtime.agents.python import Code, load_target
from evalc.runtime.judges import JudgeSession, Said


@final
class PythonJudge:
    """A function or async function, given `{question, message, response, ...}` as the specification has it.

    It returns a number, a pair of a number and a reason, or `{"score", "reason"}`, with `maxScore` if its scale is not
    that of the question; on a scale to 1 the number may be true or false. Its answers are never cached: nothing
    distinguishes one version of code from the next.

    Raises:
        UsageError: it cannot be imported, is not there, or cannot be called.
    """

    identity = None  # it is code, which may be another one tomorrow

    def __init__(self, target: str, *, project_root: Path, brought: Mapping[str, object] | None = None) -> None:
        self.name = f"python:{target}"
        function = load_target(target, project_root, brought)
        if not callable(function):
            raise UsageError(f"`python:{target}` is a `{type(function).__name__}`, and a judge is a function")
        self._code = Code.of(function)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[JudgeSession]:
        """Open a session with a thread of its own for a function that is not async."""
        thread = DaemonThread()
        try:
            yield _PythonSession(code=self._code, thread=thread)
        finally:
            thread.abandon()


@final
class _PythonSession(msgspec.Struct, frozen=True, kw_only=True):
    code: Code
    thread: DaemonThread

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:  # noqa: ARG002 - code does not learn what was wrong
        read = partial(_value_of, binary=question.max_score == 1)
        return Said(await self.code.call(query_of(question, exhibit), self.thread, read), final=True)


def query_of(question: Question, exhibit: Exhibit) -> dict[str, Any]:
    """The input of judges that are not models: the question, and what is judged."""
    query: dict[str, Any] = {"question": msgspec.to_builtins(question), **msgspec.to_builtins(exhibit)}
    return query


def _value_of(answer: object, *, binary: bool) -> object:
    """The returned value in the form of a verdict; a text stays a text, and is read as JSON."""
    match answer:
        case int() | float():
            return {"score": _number(answer, binary=binary)}
        case (int() | float() as score, str() as reason):
            return {"score": _number(score, binary=binary), "reason": reason}
        case {"score": bool() as score, **rest}:
            return {**rest, "score": _number(score, binary=binary or rest.get("maxScore") == 1)}
        case _:
            return answer


def _number(score: float, *, binary: bool) -> float:
    """A plain number of what may be a library's subclass of one. True is 1 on a scale to 1, and none of another."""
    if isinstance(score, bool) and not binary:
        return score
    return int(score) if isinstance(score, int) else float(score)


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
        sending: Sending | None = None,
    ) -> None:
        self._address = Address.of(url, whose="the judge's")
        self.name = self._address.shown
        # The whole URL without user and password: no file holds it, since identities are hashed.
        self.identity = {"judge": self._address.url, "headers": headers_without_credentials(headers or {})}
        self._headers = merged(DEFAULT_HEADERS, self._address.authorization, checked_headers(headers or {}))
        self._sending = sending or Sending()
        route_to(self._address.url, self._sending.tls)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[JudgeSession]:
        """Open a connection of one's own."""
        url = self._address.url
        async with open_transport(url, self._sending) as transport:
            yield _HttpSession(transport=transport, url=url, headers=self._headers, sending=self._sending)


@final
class _HttpSession(msgspec.Struct, frozen=True, kw_only=True):
    transport: Transport
    url: str
    headers: Mapping[str, str]
    sending: Sending

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:
        query = query_of(question, exhibit)
        body = msgspec.json.encode(query if complaint is None else {**query, "complaint": complaint})
        send = partial(self.transport.request, "POST", self.url, body, self.headers)
        reply = await send_with_retries(send, self.sending, deadline=deadline)
        if reply.status in RETRIED:
            raise AgentUnavailable(f"HTTP {reply.status}", status=reply.status)
        if not is_complete(reply.status):
            raise AgentProtocolError(f"HTTP {reply.status}", excerpt(reply.body))
        try:
            return Said(reply.body.decode())
        except UnicodeDecodeError:
            raise AgentProtocolError("the answer is not UTF-8", excerpt(reply.body)) from None
