"""LlamaIndex: agents and workflows of agents, each conversation with a memory of its own. They count no tokens."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final, final

from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, text_of

_REMEMBERED_TOKENS: Final = 1_000_000


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, or with a workflow that has agents."""
    is_agent = callable(getattr(agent, "run", None)) and (hasattr(agent, "agents") or hasattr(agent, "tools"))
    return partial(_Conversation, agent) if is_agent else None


@final
class _Conversation:
    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._memory: Any = None

    async def ask(self, request: AgentRequest) -> object:
        if self._memory is None:
            # Parts of the framework that have been imported already.
            said = importlib.import_module("llama_index.core.llms").ChatMessage
            buffer = importlib.import_module("llama_index.core.memory").ChatMemoryBuffer
            earlier = [said(role=each["role"], content=each["content"]) for each in request.messages[:-1]]
            self._memory = buffer.from_defaults(chat_history=earlier, token_limit=_REMEMBERED_TOKENS)
        return await self._agent.run(user_msg=request.message, memory=self._memory)


def answer(output: Any) -> AgentResponse | None:
    """The output of a run."""
    if not hasattr(output, "response") or not hasattr(output, "tool_calls"):
        return None
    calls = Calls()
    for call in output.tool_calls:
        calls.made(call.tool_id, call.tool_name, call.tool_kwargs)
        given = getattr(call, "tool_output", None)
        if given is not None:
            is_failed = given.is_error
            calls.ended(call.tool_id, **({"error": given.content} if is_failed else {"result": given.raw_output}))
    structured = getattr(output, "structured_response", None)
    text = output.response.content or "" if structured is None else text_of(structured)
    return AgentResponse(response=text, tool_calls=calls.all())
