"""The APIs of models, Chat Completions, Messages and Responses, and where each provider has its own."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Final, final
from urllib.parse import SplitResult

import msgspec
from msgspec.structs import replace

from evalc.base import Provider
from evalc.base.errors import AgentProtocolError, UsageError
from evalc.runtime.agents import Access, wire
from evalc.runtime.agents.http import DEFAULT_HEADERS, checked_headers, checked_url
from evalc.runtime.agents.model import (
    ANSWER,
    Api,
    Flavor,
    Item,
    ModelCall,
    ModelTurn,
    Prompt,
    ToolOutcome,
    call_of,
    given,
    hosted_call,
    object_at,
    objects_at,
    refuse_failure,
    refuse_unfinished,
    said_in,
    text_at,
    usage_of,
    word_of,
)
from evalc.tools import ToolRegistry, offered

# --- Chat Completions ------------------------------------------------------------------------------------------------

_MESSAGE: Final = "choices[0].message"


class ChatCompletions(Api, frozen=True, kw_only=True):
    """`POST /chat/completions`.

    Attributes:
        limit: the field for the length of an answer. OpenAI's newer models refuse `max_tokens`; of other servers, some
            know nothing else.
    """

    path: ClassVar[str] = "/chat/completions"
    flavor: ClassVar[Flavor] = "chat"
    has_seed: ClassVar[bool] = True

    limit: str = "max_tokens"

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        return tuple({"type": "function", "function": offered(tool, "parameters")} for tool in registry.values())

    def body(self, prompt: Prompt) -> dict[str, Any]:
        sampling = prompt.sampling
        return {
            "model": prompt.model,
            "messages": [*prompt.messages, *prompt.items],
            **given(
                temperature=sampling.temperature,
                **{self.limit: sampling.max_tokens},
                seed=sampling.seed,
                tools=list(prompt.tools) or None,
            ),
            **sampling.extra,
        }

    def answering(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Structured Outputs."""
        named = {"name": ANSWER, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def read(self, answer: Mapping[str, Any]) -> ModelTurn:
        """The choice with the index 0: others are only there where the configuration asks for them."""
        refuse_failure(answer)
        choices = tuple(objects_at(answer.get("choices"), "choices"))
        choice = _choice(choices)
        if choice is not None:
            refuse_failure(choice, status=choice.get("finish_reason"))
        message = object_at(None if choice is None else choice.get("message"), _MESSAGE)
        refuse_failure(message)
        reason, calls = choice and choice.get("finish_reason"), tuple(_chat_calls(message))
        others = [each for each in choices if each is not choice and each.get("index")]
        wire.refuse_unread_calls(answer, [*(message.get("tool_calls") or ()), message.get("function_call"), *others])
        refuse_unfinished(reason, calls)
        text, refusal = _content(message.get("content"))
        if not text and isinstance(audio := message.get("audio"), Mapping):
            text = text_at(audio.get("transcript"), f"{_MESSAGE}.audio.transcript")
        refusal += text_at(message.get("refusal"), f"{_MESSAGE}.refusal")
        usage = usage_of(answer)
        return ModelTurn(
            text=text or refusal,
            calls=calls,
            items=(message,),
            input_tokens=wire.count_of(usage.get("prompt_tokens")),
            output_tokens=wire.count_of(usage.get("completion_tokens")),
            finish_reason="refusal" if refusal else word_of(reason),
        )

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """A message of the role `tool` a call."""
        return tuple(_chat_result(outcome) for outcome in outcomes)


def _choice(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The choice with the least index, wherever it is in the list; a choice without an index has that of its place."""
    indexes = [wire.count_of(choice.get("index")) for choice in choices]
    places = [place if index is None else index for place, index in enumerate(indexes)]
    return choices[places.index(min(places))] if choices else None


def _chat_result(outcome: ToolOutcome) -> Item:
    if outcome.call.id is None:
        return {"role": "function", "name": outcome.call.name, "content": outcome.text}
    return {"role": "tool", "tool_call_id": outcome.call.id, "content": outcome.text}


def _content(content: object) -> tuple[str, str]:
    """The text and the refusal; of a list of parts, as some servers send it, those of all parts."""
    place = f"{_MESSAGE}.content"
    if not isinstance(content, list):
        return text_at(content, place), ""
    texts, refusals = [], []
    for part in objects_at(content, place):
        texts.append(said_in(part, place))
        refusals.append(text_at(part.get("refusal"), f"{place}.refusal"))
    return "".join(texts), "".join(refusals)


def _chat_calls(message: Mapping[str, Any]) -> list[ModelCall]:
    """The calls of functions; what else a model may call has no stub, and is a call by its own name."""
    calls: list[ModelCall] = []
    for index, item in enumerate(objects_at(message.get("tool_calls"), f"{_MESSAGE}.tool_calls")):
        place = f"{_MESSAGE}.tool_calls[{index}]"
        custom = item.get("custom")
        if isinstance(custom, Mapping):
            calls.append(call_of(item.get("id"), custom.get("name"), custom.get("input"), place))
            continue
        function = object_at(item.get("function"), f"{place}.function")
        calls.append(call_of(item.get("id"), function.get("name"), function.get("arguments"), f"{place}.function"))
    if (legacy := message.get("function_call")) is not None:  # as OpenAI had it before `tool_calls`
        place = f"{_MESSAGE}.function_call"
        if calls:
            raise AgentProtocolError(f"`{place}` of the answer is there beside `tool_calls`")
        function = object_at(legacy, place)
        calls.append(replace(call_of(None, function.get("name"), function.get("arguments"), place), id=None))
    return calls


# --- Messages --------------------------------------------------------------------------------------------------------

MAX_TOKENS: Final = 4096
"""The length of an answer if nothing is configured: this API wants one."""
_VERSION: Final = "2023-06-01"


@final
class Messages(Api, frozen=True, kw_only=True):
    """`POST /v1/messages`. Every block of `content` goes back as it came: thinking is signed, and must be unchanged."""

    path: ClassVar[str] = "/v1/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        """The key, and the version of the API."""
        return {"anthropic-version": _VERSION} | ({} if key is None else {"x-api-key": key})

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        return tuple(offered(tool, "input_schema") for tool in registry.values())

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON. The API has no message of the role `system`: such ones are its field `system`."""
        sampling = prompt.sampling
        system = [message["content"] for message in prompt.messages if message["role"] == "system"]
        spoken = [message for message in prompt.messages if message["role"] != "system"]
        return {
            "model": prompt.model,
            "max_tokens": MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
            "messages": [*spoken, *prompt.items],
            **given(
                system="\n\n".join(system) or None,
                temperature=sampling.temperature,
                tools=list(prompt.tools) or None,
            ),
            **sampling.extra,
        }

    def answering(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A tool that has to be called: every model and every server of this API knows that."""
        tool = {"name": ANSWER, "description": "Give your answer.", "input_schema": schema}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": ANSWER}}

    def read(self, answer: Mapping[str, Any]) -> ModelTurn:
        refuse_failure(answer, status=answer.get("type"))
        content = answer.get("content")
        if not isinstance(content, list):
            raise AgentProtocolError("`content` of the answer is missing or not a list")
        blocks = tuple(objects_at(content, "content"))
        for block in blocks:
            refuse_failure(block, status=block.get("type"))
        reason, calls = answer.get("stop_reason"), tuple(_messages_calls(blocks))
        refuse_unfinished(reason, calls)
        wire.refuse_unread_calls(answer, [block for block in blocks if wire.is_call_type(block.get("type"))])
        usage = usage_of(answer)
        return ModelTurn(
            text="".join([said_in(block, "content") for block in blocks]),
            calls=calls,
            hosted=tuple(_messages_hosted(blocks)),
            items=({"role": "assistant", "content": content},),
            input_tokens=_input_tokens(usage),
            output_tokens=wire.count_of(usage.get("output_tokens")),
            finish_reason=word_of(reason),
        )

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """One message with all results, as the API wants them."""
        return ({"role": "user", "content": [_messages_result(outcome) for outcome in outcomes]},)


def _messages_calls(blocks: Sequence[Item]) -> Iterator[ModelCall]:
    for index, block in enumerate(blocks):
        if block.get("type") == "tool_use":
            yield call_of(block.get("id"), block.get("name"), block.get("input"), f"content[{index}]")


def _messages_hosted(blocks: Sequence[Item]) -> Iterator[ModelCall]:
    """The calls of tools that the provider runs itself: `server_tool_use`, `mcp_tool_use`."""
    for index, block in enumerate(blocks):
        if block.get("type") != "tool_use" and wire.is_call_type(block.get("type")):
            yield hosted_call(block, f"content[{index}]")


def _messages_result(outcome: ToolOutcome) -> Item:
    failed = {"is_error": True} if outcome.failed else {}
    return {"type": "tool_result", "tool_use_id": outcome.call.id, "content": outcome.text, **failed}


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens of the request: this API counts those written to and read from its cache apart."""
    fresh = wire.count_of(usage.get("input_tokens"))
    cached = [wire.count_of(usage.get(f"cache_{way}_input_tokens")) or 0 for way in ("creation", "read")]
    return None if fresh is None else fresh + sum(cached)


# --- Responses -------------------------------------------------------------------------------------------------------

_ARGUMENTS: Final[Mapping[object, str]] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Where an item of each type that is a call has its arguments."""
_UNFINISHED: Final = ("cancelled", "queued", "in_progress", "requires_action")


@final
class Responses(Api, frozen=True, kw_only=True):
    """`POST /responses`. Every item of `output` goes back as it came, so that reasoning items stay with their calls."""

    path: ClassVar[str] = "/responses"
    flavor: ClassVar[Flavor] = "responses"

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        # Strict, the API would refuse every schema that is not closed at all levels.
        return tuple({"type": "function", **offered(tool, "parameters"), "strict": False} for tool in registry.values())

    def body(self, prompt: Prompt) -> dict[str, Any]:
        sampling = prompt.sampling
        return {
            "model": prompt.model,
            "input": [*prompt.messages, *prompt.items],
            **given(
                temperature=sampling.temperature,
                max_output_tokens=sampling.max_tokens,
                tools=list(prompt.tools) or None,
            ),
            **sampling.extra,
        }

    def answering(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Structured Outputs."""
        return {"text": {"format": {"type": "json_schema", "name": ANSWER, "schema": schema, "strict": True}}}

    def read(self, answer: Mapping[str, Any]) -> ModelTurn:
        """Read the items; a failed item is an error, however the server words it."""
        refuse_failure(answer, status=answer.get("status"))
        if (status := answer.get("status")) in _UNFINISHED:
            raise AgentProtocolError(f"the model has not finished: its status is `{status}`")
        if not isinstance(answer.get("output"), list):
            raise AgentProtocolError("`output` of the answer is missing or not a list")
        items = tuple(objects_at(answer["output"], "output"))
        wire.refuse_unread_calls(answer, [item for item in items if wire.is_call_type(item.get("type"))])
        parts = list(_parts(items))
        texts = [said_in(part, place) for part, place in parts]
        refusals = [text_at(part.get("refusal"), f"{place}.refusal") for part, place in parts]
        usage = usage_of(answer)
        return ModelTurn(
            text="".join(texts) or "".join(refusals),
            calls=tuple(_responses_calls(items)),
            hosted=tuple(_responses_hosted(items)),
            items=items,
            input_tokens=wire.count_of(usage.get("input_tokens")),
            output_tokens=wire.count_of(usage.get("output_tokens")),
            finish_reason="refusal" if any(refusals) else _finish_reason(answer),
        )

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """An item a call."""
        return tuple(
            {"type": "function_call_output", "call_id": each.call.id, "output": each.text} for each in outcomes
        )


def _parts(items: Sequence[Item]) -> Iterator[tuple[Item, str]]:
    """The parts of the messages, each with its place; some gateways leave the type of a message out."""
    for index, item in enumerate(items):
        if item.get("type") in (None, "message"):
            place = f"output[{index}].content"
            yield from ((part, place) for part in objects_at(item.get("content"), place))


def _responses_calls(items: Sequence[Item]) -> Iterator[ModelCall]:
    for index, item in enumerate(items):
        if (field := _ARGUMENTS.get(word_of(item.get("type")))) is not None:
            yield call_of(item.get("call_id"), item.get("name"), item.get(field), f"output[{index}]")


def _responses_hosted(items: Sequence[Item]) -> Iterator[ModelCall]:
    """The calls of the provider's own tools, such as `web_search_call` and `mcp_call`."""
    for index, item in enumerate(items):
        if word_of(item.get("type")) not in _ARGUMENTS and wire.is_call_type(item.get("type")):
            yield hosted_call(item, f"output[{index}]")


def _finish_reason(answer: Mapping[str, Any]) -> str | None:
    """Why an answer is not complete; for a complete answer, its status."""
    details = answer.get("incomplete_details")
    reason = word_of(details.get("reason")) if isinstance(details, Mapping) else None
    return reason or word_of(answer.get("status"))


# --- where they are reached ------------------------------------------------------------------------------------------

_KEY_HEADERS: Final = frozenset({"authorization", "x-api-key", "api-key"})


@final
class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An API at a place: the URL of its requests, and their headers. `home` says that it is the provider's own."""

    api: Api
    url: str
    headers: Mapping[str, str]
    home: bool

    def cost_of(self, answer: Mapping[str, Any], asked: str) -> float | None:
        """US dollars for an answer, cached tokens at their own price; None if the price or the usage is not known.

        The answer may name the version that it came from; where that has no price, the model asked for counts. What a
        model costs depends on who serves it.
        """
        for model in (answer.get("model"), asked):
            try:
                used = prices().extract_usage(
                    {**answer, "model": model}, provider_api_url=self.url, api_flavor=self.api.flavor
                )
                cost = float(used.calc_price().total_price)
            except (LookupError, ValueError, TypeError, ArithmeticError):
                continue  # An answer may hold anything in their places.
            return cost if math.isfinite(cost) else None
        return None


def endpoint_of(provider: Provider, access: Access, api: Api | None = None) -> Endpoint:
    """Where a provider's API is reached; `api` replaces the configured API."""
    name = provider.name
    base = checked_url(access.base_url or provider.home, whose=f"the `base_url` of `{name}`, as a")
    if base.username is not None:
        raise UsageError(f"the `base_url` of `{name}` holds credentials: they belong into its `headers`")
    home = base.hostname == checked_url(provider.home).hostname
    headers = {name.lower(): value for name, value in checked_headers(access.headers).items()}
    if home and access.key is None and not _KEY_HEADERS & headers.keys():
        raise UsageError(f"`{name}` needs a key: set the environment variable `{access.key_variable}`")
    api = api or api_of(provider, access, home=home)
    return Endpoint(api=api, url=_url(base, api), headers=_sent_anyway(api, access) | headers, home=home)


def api_of(provider: Provider, access: Access, *, home: bool = False) -> Api:
    """How the API is spoken; `home` says that it is the provider's own server."""
    match access.api if access.api in provider.apis else provider.apis[0]:
        case "chat":
            return ChatCompletions(limit="max_completion_tokens") if home else ChatCompletions()
        case "responses":
            return Responses()
        case "messages":
            return Messages()


def _url(base: SplitResult, api: Api) -> str:
    """The base URL with the API's path appended, which may already have the `/v1` that some write there."""
    path = base.path.rstrip("/")
    if api.path.startswith("/v1/"):
        path = path.removesuffix("/v1")
    return base._replace(path=path + api.path, fragment="").geturl()


def _sent_anyway(api: Api, access: Access) -> dict[str, str]:
    try:
        keyed = {name.lower(): value for name, value in checked_headers(api.headers(access.key)).items()}
    except UsageError:
        raise UsageError(f"the value of `{access.key_variable}` has a character that HTTP does not allow") from None
    return {**DEFAULT_HEADERS, **keyed}


# --- what they cost --------------------------------------------------------------------------------------------------


def input_price(tokens: int, *, model: str, url: str) -> float | None:
    """US dollars for so many tokens of input; None if the model at that URL has no price that is known."""
    table = prices()
    try:
        cost = float(table.calc_price(table.Usage(input_tokens=tokens), model, provider_api_url=url).total_price)
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return None
    return cost if math.isfinite(cost) else None


@cache
def prices() -> Any:
    """The table of list prices, which takes half a second to read."""
    # For start-up time: it brings pydantic with it, and only agents that are models need it.
    return importlib.import_module("genai_prices")
