"""Models as agents: one interface to their APIs, how a conversation is asked, how the parts of an answer are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, final

import msgspec

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents import Sampling, wire
from evalc.tools import ToolRegistry

Item = Mapping[str, Any]
"""A message, or another item of a conversation, as the API writes it. What evalc does not know in it stays as it is."""

Message = Mapping[str, str]
"""A message of a case: its `role`, which is `system`, `user` or `assistant`, and its `content`."""


ANSWER: Final = "answer"
"""The name of the schema that an answer keeps to, and of the tool by which an API without such schemas is asked."""


@final
class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """All that a request says: the case's messages, what followed them so far, and the tools on offer."""

    model: str
    messages: Sequence[Message]
    items: Sequence[Item] = ()
    tools: Sequence[Item] = ()
    sampling: Sampling = msgspec.field(default_factory=Sampling)


@final
class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that a model asks for. `params` is None if its `arguments`, a text, are not a JSON object.

    `id` is None in OpenAI's legacy `function_call`, whose result is matched by the name.
    """

    id: str | None
    name: str
    arguments: str
    params: dict[str, Any] | None


@final
class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a tool call, as text; `failed` where the tool could not be used."""

    call: ModelCall
    text: str
    failed: bool = False


@final
class ModelTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a model."""

    text: str  # what it says; a refusal's words where it refuses
    calls: tuple[ModelCall, ...]  # the tool calls that it asks for, in its order
    items: tuple[Item, ...]  # what is sent back in the next request, unchanged
    input_tokens: int | None  # the tokens of the request, those from a cache too; None if it does not say
    output_tokens: int | None  # the tokens of the answer
    finish_reason: str | None  # why it ended, in the provider's word; `refusal` where it refuses
    hosted: tuple[ModelCall, ...] = ()  # the calls of tools that the provider ran itself


Flavor = Literal["chat", "responses", "default"]


class Api(msgspec.Struct, frozen=True, kw_only=True):
    """One API of a provider: without state, and without knowledge of HTTP.

    Attributes:
        path: the path after the base URL.
        flavor: the name of the API's way to report usage in the table of prices.
        has_seed: whether a request may have a seed.
    """

    path: ClassVar[str]
    flavor: ClassVar[Flavor] = "default"
    has_seed: ClassVar[bool] = False

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers that carry the key, and those that the API asks for: a bearer token, if there is a key."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools of a registry as the API wants them."""
        raise NotImplementedError

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON."""
        raise NotImplementedError

    def answering(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a request that bind its answer to a JSON Schema, called `ANSWER`."""
        raise NotImplementedError

    def read(self, answer: Mapping[str, Any]) -> ModelTurn:
        """Read an answer.

        Raises:
            AgentProtocolError: it is not of the API's shape.
        """
        raise NotImplementedError

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """The results of tool calls, as items that follow those of their turn."""
        raise NotImplementedError


def given(**fields: object) -> dict[str, object]:
    """The fields of a request that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


# --- what answers have in common -------------------------------------------------------------------------------------

_FAILURES: Final = ("failed", "error")
_UNSAID: Final = re.compile(r"(?i)think|reason|refusal|result|call|tool|output$")


def object_at(value: object, place: str) -> Mapping[str, Any]:
    """The value, which is an object."""
    if not isinstance(value, Mapping):
        raise _wrong(value, place, "an object")
    return value


def objects_at(value: object, place: str) -> Iterator[Mapping[str, Any]]:
    """The items of a list of objects; none if there is no list."""
    if value is None:
        return
    if not isinstance(value, list):
        raise _wrong(value, place, "a list")
    for index, item in enumerate(value):
        yield object_at(item, f"{place}[{index}]")


def text_at(value: object, place: str) -> str:
    """The value, which is a text; empty if there is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(value, place, "a text")
    return value


def word_of(value: object) -> str | None:
    """The value where it is a text; what only describes an answer is never an error."""
    return value if isinstance(value, str) and value else None


def usage_of(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The usage that the answer states; nothing if it states none that can be read."""
    usage = answer.get("usage")
    return usage if isinstance(usage, Mapping) else {}


def refuse_failure(part: Mapping[str, Any], status: object = None) -> None:
    """Refuse an answer, or a part of it, that says that the model failed, whatever else is in it.

    Raises:
        AgentProtocolError: it has an `error`, or its status is one; in the server's words if it has any.
    """
    said = wire.failure_in(part) or wire.reported_failure(part)
    if said is None and status not in _FAILURES:
        return
    raise AgentProtocolError(f"the model failed: {said}" if said else "the model failed")


def refuse_unfinished(reason: object, calls: Sequence[object]) -> None:
    """Refuse an answer that goes on elsewhere, or that ends, as it says itself, with tool calls, and has none.

    Raises:
        AgentProtocolError: its reason to stop says so.
    """
    if reason == "pause_turn":
        raise AgentProtocolError("the model has not finished: its reason to stop is `pause_turn`")
    word = reason.lower() if isinstance(reason, str) else ""
    if not calls and word in ("tool_calls", "tool_call", "function_call", "tool_use"):
        raise AgentProtocolError(f"the model ended with `{reason}`, and no tool call is in its answer")


def said_in(part: Mapping[str, Any], place: str) -> str:
    """The words of a part of an answer; thoughts, refusals and results of tools are not said to the user."""
    type_ = part.get("type")
    if type_ in ("text", "output_text") and "text" in part:
        return text_at(part["text"], f"{place}.text")
    if part.get("thought") is True or (isinstance(type_, str) and _UNSAID.search(type_)):
        return ""
    return next((part[key] for key in ("text", "content") if isinstance(part.get(key), str)), "")


def hosted_call(item: Mapping[str, Any], place: str) -> ModelCall:
    """A call of a tool that the provider runs itself: by its name, or else by its type, such as `web_search_call`."""
    name = item.get("name") or item.get("type")
    arguments = next((held for key in ("arguments", "input", "action") if (held := item.get(key))), None)
    return call_of(None, name, arguments if isinstance(arguments, str | Mapping) else None, place)


def call_of(id_: object, name: object, arguments: object, place: str) -> ModelCall:
    """A tool call; arguments that are no JSON object are kept as text, since that is the model's mistake to be seen.

    A call without arguments has none: some servers write an empty text for a tool without parameters.
    """
    if not isinstance(name, str) or not name:
        raise _wrong(name, f"{place}.name", "the name of a tool")
    text = text_at(arguments, f"{place}.arguments") if not isinstance(arguments, Mapping) else json.dumps(arguments)
    return ModelCall(id=text_at(id_, f"{place}.id"), name=name, arguments=text, params=_params_of(text))


def _params_of(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return {}
    try:
        params = wire.json_value(wire.decode_unambiguous(text.encode(errors="surrogatepass")), "arguments")
    except AgentProtocolError:
        return None
    return params if isinstance(params, dict) else None


def _wrong(value: object, place: str, expected: str) -> AgentProtocolError:
    found = "missing" if value is None else f"not {expected}"
    return AgentProtocolError(f"`{place}` of the answer is {found}")
