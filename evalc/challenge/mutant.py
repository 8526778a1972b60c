"""What is given to the checks of a case in place of a good answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from evalc.model import checks as c
from evalc.model.answer import AgentAnswer, AgentResponse, AnsweredTurn, ToolCall, Usage
from evalc.model.case import Case
from evalc.runtime.run.ask import whole_of

_CHARACTERS_A_TOKEN = 4


class Mutant(NamedTuple):
    """An answer with a fault.

    Attributes:
        challenger: the name of the fault.
        difference: what the fault is, in words or as `before → after`.
        answer: the answer.
        cures: checks that may tell it from a good answer, the best first; may be iterated once.
        good: the answer that it was made from; None if it was made from none.
    """

    challenger: str
    difference: str
    answer: AgentAnswer
    cures: Iterable[c.Check] = ()
    good: AgentAnswer | None = None


def cut(text: str, longest: int) -> str:
    """The text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def answered(text: str, calls: tuple[ToolCall, ...] = ()) -> AgentResponse:
    """A response that costs nothing and keeps to every limit but those of its text."""
    usage = Usage(input_tokens=1, output_tokens=len(text) // _CHARACTERS_A_TOKEN, cost_usd=0.0)
    return AgentResponse(response=text, tool_calls=calls, usage=usage)


def replies(case: Case, responses: list[AgentResponse]) -> AgentAnswer:
    """The answer of an agent that says this, a response for each turn of the case."""
    if not case.input.follow_ups and case.input.user is None:
        return AgentAnswer(1.0, responses[0])
    turns = tuple(
        AnsweredTurn(message, response, 1.0) for message, response in zip(messages_of(case), responses, strict=True)
    )
    return AgentAnswer(float(len(turns)), whole_of(responses), turns=turns)


def messages_of(case: Case) -> tuple[str, ...]:
    """What is said to the agent, turn by turn; of a simulated user the first that it would say."""
    user = case.input.user
    if user is not None:
        return (user.opens or user.goal,)
    return (case.input.message, *(case.input.follow_ups or ()))


def with_response(answer: AgentAnswer, text: str, calls: tuple[ToolCall, ...]) -> AgentAnswer:
    """The answer with another text and other calls; of a conversation it is the last turn that has them."""
    like = answer.response or AgentResponse(response="")
    changed = msgspec.structs.replace(like, response=text, tool_calls=calls)
    if not answer.turns:
        return answer._replace(response=changed)
    last = answer.turns[-1]
    changed = msgspec.structs.replace(last.response, response=text, tool_calls=calls)
    turns = (*answer.turns[:-1], last._replace(response=changed))
    return answer._replace(response=whole_of([turn.response for turn in turns]), turns=turns)


def last_response(answer: AgentAnswer) -> AgentResponse:
    """The response that `with_response` changes."""
    return answer.turns[-1].response if answer.turns else answer.response or AgentResponse(response="")
