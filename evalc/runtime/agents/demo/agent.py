"""The demo agent. It reviews code if the message shows some, and talks about the weather otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import final

from evalc.runtime.agents.base import AgentRequest, AgentResponse, Session
from evalc.runtime.agents.demo.conversation import answer_about_weather
from evalc.runtime.agents.demo.review import asks_for_review, review_message


def answer(message: str) -> AgentResponse:
    """The answer to a message: always the same one."""
    if asks_for_review(message):
        return AgentResponse(response=review_message(message))
    return answer_about_weather(message)


@final
class DemoAgent:
    """A small deterministic agent inside the package, so that a fresh machine runs something real."""

    @property
    def endpoint(self) -> str:
        """`demo`."""
        return "demo"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; the agent has no state."""
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer a request."""
        return answer(request.message)
