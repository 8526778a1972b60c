"""One judge and several: medians, spreads, majorities, and every way in which a judge breaks."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.base.errors import AgentUnavailable, JudgeError
from evalc.runtime.judges.panel import Meter
from tests.runtime.judges.scripted import FOREVER, TONE, ScriptedJudge, panel, says, score


@pytest.mark.parametrize(
    ("scores", "median", "spread"),
    [
        ((3, 3, 3), 3, 0),
        ((5, 0, 4), 4, 5),
        ((1, 2), 1.5, 1),
        ((0, 5, 5, 1), 3, 5),
        ((0, 0, 5), 0, 5),
    ],
)
def test_the_median_and_how_far_they_lie_apart(scores: tuple[int, ...], median: float, spread: float) -> None:
    judges = [ScriptedJudge(says(value), name=f"j{number}") for number, value in enumerate(scores)]
    judged = score(panel(*judges))
    assert (judged.score, judged.max_score, judged.spread) == (median, 5, spread)
    assert judged.reason in {f"because {value}" for value in scores}


def test_one_judge_has_no_spread() -> None:
    judged = score(panel(ScriptedJudge(says(4))))
    assert (judged.score, judged.spread, judged.reason) == (4, None, "because 4")


def test_one_judge_asked_three_times_has_three_sessions() -> None:
    judge = ScriptedJudge(says(1, 5, 4))
    assert score(panel(judge, samples=3)).score == 4
    assert (judge.sessions, len(judge.asked)) == (3, 3)


def test_a_majority_is_enough_and_less_is_an_error() -> None:
    well, broken = ScriptedJudge(says(4)), ScriptedJudge(says(AgentUnavailable("gone")), name="broken")
    assert score(panel(well, ScriptedJudge(says(2)), broken)).score == 3
    with pytest.raises(JudgeError, match=r"only 1 of 3 judges gave a score; broken: gone"):
        score(panel(well, broken, broken))
    with pytest.raises(JudgeError, match=r"only 1 of 2 judges"):
        score(panel(well, broken))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (AgentUnavailable("HTTP 429: slow down"), "j: HTTP 429: slow down"),
        (ValueError("no\x1b[31mred"), r"j: ValueError: no\\x1b\[31mred"),
        (SystemExit(2), "j: SystemExit: 2"),
        (RecursionError(), "j: RecursionError"),
        ("garbage", "j: its answer is not a score, twice: the answer is not JSON"),
        ({"score": 9}, "j: its answer is not a score, twice: the score is 9, and not between 0 and 5"),
        ({"score": float("nan")}, "j: its answer is not a score, twice: the score is nan"),
        (None, "j: its answer is not a score, twice"),
    ],
)
def test_exceptions_of_a_judge_are_errors_in_words(said: Any, why: str) -> None:
    with pytest.raises(JudgeError, match=why):
        score(panel(ScriptedJudge(says(said), name="j")))


def test_a_judge_has_a_deadline_of_its_own() -> None:
    with pytest.raises(JudgeError, match="j: no score within 20 ms"):
        score(panel(ScriptedJudge(says(FOREVER), name="j"), timeout_ms=20))


def test_asking_again_gives_no_more_time() -> None:
    judge = ScriptedJudge(says("5/5!", 4), name="j")
    score(panel(judge))
    assert len(judge.deadlines) == 2
    assert len(set(judge.deadlines)) == 1


def test_a_judge_whose_session_cannot_be_opened() -> None:
    judge = ScriptedJudge(says(1), name="j")
    judge.session = lambda: (_ for _ in ()).throw(OSError("no route"))  # type: ignore[method-assign]
    with pytest.raises(JudgeError, match="j: OSError: no route"):
        score(panel(judge))


def test_a_malformed_answer_is_asked_for_once_more() -> None:
    judge, meter = ScriptedJudge(says("5/5!", 4), cost=0.01), Meter()
    assert score(panel(judge), meter=meter).score == 4
    assert [complaint for _, _, complaint in judge.asked] == [None, "the answer is not JSON"]
    assert judge.asked[0][0] == judge.asked[1][0] == TONE
    assert (meter.requests, meter.input_tokens, meter.output_tokens, meter.cost_usd) == (2, 20, 4, 0.02)


def test_usage_of_a_failed_judge_is_counted() -> None:
    meter = Meter()
    with pytest.raises(JudgeError):
        score(panel(ScriptedJudge(says("no"), cost=0.5)), meter=meter)
    assert (meter.requests, meter.cost_usd) == (2, 1.0)
