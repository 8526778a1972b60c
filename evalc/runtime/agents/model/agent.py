"""A model as an agent: sends a case to its API, and answers tool calls with the case's stubs.

It is asked until it calls no more tools or its turns run out; without stubs, once.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from evalc.base import Provider
from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable, UsageError
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, ToolMode, Usage
from evalc.runtime.agents import Access, ModelOptions, Sampling, Sending, Session, wire
from evalc.runtime.agents.http import url_without_credentials
from evalc.runtime.agents.http.transport import (
    RETRIED,
    Reply,
    Transport,
    is_complete,
    open_transport,
    route_to,
    send_with_retries,
)
from evalc.runtime.agents.model import ANSWER, Api, Item, Message, ModelCall, ModelTurn, Prompt, ToolOutcome, object_at
from evalc.runtime.agents.model.apis import Endpoint, endpoint_of, prices
from evalc.runtime.agents.stubs import Stubs, call_of
from evalc.tools import Tool, ToolRegistry

Ask = Callable[[Prompt], Awaitable[tuple[ModelTurn, float | None]]]
"""Sends a prompt; gives the answer's turn, and its cost in US dollars if that is known."""


async def converse(api: Api, prompt: Prompt, ask: Ask, *, stubs: Stubs | None, max_turns: int) -> AgentResponse:
    """Ask until the model calls no more tools, or the turns run out (contract, Stub-based multi-turn execution).

    Without stubs one request is all. The response is the text of the last turn, which may be empty.
    """
    turns, costs = [], []
    calls: list[ToolCall] = []
    while True:
        turn, cost = await ask(prompt)
        turns.append(turn)
        costs.append(cost)
        calls += [_record(call) for call in turn.hosted]
        if stubs is None:
            calls += [_record(call) for call in turn.calls]
            # No API takes another message while calls remain that nothing answers.
            items = None if turn.calls else [*prompt.items, *turn.items]
            break
        made = [_called(call, stubs) for call in turn.calls]
        calls += [record for record, _ in made]
        items = [*prompt.items, *turn.items, *api.results([outcome for _, outcome in made])]
        if not turn.calls or len(turns) >= max_turns:
            break
        prompt = replace(prompt, items=tuple(items))
    mode: ToolMode = "routing" if stubs is None else "stubbed"
    return AgentResponse(
        response=turn.text,
        tool_calls=tuple(calls),
        usage=_usage(turns, costs),
        tool_mode=mode,
        finish_reason=turn.finish_reason,
        state=items,
    )


def _record(call: ModelCall) -> ToolCall:
    """A call that no stub answers, as results have it."""
    if call.params is None:
        return ToolCall(name=call.name, success=False, arguments=call.arguments)
    return ToolCall(name=call.name, params=call.params)


def _called(call: ModelCall, stubs: Stubs) -> tuple[ToolCall, ToolOutcome]:
    """A call as results have it, and for the model: the answer of its stub as JSON, or what is wrong."""
    if call.name not in stubs.tools:
        record = _record(call)
        known = {} if call.params is None else {"success": False, "duration_ms": 0.0}
        return msgspec.structs.replace(record, **known), _failure(call, f"there is no tool `{call.name}`")
    if call.params is None:
        return _record(call), _failure(call, "the arguments are not a JSON object")
    result = stubs.answer(call.name, call.params)
    record = call_of(call.name, call.params, result)
    if result.error is not None:
        return record, _failure(call, result.error)
    return record, ToolOutcome(call=call, text=msgspec.json.encode(result.answer).decode())


def _failure(call: ModelCall, message: str) -> ToolOutcome:
    return ToolOutcome(call=call, text=msgspec.json.encode({"error": message}).decode(), failed=True)


def _usage(turns: list[ModelTurn], costs: list[float | None]) -> Usage | None:
    """The usage of all turns; a sum with an unknown part is unknown, since it would look like less."""
    usage = Usage(
        input_tokens=_sum([turn.input_tokens for turn in turns]),
        output_tokens=_sum([turn.output_tokens for turn in turns]),
        cost_usd=_sum(costs),
    )
    return None if usage == Usage() else usage


def _sum(parts: list[Any]) -> Any:
    return None if None in parts else sum(parts)


_OVERLOADED: Final = 529
"""Anthropic's own status for "not now"."""

_REFUSES_FIELDS: Final = frozenset({400, 404, 415, 422})
"""The statuses by which servers say that they know no such field."""


@final
class ModelAgent:
    """A model behind its provider's API, or behind a server that speaks it.

    Without `stubs` a case is one request: the tools that the model calls are its answer, and none is executed. With
    them it is a loop, in which each call is answered by its stub. A request with an `answer_schema` offers no tools,
    and its response is the JSON that the model wrote. A server that refuses the schema is asked without it.

    Args:
        provider: whose API it is.
        model: the model's name, as the provider has it.
        access: where the API is, and what opens it.
        options: what is the same for every request.
        sending: how requests are sent.
        api: how the API is spoken, in place of the provider's own way.

    Raises:
        UsageError: the provider cannot be asked like this, or not without a key, or what is needed to connect is not
            there.
    """

    open_files = 1  # the connection of a session

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        access: Access,
        options: ModelOptions | None = None,
        sending: Sending | None = None,
        api: Api | None = None,
    ) -> None:
        if not model:
            raise UsageError(f"`{provider.name}:` names no model, as `{provider.name}:MODEL` does")
        self._provider = provider
        self._model = model
        self._endpoint = endpoint_of(provider, access, api)
        self._options = options or ModelOptions()
        if self._options.sampling.seed is not None and not self._endpoint.api.has_seed:
            raise UsageError("`seed` is configured, and the API that is asked knows none")
        self._sending = sending or Sending()
        route_to(self._endpoint.url, self._sending.tls)
        prices()  # at a moment when no answer is waited for

    @property
    def endpoint(self) -> str:
        """`openai:MODEL`, and the URL of the API where it is not the provider's own."""
        spec = f"{self._provider.name}:{self._model}"
        return spec if self._endpoint.home else f"{spec} at {url_without_credentials(urlsplit(self._endpoint.url))}"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a connection of one's own."""
        async with open_transport(self._endpoint.url, self._sending) as transport:
            yield _ModelSession(
                model=self._model,
                endpoint=self._endpoint,
                options=self._options,
                transport=transport,
                sending=self._sending,
            )


