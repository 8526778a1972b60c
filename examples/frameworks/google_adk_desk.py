"""A desk of Google ADK. With a model of yours in place of the script, it is
`Agent(name="desk", model="MODEL", tools=[book])`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types
from script import book as book_a_room
from script import reply


def book(city: str, nights: int) -> dict[str, Any]:
    """Book a room; a mapping with an `error` says that a tool failed."""
    try:
        return book_a_room(city, nights)
    except ValueError as error:
        return {"error": str(error)}


class Script(BaseLlm):
    """Answers as the script says."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer the messages, or call the tool."""
        parts = [part for content in llm_request.contents for part in content.parts or ()]
        said = [
            part.text
            for content in llm_request.contents
            if content.role == "user"
            for part in content.parts or ()
            if part.text
        ]
        given = parts[-1].function_response
        answer = reply(said, None if given is None else str(given.response))
        part = (
            types.Part(text=answer)
            if isinstance(answer, str)
            else types.Part.from_function_call(name="book", args=answer)
        )
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=5 * len(parts), candidates_token_count=5)
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=usage)


agent = Agent(name="desk", model=Script(model="script"), tools=[book])
