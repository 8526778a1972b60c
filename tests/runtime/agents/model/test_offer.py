"""The tools of a registry as providers' APIs want them."""

from __future__ import annotations

from evalc.runtime.agents.model.apis import ChatCompletions, Messages, Responses
from evalc.tools import Tool, ToolRegistry

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
EMPTY = {"type": "object", "properties": {}}
REGISTRY = ToolRegistry(
    tools={
        "a": Tool(name="a", description="Does a.", parameters=SCHEMA),
        "b": Tool(name="b", description=None),
    }
)


def test_chat_completions() -> None:
    assert ChatCompletions().tools(REGISTRY) == (
        {"type": "function", "function": {"name": "a", "description": "Does a.", "parameters": SCHEMA}},
        {"type": "function", "function": {"name": "b", "parameters": EMPTY}},
    )


def test_responses() -> None:
    assert Responses().tools(REGISTRY) == (
        {"type": "function", "name": "a", "description": "Does a.", "parameters": SCHEMA, "strict": False},
        {"type": "function", "name": "b", "parameters": EMPTY, "strict": False},
    )


def test_messages() -> None:
    assert Messages().tools(REGISTRY) == (
        {"name": "a", "description": "Does a.", "input_schema": SCHEMA},
        {"name": "b", "input_schema": EMPTY},
    )
