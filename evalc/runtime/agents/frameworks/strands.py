"""Strands Agents. An agent keeps one conversation, and answers one message at a time, so that others wait for it.

A class, or a function that makes the agent, has one for each conversation, and nobody waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, final

import msgspec

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse, Usage
from evalc.runtime.agents.frameworks import Calls, Conversation, field_of, name_in, text_in, text_of, usage_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, each with messages of its own."""
    is_agent = callable(getattr(agent, "invoke_async", None)) and hasattr(agent, "messages")
    return partial(_Conversation, agent, asyncio.Lock()) if is_agent else None


@final
class _Conversation:
    def __init__(self, agent: Any, lock: asyncio.Lock) -> None:
        self._agent = agent
        self._lock = lock
        self._history: list[Any] | None = None

    async def ask(self, request: AgentRequest) -> object:
        history = list(map(_message, request.messages[:-1])) if self._history is None else self._history
        known = {id(each) for each in history}
        async with self._lock:
            self._agent.messages = list(history)
            before = _used(self._agent)
            result = await self._agent.invoke_async(request.message)
            self._history = self._agent.messages
            usage = _since(before, _used(self._agent))
        answered = _read(result, [each for each in self._history if id(each) not in known], usage)
        model = field_of(self._agent.model.get_config(), "model_id")
        return msgspec.structs.replace(answered, model=name_in(model))


def _message(message: Mapping[str, str]) -> dict[str, Any]:
    if message["role"] == "system":
        raise AgentError("an agent of Strands takes no message of the role `system`")
    return {"role": message["role"], "content": [{"text": message["content"]}]}


def _used(agent: Any) -> Usage:
    used = usage_of(agent.event_loop_metrics.accumulated_usage, "inputTokens", "outputTokens")
    return used or Usage(input_tokens=0, output_tokens=0)


def _since(before: Usage, now: Usage) -> Usage | None:
    tokens = [
        (now.input_tokens or 0) - (before.input_tokens or 0),
        (now.output_tokens or 0) - (before.output_tokens or 0),
    ]
    return Usage(input_tokens=tokens[0], output_tokens=tokens[1]) if any(tokens) else None


def answer(result: Any) -> AgentResponse | None:
    """The text of a result, which does not say which tools were called."""
    if not hasattr(result, "stop_reason") or not hasattr(result, "message"):
        return None
    return msgspec.structs.replace(_read(result, (), None), reports_calls=False)


def _read(result: Any, messages: Sequence[Mapping[str, Any]], usage: Usage | None) -> AgentResponse:
    if waiting := getattr(result, "interrupts", None):
        raise AgentError(f"the agent was interrupted, and waits for an answer: {text_of([i.reason for i in waiting])}")
    structured = getattr(result, "structured_output", None)
    calls = Calls()
    for part in (part for message in messages for part in message["content"]):
        if (call := part.get("toolUse")) is not None:
            calls.made(call["toolUseId"], call["name"], call["input"])
        elif (given := part.get("toolResult")) is not None:
            values = [each["json"] for each in given["content"] if "json" in each]
            value = values[0] if len(values) == 1 == len(given["content"]) else text_in(given["content"])
            calls.ended(given["toolUseId"], **{"error" if given.get("status") == "error" else "result": value})
    return AgentResponse(
        response=text_in(result.message["content"]) if structured is None else text_of(structured),
        tool_calls=calls.all(),
        usage=usage,
        finish_reason=result.stop_reason,
    )
