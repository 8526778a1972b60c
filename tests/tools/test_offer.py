"""The tools of a registry as providers' APIs want them."""

from __future__ import annotations

from evalc.tools import Tool, ToolRegistry, chat_tools, messages_tools, responses_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
EMPTY = {"type": "object", "properties": {}}
REGISTRY = ToolRegistry(
    tools={
        "a": Tool(name="a", description="Does a.", parameters=SCHEMA),
        "b": Tool(name="b", description=None),
    }
)


def test_chat_completions() -> None:
    assert chat_tools(REGISTRY) == (
        {"type": "function", "function": {"name": "a", "description": "Does a.", "parameters": SCHEMA}},
        {"type": "function", "function": {"name": "b", "parameters": EMPTY}},
    )


def test_responses() -> None:
    assert responses_tools(REGISTRY) == (
        {"type": "function", "name": "a", "description": "Does a.", "parameters": SCHEMA, "strict": False},
        {"type": "function", "name": "b", "parameters": EMPTY, "strict": False},
    )


def test_messages() -> None:
    assert messages_tools(REGISTRY) == (
        {"name": "a", "description": "Does a.", "input_schema": SCHEMA},
        {"name": "b", "input_schema": EMPTY},
    )
