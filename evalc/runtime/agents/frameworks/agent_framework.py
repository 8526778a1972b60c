"""Microsoft Agent Framework: agents with sessions, and their responses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, final

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, text_of, usage_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, each in a session of its own."""
    is_agent = callable(getattr(agent, "run", None)) and callable(getattr(agent, "create_session", None))
    return partial(_Conversation, agent) if is_agent else None


@final
class _Conversation:
    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._session: Any = None

    async def ask(self, request: AgentRequest) -> object:
        said: Any = request.message
        if self._session is None:
            self._session = self._agent.create_session()
            message = sys.modules["agent_framework"].Message
            earlier = [message(each["role"], [each["content"]]) for each in request.messages[:-1]]
            said = [*earlier, message("user", [request.message])]
        return await self._agent.run(said, session=self._session)


def answer(response: Any) -> AgentResponse | None:
    """The answer of a run."""
    if not hasattr(response, "messages") or not hasattr(response, "usage_details"):
        return None
    if waiting := response.user_input_requests:
        raise AgentError(f"the agent was interrupted, and waits for an answer to {len(waiting)} requests")
    calls = Calls()
    for content in (content for message in response.messages for content in message.contents):
        if content.type.endswith(("function_call", "tool_call")):
            name = getattr(content, "name", None) or getattr(content, "tool_name", None) or content.type
            calls.made(content.call_id, name, getattr(content, "arguments", None))
        elif content.type.endswith(("function_result", "tool_result")):
            calls.ended(
                content.call_id, result=getattr(content, "result", None), error=getattr(content, "exception", None)
            )
    return AgentResponse(
        response=response.text if response.value is None else text_of(response.value),
        tool_calls=calls.all(),
        usage=usage_of(response.usage_details, "input_token_count", "output_token_count"),
        finish_reason=getattr(response, "finish_reason", None),
    )
