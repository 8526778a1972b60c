"""Answers that are scores, and answers that are not."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from evalc.model.answer import Question
from evalc.runtime.judges import Said
from evalc.runtime.judges.model import Malformed, Score, answer_schema, read_score

FIVE = Question(name="q", max_score=5)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ('{"reason": "r", "score": 3}', Score(3, "r")),
        ({"score": 0}, Score(0, "")),
        ({"score": 1, "error": None}, Score(1, "")),
        ({"score": 1, "error": ""}, Score(1, "")),
        ('\n```json\n{"score": 5, "reason": "r"}\n```\n', Score(5, "r")),
        ('```\n{"score": 5}\n```', Score(5, "")),
        ('{"score": 2.0, "reason": "r", "confidence": 0.9}', Score(2.0, "r")),
    ],
)
def test_scores(said: Any, score: Score) -> None:
    assert read_score(Said(said, whole=True), FIVE) == score


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "is empty"),
        ("5", "is not of the form"),
        ('{"score": 5, "error": "rate limited"}', "beside the score it has an `error`: rate limited"),
        ('{"score": 5, "error": {"type": "overloaded"}}', "beside the score it has an `error`: overloaded"),
        ("5/5, wonderful", "is not JSON"),
        ('I think so: {"score": 5, "reason": "r"}', "is not JSON"),
        ('{"score": 5} {"score": 1}', "is not JSON"),
        ('{"score": "5"}', "is not of the form"),
        ('{"score": true}', "the score is true, and not a number between 0 and 5"),
        ('{"score": null}', "is not of the form"),
        ('{"reason": "r"}', "missing required field `score`"),
        ('{"score": 5, "reason": 7}', "is not of the form"),
        ('{"score": NaN}', "is not JSON"),
        ('{"score": 1e999}', "the score is inf"),
        ('{"score": 6}', "the score is 6, and not between 0 and 5"),
        ('{"score": -1}', "the score is -1, and not between 0 and 5"),
        ('{"score": 3.5}', "the score is 3.5, and not a whole number"),
        ('[{"score": 5}]', "is not of the form"),
        ('{"score": 5, "error": "x"}', "beside the score it has an `error`: x"),
        ('{"score": 5, "errors": ["x"]}', "it has `errors`, which counts as an `error`"),
        ('{"score": 5, "exception": "x"}', "it has `exception`, which counts as an `error`"),
        ({"score": float("nan")}, "the score is nan"),
        ({"score": float("inf")}, "the score is inf"),
        (None, "is not of the form {reason, score}, but null"),
        (object(), "but a Python `object`"),
        ({"score": 10**400}, "the score is an integer of hundreds of digits"),
        ("[" * 100_000, "is"),
        ({"score": 2, "maxScore": 1}, "the score is 2, and not between 0 and 1"),
        ({"score": 1, "maxScore": 0}, "its `maxScore` is 0, which is not the top of a scale"),
        ({"score": 1, "maxScore": float("nan")}, "its `maxScore` is nan"),
        ({"score": 1, "maxScore": float("inf")}, "its `maxScore` is inf"),
        ({"score": 1, "maxScore": 10**400}, "its `maxScore` is an integer of hundreds of digits"),
        ({"score": 1, "maxScore": "5"}, "is not of the form"),
        ({"score": 5, "max_score": 10}, "it has `max_score`, and a scale other than to 5 is called `maxScore`"),
        ({"score": 5, "scale": 10}, "it has `scale`"),
        ({"score": 5, "outOf": 10.0}, "it has `outOf`"),
        ('{"score": 5, "max": 100}', "it has `max`"),
    ],
)
def test_invalid_scores_are_refused(said: Any, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        read_score(Said(said, whole=True), FIVE)


@pytest.mark.parametrize(
    ("score", "scale", "on_ours"),
    [(0.8, 1, 4), (0.57, 1, 2.85), (8, 10, 4), (1, 1, 5), (0, 1, 0), (3, 5, 3), (1e308, 1e308, 5)],
)
@pytest.mark.parametrize("final", [True, False])
def test_a_score_is_on_the_scale_that_the_judge_declares(
    score: float, scale: float, on_ours: float, final: bool
) -> None:
    assert read_score(Said({"score": score, "maxScore": scale}, final=final), FIVE).score == on_ours


@pytest.mark.parametrize("other", [{"max_score": 5}, {"scale": 5.0}, {"scale": "1 to 5"}, {"model": 10}])
def test_other_words_of_a_judge_beside_its_score_do_not_count(other: dict[str, Any]) -> None:
    assert read_score(Said({"score": 4} | other), FIVE).score == 4


def test_a_share_without_a_scale_is_refused_of_code() -> None:
    with pytest.raises(
        Malformed, match=r'may be a share or one of 5: return it with its scale, as \{"score": 0.8, "maxS'
    ):
        read_score(Said({"score": 0.8}, final=True), FIVE)
    for share in (0, 1, 1.5, 5):
        assert read_score(Said({"score": share}, final=True), FIVE).score == share
    assert read_score(Said({"score": 0.8}, final=True), Question(name="q", max_score=1)).score == 0.8
    assert read_score(Said({"score": 0.8}), FIVE).score == 0.8


def test_code_may_give_parts_of_a_step() -> None:
    assert read_score(Said({"score": 3.5}), FIVE) == Score(3.5, "")


@pytest.mark.parametrize("top", [1, 5, 20, 21, 100, 2.5])
def test_the_schema_takes_the_scale_and_nothing_else(top: float) -> None:
    schema = answer_schema(Question(name="q", max_score=top))
    jsonschema.Draft202012Validator.check_schema(schema)
    fits = jsonschema.Draft202012Validator(schema).is_valid
    assert fits({"reason": "r", "score": 0})
    assert fits({"reason": "r", "score": top})
    assert fits({"reason": "r", "score": 0.5}) == (top == 2.5)
    assert not fits({"reason": "r", "score": top + 1})
    assert not fits({"reason": "r", "score": -1})
    assert not fits({"score": 1})
    assert list(schema["properties"]) == ["reason", "score"]


def test_a_key_that_is_written_twice_says_nothing() -> None:
    for text in ('{"score": 0, "reason": "bad", "score": 5}', '```json\n{"score": 1, "x": {"a": 1, "a": 2}}\n```'):
        with pytest.raises(Malformed, match=r"the answer has the key `(score|a)` twice"):
            read_score(Said(text), FIVE)
