"""smolagents: agents that call tools, and those that write code. Each conversation has a copy with its own memory.

The tools of a copy note their calls: the agent's memory has none of a step that failed, or of those in code.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, final

from evalc.base.errors import AgentError
from evalc.base.guard import said_by
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, name_in, sum_of, text_of, usage_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent whose tools run in this process."""
    is_agent = callable(getattr(agent, "run", None)) and hasattr(agent, "memory") and hasattr(agent, "tools")
    executor = type(getattr(agent, "python_executor", None)).__name__
    return partial(_Conversation, agent) if is_agent and executor in {"NoneType", "LocalPythonExecutor"} else None


@final
class _Conversation:
    def __init__(self, agent: Any) -> None:
        self._calls = Calls()
        self._agent = self._copied(agent)
        self._is_begun = False

    def ask(self, request: AgentRequest) -> object:
        if not self._is_begun and len(request.messages) > 1:
            raise AgentError("an agent of smolagents takes no earlier messages: write them as `turns`")
        self._calls = Calls()
        before = len(self._agent.memory.steps)
        output = self._agent.run(request.message, reset=not self._is_begun)
        self._is_begun = True
        steps = self._agent.memory.steps[before:]
        self._add_others(steps)
        used = [usage_of(step.token_usage) for step in steps if hasattr(step, "token_usage")]
        model = name_in(getattr(self._agent.model, "model_id", None))
        return AgentResponse(response=text_of(output), tool_calls=self._calls.all(), usage=sum_of(used), model=model)

    def _copied(self, agent: Any) -> Any:
        own = copy.copy(agent)
        own.memory = copy.copy(agent.memory)
        own.memory.steps = []
        own.state = dict(agent.state)
        if getattr(agent, "python_executor", None) is not None:
            own.python_executor = agent.create_python_executor()
        own.tools = {name: self._noting(tool) for name, tool in agent.tools.items()}
        own.managed_agents = {name: self._copied(each) for name, each in agent.managed_agents.items()}
        return own

    def _noting(self, tool: Any) -> Any:
        """The tool, except that each call is noted; that which ends the run is none."""
        if tool.name == "final_answer":
            return tool
        noting = copy.copy(tool)

        def forward(*args: Any, **kwargs: Any) -> Any:
            key = object()
            self._calls.made(key, tool.name, dict(zip(tool.inputs, args, strict=False)) | kwargs)
            try:
                result = tool.forward(*args, **kwargs)
            except Exception as error:
                self._calls.ended(key, error=said_by(error))
                raise
            self._calls.ended(key, result=result)
            return result

        noting.forward = forward
        return noting

    def _add_others(self, steps: list[Any]) -> None:
        """Add the calls that no tool had: of agents, of tools that are not there, and with wrong arguments."""
        noted = [(call.name, call.params) for call in self._calls.all()]
        for step in steps:
            message, error = getattr(step, "model_output_message", None), getattr(step, "error", None)
            for call in getattr(message, "tool_calls", None) or ():
                name, params = call.function.name, call.function.arguments
                if name in self._agent.managed_agents or (error and (name, params) not in noted):
                    self._calls.made(id(call), name, params)
                    if error:
                        self._calls.ended(id(call), error=error.message)


def answer(result: Any) -> AgentResponse | None:
    """The output of a full result, which does not say what all tools were called."""
    if not hasattr(result, "output") or not hasattr(result, "token_usage"):
        return None
    return AgentResponse(response=text_of(result.output), usage=usage_of(result.token_usage), reports_calls=False)
