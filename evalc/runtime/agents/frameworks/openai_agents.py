"""OpenAI Agents SDK: agents that its `Runner` runs, and their results, handoffs among the calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final, final

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, field_of, name_in, text_of, usage_of

_FAILED: Final = ("An error occurred while running the tool", "An error occurred while parsing tool arguments")
"""The beginnings of what a tool gives back that has raised an error, unless the tool has words of its own for it."""


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, which go on with the agent that answered last, as the framework's own loop does."""
    # Packages of others are called `agents`, too.
    runner = getattr(sys.modules.get("agents"), "Runner", None)
    is_agent = hasattr(agent, "handoffs") and callable(getattr(agent, "get_all_tools", None))
    return partial(_Conversation, runner, agent) if is_agent and runner is not None else None


@final
class _Conversation:
    def __init__(self, runner: Any, agent: Any) -> None:
        self._runner = runner
        self._agent = agent
        self._history: list[Any] | None = None

    async def ask(self, request: AgentRequest) -> object:
        earlier = [dict(each) for each in request.messages[:-1]] if self._history is None else self._history
        result = await self._runner.run(self._agent, [*earlier, {"role": "user", "content": request.message}])
        self._history, self._agent = result.to_input_list(), result.last_agent
        return result


def answer(result: Any) -> AgentResponse | None:
    """The answer of a run."""
    if not hasattr(result, "new_items") or not hasattr(result, "final_output"):
        return None
    if waiting := getattr(result, "interruptions", None):
        raise AgentError(f"the run was interrupted, and waits for the approval of {len(waiting)} calls")
    model = getattr(result.last_agent, "model", None)  # a name, or an object that has one
    calls = Calls()
    for item in result.new_items:
        raw = item.raw_item
        if item.type in {"tool_call_item", "handoff_call_item"}:
            key = field_of(raw, "call_id") or field_of(raw, "id")
            calls.made(key, field_of(raw, "name") or field_of(raw, "type"), field_of(raw, "arguments"))
            if (error := field_of(raw, "error")) or field_of(raw, "output"):  # of tools that the provider runs
                calls.ended(key, result=field_of(raw, "output"), error=error)
        elif item.type in {"tool_call_output_item", "handoff_output_item"}:
            given = getattr(item, "output", field_of(raw, "output"))
            is_failed = isinstance(given, str) and given.startswith(_FAILED)
            calls.ended(field_of(raw, "call_id"), **{"error" if is_failed else "result": given})
    return AgentResponse(
        response=text_of(result.final_output),
        tool_calls=calls.all(),
        usage=usage_of(result.context_wrapper.usage),
        model=name_in(model, field_of(model, "model")),
    )
