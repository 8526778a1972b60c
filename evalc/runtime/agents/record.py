"""Records every exchange of an agent in a folder, from which `replay:DIR` answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import final

import msgspec

from evalc.base.errors import AgentError, UsageError
from evalc.base.files import make_folder, write_atomic
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.base import Agent, HoldsConversations, Session
from evalc.runtime.agents.http.options import HttpOptions
from evalc.runtime.agents.model.options import ModelOptions
from evalc.runtime.agents.recording import (
    AGENT_FILE,
    Attempts,
    Exchange,
    RecordedAgent,
    RecordedFailure,
    everything_sent,
    failure_of,
    file_name,
    folder_of,
)
from evalc.runtime.store.redact import Redactor, encoded, redacted


@final
class RecordingAgent:
    """Passes everything on, and writes down what was sent and what came back, without secrets.

    Args:
        agent: the agent that answers.
        folder: where its exchanges go, in a folder of its own; an exchange that was recorded before is written anew.
        model: what is sent with each request where the agent is a model.
        http: what is sent with each request if it is behind a URL.
        redactor: strikes secrets out.

    Raises:
        UsageError: the folder cannot be made.
    """

    def __init__(
        self, agent: Agent, folder: Path, *, model: ModelOptions, http: HttpOptions, redactor: Redactor | None
    ) -> None:
        self._agent = agent
        self._model = model
        self._http = http
        self._redactor = redactor
        name = agent.endpoint if redactor is None else redactor.redact(agent.endpoint)
        self._folder = folder_of(folder, name)
        try:
            make_folder(self._folder)
            _write(self._folder / AGENT_FILE, encoded(RecordedAgent(agent=name)))
        except OSError as error:
            raise UsageError(f"nothing can be recorded in `{folder}`: {error.strerror}") from error

    @property
    def endpoint(self) -> str:
        """The agent's own."""
        return self._agent.endpoint

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session of the agent."""
        async with self._agent.session() as session:
            yield _RecordingSession(self, session)

    def keep(
        self, request: AgentRequest, attempt: int, started: float, outcome: AgentResponse | RecordedFailure
    ) -> None:
        """Write an exchange down.

        Raises:
            AgentError: it cannot be written.
        """
        sent = everything_sent(request, self._agent.endpoint, self._model, self._http, self._redactor)
        exchange = Exchange(
            case=request.case_id,
            attempt=attempt,
            sent=sent,
            duration_ms=round((time.perf_counter() - started) * 1000, 3),
            response=None if isinstance(outcome, RecordedFailure) else outcome,
            failure=outcome if isinstance(outcome, RecordedFailure) else None,
        )
        try:
            _, json = redacted(exchange, encoded(exchange), self._redactor)
            _write(self._folder / file_name(sent, request.case_id, attempt), json)
        except OSError as error:
            raise AgentError(f"what it answered cannot be recorded: {error.strerror}") from error


@final
class _RecordingSession:
    def __init__(self, recording: RecordingAgent, session: Session) -> None:
        self._recording = recording
        self._session = session
        self._attempts = Attempts()

    @property
    def holds(self) -> bool:
        """As the session that is recorded."""
        return isinstance(self._session, HoldsConversations) and self._session.holds

    async def end(self) -> None:
        """As the session that is recorded."""
        if isinstance(self._session, HoldsConversations):
            await self._session.end()

    async def send(self, request: AgentRequest) -> AgentResponse:
        attempt = self._attempts.next(request.case_id)
        now = asyncio.get_running_loop().time
        began, started = now(), time.perf_counter()
        try:
            response = await self._session.send(request)
        except asyncio.CancelledError:
            # Cancelled for its time, and not because the run is interrupted.
            if request.deadline is not None and now() >= request.deadline:
                within = round((request.deadline - began) * 1000)
                late = RecordedFailure(kind="timeout", message=f"no complete answer within {within} ms")
                self._recording.keep(request, attempt, started, late)
            raise
        except Exception as error:
            self._recording.keep(request, attempt, started, failure_of(error))
            raise
        if isinstance(response, AgentResponse):
            self._recording.keep(request, attempt, started, response)
        return response


def _write(path: Path, json: bytes) -> None:
    write_atomic(path, msgspec.json.format(json, indent=2) + b"\n")
