"""One case with a judge: what is asked and when, and what becomes of status, error and score."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalc.base.errors import AgentTimeout, AgentUnavailable
from evalc.model.answer import AgentRequest, AgentResponse, Question, ToolCall, Usage
from evalc.model.case import Case, CheckLink, Criterion, Expect, Input, RubricDimension
from evalc.model.suite import LocatedCase
from evalc.runtime.judges.cache import JudgeCache
from evalc.runtime.judges.panel import JudgePool, Panel
from evalc.runtime.run.case import CaseOptions
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.redact import Redactor
from tests.runtime.judges.scripted import FOREVER, ScriptedJudge, panel, says
from tests.support.asking import run_case

TONE = RubricDimension(dimension="tone", max_score=5, criteria="Is it kind?", min_score=4)
KIND = {"type": "judge", "dimension": "kind", "criteria": "Is it kind?", "minScore": 1}
A = Expect(response_contains=("a",))
B = Expect(response_contains=("b",))


class Says:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def send(self, _request: AgentRequest) -> Any:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return AgentResponse(response=self._answer) if isinstance(self._answer, str) else self._answer


def case(expect: Expect | None = None, **fields: Any) -> Case:
    return Case(id="s/c", description="d", input=Input(message="m"), expect=expect or Expect(), **fields)


def run(case: Case, judges: ScriptedJudge | Panel | None, answer: Any = "a", **options: Any) -> CaseRun:
    async def go() -> CaseRun:
        if judges is None:
            return await run_case(LocatedCase(case, {}), Says(answer), CaseOptions(**options))
        async with JudgePool(judges if isinstance(judges, Panel) else panel(judges)) as pool:
            return await run_case(LocatedCase(case, {}), Says(answer), CaseOptions(**options), pool)

    return asyncio.run(go())


def by_name(**scores: Any) -> Callable[[Question, int], Any]:
    """Answers by the name of the question."""

    def script(question: Question, _: int) -> Any:
        said = scores[question.name]
        return {"score": said, "reason": f"{question.name} is {said}"} if isinstance(said, int | float) else said

    return script


def asked(judge: ScriptedJudge) -> list[str]:
    return [question.name for question, _, _ in judge.asked]


def test_a_rubric_that_is_met() -> None:
    result = run(case(A, rubric=(TONE,)), ScriptedJudge(says(4))).result
    assert (result.status, result.error, result.assertions_run, result.score) == ("passed", msgspec.UNSET, 2, None)
    assert [(each.at, each.outcome) for each in result.assertions] == [
        ("/expect/responseContains/0", "passed"),
        ("/rubric/0", "passed"),
    ]
    judged = result.assertions[1].judged
    assert judged is not None
    assert (judged.score, judged.max_score, judged.reason) == (4, 5, "because 4")


def test_a_rubric_that_is_not_met_names_dimension_score_minimum_and_reason() -> None:
    reason = "It sneers.\x1b[31m\n" + "x" * 1000
    result = run(case(A, rubric=(TONE,)), ScriptedJudge(says({"score": 3, "reason": reason}))).result
    assert result.status == "failed"
    assert isinstance(result.error, str)
    assert result.error.startswith("judge: `tone` scored 3 of 5, and at least 4 is needed: It sneers.\\x1b[31m\\nxxx")
    assert len(result.error) < 400


def test_a_dimension_without_a_least_score_asserts_nothing() -> None:
    dimension = msgspec.structs.replace(TONE, min_score=None)
    judge = ScriptedJudge(says(0))
    assert run(case(A, rubric=(dimension,)), judge).result.status == "passed"
    assert asked(judge) == ["tone"]


def test_the_rubric_is_asked_only_where_the_checks_pass() -> None:
    judge = ScriptedJudge(says(5))
    result = run(case(B, rubric=(TONE,)), judge, all_assertions=True).result
    assert (result.status, result.assertions_run, asked(judge)) == ("failed", 1, [])


def test_compositions_that_ask_a_judge_come_behind_all_other_checks() -> None:
    judge = ScriptedJudge(says(1))
    checks = (
        {"type": "any_of", "checks": ({"type": "contains", "value": "x"}, KIND)},
        {"type": "equals", "value": "b"},
    )
    assert str(run(case(Expect(checks=checks)), judge).result.error).startswith("equals: ")
    assert asked(judge) == []
    settled = ({"type": "any_of", "checks": ({"type": "contains", "value": "a"}, KIND)},)
    assert run(case(Expect(checks=settled)), judge).result.status == "passed"
    assert asked(judge) == [], "what is settled without a judge needs none"
    open_ = ({"type": "any_of", "checks": ({"type": "contains", "value": "x"}, KIND)},)
    assert run(case(Expect(checks=open_)), judge).result.status == "passed"
    assert asked(judge) == ["kind"]


BROKEN: tuple[Any, ...] = (
    AgentUnavailable("HTTP 429: slow down"),
    "garbage",
    {"score": 7},
    {"score": float("nan")},
    FOREVER,
)


@pytest.mark.parametrize("said", BROKEN)
@pytest.mark.parametrize(
    "check",
    [
        {"type": "any_of", "checks": (KIND,)},
        {"type": "not", "check": KIND},
        {"type": "not", "check": {"type": "not", "check": KIND}},
        {"type": "all_of", "checks": ({"type": "contains", "value": "a"}, KIND)},
        {"type": "any_of", "checks": ({"type": "contains", "value": "x"}, {"type": "not", "check": KIND})},
        {"type": "not", "check": {"type": "all_of", "checks": (KIND, {"type": "contains", "value": "a"})}},
    ],
)
def test_no_broken_judge_passes_nor_does_its_negation(check: dict[str, Any], said: Any) -> None:
    result = run(case(Expect(checks=(check,))), panel(ScriptedJudge(says(said)), timeout_ms=30)).result
    assert (result.status, result.passed, result.score) == ("error", False, None)
    assert "scripted: " in str(result.error)


@pytest.mark.parametrize("said", BROKEN)
def test_a_broken_judge_of_a_rubric_or_a_criterion_is_an_error(said: Any) -> None:
    broken = panel(ScriptedJudge(says(said)), timeout_ms=30)
    result = run(case(A, rubric=(TONE,)), broken).result
    assert (result.status, str(result.error)[:17]) == ("error", "judge: scripted: ")
    criteria = (
        Criterion(name="tone"),
        Criterion(name="facts", checks=(CheckLink(at=("/expect/responseContains/0",)),)),
    )
    result = run(case(A, criteria=criteria), broken).result
    assert result.status == "error"
    assert str(result.error).startswith("judge: criterion `tone`: scripted: ")
    assert [(each.score, each.scored_by) for each in result.criteria] == [(None, None), (None, None)]


def test_an_expected_failure_is_no_excuse_for_a_broken_judge() -> None:
    from evalc.runtime.run.attempts import as_expected

    broken = run(case(A, rubric=(TONE,), expected_failure="known"), ScriptedJudge(says("no"))).result
    assert as_expected(case(A, rubric=(TONE,), expected_failure="known"), broken).status == "error"


CRITERIA = (
    Criterion(name="linked", weight=1, checks=(CheckLink(at=("/expect/responseContains/0",)),)),
    Criterion(name="tone", weight=3, description="Is it kind?"),
)


@pytest.mark.parametrize(("expect", "status", "score"), [(A, "passed", (1 + 3 * 0.6) / 4), (B, "failed", 3 * 0.6 / 4)])
def test_criteria_are_judged_whether_or_not_the_checks_pass(expect: Expect, status: str, score: float) -> None:
    judge = ScriptedJudge(says(3))
    result = run(case(expect, criteria=CRITERIA), judge).result
    assert result.status == status
    assert result.score == pytest.approx(score, abs=1e-9)
    assert [each.scored_by for each in result.criteria] == ["linked", "judge"]
    assert result.criteria[1].judged is not msgspec.UNSET
    assert [(each.name, each.criteria, each.max_score) for each, _, _ in judge.asked] == [("tone", "Is it kind?", 5)]


def test_without_a_judge_unlinked_checks_score() -> None:
    expect = Expect(response_contains=("a", "a"))
    assert [each.scored_by for each in run(case(expect, criteria=CRITERIA), None).result.criteria] == [
        "linked",
        "unlinked",
    ]


def test_a_linked_question_is_part_of_its_criterion_and_asked_in_any_case() -> None:
    criteria = (Criterion(name="tone", checks=(CheckLink(at=("/rubric/0",)),)),)
    judge = ScriptedJudge(by_name(tone=5, other=5))
    rubric = (TONE, RubricDimension(dimension="other", min_score=1))
    result = run(case(B, rubric=rubric, criteria=criteria), judge).result
    assert (result.status, result.score, asked(judge)) == ("failed", 1.0, ["tone"])
    assert result.criteria[0].scored_by == "linked"


def test_a_threshold_gates_on_judged_scores() -> None:
    result = run(case(A, criteria=CRITERIA[1:], threshold=0.8), ScriptedJudge(says(3))).result
    assert (result.status, result.error) == ("failed", "threshold: score 0.60 is below 0.8")


def test_a_time_out_scores_nothing_also_where_a_judge_would_have_scored() -> None:
    judge = ScriptedJudge(says(5))
    result = run(case(criteria=CRITERIA[1:], rubric=(TONE,)), judge, AgentTimeout("late")).result
    assert (result.status, result.score, asked(judge)) == ("failed", 0.0, [])
    assert [(each.score, each.scored_by) for each in result.criteria] == [(0.0, "judge")]


def test_an_agent_that_broke_is_not_judged() -> None:
    judge = ScriptedJudge(says(5))
    result = run(case(criteria=CRITERIA[1:], rubric=(TONE,)), judge, AgentUnavailable("gone")).result
    assert (result.status, result.score, asked(judge)) == ("error", None, [])


@pytest.mark.parametrize(("said", "status", "score"), [(1, "passed", 1.0), (0, "failed", 0.0)])
def test_expected_alone_is_what_the_judge_compares_with(said: int, status: str, score: float) -> None:
    judge = ScriptedJudge(says(said))
    result = run(case(expected="A letter"), judge).result
    assert (result.status, result.score) == (status, score)
    ((question, exhibit, _),) = judge.asked
    assert (question.name, question.max_score, exhibit.expected) == ("expected", 1, "A letter")
    if status == "failed":
        assert result.error == "expected: the judge finds that the response is not as expected: because 0"


def test_expected_beside_checks_gates_nothing_and_is_the_reference() -> None:
    judge = ScriptedJudge(says(5))
    reference = {"capital": "Paris"}
    result = run(case(A, expected="B", reference_data=reference, rubric=(TONE,)), judge).result
    assert result.status == "passed"
    assert [(each.expected, each.reference_data) for _, each, _ in judge.asked] == [("B", reference)]


def test_usage_of_judges_is_reported_and_is_no_latency() -> None:
    answer = AgentResponse(response="a", usage=Usage(cost_usd=0.1), duration_ms=5)
    ran = run(
        case(Expect(response_contains=("a",), max_latency_ms=6), rubric=(TONE,)),
        ScriptedJudge(says(5), cost=0.25),
        answer,
    )
    assert ran.result.duration_ms == 5
    assert ran.result.details.judge_usage == {
        "requests": 1,
        "cached": 0,
        "inputTokens": 10,
        "outputTokens": 2,
        "costUsd": 0.25,
    }
    assert ran.result.details.usage == {"costUsd": 0.1}
    assert ran.cost_usd == 0.35


def test_judges_that_disagree_are_a_note() -> None:
    def notes(*scores: int) -> list[str]:
        judges = [ScriptedJudge(says(value), name=f"j{number}") for number, value in enumerate(scores)]
        return [note.fact for note in run(case(A, rubric=(TONE,)), panel(*judges)).notes]

    assert notes(5, 3, 4) == []
    assert notes(5, 2, 4) == ["the judges disagree on `tone`"]


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (ValueError("no"), "ValueError"),
        ("5/5!", "its answer is not a score, twice"),
        (AgentUnavailable("HTTP 500: x"), "HTTP 500"),
    ],
)
def test_a_judge_of_a_panel_that_gives_no_score_is_a_note_for_each_question(broken: Any, kind: str) -> None:
    judges = [ScriptedJudge(says(5)), ScriptedJudge(says(4)), ScriptedJudge(says(broken), name="http://j:1/x")]
    tested = case(A, criteria=(Criterion(name="c"), Criterion(name="d")), rubric=(TONE,))
    notes = Counter(note.fact for note in run(tested, panel(*judges)).notes)
    assert notes == {f"the judge `http://j:1/x` gave no score ({kind})": 3}


def test_a_judgement_that_cannot_be_kept_is_a_note_for_each_question(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    tested = case(A, criteria=(Criterion(name="c"), Criterion(name="d")), rubric=(TONE,))

    def notes(folder: str, environ: dict[str, str]) -> Counter[str]:
        cache = JudgeCache(tmp_path / folder, environ=environ)
        return Counter(note.fact for note in run(tested, panel(ScriptedJudge(says(4)), cache=cache)).notes)

    key = {"EVALC_CACHE_KEY": "k" * 16}
    assert notes("file", key) == {"judgements cannot be kept (Not a directory)": 3}
    no_key = "judgements cannot be kept (there is no place for a key: set EVALC_CACHE_KEY)"
    assert notes("a", {"XDG_STATE_HOME": str(tmp_path / "file")}) == {no_key: 3}
    assert notes("b", key) == {}


def test_judges_see_plain_data_without_secrets() -> None:
    judge = ScriptedJudge(says(5))
    call = ToolCall(name="t", params={"key": "hunter2-hunter2", "odd": (1, 2)})
    answer = AgentResponse(response="the key is hunter2-hunter2", tool_calls=(call,))
    run(case(rubric=(TONE,)), panel(judge, redactor=Redactor(["hunter2-hunter2"])), answer)
    ((_, exhibit, _),) = judge.asked
    assert exhibit.response == "the key is ***"
    assert exhibit.tool_calls[0]["params"]["key"] == "***"
    assert isinstance(exhibit.tool_calls[0]["params"]["odd"], list)


def test_one_place_of_a_response_is_judged_alone() -> None:
    judge = ScriptedJudge(says(1))
    run(
        case(Expect(checks=({"type": "at", "path": "title", "check": KIND},))),
        judge,
        '{"title": "Hello", "body": "x"}',
    )
    assert [exhibit.response for _, exhibit, _ in judge.asked] == ["Hello"]
