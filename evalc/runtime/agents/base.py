"""Agents: opened once by each worker, an agent turns a request into an answer."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from evalc.model.answer import AgentRequest, AgentResponse


class Session(Protocol):
    """An opened agent: answers one request at a time."""

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer a request.

        The caller bounds the time by cancelling; an agent cleans up after itself when cancelled.

        Raises:
            AgentError: when there is no usable answer; its message is what the result says.
        """
        ...


@runtime_checkable
class HoldsConversations(Protocol):
    """A session that may hold something for a conversation, such as a process or an object with a memory."""

    @property
    def holds(self) -> bool:
        """Whether it does, so that no other process can go on with the conversation."""
        ...

    async def end(self) -> None:
        """Let go of what the conversation that is over needed."""
        ...


class Agent(Protocol):
    """An agent: a name for results, and sessions, one a worker, so that a worker keeps its connection."""

    @property
    def endpoint(self) -> str:
        """Its name in results (contract, `agentEndpoint`): a URL without credentials, or the agent's spec."""
        ...

    def session(self) -> AbstractAsyncContextManager[Session]:
        """Open a session; closing it frees what it holds."""
        ...
