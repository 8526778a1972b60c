"""Asks a model until it calls no more tools or its turns run out; without stubs, once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from evalc.model.answer import AgentResponse, ToolCall, ToolMode, Usage
from evalc.runtime.agents.model.api import Api, Call, Prompt, ToolOutcome, Turn

Ask = Callable[[Prompt], Awaitable[tuple[Turn, float | None]]]
"""Sends a prompt; gives the answer's turn, and its cost in US dollars if that is known."""


async def converse(
    api: Api, prompt: Prompt, ask: Ask, *, stubs: Mapping[str, Any] | None, max_turns: int
) -> AgentResponse:
    """Ask until the model calls no more tools, or the turns run out (contract, Stub-based multi-turn execution).

    Without stubs one request is all. The response is the text of the last turn, which may be empty.
    """
    turns, costs = [], []
    calls: list[ToolCall] = []
    while True:
        turn, cost = await ask(prompt)
        turns.append(turn)
        costs.append(cost)
        calls += [_record(call, None) for call in turn.hosted]
        calls += [_record(call, stubs) for call in turn.calls]
        if stubs is None or not turn.calls or len(turns) >= max_turns:
            break
        results = api.results([_outcome(call, stubs) for call in turn.calls])
        prompt = replace(prompt, items=(*prompt.items, *turn.items, *results))
    mode: ToolMode = "routing" if stubs is None else "stubbed"
    return AgentResponse(
        response=turn.text,
        tool_calls=tuple(calls),
        usage=_usage(turns, costs),
        tool_mode=mode,
        finish_reason=turn.finish_reason,
        state=_said(api, prompt, turn, stubs),
    )


def _said(api: Api, prompt: Prompt, last: Turn, stubs: Mapping[str, Any] | None) -> list[Any] | None:
    """What followed the prompt's messages, as the API has it, for the next turn of a conversation.

    None if calls remain that nothing answers, since no API takes another message then.
    """
    if last.calls and stubs is None:
        return None
    results = api.results([_outcome(call, stubs or {}) for call in last.calls])
    return [*prompt.items, *last.items, *results]


def _record(call: Call, stubs: Mapping[str, Any] | None) -> ToolCall:
    """The call as results have it: whether it succeeded is known of stubs, and of arguments that nothing can read."""
    if call.params is None:
        return ToolCall(name=call.name, success=False, arguments=call.arguments)
    if stubs is None:
        return ToolCall(name=call.name, params=call.params)
    result = stubs.get(call.name, msgspec.UNSET)
    return ToolCall(name=call.name, success=call.name in stubs, duration_ms=0.0, params=call.params, result=result)


def _outcome(call: Call, stubs: Mapping[str, Any]) -> ToolOutcome:
    """What the model is told: the stub as JSON, or what is wrong with its call."""
    if call.name not in stubs:
        return _failure(call, f"there is no tool `{call.name}`")
    if call.params is None:
        return _failure(call, "the arguments are not a JSON object")
    return ToolOutcome(call=call, text=msgspec.json.encode(stubs[call.name]).decode())


def _failure(call: Call, message: str) -> ToolOutcome:
    return ToolOutcome(call=call, text=msgspec.json.encode({"error": message}).decode(), failed=True)


def _usage(turns: list[Turn], costs: list[float | None]) -> Usage | None:
    """What all turns used; a sum with an unknown part is unknown, since it would look like less."""
    usage = Usage(
        input_tokens=_sum([turn.input_tokens for turn in turns]),
        output_tokens=_sum([turn.output_tokens for turn in turns]),
        cost_usd=_sum(costs),
    )
    return None if usage == Usage() else usage


def _sum(parts: list[Any]) -> Any:
    return None if None in parts else sum(parts)
