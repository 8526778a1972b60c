"""Checks that a judge decides."""

from __future__ import annotations

import asyncio

import pytest

from evalc.base.errors import JudgeError
from evalc.check.forms import check_of
from evalc.model.answer import Question
from evalc.model.result import JudgedScore
from evalc.runtime.checks import Evidence
from evalc.runtime.checks.judged import as_expected
from tests.runtime.checks.conftest import Ask


class Judge:
    """Gives every answer the same score."""

    def __init__(self, score: float, reason: str | None = None) -> None:
        self._score, self._reason = score, reason

    async def score(self, question: Question, text: str | None = None) -> JudgedScore:
        assert text == "the answer"
        return JudgedScore(score=self._score, max_score=question.max_score, reason=self._reason)


def test_without_a_judge_the_verdict_is_an_error(ask: Ask) -> None:
    verdict = ask(check_of({"type": "judge", "dimension": "tone", "criteria": "Kind?"}), "the answer")
    assert (verdict.outcome, verdict.message) == ("error", "needs a judge, and none is configured")


@pytest.mark.parametrize(
    ("least", "outcome", "score"), [(None, "passed", 0.75), (3, "passed", 1.0), (4, "failed", 0.0)]
)
def test_a_least_score_decides_and_without_one_the_share_counts(
    ask: Ask, least: float | None, outcome: str, score: float
) -> None:
    check = check_of({"type": "judge", "dimension": "tone", "criteria": "Kind?", "maxScore": 4, "minScore": least})
    verdict = ask(check, "the answer", judge=Judge(3, "curt"))
    assert (verdict.outcome, verdict.score) == (outcome, score)
    assert verdict.judged is not None
    assert (verdict.judged.score, verdict.judged.max_score) == (3, 4)


def test_a_judge_that_breaks_is_an_error(ask: Ask) -> None:
    class Broken:
        async def score(self, question: Question, text: str | None = None) -> JudgedScore:
            raise JudgeError("HTTP 500")

    verdict = ask(check_of({"type": "judge", "dimension": "tone", "criteria": "Kind?"}), "the answer", judge=Broken())
    assert (verdict.outcome, verdict.message) == ("error", "HTTP 500")


def test_a_failure_gives_the_judge_s_reason(ask: Ask) -> None:
    check = check_of({"type": "judge", "dimension": "tone", "criteria": "Kind?", "maxScore": 4, "minScore": 4})
    message = ask(check, "the answer", judge=Judge(3, "curt")).message
    assert message == "`tone` scored 3 of 4, and at least 4 is needed: curt"


@pytest.mark.parametrize(
    ("score", "outcome", "message"),
    [(1, "passed", None), (0, "failed", "the judge finds that the response is not as expected: it rains")],
)
def test_expected_answers_hold_or_not(score: float, outcome: str, message: str | None) -> None:
    verdict = asyncio.run(as_expected(Evidence(response="the answer", judge=Judge(score, "it rains"))))
    assert (verdict.outcome, verdict.message) == (outcome, message)
