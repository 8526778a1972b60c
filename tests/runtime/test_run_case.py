"""One case and an agent's answer: status, error, counts and score."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from evalc.base.errors import AgentTimeout, AgentUnavailable
from evalc.grammar.write_check import describe
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.model.case import Case, CheckLink, Criterion, Expect, Input, RubricDimension, ToolParamExpectation
from evalc.model.suite import LocatedCase, Place
from evalc.runtime.run.attempts import as_expected, combine
from evalc.runtime.run.case import CaseOptions
from evalc.runtime.store.journal import CaseRun
from tests.support.asking import run_case

PLACE = Place(file="s.eval.yaml", line=3, column=7)


class Says:
    """A session that answers with what a function gives."""

    def __init__(self, answer: Callable[[AgentRequest], Awaitable[Any]]) -> None:
        self._answer = answer

    async def send(self, request: AgentRequest) -> Any:
        return await self._answer(request)


def run(case: Case, answer: Any = "", *, places: dict[str, Place] | None = None, **options: Any) -> CaseRun:
    async def respond(_request: AgentRequest) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return AgentResponse(response=answer) if isinstance(answer, str) else answer

    return asyncio.run(run_case(LocatedCase(case, places or {}), Says(respond), CaseOptions(**options)))


def case(expect: Expect | None = None, **fields: Any) -> Case:
    return Case(id="s/c", description="d", input=Input(message="m"), expect=expect or Expect(), **fields)


def test_a_case_that_passes() -> None:
    result = run(case(Expect(response_non_empty=True, response_contains=("a", "b"))), "ab").result
    assert (result.status, result.passed, result.error) == ("passed", True, msgspec.UNSET)
    assert (result.assertions_run, result.assertions_skipped, result.score) == (3, 0, None)
    assert result.details.response == "ab"
    assert result.details.response_length == 2
    assert [assertion.at for assertion in result.assertions] == [
        "/expect/responseNonEmpty",
        "/expect/responseContains/0",
        "/expect/responseContains/1",
    ]


EVERYTHING = Expect(
    tools_called=("t",),
    tools_not_called=("t",),
    tool_params=(ToolParamExpectation(tool="t", param_name="p", assertion="equals", value="x"),),
    no_tool_errors=True,
    response_non_empty=True,
    response_contains=("a",),
    response_contains_any=(("b",),),
    response_not_contains=(" ",),
    response_matches=("d",),
    max_latency_ms=1e-9,
    max_tokens=0.5,
    checks=({"type": "equals", "value": "x"},),
)


def test_assertions_run_in_the_contract_s_order() -> None:
    answer = AgentResponse(response=" ", tool_calls=(ToolCall(name="t", success=False, params={"p": 1}),))
    result = run(case(EVERYTHING), answer, all_assertions=True).result
    assert [assertion.at.split("/")[2] for assertion in result.assertions] == [
        "toolsCalled",
        "toolsNotCalled",
        "toolParams",
        "noToolErrors",
        "responseNonEmpty",
        "responseContains",
        "responseContainsAny",
        "responseNotContains",
        "responseMatches",
        "maxLatencyMs",
        "maxTokens",
        "checks",
    ]
    assert {assertion.outcome for assertion in result.assertions[1:]} == {"failed"}
    assert result.error == "toolsNotCalled: expected no call of 't' but got [t]"


def test_the_first_failure_ends_the_case() -> None:
    result = run(case(Expect(response_contains=("a", "b", "c"))), "a").result
    assert (result.status, result.passed) == ("failed", False)
    assert result.error == "responseContains: expected 'b' in response but not found"
    assert result.assertions_run == 2


def test_further_failures_are_among_the_results_and_count_for_nothing() -> None:
    expect = Expect(response_contains=("a", "b", "a", "c"), response_matches=("(",))
    result = run(case(expect, expected="never looked at"), "a", line_of=describe).result
    assert (result.status, result.assertions_run) == ("failed", 2)
    assert (result.error, result.error_at) == (
        "responseContains: expected 'b' in response but not found",
        "/expect/responseContains/1",
    )
    assert [(each.at.removeprefix("/expect/"), each.outcome, each.line) for each in result.assertions] == [
        ("responseContains/0", "passed", None),
        ("responseContains/1", "failed", 'contains "b"'),
        ("responseContains/3", "failed", 'contains "c"'),
        ("responseMatches/0", "error", 'matches "("'),
    ]


def test_the_first_error_ends_the_case_too() -> None:
    result = run(case(Expect(response_matches=("(",), min_length=1, max_length=9)), "a").result
    assert (result.status, result.assertions_run) == ("error", 1)


def test_all_assertions_run_where_they_are_asked_for_or_scored() -> None:
    expect = Expect(response_contains=("a", "b", "c"))
    assert run(case(expect), "c", all_assertions=True).result.assertions_run == 3
    result = run(case(expect, criteria=(Criterion(name="x"),)), "c").result
    assert (result.assertions_run, result.status) == (3, "failed")
    assert result.score == pytest.approx(1 / 3)
    assert result.error == "responseContains: expected 'a' in response but not found"


def test_limits_of_zero_assert_nothing() -> None:
    expect = Expect(response_non_empty=False, max_latency_ms=0, max_tokens=0, min_length=0, response_contains=("",))
    assert run(case(expect), "").result.assertions_run == 1


def test_skipped_tokens_are_counted_and_named() -> None:
    expect = Expect(response_contains=("{{seed:x}}", "{{seed:x}}", "a"))
    done = run(case(expect), "a")
    assert (done.result.status, done.result.assertions_run, done.result.assertions_skipped) == ("passed", 1, 2)
    assert done.result.details.skipped_tokens == ("{{seed:x}}",)
    assert [note.fact for note in done.notes] == ["{{seed:x}} is unresolved"] * 2
    assert done.result.assertions[0].message == "unresolved: {{seed:x}}"


def test_a_case_of_skips_alone_is_unverified() -> None:
    result = run(case(Expect(response_contains=("{{seed:x}}",))), "a").result
    assert (result.status, result.passed, result.assertions_skipped) == ("unverified", True, 1)


def test_checks_that_do_not_apply_are_neither_run_nor_skipped() -> None:
    params = (ToolParamExpectation(tool="t", param_name="p", assertion="exists"),)
    answer = AgentResponse(response="a", tool_mode="routing")
    result = run(case(Expect(tool_params=params, no_tool_errors=True, response_contains=("a",))), answer).result
    assert (result.assertions_run, result.assertions_skipped, len(result.assertions)) == (1, 0, 1)
    nothing = run(case(Expect(no_tool_errors=True)), answer).result
    assert (nothing.status, nothing.passed, nothing.assertions_run) == ("unverified", True, 0)


def test_a_time_out_fails_with_score_zero() -> None:
    async def never(_request: AgentRequest) -> Any:
        await asyncio.Event().wait()

    criteria = (
        Criterion(name="x", checks=(CheckLink(at=("/expect/responseNonEmpty",)),)),
        Criterion(name="y", checks=(CheckLink(at=("/expect/gone",)),)),
    )
    for each in (case(Expect(response_non_empty=True), criteria=criteria), case(expected="x")):
        result = asyncio.run(run_case(LocatedCase(each, {}), Says(never), CaseOptions(timeout_ms=1.5))).result
        assert (result.status, result.passed, result.score) == ("failed", False, 0.0)
        assert result.error == "timeout: no complete answer within 1.5 ms"
        assert result.assertions_run == 0
        assert result.duration_ms >= 1.0
        assert [criterion.score for criterion in result.criteria] == ([0.0, None] if each.criteria else [])


def test_an_answer_after_the_time_is_too_late() -> None:
    async def stubborn(_request: AgentRequest) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return AgentResponse(response="a")

    located = LocatedCase(case(Expect(response_contains=("a",))), {})
    result = asyncio.run(run_case(located, Says(stubborn), CaseOptions(timeout_ms=1))).result
    assert result.error == "timeout: no complete answer within 1 ms"


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (AgentUnavailable("no connection: refused"), "error", "agent: no connection: refused"),
        (AgentTimeout("the server gave up"), "failed", "timeout: the server gave up"),
        (ValueError("bad\nthing"), "error", "agent: ValueError: bad\\nthing"),
        (TimeoutError(), "error", "agent: TimeoutError"),
        (SystemExit(3), "error", "agent: SystemExit: 3"),
        (asyncio.CancelledError(), "error", "agent: it was cancelled from inside"),
        (AgentResponse(response=7), "error", "agent: the response is not a text but a `int`"),  # type: ignore[arg-type]
        (None, "error", "agent: the answer is no AgentResponse but of type `NoneType`"),
        (
            AgentResponse(response="a", tool_calls=7),  # type: ignore[arg-type]
            "error",
            "agent: TypeError: 'int' object is not iterable",
        ),
    ],
)
def test_an_agent_that_breaks_ends_in_error(answer: Any, status: str, error: str) -> None:
    result = run(case(Expect(response_contains=("a",)), criteria=(Criterion(name="x"),)), answer).result
    assert (result.status, result.passed, result.error) == (status, False, error)
    assert result.score == (None if status == "error" else 0.0)
    assert [criterion.name for criterion in result.criteria] == ["x"]


def test_no_text_is_an_empty_response() -> None:
    answer = AgentResponse(response=None)  # type: ignore[arg-type]
    result = run(case(Expect(response_non_empty=True)), answer).result
    assert result.error == "responseNonEmpty: expected a response but it is empty"


def test_a_kind_of_text_is_a_text() -> None:
    class Markup(str):
        def __str__(self) -> str:
            return "escaped"

    result = run(case(Expect(response_contains=("a",))), AgentResponse(response=Markup("a"))).result
    assert result.status == "passed"
    assert type(result.details.response) is str


def test_cancellation_passes() -> None:
    async def interrupted() -> None:
        async def never(_request: AgentRequest) -> Any:
            await asyncio.Event().wait()

        task = asyncio.create_task(run_case(LocatedCase(case(expected="x"), {}), Says(never), CaseOptions()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())


def test_an_error_of_a_check_beats_a_failure_and_has_no_score() -> None:
    expect = Expect(response_contains=("b",), max_cost=1)
    result = run(case(expect, criteria=(Criterion(name="x"),)), "a").result
    assert (result.status, result.score) == ("error", None)
    assert str(result.error).startswith("maxCost: what it cost is not known: ")


def test_a_check_that_breaks_is_an_error_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise TypeError("no such thing")

    monkeypatch.setattr("evalc.runtime.run.case.evaluate", breaks)
    result = run(case(Expect(response_contains=("a",))), "a").result
    assert (result.status, result.error) == ("error", "responseContains: the check broke: TypeError: no such thing")


def test_parameters_that_json_cannot_say_are_an_error_of_the_case() -> None:
    params = (ToolParamExpectation(tool="t", param_name="p", assertion="equals", value="x"),)
    answer = AgentResponse(response="", tool_calls=(ToolCall(name="t", params={"p": object()}),))
    result = run(case(Expect(tool_params=params)), answer).result
    assert (result.status, result.error) == (
        "error",
        "agent: `t.p` is a Python `object`, which JSON cannot say",
    )


def test_expected_alone_is_checked_by_itself() -> None:
    result = run(case(expected="type hints, docstring"), "a docstring for a type").result
    assert (result.status, result.assertions_run) == ("passed", 1)
    assert result.score == pytest.approx(2 / 3)
    failed = run(case(expected="Paris"), "Rome").result
    assert (failed.status, failed.score) == ("failed", 0.0)
    assert str(failed.error).startswith("expected: found 0 of 1 key terms")
    assert failed.assertions[0].at == "/expected"


def test_expected_gates_nothing_beside_another_check() -> None:
    result = run(case(Expect(response_contains=("R",)), expected="Paris"), "Rome").result
    assert (result.status, result.assertions_run, result.score) == ("passed", 1, None)


def test_a_rubric_without_a_judge_is_an_error_unless_a_check_failed() -> None:
    rubric = (RubricDimension(dimension="accuracy"),)
    result = run(case(rubric=rubric, expected="x"), "a").result
    assert (result.status, result.error) == ("error", "judge: needs a judge, and none is configured")
    failed = run(case(Expect(response_contains=("b",)), rubric=rubric), "a").result
    assert failed.status == "failed"


def test_a_threshold_gates_on_the_score() -> None:
    criteria = (Criterion(name="x"),)
    assert run(case(Expect(response_contains=("a",)), criteria=criteria, threshold=1), "a").result.status == "passed"
    below = run(case(expected="alpha bravo charlie", threshold=0.8), "alpha bravo").result
    assert (below.status, below.error) == ("failed", "threshold: score 0.67 is below 0.8")
    nothing = run(case(Expect(response_contains=("a",)), threshold=0.5), "a").result
    assert (nothing.status, nothing.error) == ("error", "threshold: nothing was scored, and 0.5 is needed")
    skipped = run(case(Expect(response_contains=("{{seed:x}}",)), criteria=criteria, threshold=0.5), "a").result
    assert (skipped.status, skipped.score) == ("unverified", None)


def test_a_score_that_is_not_known_is_no_expected_failure() -> None:
    linked = Criterion(name="x", checks=(CheckLink(at=("/expect/responseContainsAny/0",)),))
    expect = Expect(response_contains=("a",), response_contains_any=(("{{seed:x}}",),))
    asked = case(expect, criteria=(linked,), threshold=0.5, expected_failure="known")
    once, repeated = run(asked, "a"), replace(asked, repeat=2)
    assert as_expected(asked, once.result).status == "error"
    combined = combine(repeated, [once, run(asked, "a")]).result
    assert as_expected(repeated, combined).status == "error"
    assert as_expected(asked, run(asked, "b").result).status == "expected-failure"


def test_failures_name_their_place() -> None:
    places = {"": PLACE, "/expect/checks/0": Place(file="s.eval.yaml", line=9, column=1)}
    expect = Expect(response_contains=("b",), checks=({"type": "equals", "value": "x"},))
    result = run(case(expect), "a", places=places, all_assertions=True).result
    assert result.place == PLACE
    assert [assertion.place and assertion.place.line for assertion in result.assertions] == [3, 9]
    assert [assertion.field for assertion in result.assertions] == ["responseContains", "equals"]


def test_the_request_carries_the_case_s_inputs() -> None:
    seen: list[AgentRequest] = []

    async def remember(request: AgentRequest) -> AgentResponse:
        seen.append(request)
        return AgentResponse(response="")

    for each in (case(expected="x"), case(expected="x", stubs={"t": 1}, max_turns=2)):
        asyncio.run(run_case(LocatedCase(each, {}), Says(remember), CaseOptions()))
    assert [(request.message, request.stubs, request.max_turns) for request in seen] == [
        ("m", None, 5),
        ("m", {"t": 1}, 2),
    ]


def test_details_hold_calls_and_usage() -> None:
    calls = (ToolCall(name="t", success=True, duration_ms=2.5, params={"p": 1}),)
    done = run(case(expected="x"), AgentResponse(response="x", tool_calls=calls, usage=Usage(cost_usd=0.5)))
    assert done.cost_usd == 0.5
    assert done.result.details.tools_called == ("t",)
    assert done.result.details.usage == {"costUsd": 0.5}
    assert done.result.details.tool_calls == ({"name": "t", "success": True, "durationMs": 2.5, "params": {"p": 1}},)
