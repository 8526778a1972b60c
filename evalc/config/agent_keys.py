"""From the tables `body`, `response` and `stream` of an HTTP agent's configuration to a template and paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from evalc.config.refused import Folders, Refused, described, read_parts
from evalc.diagnostics.near import did_you_mean, listed
from evalc.json_fault import fault_of
from evalc.mapping.body import BadBody, BodyTemplate
from evalc.mapping.records import AnswerPaths, StreamPaths

if TYPE_CHECKING:
    from evalc.mapping.paths import JsonPath

ANSWER_KEYS: Final[Mapping[str, str]] = {
    "response": "response",
    "toolCalls": "tool_calls",
    "name": "name",
    "success": "success",
    "durationMs": "duration_ms",
    "params": "params",
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "costUsd": "cost_usd",
}
"""The keys of `response`, each with its attribute of `AnswerPaths`."""

STREAM_KEYS: Final[Mapping[str, str]] = {"text": "text", "toolCalls": "tool_calls", "done": "done"}
"""The keys of `stream`, each with its attribute of `StreamPaths`."""


def body_template(value: Any, _: Folders) -> BodyTemplate:
    """The body of a request: a table or list, or a text that is JSON."""
    if isinstance(value, str):
        value = _from_json(value)
    if not isinstance(value, dict | list):
        raise Refused("a table, a list, or a text that holds one of them as JSON", found=described(value))
    try:
        return BodyTemplate.of(value)
    except BadBody as bad:
        refused = Refused(str(bad))
        refused.within = bad.within
        raise Refused(parts=[refused]) from None


def answer_paths(value: Any, _: Folders) -> AnswerPaths:
    """Where in an answer things stand."""
    return AnswerPaths(**_paths(value, ANSWER_KEYS))


def stream_paths(value: Any, _: Folders) -> StreamPaths:
    """Where in the events of a stream things stand."""
    paths = _paths(value, STREAM_KEYS)
    if "text" not in paths:
        raise Refused("a table with the path of the `text` of an event")
    return StreamPaths(**paths)


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = "; a placeholder stands in quotes, and becomes the value itself" if "{{" in text else ""
        fault = fault_of(error, text)
        raise Refused(f"valid JSON: {fault.found} at its {fault.where(text)}{hint}") from None
    except (RecursionError, ValueError):
        raise Refused("valid JSON that is not nested too deeply and has no numbers of thousands of digits") from None


def _paths(value: Any, keys: Mapping[str, str]) -> dict[str, JsonPath]:
    if not isinstance(value, dict):
        raise Refused("a table of JMESPath expressions", found=described(value))

    def read(key: str, text: Any) -> tuple[str, JsonPath]:
        if key not in keys:
            near = did_you_mean(key, keys)
            raise Refused(f"one of the keys {listed(keys)}{near and f'; {near}'}")
        return keys[key], _path(text)

    return dict(read_parts(value.items(), read))


def _path(text: Any) -> JsonPath:
    from evalc.mapping.paths import BadPath, JsonPath  # noqa: PLC0415 - for start-up: seldom configured

    if not isinstance(text, str):
        raise Refused("a text", found=described(text))
    try:
        return JsonPath.of(text)
    except BadPath as bad:
        raise Refused(f"a JMESPath expression: {bad}") from None
