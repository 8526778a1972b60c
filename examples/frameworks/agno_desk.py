"""A desk of Agno. With a model of yours in place of the script, it is `Agent(model=..., tools=[book])`."""

from __future__ import annotations

import json
from typing import Any

from agno.agent import Agent
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from script import book, reply


class Script(Model):
    """Answers as the script says."""

    def __init__(self) -> None:
        """Name the model."""
        super().__init__(id="script", name="Script", provider="evalc")

    async def ainvoke(self, messages: list[Message], **_: Any) -> ModelResponse:
        """Answer the messages, or call the tool."""
        said = [str(each.content) for each in messages if each.role == "user"]
        last = messages[-1]
        answer = reply(said, str(last.content) if last.role == "tool" else None)
        usage = MessageMetrics(input_tokens=5 * len(messages), output_tokens=5, total_tokens=5 * len(messages) + 5)
        if isinstance(answer, str):
            return ModelResponse(role="assistant", content=answer, response_usage=usage)
        function = {"name": "book", "arguments": json.dumps(answer)}
        call = {"id": f"call-{len(messages)}", "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call], response_usage=usage)

    def _parse_provider_response(self, response: ModelResponse, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: ModelResponse) -> ModelResponse:
        return response

    def _missing(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    invoke = invoke_stream = ainvoke_stream = _missing


agent = Agent(name="desk", model=Script(), tools=[book], telemetry=False)
