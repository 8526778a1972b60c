"""OpenAI's Chat Completions API, which many servers speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, final

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents import wire
from evalc.runtime.agents.model.answer import (
    bearer,
    call_of,
    object_at,
    objects_at,
    refuse_failure,
    refuse_lost_calls,
    text_at,
    usage_of,
    word_of,
)
from evalc.runtime.agents.model.api import ANSWER, Call, Flavor, Item, Prompt, ToolOutcome, Turn, given
from evalc.tools.registry import ToolRegistry, chat_tools

_MESSAGE: Final = "choices[0].message"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCompletions:
    """`POST /chat/completions`.

    Attributes:
        limit: the field for the length of an answer. OpenAI's newer models refuse `max_tokens`; of other servers, some
            know nothing else.
    """

    path: ClassVar[str] = "/chat/completions"
    flavor: ClassVar[Flavor] = "chat"
    has_seed: ClassVar[bool] = True

    limit: str = "max_tokens"

    def headers(self, key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools, each as a function."""
        return chat_tools(registry)

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON."""
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

    def read(self, answer: Mapping[str, Any]) -> Turn:
        """The choice with the index 0: others are only there where the configuration asks for them."""
        refuse_failure(answer)
        choice = _choice(tuple(objects_at(answer.get("choices"), "choices")))
        if choice is not None:
            refuse_failure(choice, status=choice.get("finish_reason"))
            wire.refuse_near_calls(choice, "choices[0]")
        message = object_at(None if choice is None else choice.get("message"), _MESSAGE)
        refuse_failure(message)
        wire.refuse_near_calls(message, _MESSAGE, "tool_calls", "function_call")
        reason, calls = choice and choice.get("finish_reason"), tuple(_calls(message))
        refuse_lost_calls(reason, calls)
        text, refusal = _content(message.get("content"))
        refusal += text_at(message.get("refusal"), f"{_MESSAGE}.refusal")
        usage = usage_of(answer)
        return Turn(
            text=text or refusal,
            calls=calls,
            items=(message,),
            input_tokens=wire.count_of(usage.get("prompt_tokens")),
            output_tokens=wire.count_of(usage.get("completion_tokens")),
            finish_reason="refusal" if refusal else word_of(reason),
        )

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """A message of the role `tool` a call."""
        return tuple(_result(outcome) for outcome in outcomes)


def _choice(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The choice with the least index, wherever it is in the list; a choice without an index has that of its place."""
    indexes = [wire.count_of(choice.get("index")) for choice in choices]
    places = [place if index is None else index for place, index in enumerate(indexes)]
    return choices[places.index(min(places))] if choices else None


def _result(outcome: ToolOutcome) -> Item:
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
        wire.refuse_near_calls(part, place)
        if part.get("type") in ("text", "output_text"):
            texts.append(text_at(part.get("text"), f"{place}.text"))
        elif part.get("type") == "refusal":
            refusals.append(text_at(part.get("refusal"), f"{place}.refusal"))
    return "".join(texts), "".join(refusals)


def _calls(message: Mapping[str, Any]) -> list[Call]:
    """The calls of functions; what else a model may call has no stub, and is a call by its own name."""
    calls: list[Call] = []
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
