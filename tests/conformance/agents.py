"""The agent and the judge that give the scripted answers of a conformance case."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, final

import msgspec

from evalc.base.errors import AgentUnavailable
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import Session
from evalc.runtime.agents.wire import answer_of
from tests.support.servers import Behaviour, Exchange

Answer = Mapping[str, Any]
Script = Callable[[str], Answer]


def script_of(entry: Mapping[str, Any]) -> Script:
    """Answers by message: one `agent` for all of them, or `answers`."""
    if "agent" in entry:
        return lambda _: entry["agent"]
    answers: Mapping[str, Answer] = entry["answers"]
    return answers.__getitem__


@final
class Scripted:
    """An agent that answers from a script, as late as it says, and remembers what it was sent."""

    endpoint = "scripted"

    def __init__(self, script: Script) -> None:
        self.sent: list[dict[str, Any]] = []
        self._script = script

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        self.sent.append({"message": request.message, "stubs": request.stubs, "maxTurns": request.max_turns})
        answer = self._script(request.message)
        await asyncio.sleep(answer.get("delayMs", 0) / 1000)
        if "fails" in answer:
            raise AgentUnavailable(answer["fails"])
        return msgspec.structs.replace(answer_of(answer), tool_mode=answer.get("toolMode", "executed"))


def served(script: Script) -> Behaviour:
    """The same script behind HTTP."""

    async def behave(exchange: Exchange) -> None:
        answer = script(exchange.request.json["message"])
        await asyncio.sleep(answer.get("delayMs", 0) / 1000)
        await exchange.respond(200, json.dumps(answer, ensure_ascii=False).encode())

    return behave


def judging(script: Mapping[str, Any]) -> Behaviour:
    """A judge that says of each question, by its name, what the script has: a score, `fails`, or some in turn."""
    waiting = {name: list(said) if isinstance(said, list) else [said] for name, said in script.items()}

    async def behave(exchange: Exchange) -> None:
        said = waiting[exchange.request.json["question"]["name"]]
        score = said.pop(0) if len(said) > 1 else said[0]
        status = 500 if score == "fails" else 200
        await exchange.respond(status, json.dumps({"score": score, "reason": "as scripted"}).encode())

    return behave
