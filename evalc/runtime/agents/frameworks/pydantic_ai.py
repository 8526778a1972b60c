"""Pydantic AI: `Agent.run` and its `AgentRunResult`, of the versions 1 and 2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, final

import msgspec

from evalc.model.answer import AgentRequest, AgentResponse, Usage
from evalc.runtime.agents.frameworks import Calls, Conversation, name_in, text_of, usage_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, which keep its message history."""
    is_agent = callable(getattr(agent, "run", None)) and callable(getattr(agent, "run_sync", None))
    return partial(_Conversation, agent) if is_agent else None


@final
class _Conversation:
    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._history: Sequence[Any] | None = None

    async def ask(self, request: AgentRequest) -> object:
        history = _earlier(request.messages) if self._history is None else self._history
        result = await self._agent.run(request.message, message_history=history)
        self._history = result.all_messages()
        return result


def _earlier(messages: Sequence[Mapping[str, str]]) -> list[Any]:
    """The messages before the last, in the framework's own classes."""
    of = sys.modules["pydantic_ai.messages"]
    parts = {"user": of.UserPromptPart, "system": of.SystemPromptPart, "assistant": of.TextPart}
    return [
        (of.ModelResponse if each["role"] == "assistant" else of.ModelRequest)(
            parts=[parts[each["role"]](content=each["content"])]
        )
        for each in messages[:-1]
    ]


def answer(result: Any) -> AgentResponse | None:
    """The answer of a run."""
    if not hasattr(result, "new_messages"):
        return None
    calls = Calls()
    reason = model = None
    # The tool of that name gives the output its form; no tool of the agent is called.
    output_tool = getattr(result, "_output_tool_name", None)
    for message in result.new_messages():
        reason = name_in(getattr(message, "finish_reason", None), reason)
        model = name_in(getattr(message, "model_name", None), model)
        for part in message.parts:
            kind = part.part_kind  # also `builtin-tool-call`, of tools that the provider runs
            if kind.endswith("tool-call") and part.tool_name != output_tool:
                calls.made(part.tool_call_id, part.tool_name, part.args)
            elif kind == "retry-prompt" or getattr(part, "outcome", "success") != "success":
                calls.ended(part.tool_call_id, error=part.content)
            elif kind.endswith("tool-return"):
                calls.ended(part.tool_call_id, result=part.content)
    usage = result.usage if hasattr(result.usage, "input_tokens") else result.usage()  # of early versions a method
    return AgentResponse(
        response=text_of(result.output),
        tool_calls=calls.all(),
        usage=_priced(usage_of(usage), result.new_messages()),
        finish_reason=reason,
        model=model,
    )


def _priced(usage: Usage | None, messages: Sequence[Any]) -> Usage | None:
    """The usage with its cost in the framework's list of prices, if that has all models."""
    try:
        cost = float(sum(each.cost().total_price for each in messages if each.kind == "response"))
    except (LookupError, AssertionError, AttributeError):  # of a model without a price or a name, or of old versions
        return usage
    return None if usage is None else msgspec.structs.replace(usage, cost_usd=cost)
