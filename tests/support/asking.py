"""Asks an agent in one session, under a time limit that only a hang can reach, or runs a case in one."""

from __future__ import annotations

import asyncio

import pytest

from evalc.base.errors import AgentError
from evalc.base.guard import TimeLimit
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.model.suite import LocatedCase
from evalc.runtime.agents import Agent, Session
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.run.ask import ask_agent, request_of
from evalc.runtime.run.case import CaseOptions, result_of
from evalc.runtime.store.journal import CaseRun

PATIENCE = 10.0


def ask(agent: Agent, message: str | AgentRequest = "Hello") -> AgentResponse:
    """The answer to one message."""
    return ask_all(agent, message)[0]


def ask_all(agent: Agent, *messages: str | AgentRequest) -> list[AgentResponse]:
    """The answers to messages that follow one another in a session."""

    async def run() -> list[AgentResponse]:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            return [await session.send(_request(message)) for message in messages]

    return asyncio.run(run())


def _request(message: str | AgentRequest) -> AgentRequest:
    return AgentRequest(message=message) if isinstance(message, str) else message


def failure(agent: Agent, message: str | AgentRequest = "Hello") -> AgentError:
    """The error that a message ends in."""
    with pytest.raises(AgentError) as caught:
        ask(agent, message)
    return caught.value


def ask_after_timeout(agent: Agent, *, seconds: float = 0.2, message: str = "Hello") -> AgentResponse:
    """The answer to a message whose first sending ran out of time, in the same session."""

    async def run() -> AgentResponse:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(seconds):
                    await session.send(AgentRequest(message=message))
            return await session.send(AgentRequest(message=message))

    return asyncio.run(run())


def run_out_of_time(agent: Agent, *, seconds: float = 0.2, message: str = "Hello") -> None:
    """Send a message that is not answered in time."""

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(seconds):
                    await session.send(AgentRequest(message=message))

    asyncio.run(run())


async def run_case(
    located: LocatedCase, session: Session, options: CaseOptions, judges: JudgePool | None = None
) -> CaseRun:
    """Run one case. Whatever the agent or a check does, there is a result; only cancellation passes."""
    limit = TimeLimit(options.timeout_ms)
    try:
        answer = await ask_agent(located.case, request_of(located.case), session, limit)
        return await result_of(located, answer, options, judges)
    finally:
        limit.close()
