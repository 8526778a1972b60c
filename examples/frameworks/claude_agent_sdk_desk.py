"""A desk of the Claude Agent SDK, which has no agent object: a class calls `query`, and says what evalc needs.

With the SDK's own `query` in place of the script, it is `from claude_agent_sdk import query`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ResultMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)
from script import book, reply

OPTIONS = ClaudeAgentOptions(system_prompt="You book rooms.", allowed_tools=["book"])
SAID: dict[str, list[str]] = {}


async def query(*, prompt: str, options: ClaudeAgentOptions) -> AsyncIterator[Any]:
    """Answer as the script says, in the messages of the SDK."""
    session = options.resume or str(uuid4())
    said = SAID.setdefault(session, [])
    said.append(prompt)
    answer = reply(said, None)
    if not isinstance(answer, str):
        yield AssistantMessage(content=[ToolUseBlock(id="call", name="book", input=answer)], model="script")
        try:
            result, is_error = json.dumps(book(**answer)), False
        except ValueError as error:
            result, is_error = str(error), True
        yield UserMessage(content=[ToolResultBlock(tool_use_id="call", content=result, is_error=is_error)])
        answer = reply(said, result)
    yield AssistantMessage(content=[TextBlock(text=str(answer))], model="script")
    times = {"duration_ms": 1, "duration_api_ms": 1}
    usage = {"input_tokens": 5, "output_tokens": 5}
    yield ResultMessage(
        subtype="success", is_error=False, num_turns=1, session_id=session, result=str(answer), usage=usage, **times
    )


class Desk:
    """One conversation: the SDK keeps it, by the id of its session."""

    session: str | None = None

    async def run(self, message: str, messages: list[dict[str, str]]) -> dict[str, Any]:
        """Answer the message, with the calls of tools and the tokens."""
        resumed = self.session if len(messages) > 1 else None
        calls: dict[str, dict[str, Any]] = {}
        answer: dict[str, Any] = {}
        async for said in query(prompt=message, options=replace(OPTIONS, resume=resumed)):
            if isinstance(said, ResultMessage):
                self.session = said.session_id
                usage = (said.usage or {}) | {"cost_usd": said.total_cost_usd}
                answer = {"error" if said.is_error else "response": said.result, "usage": usage}
            for block in said.content if isinstance(said, AssistantMessage | UserMessage) else ():
                if isinstance(block, ToolUseBlock):
                    calls[block.id] = {"name": block.name, "params": block.input}
                elif isinstance(block, ToolResultBlock):
                    calls[block.tool_use_id]["success"] = not block.is_error
                    calls[block.tool_use_id]["error" if block.is_error else "result"] = block.content
        return answer | {"toolCalls": list(calls.values())}
