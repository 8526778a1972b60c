"""OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents import wire
from evalc.runtime.agents.model.answer import (
    bearer,
    call_of,
    hosted_call,
    objects_at,
    refuse_failure,
    text_at,
    usage_of,
    word_of,
)
from evalc.runtime.agents.model.api import ANSWER, Call, Flavor, Item, Prompt, ToolOutcome, Turn, given
from evalc.tools.registry import ToolRegistry, responses_tools

_ARGUMENTS: Final[Mapping[object, str]] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Where an item of each type that is a call has its arguments."""

_UNFINISHED: Final = ("cancelled", "queued", "in_progress")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """`POST /responses`. Every item of `output` goes back as it came, so that reasoning items stay with their calls."""

    path: ClassVar[str] = "/responses"
    flavor: ClassVar[Flavor] = "responses"
    has_seed: ClassVar[bool] = False

    def headers(self, key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools, each as a function."""
        return responses_tools(registry)

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON."""
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

    def read(self, answer: Mapping[str, Any]) -> Turn:
        """What the items say; a failed item is an error, however the server words it."""
        refuse_failure(answer, status=answer.get("status"))
        if (status := answer.get("status")) in _UNFINISHED:
            raise AgentProtocolError(f"the model has not finished: its status is `{status}`")
        if not isinstance(answer.get("output"), list):
            raise AgentProtocolError("`output` of the answer is missing or not a list")
        items = tuple(objects_at(answer["output"], "output"))
        texts, refusals = list(_texts(items, "output_text", "text")), list(_texts(items, "refusal", "refusal"))
        usage = usage_of(answer)
        return Turn(
            text="".join(texts or refusals),
            calls=tuple(_calls(items)),
            hosted=tuple(_hosted(items)),
            items=items,
            input_tokens=wire.count_of(usage.get("input_tokens")),
            output_tokens=wire.count_of(usage.get("output_tokens")),
            finish_reason="refusal" if refusals else _finish_reason(answer),
        )

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """An item a call."""
        return tuple(
            {"type": "function_call_output", "call_id": each.call.id, "output": each.text} for each in outcomes
        )


def _texts(items: Sequence[Item], type_: str, field: str) -> Iterator[str]:
    """The texts of one type in the messages."""
    for index, item in enumerate(items):
        if item.get("type") != "message":
            continue
        for part in objects_at(item.get("content"), f"output[{index}].content"):
            if part.get("type") == type_:
                yield text_at(part.get(field), f"output[{index}].content.{field}")


def _calls(items: Sequence[Item]) -> Iterator[Call]:
    for index, item in enumerate(items):
        if (field := _ARGUMENTS.get(item.get("type"))) is not None:
            yield call_of(item.get("call_id"), item.get("name"), item.get(field), f"output[{index}]")


def _hosted(items: Sequence[Item]) -> Iterator[Call]:
    """The calls of the provider's own tools, such as `web_search_call` and `mcp_call`."""
    for index, item in enumerate(items):
        if item.get("type") not in _ARGUMENTS and wire.is_call_type(item.get("type")):
            yield hosted_call(item, f"output[{index}]")


def _finish_reason(answer: Mapping[str, Any]) -> str | None:
    """Why an answer is not complete; for a complete answer, its status."""
    details = answer.get("incomplete_details")
    reason = word_of(details.get("reason")) if isinstance(details, Mapping) else None
    return reason or word_of(answer.get("status"))
