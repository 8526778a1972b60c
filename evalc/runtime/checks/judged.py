"""Evaluates a judged check: a question with a least score."""

from __future__ import annotations

from typing import Final

from evalc.base.errors import JudgeError
from evalc.check.tree import Test
from evalc.check.values import text_of
from evalc.model.answer import Question
from evalc.model.result import JudgedScore
from evalc.runtime.checks.verdict import Verdict, View, broken
from evalc.runtime.checks.wording import number, shown

_LONGEST_REASON: Final = 240


async def judged(test: Test, view: View) -> Verdict:
    """The text scores at least the least score; without one every score will do.

    Which of a scale's steps is enough is the author's line, so a check that has one passes or fails, and counts 1 or 0
    in a criterion; one without counts the share of the scale that it reached.
    """
    dimension, max_score, criteria, min_score = test.operand
    if view.evidence.judge is None:
        return broken("needs a judge, and none is configured")
    question = Question(name=dimension, criteria=criteria, max_score=max_score)
    try:
        score = await view.evidence.judge.score(question, text_of(view.text))
    except JudgeError as error:
        return broken(str(error))
    if min_score is None:
        return Verdict(outcome="passed", score=score.score / score.max_score, judged=score)
    if score.score >= min_score:
        return Verdict(outcome="passed", score=1.0, judged=score)
    message = (
        f"`{shown(dimension)}` scored {number(score.score)} of {number(max_score)}, "
        f"and at least {number(min_score)} is needed{because(score)}"
    )
    return Verdict(outcome="failed", message=message, judged=score)


def because(score: JudgedScore) -> str:
    """The judge's reason, as the end of a message."""
    return f": {shown(score.reason, _LONGEST_REASON)}" if score.reason else ""
