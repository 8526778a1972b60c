"""For authors of packages: from the text after `--agent NAME:` to an agent of your own.

An agent is made by a function that an installed package offers by an entry point:

    [project.entry-points."evalc.agents"]
    parrot = "my_package.agents:parrot"

`--agent parrot:loud` calls `parrot("loud")`. What it returns has an `endpoint`, by which results call it, and opens a
session for each worker:

    from collections.abc import AsyncIterator
    from contextlib import asynccontextmanager

    from evalc.agents import Agent, AgentRequest, AgentResponse, Session

    class Parrot:
        endpoint = "parrot"

        @asynccontextmanager
        async def session(self) -> AsyncIterator[Session]:
            yield self

        async def send(self, request: AgentRequest) -> AgentResponse:
            return AgentResponse(response=request.message)

    def parrot(argument: str) -> Agent:
        return Parrot()

In a run that is exported to OpenTelemetry, `request.trace` has a `traceparent` and a `baggage` to send along, and the
current context of OpenTelemetry in this process has them, too.

Results hold the `endpoint` as it is: it should hold no secret of the argument. A factory raises `UsageError` for an
argument that it cannot use, before anything runs. A session raises `AgentUnavailable`, `AgentProtocolError` or
`AgentError` if there is no usable answer, and the case ends in `error`; so it does with any other exception.
"""

from __future__ import annotations

from typing import Protocol

from evalc.base.errors import AgentError, AgentProtocolError, AgentTimeout, AgentUnavailable, UsageError
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.runtime.agents import Agent, Session
from evalc.runtime.agents.stubs import StubError

__all__ = [
    "Agent",
    "AgentError",
    "AgentFactory",
    "AgentProtocolError",
    "AgentRequest",
    "AgentResponse",
    "AgentTimeout",
    "AgentUnavailable",
    "Session",
    "StubError",
    "ToolCall",
    "Usage",
    "UsageError",
]


class AgentFactory(Protocol):
    """The object that an entry point names."""

    def __call__(self, argument: str, /) -> Agent:
        """The agent of the argument, the text after `NAME:`, which may be empty.

        Raises:
            UsageError: when there is no agent of this argument; the message says what to give instead.
        """
        ...