@final
class _ModelSession(msgspec.Struct, kw_only=True):
    model: str
    endpoint: Endpoint
    options: ModelOptions
    transport: Transport
    sending: Sending
    refuses_schemas: bool = False

    async def send(self, request: AgentRequest) -> AgentResponse:
        if request.answer_schema is None:
            return await self._converse(request)
        if not self.refuses_schemas:
            try:
                return _as_text(await self._converse(request))
            except AgentProtocolError as error:
                if error.status not in _REFUSES_FIELDS:
                    raise
                self.refuses_schemas = True
        return await self._converse(request)

    async def _converse(self, request: AgentRequest) -> AgentResponse:
        messages, items = _said_before(request)
        prompt = Prompt(
            model=self.model,
            messages=_with_system(messages, request, self.options.system),
            items=items,
            tools=self.endpoint.api.tools(self._offered(request)),
            sampling=self._sampling(request),
        )
        ask = partial(self._ask, deadline=request.deadline)
        stubs = None if request.stubbed is None else Stubs(request)
        answer = await converse(self.endpoint.api, prompt, ask, stubs=stubs, max_turns=request.max_turns)
        kept = None if answer.state is None else {"messages": len(messages), "items": answer.state}
        if kept is not None and stubs is not None and stubs.state:
            kept["stubs"] = stubs.state
        return msgspec.structs.replace(answer, state=kept)

    def _sampling(self, request: AgentRequest) -> Sampling:
        sampling = self.options.sampling
        if request.answer_schema is None or self.refuses_schemas:
            return sampling
        return replace(sampling, extra={**self.endpoint.api.answering(request.answer_schema), **sampling.extra})

    def _offered(self, request: AgentRequest) -> ToolRegistry:
        """The tools of the registry; without one, those that have a stub, whatever parameters they may take."""
        if request.answer_schema is not None:
            return ToolRegistry(tools={})
        if self.options.tools is not None:
            return self.options.tools
        return ToolRegistry(tools={name: Tool(name=name, parameters=_OPEN) for name in request.stubbed or ()})

    async def _ask(self, prompt: Prompt, *, deadline: float | None) -> tuple[ModelTurn, float | None]:
        """One request, and what its answer says and cost."""
        body = msgspec.json.encode(wire.json_value(self.endpoint.api.body(prompt), "request"))
        send = partial(self.transport.request, "POST", self.endpoint.url, body, self.endpoint.headers)
        reply = await send_with_retries(send, self.sending, deadline=deadline)
        if not is_complete(reply.status):
            raise _refused(reply)
        try:
            answer = object_at(wire.json_value(wire.decode_json(reply.body), "answer"), "the whole")
            return self.endpoint.api.read(answer), self.endpoint.cost_of(answer, self.model)
        except AgentProtocolError as error:
            raise AgentProtocolError(str(error), excerpt(reply.body)) from None


_OPEN: Mapping[str, object] = {"type": "object", "properties": {}, "additionalProperties": True}


def _said_before(request: AgentRequest) -> tuple[Sequence[Message], tuple[Item, ...]]:
    """The messages that a request begins with, and what followed them: in a conversation, all that the model did.

    If that is not known, its answers follow as plain messages. No API takes an empty message.
    """
    messages = request.messages or ({"role": "user", "content": request.message},)
    if request.state is None:
        return tuple(each for each in messages if each["content"] or each["role"] != "assistant"), ()
    begun, items = request.state["messages"], request.state["items"]
    return messages[:begun], (*items, {"role": "user", "content": request.message})


def _as_text(answer: AgentResponse) -> AgentResponse:
    """The answer, whose text is the JSON asked for: where the API has it as a call, the arguments of that call."""
    calls = [call for call in answer.tool_calls if call.name == ANSWER]
    if len(calls) != 1:
        return answer
    text = json.dumps(calls[0].params) if calls[0].arguments is None else calls[0].arguments
    return msgspec.structs.replace(answer, response=text, tool_calls=())


def _with_system(messages: Sequence[Message], request: AgentRequest, configured: str | None) -> Sequence[Message]:
    """The messages with a system prompt: their own, else the configured one, else the prompt file's."""
    system = configured or request.system
    if not system or any(message["role"] == "system" for message in messages):
        return messages
    return ({"role": "system", "content": system}, *messages)


def _refused(reply: Reply) -> AgentError:
    """The error of a status; where the provider says why, in its words."""
    said = _provider_message(reply.body) or excerpt(reply.body)
    text = f"HTTP {reply.status}: {said}" if said else f"HTTP {reply.status}"
    if reply.status in RETRIED or reply.status == _OVERLOADED:
        return AgentUnavailable(text, status=reply.status)
    return AgentProtocolError(text, status=reply.status)


def _provider_message(body: bytes) -> str:
    """The message of an error as OpenAI, Anthropic and those who follow them write it."""
    try:
        answer = wire.decode_json(body)
    except AgentProtocolError:
        return ""
    error = answer.get("error") if isinstance(answer, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else None
    return excerpt(message) if isinstance(message, str) else ""
