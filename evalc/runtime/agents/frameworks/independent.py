"""Frameworks for the models of any provider: Agno, CrewAI, LangChain, LlamaIndex, Pydantic AI, smolagents."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, final
from uuid import uuid4

import msgspec

from evalc.base.errors import AgentError
from evalc.base.guard import said_by
from evalc.model.answer import AgentRequest, AgentResponse, Usage
from evalc.runtime.agents.frameworks import (
    Calls,
    Framework,
    has_methods,
    name_in,
    sum_of,
    text_in,
    text_of,
    usage_of,
)


@final
class Agno(Framework):
    """Agno: agents and teams, and their outputs.

    A conversation is a session of the agent's database, if it has one; else the agent is given all messages.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        return partial(cls, agent) if has_methods(agent, "arun") else None

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

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        """The output of a run, which also says that the run failed."""
        if not hasattr(returned, "content") or not hasattr(returned, "status"):
            return None
        status = str(getattr(returned.status, "value", returned.status)).lower()
        if status in {"error", "cancelled", "paused"}:
            raise AgentError(f"the run ended as `{status}`: {text_of(returned.content)}")
        calls = Calls()
        for tool in returned.tools or ():
            calls.made(tool.tool_call_id, tool.tool_name, tool.tool_args)
            calls.ended(tool.tool_call_id, **{"error" if tool.tool_call_error else "result": tool.result})
        usage, cost = usage_of(returned.metrics), getattr(returned.metrics, "cost", None)
        if usage is not None and isinstance(cost, float):
            usage = msgspec.structs.replace(usage, cost_usd=cost)
        model = name_in(getattr(returned, "model", None))
        return AgentResponse(response=text_of(returned.content), tool_calls=calls.all(), usage=usage, model=model)


@final
class CrewAI(Framework):
    """CrewAI: crews, whose tasks take `{message}`, and single agents, which are given what was said so far.

    Their outputs say nothing of tools, nor of tokens, since the framework counts those of all runs together.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        return partial(cls, agent) if has_methods(agent, "kickoff_async") else None

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def ask(self, request: AgentRequest) -> object:
        said = [dict(each) for each in request.messages] or [{"role": "user", "content": request.message}]
        if hasattr(self._agent, "tasks"):
            so_far = "\n".join(f"{each['role']}: {each['content']}" for each in said)
            return await self._agent.kickoff_async(inputs={"message": request.message, "messages": so_far})
        return await self._agent.kickoff_async(said)

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        if not hasattr(returned, "raw"):
            return None
        structured = getattr(returned, "pydantic", None)
        text = returned.raw if structured is None else text_of(structured)
        return AgentResponse(response=text, reports_calls=False)


# --- LangChain -------------------------------------------------------------------------------------------------------

_Input = Callable[[Sequence[Any], str], Any]
"""The input of an agent, made of the messages so far, the last one among them, and its text."""


@final
class LangChain(Framework):
    """LangGraph and LangChain: graphs with `messages`, chat models, and chains whose input is a text and messages.

    A conversation is a thread of the checkpointer, if a graph has one.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        if not has_methods(agent, "ainvoke") or (input_of := _input_of(agent)) is None:
            return None
        return partial(cls, agent, input_of)

    def __init__(self, agent: Any, input_of: _Input) -> None:
        self._agent = agent
        self._input_of = input_of
        self._keeps = bool(getattr(agent, "checkpointer", None))
        self._thread = str(uuid4())
        self._history: list[Any] = []

    async def ask(self, request: AgentRequest) -> object:
        earlier = self._history or [dict(each) for each in request.messages[:-1]]
        newest = {"role": "user", "content": request.message}
        sent = [newest] if self._keeps and self._history else [*earlier, newest]
        config = {"configurable": {"thread_id": self._thread, "session_id": self._thread}}
        result = await self._agent.ainvoke(self._input_of(sent, request.message), config)
        if not isinstance(result, Mapping) or "messages" not in result:
            said = result if hasattr(result, "content") else {"role": "assistant", "content": text_of(result)}
            self._history = [*earlier, newest, said]
            return result
        known = {id_ for each in self._history if (id_ := getattr(each, "id", None)) is not None}
        self._history = list(result["messages"])
        return {**result, "messages": [each for each in self._history if getattr(each, "id", None) not in known]}

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        """The answer of a graph, with the calls in all its messages, of a chat model, or of a list of messages."""
        is_graph = isinstance(returned, Mapping)
        messages = returned["messages"] if is_graph else returned if isinstance(returned, list) else [returned]
        if not all(hasattr(each, "content") and hasattr(each, "type") for each in messages):
            return None
        if is_graph and (waiting := returned.get("__interrupt__")):
            values = text_of([each.value for each in waiting])
            raise AgentError(f"the graph was interrupted, and waits for an answer: {values}")
        structured = returned.get("structured_response") if is_graph else None
        calls = Calls()
        said = [each for each in messages if each.type.lower().startswith("ai")]
        for each in messages:
            if each.type == "tool":
                is_failed = getattr(each, "status", "success") == "error"
                calls.ended(each.tool_call_id, **{"error" if is_failed else "result": text_in(each.content)})
            for call in (*getattr(each, "tool_calls", ()), *getattr(each, "invalid_tool_calls", ())):
                if structured is None or call["name"] != type(structured).__name__:  # which gives the answer its form
                    calls.made(call["id"], call["name"], call["args"])
        last = said[-1].response_metadata if said else {}
        return AgentResponse(
            response=text_in(messages[-1].content) if structured is None else text_of(structured),
            tool_calls=calls.all(),
            usage=sum_of([usage_of(each.usage_metadata) for each in said if hasattr(each, "usage_metadata")]),
            finish_reason=name_in(last.get("finish_reason"), last.get("stop_reason")),
            model=name_in(last.get("model_name"), last.get("model")),
        )


