"""A desk of Strands Agents. With a model of yours in place of the script, it is `Agent(model=..., tools=[book])`.

An agent of Strands answers one message at a time. A function that makes the agent lets evalc run several cases at once.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from script import book as book_a_room
from script import reply
from strands import Agent, tool
from strands.models import Model


@tool
def book(city: str, nights: int) -> dict[str, Any]:
    """Book a room."""
    return book_a_room(city, nights)


class Script(Model):
    """Answers as the script says."""

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Answer the messages, or call the tool."""
        said = [
            part["text"] for each in messages if each["role"] == "user" for part in each["content"] if "text" in part
        ]
        given = messages[-1]["content"][-1].get("toolResult")
        answer = reply(said, None if given is None else given["content"][0]["text"])
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(answer, str):
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
        else:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "book", "toolUseId": f"call-{len(messages)}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(answer)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(answer, str) else "tool_use"}}
        usage = {"inputTokens": 5 * len(messages), "outputTokens": 5, "totalTokens": 5 * len(messages) + 5}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}

    def update_config(self, **_: Any) -> None:
        """Nothing is configured here."""

    def get_config(self) -> Any:
        """The configuration."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Nothing has a form here."""
        raise NotImplementedError


def agent() -> Agent:
    """An agent for each conversation."""
    return Agent(model=Script(), tools=[book], callback_handler=None)


shared = agent()  # works, too: one message at a time
