"""Offers tools by a JSON Schema of the answer, so that models without tool calls can call them.

Small models have not learned to call tools, and none has to keep to what it learned. llama.cpp makes of the schema a
grammar, under which a model can write nothing else; so any model calls tools, well or badly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, final

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents import wire
from evalc.runtime.agents.model.answer import call_of
from evalc.runtime.agents.model.api import Flavor, Item, Message, Prompt, ToolOutcome, Turn
from evalc.runtime.agents.model.chat_completions import ChatCompletions
from evalc.tools.offer import chat_tools
from evalc.tools.registry import ToolRegistry

_INSTRUCTIONS: Final = """\
You can use these tools:
{tools}

Answer with one JSON object: {{"tool": NAME, "arguments": {{...}}}} to use a tool, or {{"answer": TEXT}} to answer."""


@final
class ToolsBySchema:
    """Chat Completions of a server that keeps to `response_format`; every request has to offer a tool."""

    path: ClassVar[str] = ChatCompletions.path
    flavor: ClassVar[Flavor] = ChatCompletions.flavor
    has_seed: ClassVar[bool] = True

    def __init__(self) -> None:
        self._chat = ChatCompletions()

    def headers(self, key: str | None) -> dict[str, str]:
        """Those of Chat Completions."""
        return self._chat.headers(key)

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools, each with its name, description and parameters."""
        return tuple(tool["function"] for tool in chat_tools(registry))

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON, with the tools in the system prompt and in the schema of the answer."""
        schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": _schema(prompt.tools)}}
        messages = _instructed(prompt.messages, prompt.tools)
        body = self._chat.body(replace(prompt, messages=messages, tools=()))
        return {"response_format": schema, **body}

    def answering(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """As Chat Completions."""
        return self._chat.answering(schema)

    def read(self, answer: Mapping[str, Any]) -> Turn:
        """The call or the text that the answer's JSON says."""
        turn = self._chat.read(answer)
        try:
            said = wire.decode_json(turn.text.encode())
        except AgentProtocolError:
            cut = "no whole JSON within `maxTokens`" if turn.finish_reason == "length" else "no JSON"
            raise AgentProtocolError(f"the model wrote {cut}") from None
        match said:
            case {"tool": str(name), "arguments": arguments}:
                return replace(turn, text="", calls=(call_of("call", name, arguments, "the answer"),))
            case {"answer": str(text)}:
                return replace(turn, text=text)
            case _:
                raise AgentProtocolError("the model's JSON is neither a tool call nor an answer")

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """What the calls gave, in the words of the user: models that know no tools know no role for them."""
        return tuple({"role": "user", "content": f"`{each.call.name}` returned: {each.text}"} for each in outcomes)


def _schema(tools: Sequence[Item]) -> dict[str, Any]:
    return {
        "anyOf": [
            *(_of({"tool": {"const": tool["name"]}, "arguments": tool["parameters"]}) for tool in tools),
            _of({"answer": {"type": "string"}}),
        ]
    }


def _of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _instructed(messages: Sequence[Message], tools: Sequence[Item]) -> Sequence[Message]:
    """The messages, whose system prompt says also what tools there are; many models know one such message alone."""
    listed = "\n".join(map(_line, tools))
    system = [message["content"] for message in messages if message["role"] == "system"]
    text = "\n\n".join([*system, _INSTRUCTIONS.format(tools=listed)])
    return ({"role": "system", "content": text}, *(each for each in messages if each["role"] != "system"))


def _line(tool: Item) -> str:
    """The tool in words. An empty schema says nothing, and a small model would repeat it."""
    parameters = tool["parameters"].get("properties")
    arguments = f"; arguments: {json.dumps(parameters)}" if parameters else ""
    return f"- {tool['name']}: {tool.get('description', '')}{arguments}"
