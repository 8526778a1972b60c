"""Stand-ins for agents of frameworks: classes in modules of their names, with the shapes that the real ones have.

Each agent books a room and fails to cancel one, and says how many messages it was given. `make test-frameworks` runs
the real ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

BOOKED = {"ok": True, "total": 240}
BROKEN = "no such room"


@contextmanager
def modules(**named: object) -> Iterator[None]:
    """Modules of a framework, as if it had been imported."""
    before = dict(sys.modules)
    for name, held in named.items():
        sys.modules[name.replace("__", ".")] = held if isinstance(held, ModuleType) else SimpleNamespace(**vars(held))  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in set(sys.modules) - set(before):
            del sys.modules[name]


# --- Pydantic AI -----------------------------------------------------------------------------------------------------


class Part:
    __module__ = "pydantic_ai.messages"

    def __init__(self, part_kind: str, **fields: Any) -> None:
        self.__dict__ |= fields | {"part_kind": part_kind}


class Message:
    __module__ = "pydantic_ai.messages"

    def __init__(self, parts: list[Part], finish_reason: str | None = None) -> None:
        self.parts = parts
        self.finish_reason = finish_reason


class PydanticResult:
    __module__ = "pydantic_ai.run"
    _output_tool_name = "final_result"
    usage = SimpleNamespace(input_tokens=10, output_tokens=6, requests=2)

    def __init__(self, history: list[Message], message: str) -> None:
        self._history = history
        called = [
            Part("tool-call", tool_call_id="1", tool_name="book", args={"city": "Paris"}),
            Part("tool-call", tool_call_id="2", tool_name="cancel", args='{"id": 7}'),
        ]
        ended = [
            Part("tool-return", tool_call_id="1", tool_name="book", content=BOOKED, outcome="success"),
            Part("retry-prompt", tool_call_id="2", tool_name="cancel", content=BROKEN),
        ]
        output = [Part("tool-call", tool_call_id="3", tool_name="final_result", args={})]
        self._new = [
            Message([Part("user-prompt", content=message)]),
            Message(called),
            Message(ended),
            Message([Part("text", content="done"), *output], finish_reason="stop"),
        ]
        self.output = f"{message} {len(history)}"

    def new_messages(self) -> list[Message]:
        return self._new

    def all_messages(self) -> list[Message]:
        return [*self._history, *self._new]


class PydanticAgent:
    __module__ = "pydantic_ai.agent"
    name = "desk"

    async def run(self, message: str, *, message_history: list[Message] | None = None) -> PydanticResult:
        if message == "break":
            raise ValueError("no key")
        return PydanticResult(message_history or [], message)

    def run_sync(self, message: str) -> PydanticResult:
        return PydanticResult([], message)


PYDANTIC_AI = SimpleNamespace(
    ModelRequest=Message,
    ModelResponse=Message,
    UserPromptPart=lambda content: Part("user-prompt", content=content),
    SystemPromptPart=lambda content: Part("system-prompt", content=content),
    TextPart=lambda content: Part("text", content=content),
)
