"""Frameworks of those who provide models: Microsoft Agent Framework, Google ADK, OpenAI Agents SDK, Strands Agents."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, final

import msgspec

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse, Usage
from evalc.runtime.agents.frameworks import (
    Calls,
    Framework,
    field_of,
    has_methods,
    name_in,
    sum_of,
    text_in,
    text_of,
    usage_of,
)


@final
class AgentFramework(Framework):
    """Microsoft Agent Framework: agents, each conversation in a session of its own, and their responses."""

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        return partial(cls, agent) if has_methods(agent, "run", "create_session") else None

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

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        if not hasattr(returned, "messages") or not hasattr(returned, "usage_details"):
            return None
        if waiting := returned.user_input_requests:
            raise AgentError(f"the agent was interrupted, and waits for an answer to {len(waiting)} requests")
        calls = Calls()
        for content in (content for message in returned.messages for content in message.contents):
            if content.type.endswith(("function_call", "tool_call")):
                name = getattr(content, "name", None) or getattr(content, "tool_name", None) or content.type
                calls.made(content.call_id, name, getattr(content, "arguments", None))
            elif content.type.endswith(("function_result", "tool_result")):
                calls.ended(
                    content.call_id, result=getattr(content, "result", None), error=getattr(content, "exception", None)
                )
        return AgentResponse(
            response=returned.text if returned.value is None else text_of(returned.value),
            tool_calls=calls.all(),
            usage=usage_of(returned.usage_details, "input_token_count", "output_token_count"),
            finish_reason=getattr(returned, "finish_reason", None),
        )


# --- Google ADK ------------------------------------------------------------------------------------------------------


@final
class GoogleADK(Framework):
    """Google ADK: agents, which a runner in memory runs, runners of your own, and the events of a run.

    Each conversation is a session of the runner's.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        if not has_methods(agent, "run_async"):
            return None
        if not hasattr(agent, "session_service"):
            # A part of the framework that has been imported already.
            agent = importlib.import_module("google.adk.runners").InMemoryRunner(agent=agent, app_name=agent.name)
        return partial(cls, agent)

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._session: Any = None

    async def ask(self, request: AgentRequest) -> object:
        if self._session is None:
            sessions = self._runner.session_service
            self._session = await sessions.create_session(app_name=self._runner.app_name, user_id="evalc")
            for message in request.messages[:-1]:
                await sessions.append_event(self._session, _event(message, self._runner))
        run = self._runner.run_async(
            user_id="evalc", session_id=self._session.id, new_message=_content("user", request.message)
        )
        return [event async for event in run]

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        """The text of the last final response."""
        if not isinstance(returned, Sequence):
            return None
        if not all(has_methods(each, "is_final_response") for each in returned):
            return None
        calls, text, reason, model = Calls(), None, None, None
        whole = [event for event in returned if not event.partial]
        for event in whole:
            model = name_in(getattr(event, "model_version", None), model)
            for call in event.get_function_calls():
                calls.made(call.id, call.name, call.args)
            for given in event.get_function_responses():
                _end(calls, given.id, given.response)
            parts = (event.content and event.content.parts) or ()
            said = "".join(part.text for part in parts if part.text and not part.thought)
            if event.is_final_response() and (said or text is None):
                text, reason = said, event.finish_reason
        failed = next((event for event in reversed(whole) if event.error_code), None)
        if failed is not None and not text:
            raise AgentError(": ".join(str(each) for each in (failed.error_code, failed.error_message) if each))
        used = [event.usage_metadata for event in whole if event.usage_metadata is not None]
        return AgentResponse(
            response=text or "",
            tool_calls=calls.all(),
            usage=sum_of([usage_of(each, "prompt_token_count", "candidates_token_count") for each in used]),
            finish_reason=None if reason is None else str(getattr(reason, "value", reason)).lower(),
            model=model,
        )


def _content(role: str, text: str) -> Any:
    types = importlib.import_module("google.genai.types")
    return types.Content(role=role, parts=[types.Part(text=text)])


def _event(message: Mapping[str, str], runner: Any) -> Any:
    """An earlier message as the event that it was."""
    role = message["role"]
    if role == "system":
        raise AgentError("a session of Google ADK takes no message of the role `system`")
    content = _content("user" if role == "user" else "model", message["content"])
    author = "user" if role == "user" else runner.agent.name
    return importlib.import_module("google.adk.events").Event(author=author, content=content)


def _end(calls: Calls, key: object, given: Any) -> None:
    """Add the result of a tool, out of the mapping that the framework makes of it, or the error that is in it."""
    given = given or {}
    error = given.get("error") or (given.get("status") == "error" and (given.get("error_message") or text_of(given)))
    calls.ended(key, result=given["result"] if list(given) == ["result"] else given, error=error or None)


# --- OpenAI Agents SDK -----------------------------------------------------------------------------------------------

_FAILED: Final = ("An error occurred while running the tool", "An error occurred while parsing tool arguments")
"""The beginnings of what a tool gives back that has raised an error, unless the tool has words of its own for it."""


@final
class OpenAIAgents(Framework):
    """OpenAI Agents SDK: agents that its `Runner` runs, and their results, handoffs among the calls.

    A conversation goes on with the agent that answered last, as the framework's own loop does.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        # Packages of others are called `agents`, too.
        runner = getattr(sys.modules.get("agents"), "Runner", None)
        is_agent = hasattr(agent, "handoffs") and has_methods(agent, "get_all_tools")
        return partial(cls, runner, agent) if is_agent and runner is not None else None

    def __init__(self, runner: Any, agent: Any) -> None:
        self._runner = runner
        self._agent = agent
        self._history: list[Any] | None = None

    async def ask(self, request: AgentRequest) -> object:
        earlier = [dict(each) for each in request.messages[:-1]] if self._history is None else self._history
        result = await self._runner.run(self._agent, [*earlier, {"role": "user", "content": request.message}])
        self._history, self._agent = result.to_input_list(), result.last_agent
        return result

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        if not hasattr(returned, "new_items") or not hasattr(returned, "final_output"):
            return None
        if waiting := getattr(returned, "interruptions", None):
            raise AgentError(f"the run was interrupted, and waits for the approval of {len(waiting)} calls")
        model = getattr(returned.last_agent, "model", None)  # a name, or an object that has one
        calls = Calls()
        for item in returned.new_items:
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
            response=text_of(returned.final_output),
            tool_calls=calls.all(),
            usage=usage_of(returned.context_wrapper.usage),
            model=name_in(model, field_of(model, "model")),
        )


# --- Strands Agents --------------------------------------------------------------------------------------------------


@final
class Strands(Framework):
    """Strands Agents. An agent keeps one conversation, and answers one message at a time, so that others wait for it.

    A class, or a function that makes the agent, has one for each conversation, and nobody waits.
    """

    @classmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        is_agent = has_methods(agent, "invoke_async") and hasattr(agent, "messages")
        return partial(cls, agent, asyncio.Lock()) if is_agent else None

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

    @staticmethod
    def answer(returned: Any) -> AgentResponse | None:
        """The text of a result, which does not say which tools were called."""
        if not hasattr(returned, "stop_reason") or not hasattr(returned, "message"):
            return None
        return msgspec.structs.replace(_read(returned, (), None), reports_calls=False)


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
