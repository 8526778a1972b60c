"""Agno: agents and teams, and their outputs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, final
from uuid import uuid4

import msgspec

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, name_in, text_of, usage_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, each a session of its database, if it has one; else it is given all messages."""
    return partial(_Conversation, agent) if callable(getattr(agent, "arun", None)) else None


@final
class _Conversation:
    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._session = str(uuid4())
        self._is_begun = False
        self._history: list[Any] = []

    async def ask(self, request: AgentRequest) -> object:
        message = importlib.import_module("agno.models.message").Message
        if not self._is_begun:
            self._history = [message(role=each["role"], content=each["content"]) for each in request.messages[:-1]]
        said = [*self._history, message(role="user", content=request.message)]
        output = await self._agent.arun(said if len(said) > 1 else request.message, session_id=self._session)
        self._is_begun = True
        keeps = getattr(self._agent, "db", None) is not None
        # The agent says again what its role is.
        self._history = [] if keeps else [each for each in output.messages or () if each.role != "system"]
        return output


def answer(output: Any) -> AgentResponse | None:
    """The output of a run, which also says that the run failed."""
    if not hasattr(output, "content") or not hasattr(output, "status"):
        return None
    status = str(getattr(output.status, "value", output.status)).lower()
    if status in {"error", "cancelled", "paused"}:
        raise AgentError(f"the run ended as `{status}`: {text_of(output.content)}")
    calls = Calls()
    for tool in output.tools or ():
        calls.made(tool.tool_call_id, tool.tool_name, tool.tool_args)
        calls.ended(tool.tool_call_id, **{"error" if tool.tool_call_error else "result": tool.result})
    usage, cost = usage_of(output.metrics), getattr(output.metrics, "cost", None)
    if usage is not None and isinstance(cost, float):
        usage = msgspec.structs.replace(usage, cost_usd=cost)
    model = name_in(getattr(output, "model", None))
    return AgentResponse(response=text_of(output.content), tool_calls=calls.all(), usage=usage, model=model)
