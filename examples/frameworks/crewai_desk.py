"""A desk of CrewAI. With a model of yours in place of the script, it is `Agent(..., llm="MODEL", tools=[book])`.

evalc runs agents and crews of CrewAI as they are, but their outputs say nothing of tools. To check calls, let the tools
of a conversation note them, as here.
"""

from __future__ import annotations

import json
import os
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import Agent, BaseLLM
from crewai.tools import tool
from script import book as book_a_room
from script import reply


class Script(BaseLLM):
    """Answers as the script says, in the words by which CrewAI knows calls and answers."""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        """Answer the messages, or call the tool."""
        said = [each["content"] for each in messages if each["role"] == "user"]
        observed = [each["content"] for each in messages[-2:] if each["role"] == "assistant"]
        _, is_called, given = "".join(observed).rpartition("\nObservation:")
        answer = reply(said, given if is_called else None)
        if isinstance(answer, str):
            return f"Thought: I now know the final answer\nFinal Answer: {answer}"
        return f"Thought: I book\nAction: book\nAction Input: {json.dumps(answer)}"

    def supports_function_calling(self) -> bool:
        """Whether calls are more than words: here they are words."""
        return False


def desk(calls: list[dict[str, Any]]) -> Agent:
    """An agent whose tools note their calls."""

    @tool("book")
    def book(city: str, nights: int) -> Any:
        """Book a room."""
        calls.append({"name": "book", "params": {"city": city, "nights": nights}})
        try:
            calls[-1]["result"] = book_a_room(city, nights)
        except ValueError as error:
            calls[-1]["error"] = str(error)
            return f"Error: {error}"  # CrewAI calls a tool that raises again, without asking the model
        calls[-1]["success"] = True
        return calls[-1]["result"]

    return Agent(role="desk", goal="Book rooms", backstory="A hotel", llm=Script(model="script"), tools=[book])


def answer(messages: list[dict[str, str]]) -> dict[str, Any]:
    """The agent's answer with its calls."""
    calls: list[dict[str, Any]] = []
    output = desk(calls).kickoff(messages)
    return {"response": output.raw, "toolCalls": calls}


agent = desk([])
