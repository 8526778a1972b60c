"""Reads a judge's answer as a score on the question's scale; makes the schema that it must follow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from evalc.base.errors import AgentProtocolError
from evalc.model.answer import Question
from evalc.runtime.agents import wire
from evalc.runtime.judges.base import Said

_MOST_STEPS: Final = 20
"""Up to so many steps a scale is listed in the schema, which servers obey more often than bounds."""

_FENCED: Final = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)


class Score(NamedTuple):
    """A score on the question's scale, and why."""

    score: int | float
    reason: str


class Malformed(Exception):
    """The answer is not a score; the message says why, in words that a judge may be told."""


class _Verdict(msgspec.Struct, frozen=True):
    score: int | float
    reason: str = ""


def answer_schema(question: Question) -> dict[str, Any]:
    """The JSON Schema of an answer: the reason before the score, so that the score follows from it."""
    top = question.max_score
    score: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": top}
    if question.is_whole:
        score = {"type": "integer", "minimum": 0, "maximum": int(top)}
        if top <= _MOST_STEPS:
            score = {"type": "integer", "enum": list(range(int(top) + 1))}
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": score},
        "required": ["reason", "score"],
        "additionalProperties": False,
    }


def read_score(said: Said, question: Question) -> Score:
    """The score.

    Raises:
        Malformed: it is not a score, or not on the scale.
    """
    top = question.max_score
    value = _parsed(said.value) if isinstance(said.value, str) else said.value
    if not isinstance(value, Mapping):
        raise Malformed(f"it is not of the form {{reason, score}}, but {wire.kind_of(value)}")
    if (failure := wire.failure_in(value)) is not None:
        raise Malformed(f"it has an `error` beside the score: {failure}")
    if isinstance(said_score := value.get("score"), bool):
        raise Malformed(f"the score is {wire.kind_of(said_score)}, and not a number between 0 and {_shown(top)}")
    try:
        verdict = msgspec.convert(value, type=_Verdict)
    except msgspec.ValidationError as error:
        raise Malformed(f"it is not of the form {{reason, score}}: {error}") from None
    score = verdict.score
    if not 0 <= score <= top:
        raise Malformed(f"the score is {_shown(score)}, and not between 0 and {_shown(top)}")
    if said.whole and not float(score).is_integer():
        raise Malformed(f"the score is {score:.15g}, and not a whole number")
    return Score(score, verdict.reason)


def _shown(score: float) -> str:
    try:
        return f"{score:.15g}"
    except OverflowError:
        return "an integer of hundreds of digits"


def _parsed(text: str) -> object:
    """The JSON that the text is, or that its one fenced block is; never one found somewhere in it.

    A judge may quote what it judges, and with it a verdict that it did not give.
    """
    fenced = _FENCED.fullmatch(text)
    bare = fenced[1] if fenced else text
    try:
        return wire.decode_unambiguous(bare.encode(errors="replace"))
    except AgentProtocolError as error:
        raise Malformed(str(error)) from None
