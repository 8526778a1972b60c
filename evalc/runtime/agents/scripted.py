"""An agent that answers from a table: for tests of suites, reports and tools built on evalc."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, final

from evalc.base.errors import AgentProtocolError
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import wire
from evalc.runtime.agents.base import Session

Answer = str | Mapping[str, Any] | AgentResponse | BaseException
"""A text, a mapping of the agreed shape (see `wire`), a whole response, or an exception to raise."""

ScriptedAnswer = Answer | Callable[[str], Answer]
"""An answer, or a function that makes one of the message."""


@final
class ScriptedAgent:
    """An agent that answers from a script and remembers what it was asked.

    >>> import asyncio
    >>> agent = ScriptedAgent({"Hello": "Hi"}, default=lambda message: f"What is {message!r}?")
    >>> async def ask(message: str) -> str:
    ...     async with agent.session() as session:
    ...         return (await session.send(AgentRequest(message=message))).response
    >>> asyncio.run(ask("Hello"))
    'Hi'
    >>> asyncio.run(ask("Bye"))
    "What is 'Bye'?"
    >>> [request.message for request in agent.requests]
    ['Hello', 'Bye']

    Args:
        answers: what to answer to which message.
        default: what to answer to every other; without it, another message is an AgentProtocolError.
        endpoint: what results call it.

    Attributes:
        requests: every request in the order in which they came.
    """

    def __init__(
        self,
        answers: Mapping[str, ScriptedAnswer] | None = None,
        *,
        default: ScriptedAnswer | None = None,
        endpoint: str = "scripted",
    ) -> None:
        self.requests: list[AgentRequest] = []
        self._answers = dict(answers or {})
        self._default = default
        self._endpoint = endpoint

    @property
    def endpoint(self) -> str:
        """The name that it was given."""
        return self._endpoint

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; all share the script and the list of requests."""
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer as the script says."""
        self.requests.append(request)
        answer = self._answers.get(request.message, self._default)
        if callable(answer):
            answer = answer(request.message)
        if answer is None:
            raise AgentProtocolError(f"the script has no answer to `{excerpt(request.message)}`")
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)
        return wire.answer_of(answer)
