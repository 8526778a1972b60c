"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents import wire
from evalc.runtime.agents.model.answer import (
    call_of,
    hosted_call,
    objects_at,
    refuse_failure,
    refuse_lost_calls,
    text_at,
    usage_of,
    word_of,
)
from evalc.runtime.agents.model.api import ANSWER, Call, Flavor, Item, Prompt, ToolOutcome, Turn, given
from evalc.tools.registry import ToolRegistry, messages_tools

MAX_TOKENS: Final = 4096
"""The length of an answer if nothing is configured: this API wants one."""

_VERSION: Final = "2023-06-01"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """`POST /v1/messages`. Every block of `content` goes back as it came: thinking is signed, and must be unchanged."""

    path: ClassVar[str] = "/v1/messages"
    flavor: ClassVar[Flavor] = "default"
    has_seed: ClassVar[bool] = False

    def headers(self, key: str | None) -> dict[str, str]:
        """The key, and the version of the API."""
        return {"anthropic-version": _VERSION} | ({} if key is None else {"x-api-key": key})

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools, each with its `input_schema`."""
        return messages_tools(registry)

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

    def read(self, answer: Mapping[str, Any]) -> Turn:
        """What the blocks say."""
        refuse_failure(answer, status=answer.get("type"))
        content = answer.get("content")
        if not isinstance(content, list):
            raise AgentProtocolError("`content` of the answer is missing or not a list")
        blocks = tuple(objects_at(content, "content"))
        for block in blocks:
            refuse_failure(block, status=block.get("type"))
        reason, calls = answer.get("stop_reason"), tuple(_calls(blocks))
        if reason == "pause_turn":
            raise AgentProtocolError("the model has not finished: its reason to stop is `pause_turn`")
        refuse_lost_calls(reason, calls)
        usage = usage_of(answer)
        return Turn(
            text="".join([text_at(each.get("text"), "content.text") for each in blocks if each.get("type") == "text"]),
            calls=calls,
            hosted=tuple(_hosted(blocks)),
            items=({"role": "assistant", "content": content},),
            input_tokens=_input_tokens(usage),
            output_tokens=wire.count_of(usage.get("output_tokens")),
            finish_reason=word_of(reason),
        )

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """One message with all results, as the API wants them."""
        return ({"role": "user", "content": [_result(outcome) for outcome in outcomes]},)


def _calls(blocks: Sequence[Item]) -> Iterator[Call]:
    for index, block in enumerate(blocks):
        if block.get("type") == "tool_use":
            yield call_of(block.get("id"), block.get("name"), block.get("input"), f"content[{index}]")


def _hosted(blocks: Sequence[Item]) -> Iterator[Call]:
    """The calls of tools that the provider runs itself: `server_tool_use`, `mcp_tool_use`."""
    for index, block in enumerate(blocks):
        if block.get("type") != "tool_use" and wire.is_call_type(block.get("type")):
            yield hosted_call(block, f"content[{index}]")


def _result(outcome: ToolOutcome) -> Item:
    failed = {"is_error": True} if outcome.failed else {}
    return {"type": "tool_result", "tool_use_id": outcome.call.id, "content": outcome.text, **failed}


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens of the request: this API counts those written to and read from its cache apart."""
    fresh = wire.count_of(usage.get("input_tokens"))
    cached = [wire.count_of(usage.get(f"cache_{way}_input_tokens")) or 0 for way in ("creation", "read")]
    return None if fresh is None else fresh + sum(cached)
