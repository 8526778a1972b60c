"""The request in a result: the message or the conversation, bounded, and the case's tags."""

from __future__ import annotations

import msgspec
import pytest

from evalc.base.errors import AgentUnavailable
from evalc.model.case import Input, Message
from tests.runtime.test_run_case import case, run


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
