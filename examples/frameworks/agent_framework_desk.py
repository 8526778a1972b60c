"""A desk of the Microsoft Agent Framework. With a client of yours in place of the script, it is
`Agent(client, name="desk", tools=[book])`.
"""

from __future__ import annotations

from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, UsageDetails
from script import book, reply


class Script(FunctionInvocationLayer, BaseChatClient):
    """Answers as the script says."""

    async def _inner_get_response(self, *, messages: list[Message], **_: Any) -> ChatResponse:
        contents = [content for message in messages for content in message.contents]
        said = [message.text for message in messages if message.role == "user"]
        last = contents[-1]
        answer = reply(said, str(last.exception or last.result) if last.type == "function_result" else None)
        if isinstance(answer, str):
            content = Content.from_text(answer)
        else:
            content = Content.from_function_call(f"call-{len(contents)}", "book", arguments=answer)
        usage = UsageDetails(input_token_count=5 * len(contents), output_token_count=5)
        return ChatResponse(messages=[Message("assistant", [content])], usage_details=usage)


agent = Agent(Script(), name="desk", tools=[book])
