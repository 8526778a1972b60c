"""A desk of the OpenAI Agents SDK. With a model of yours in place of the script, it is
`Agent(name="desk", model="MODEL", tools=[book])`.
"""

from __future__ import annotations

import json
from typing import Any

from agents import Agent, Model, ModelResponse, RunContextWrapper, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from script import book as book_a_room
from script import reply

set_tracing_disabled(True)


def failed(_: RunContextWrapper[Any], error: Exception) -> str:
    """The words for the model; evalc knows a failure by the framework's beginning."""
    return f"An error occurred while running the tool: {error}"


@function_tool(failure_error_function=failed)
def book(city: str, nights: int) -> dict[str, Any]:
    """Book a room."""
    return book_a_room(city, nights)


class Script(Model):
    """Answers as the script says."""

    async def get_response(self, *_: Any, **asked: Any) -> ModelResponse:
        """Answer the messages, or call the tool."""
        items = asked["input"]
        answer = reply([each["content"] for each in items if each.get("role") == "user"], items[-1].get("output"))
        output: Any
        if isinstance(answer, str):
            text = ResponseOutputText(type="output_text", text=answer, annotations=[])
            output = ResponseOutputMessage(
                type="message", id="message", role="assistant", status="completed", content=[text]
            )
        else:
            output = ResponseFunctionToolCall(
                type="function_call", call_id=f"call-{len(items)}", name="book", arguments=json.dumps(answer)
            )
        usage = Usage(requests=1, input_tokens=5 * len(items), output_tokens=5, total_tokens=5 * len(items) + 5)
        return ModelResponse(output=[output], usage=usage, response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Nothing streams here."""
        raise NotImplementedError


agent = Agent(name="desk", model=Script(), tools=[book])
