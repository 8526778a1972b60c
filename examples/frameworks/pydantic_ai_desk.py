"""A desk of Pydantic AI. With a model of yours in place of the script, it is `Agent("openai:MODEL", tools=[book])`."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from script import book as book_a_room
from script import reply


def book(city: str, nights: int) -> dict[str, Any]:
    """Book a room; what the tool raises as `ModelRetry` goes back to the model."""
    try:
        return book_a_room(city, nights)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


def script(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Answer as the script says."""
    parts = [part for message in messages for part in message.parts]
    said = [str(part.content) for part in parts if part.part_kind == "user-prompt"]
    last = parts[-1]
    answer = reply(said, None if last.part_kind == "user-prompt" else str(getattr(last, "content", "")))
    return ModelResponse(parts=[TextPart(answer) if isinstance(answer, str) else ToolCallPart("book", answer)])


agent = Agent(FunctionModel(script), name="desk", tools=[book])
