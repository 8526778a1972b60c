"""LangGraph and LangChain: graphs with `messages`, chat models, and chains whose input is a text and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, final
from uuid import uuid4

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, name_in, sum_of, text_in, text_of, usage_of

_Input = Callable[[Sequence[Any], str], Any]
"""The input of an agent, made of the messages so far, the last one among them, and its text."""


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with a graph, a chat model or a chain, in a thread of the checkpointer if the graph has one."""
    if not callable(getattr(agent, "ainvoke", None)) or (input_of := _input_of(agent)) is None:
        return None
    return partial(_Conversation, agent, input_of)


def _input_of(agent: Any) -> _Input | None:
    """How the agent is given messages; None if it has none of the usual inputs."""
    if "messages" in getattr(agent, "channels", ()):
        return lambda messages, _: {"messages": messages}
    if callable(getattr(agent, "bind_tools", None)):  # a chat model
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


@final
class _Conversation:
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
            self._history = [*earlier, newest, _said_by(result)]
            return result
        known = {id_ for each in self._history if (id_ := getattr(each, "id", None)) is not None}
        self._history = list(result["messages"])
        return {**result, "messages": [each for each in self._history if getattr(each, "id", None) not in known]}


def _said_by(result: Any) -> Any:
    return result if hasattr(result, "content") else {"role": "assistant", "content": text_of(result)}


def answer(result: Any) -> AgentResponse | None:
    """The answer of a graph, with the calls in all its messages, of a chat model, or of a list of messages."""
    is_graph = isinstance(result, Mapping)
    messages = result["messages"] if is_graph else result if isinstance(result, list) else [result]
    if not all(hasattr(each, "content") and hasattr(each, "type") for each in messages):
        return None
    if is_graph and (waiting := result.get("__interrupt__")):
        raise AgentError(f"the graph was interrupted, and waits for an answer: {text_of([i.value for i in waiting])}")
    structured = result.get("structured_response") if is_graph else None
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
