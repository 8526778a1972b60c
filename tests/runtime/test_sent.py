"""The request in a result: the message or the conversation, bounded, and the case's tags."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from evalc.base.errors import AgentUnavailable
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.model.case import Input, Message
from evalc.model.suite import LocatedCase
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.run.ask import request_of
from evalc.runtime.run.case import CaseOptions
from evalc.runtime.run.engine import Worker
from tests.runtime.test_run_case import Says, case, run


@pytest.mark.parametrize("answer", ["a", AgentUnavailable("gone")])
def test_the_message_is_kept_whether_or_not_an_answer_came(answer: object) -> None:
    details = run(case(tags=("smoke",)), answer).result.details
    assert (details.message, details.messages) == ("m", msgspec.UNSET)


def test_tags_are_kept() -> None:
    assert run(case(tags=("smoke",))).result.tags == ("smoke",)
    assert run(case()).result.tags is msgspec.UNSET


def test_a_conversation_is_kept_and_long_texts_are_cut() -> None:
    turns = (Message(role="user", content="x" * 30_000), Message(role="assistant", content="y"))
    asked = msgspec.structs.replace(case(), input=Input(message="x" * 30_000, messages=turns))
    details = run(asked).result.details
    assert details.message == "x" * 19_999 + "…"
    assert details.messages == (Message(role="user", content="x" * 19_999 + "…"), turns[1])


class Rewrites:
    """An agent that changes the messages which it is given, as those do that add to their context."""

    endpoint = "rewrites"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Says]:
        async def answer(request: AgentRequest) -> AgentResponse:
            messages: Any = request.messages
            messages[0]["content"] = "rewritten"
            return AgentResponse(response="a")

        yield Says(answer)


def test_the_hash_of_what_is_sent_is_of_the_case_whatever_the_agent_makes_of_it() -> None:
    asked = msgspec.structs.replace(case(), input=Input(message="m", messages=(Message(role="user", content="m"),)))

    async def sent() -> str | None:
        return (await Worker(Rewrites(), CaseOptions()).attempt(LocatedCase(asked, {}))).sent

    assert asyncio.run(sent()) == fingerprint_of(request_of(asked))
