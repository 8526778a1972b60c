"""Google ADK: agents, which a runner in memory runs, runners of your own, and the events of a run."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, final

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Calls, Conversation, name_in, sum_of, text_of, usage_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with an agent, or with that of a runner: each is a session of the runner's."""
    if not callable(getattr(agent, "run_async", None)):
        return None
    if not hasattr(agent, "session_service"):
        # A part of the framework that has been imported already.
        agent = importlib.import_module("google.adk.runners").InMemoryRunner(agent=agent, app_name=agent.name)
    return partial(_Conversation, agent)


@final
class _Conversation:
    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._session: Any = None

    async def ask(self, request: AgentRequest) -> object:
        if self._session is None:
            sessions = self._runner.session_service
            self._session = await sessions.create_session(app_name=self._runner.app_name, user_id="evalc")
            for event in map(_event, request.messages[:-1], [self._runner] * len(request.messages)):
                await sessions.append_event(self._session, event)
        run = self._runner.run_async(
            user_id="evalc", session_id=self._session.id, new_message=_content("user", request.message)
        )
        return [event async for event in run]


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


def answer(events: Any) -> AgentResponse | None:
    """The answer of a run: the text of its last final response."""
    if not isinstance(events, Sequence) or not all(callable(getattr(e, "is_final_response", None)) for e in events):
        return None
    calls, text, reason, model = Calls(), None, None, None
    whole = [event for event in events if not event.partial]
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


def _end(calls: Calls, key: object, given: Any) -> None:
    """Add the result of a tool, out of the mapping that the framework makes of it, or the error that is in it."""
    given = given or {}
    error = given.get("error") or (given.get("status") == "error" and (given.get("error_message") or text_of(given)))
    calls.ended(key, result=given["result"] if list(given) == ["result"] else given, error=error or None)