def _input_of(agent: Any) -> _Input | None:
    """How the agent is given messages; None if it has none of the usual inputs."""
    if "messages" in getattr(agent, "channels", ()):
        return lambda messages, _: {"messages": messages}
    if has_methods(agent, "bind_tools"):  # a chat model
        return lambda messages, _: messages
    properties: Mapping[str, Any] = {}
    with suppress(Exception):  # of types that have no schema
        properties = agent.get_input_jsonschema().get("properties", {})
    lists = [name for name, schema in properties.items() if schema.get("type") == "array"]
    texts = [name for name, schema in properties.items() if schema.get("type") == "string"]
    match texts:
        case [name]:
            return lambda messages, text: {name: text} | dict.fromkeys(lists, messages[:-1])
        case [] if lists:
            return lambda messages, _: dict.fromkeys(lists, messages)
        case _:
            return None


# --- LlamaIndex ------------------------------------------------------------------------------------------------------

_REMEMBERED_TOKENS: Final = 1_000_000


@final
class LlamaIndex(Framework):
    """LlamaIndex: agents and workflows of agents, each conversation with a memory of its own. They count no tokens."""

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        is_agent = has_methods(agent, "run") and (hasattr(agent, "agents") or hasattr(agent, "tools"))
        return partial(cls, agent) if is_agent else None

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

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        if not hasattr(returned, "response") or not hasattr(returned, "tool_calls"):
            return None
        calls = Calls()
        for call in returned.tool_calls:
            calls.made(call.tool_id, call.tool_name, call.tool_kwargs)
            given = getattr(call, "tool_output", None)
            if given is not None:
                is_failed = given.is_error
                calls.ended(call.tool_id, **({"error": given.content} if is_failed else {"result": given.raw_output}))
        structured = getattr(returned, "structured_response", None)
        text = returned.response.content or "" if structured is None else text_of(structured)
        return AgentResponse(response=text, tool_calls=calls.all())


# --- Pydantic AI -----------------------------------------------------------------------------------------------------


@final
class PydanticAI(Framework):
    """Pydantic AI: `Agent.run`, with the message history so far, and its `AgentRunResult`, of the versions 1 and 2."""

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        return partial(cls, agent) if has_methods(agent, "run", "run_sync") else None

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._history: Sequence[Any] | None = None

    async def ask(self, request: AgentRequest) -> object:
        history = _earlier(request.messages) if self._history is None else self._history
        result = await self._agent.run(request.message, message_history=history)
        self._history = result.all_messages()
        return result

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        if not hasattr(returned, "new_messages"):
            return None
        calls = Calls()
        reason = model = None
        # The tool of that name gives the output its form; no tool of the agent is called.
        output_tool = getattr(returned, "_output_tool_name", None)
        for message in returned.new_messages():
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
        # Of early versions it is a method.
        usage = returned.usage if hasattr(returned.usage, "input_tokens") else returned.usage()
        return AgentResponse(
            response=text_of(returned.output),
            tool_calls=calls.all(),
            usage=_priced(usage_of(usage), returned.new_messages()),
            finish_reason=reason,
            model=model,
        )


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


def _priced(usage: Usage | None, messages: Sequence[Any]) -> Usage | None:
    """The usage with its cost in the framework's list of prices, if that has all models."""
    try:
        cost = float(sum(each.cost().total_price for each in messages if each.kind == "response"))
    except (LookupError, AssertionError, AttributeError):  # of a model without a price or a name, or of old versions
        return usage
    return None if usage is None else msgspec.structs.replace(usage, cost_usd=cost)


# --- smolagents ------------------------------------------------------------------------------------------------------


@final
class Smolagents(Framework):
    """smolagents: agents that call tools, and those that write code, whose tools run in this process.

    Each conversation has a copy of the agent with its own memory. The tools of a copy note their calls: the agent's
    memory has none of a step that failed, or of those in code.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        is_agent = has_methods(agent, "run") and hasattr(agent, "memory") and hasattr(agent, "tools")
        executor = type(getattr(agent, "python_executor", None)).__name__
        return partial(cls, agent) if is_agent and executor in {"NoneType", "LocalPythonExecutor"} else None

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

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        """The output of a full result, which does not say what all tools were called."""
        if not hasattr(returned, "output") or not hasattr(returned, "token_usage"):
            return None
        usage = usage_of(returned.token_usage)
        return AgentResponse(response=text_of(returned.output), usage=usage, reports_calls=False)
