"""Writes a tool registry as the `tools` of a model's request, in each provider's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalc.tools.registry import Tool, ToolRegistry


def chat_tools(registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
    """`tools` of OpenAI's Chat Completions: `{"type": "function", "function": {name, description, parameters}}`."""
    return tuple({"type": "function", "function": _named(tool, "parameters")} for tool in registry.values())


def responses_tools(registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
    """`tools` of OpenAI's Responses: `{"type": "function", name, description, parameters}`.

    `strict` is false: the API would else refuse every schema that is not closed at all levels.
    """
    return tuple({"type": "function", **_named(tool, "parameters"), "strict": False} for tool in registry.values())


def messages_tools(registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
    """`tools` of the Messages API: `{name, description, input_schema}`."""
    return tuple(_named(tool, "input_schema") for tool in registry.values())


def _named(tool: Tool, schema_key: str) -> dict[str, Any]:
    """The tool under the keys that all three share; one without a description has none, rather than an empty one."""
    described = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **described, schema_key: _schema(tool.parameters)}


def _schema(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """The schema as the APIs want it: of an object, whose properties are listed even if there are none."""
    return {"type": "object", "properties": {}} | dict(parameters or {})
