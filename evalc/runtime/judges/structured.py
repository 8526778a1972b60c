"""From the JSON Schema of an answer to the fields of a request by which each API is asked to keep to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalc.runtime.agents.model.options import OpenAIApi

TOOL: Final = "verdict"
"""The name of the schema, and of the tool by which an API without schemas of answers is asked."""


def openai_fields(api: OpenAIApi, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Structured Outputs, as Chat Completions and as the Responses API spell them."""
    named = {"name": TOOL, "schema": schema, "strict": True}
    if api == "responses":
        return {"text": {"format": {"type": "json_schema", **named}}}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def anthropic_fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that has to be called: every model and every server of this API knows that."""
    tool = {"name": TOOL, "description": "Give the verdict.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
