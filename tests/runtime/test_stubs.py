"""Stubs whose answers depend on the call, in whole runs: of models, and of Python agents that take them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.agents import AgentRequest, StubError, ToolCall
from evalc.model.case import StubAnswer, StubResult
from tests.runtime.agents.model.apis import Called, TestedApi
from tests.runtime.agents.model.conftest import api

__all__ = ["api"]

Tools = Mapping[str, Callable[..., Any]]

STUBS = """\
      stubs:
        get_time: {now: 12}
        get_weather:
          - {when: {city: Paris, where: {zip: 75}}, answer: {celsius: 21}}
          - {when: {city: Oslo}, sequence: [{error: timeout}, {answer: {celsius: 7}}, {answer: null}]}
          - {when: {city: 1}, error: no such city}
"""


def suite(*checks: str, more: str = "", stubs: str = STUBS) -> evalc.Source:
    validate = json.dumps(["non-empty", *checks])
    head = "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n"
    return evalc.Source("s.eval.yaml", f"{head}{more}{stubs}      validate: {validate}\n")


def run(source: evalc.Source, agent: Any, folder: Path, **flags: Any) -> Any:
    return evalc.run(source, agent=agent, output_dir=folder, **flags).cases


def tried(tools: Tools, tool: str, **arguments: Any) -> str:
    try:
        return json.dumps(tools[tool](**arguments))
    except StubError as error:
        return str(error)


CALLS: list[tuple[dict[str, Any], str]] = [
    ({"city": "Paris", "where": {"zip": 75, "more": 1}, "unit": "C"}, '{"celsius": 21}'),
    ({"city": "Paris", "where": {"zip": "75"}}, "the stub of `get_weather` has no answer for"),
    ({"city": "Paris"}, "the stub of `get_weather` has no answer for"),
    ({"city": "Oslo"}, "timeout"),
    ({"city": "Oslo", "unit": "F"}, '{"celsius": 7}'),
    ({"city": 1.0}, "no such city"),
    ({"city": True}, "the stub of `get_weather` has no answer for"),
    ({"city": "Oslo"}, "null"),
    ({"city": "Oslo"}, "null"),
    ({}, "the stub of `get_weather` has no answer for {}"),
]


def test_a_call_gets_the_first_answer_that_its_arguments_fit(tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        assert sorted(stubs) == ["get_time", "get_weather"]
        return json.dumps([tried(stubs, "get_weather", **arguments) for arguments, _ in CALLS])

    (case,) = run(suite(), agent, tmp_path)
    for given, (_, expected) in zip(json.loads(case.answer), CALLS, strict=True):
        assert given.startswith(expected)
    calls = case.details.tool_calls
    assert [call["params"] for call in calls] == [arguments for arguments, _ in CALLS]
    assert [call["success"] for call in calls] == [True, *[False] * 3, True, *[False] * 2, *[True] * 2, False]
    assert (calls[3]["error"], calls[4]["result"], calls[7]["result"]) == ("timeout", {"celsius": 7}, None)


def test_a_model_is_answered_by_arguments_and_in_sequence(api: TestedApi) -> None:
    answers = (
        StubAnswer(when={"city": "Oslo"}, sequence=(StubResult(error="timeout"), StubResult(answer=7))),
        StubAnswer(answer="mild"),
    )
    request = AgentRequest(message="m", stub_answers={"get_weather": answers})
    oslo, rome = Called("get_weather", '{"city": "Oslo"}', "a"), Called("get_weather", '{"city": "Rome"}', "b")
    response, server = api.ask(
        request, api.answer("", [oslo, rome]), api.answer("", [oslo]), api.answer("7.", []), options=None
    )
    first = server.requests[0].json
    assert [api.tool(tool)[0] for tool in first["tools"]] == ["get_weather"]
    said = [json.loads(text) for _, text in api.results(server.requests[2].json)]
    assert said == [{"error": "timeout"}, "mild", 7]
    common: Any = {"name": "get_weather", "duration_ms": 0.0}
    assert response.tool_calls == (
        ToolCall(**common, success=False, params={"city": "Oslo"}, error="timeout"),
        ToolCall(**common, success=True, params={"city": "Rome"}, result="mild"),
        ToolCall(**common, success=True, params={"city": "Oslo"}, result=7),
    )
    assert response.tool_mode == "stubbed"


def test_a_sequence_of_a_model_goes_on_in_the_next_turn_and_begins_again_in_the_next_attempt(api: TestedApi) -> None:
    sequence = (StubResult(error="timeout"), StubResult(answer=1), StubResult(answer=2))
    stubs = {"get": (StubAnswer(sequence=sequence),)}
    sent = AgentRequest(message="m", messages=({"role": "user", "content": "m"},), stub_answers=stubs, turn=1)
    called = [api.answer("", [Called("get")]), api.answer("ok", [])]
    first, _ = api.ask(sent, *called)
    messages = (*sent.messages, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "n"})
    second, _ = api.ask(
        AgentRequest(message="n", messages=messages, stub_answers=stubs, turn=2, state=first.state), *called
    )
    again, _ = api.ask(sent, *called)
    assert [call.error for call in (*first.tool_calls, *again.tool_calls)] == ["timeout", "timeout"]
    assert [call.result for call in second.tool_calls] == [1]
    assert json.loads(json.dumps(second.state)) == second.state


@pytest.mark.parametrize("conversation", [False, True])
def test_no_attempt_shares_a_sequence_with_another(conversation: bool, tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        return f"{tried(stubs, 'get', n=1)} {tried(stubs, 'get', n=2)}"

    stubs = "      stubs: {get: {sequence: [{error: one}, {answer: 2}, {answer: 3}, {answer: 4}]}}\n"
    more = "      turns: [{say: hi}, {say: bye}]\n" if conversation else ""
    source = suite("turn 2 contains '3 4'" if conversation else "equals 'one 2'", more=more, stubs=stubs)
    text = source.text.replace("      message: hi\n", "" if conversation else "      message: hi\n")
    repeated = text.replace("    - name: a\n", "    - name: a\n      repeat: 6\n")
    outcome = evalc.run(evalc.Source("s.eval.yaml", repeated), agent=agent, output_dir=tmp_path, concurrency=4)
    assert [case.status for case in outcome.cases] == ["passed"]


def test_a_failing_stub_fails_no_tool_errors(tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        return tried(stubs, "get_weather", city=message)

    def said(message: str) -> str | None:
        source = suite("no tool errors")
        text = source.text.replace("message: hi", f"message: {message}")
        (case,) = run(evalc.Source(source.name, text), agent, tmp_path)
        assert isinstance(case.error, str | None)
        return case.error

    failed = "noToolErrors: expected no failing tool call but 'get_weather' failed: "
    assert said("Oslo") == f"{failed}timeout"
    assert said("Rome") == failed + 'the stub of `get_weather` has no answer for {"city":"Rome"}'
    stubs = "      stubs: {get_weather: [{when: {city: Oslo}, answer: 1}, {error: no}]}\n"
    (case,) = run(
        suite("no tool errors", "tool errors <= 0", stubs=stubs), lambda message, stubs: agent("Oslo", stubs), tmp_path
    )
    assert case.status == "passed"


@pytest.mark.parametrize(
    ("reported", "ends"),
    [
        ([{"name": "get", "params": {"n": 2}}, {"name": "get", "params": {"n": 1}}], [(True, 2), (False, "one")]),
        ([{"name": "get", "params": {"n": 1}, "success": True, "result": "?"}], [(False, "one")]),
        ([{"name": "get", "params": {"m": 3}}, {"name": "own", "success": False}], [(False, "one"), (False, None)]),
        ([], [(False, "one")]),
    ],
)
def test_calls_that_an_agent_reports_ended_as_its_stubs_ended_them(
    reported: list[Any], ends: list[tuple[bool, Any]], tmp_path: Path
) -> None:
    def agent(message: str, stubs: Tools) -> dict[str, Any]:
        tried(stubs, "get", n=1)
        tried(stubs, "get", n=2)
        return {"response": "done", "toolCalls": reported}

    stubs = "      stubs: {get: {sequence: [{error: one}, {answer: 2}]}}\n"
    (case,) = run(suite(stubs=stubs), agent, tmp_path)
    calls = case.details.tool_calls
    assert [(call["success"], call.get("error", call.get("result"))) for call in calls] == ends


def test_an_answer_that_an_agent_changes_is_whole_for_the_next(tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        found = stubs["get"]()
        found["a"].append(len(found["a"]))
        sent = {"n": [1]}
        stubs["put"](of=sent)
        sent["n"].clear()
        return json.dumps(found)

    stubs = "      stubs: {get: {a: []}, put: {answer: 1}}\n      repeat: 3\n"
    checks = ("equals '{\"a\": [0]}'", "any call of put has of.n[0] 1", "any call of get returns a is empty")
    (case,) = run(suite(*checks, stubs=stubs), agent, tmp_path)
    assert case.status == "passed"


def test_arguments_that_json_does_not_know_are_an_error_of_the_case(tmp_path: Path) -> None:
    (case,) = run(suite(), lambda message, stubs: stubs["get_time"](at={1}), tmp_path)
    assert case.error == "agent: `get_time.at` is a Python `set`, which JSON cannot say"


@pytest.mark.parametrize(("success", "status"), [(True, "passed"), (False, "failed")])
def test_tools_that_an_agent_runs_beside_its_stubs_count_as_they_ended(
    success: bool, status: str, tmp_path: Path
) -> None:
    def agent(message: str, stubs: Tools) -> dict[str, Any]:
        calls = [{"name": "get_time"}, {"name": "own", "success": success}]
        return {"response": tried(stubs, "get_time"), "toolCalls": calls}

    outcome = evalc.run(suite("no tool errors"), agent=agent, output_dir=tmp_path)
    assert [case.status for case in outcome.cases] == [status]
    assert [suite.warnings for suite in outcome.suites] == [()]


def test_an_agent_that_takes_no_stubs_is_warned_of(tmp_path: Path) -> None:
    outcome = evalc.run(suite(), agent=lambda message: "hi", output_dir=tmp_path)
    (warning,) = outcome.suites[0].warnings
    assert warning == (
        "the case has stubs, and the agent takes none: 1 assertion checked on what its own tools gave back"
    )


def by_name(text: str, *, stubs: Tools) -> str:
    return tried(stubs, "get_time")


def with_messages(messages: list[dict[str, str]], stubs: Tools) -> str:
    return f"{len(messages)} {tried(stubs, 'get_time')}"


def with_all(stubs: Tools, messages: list[dict[str, str]], message: str) -> str:
    return f"{message} {len(messages)} {tried(stubs, 'get_time')}"


async def later(message: str, stubs: Tools) -> str:
    return tried(stubs, "get_time")


class Desk:
    def run(self, message: str, stubs: Tools) -> str:
        return tried(stubs, "get_time")


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (by_name, '{"now": 12}'),
        (with_messages, '1 {"now": 12}'),
        (with_all, 'hi 1 {"now": 12}'),
        (later, '{"now": 12}'),
        (Desk, '{"now": 12}'),
        (Desk(), '{"now": 12}'),
    ],
)
def test_each_form_of_agent_may_take_stubs(agent: Any, expected: str, tmp_path: Path) -> None:
    (case,) = run(suite("tools called [get_time]", "no tool errors"), agent, tmp_path)
    assert (case.answer, case.status) == (expected, "passed")


def test_without_stubs_an_agent_is_given_none(tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        tools = {"get_time": lambda: "the real one", **stubs}
        return f"{dict(stubs)} {tools['get_time']()}"

    (case,) = run(suite(stubs=""), agent, tmp_path)
    assert (case.answer, case.details.tool_calls) == ("{} the real one", ())


def test_an_agent_that_does_not_catch_the_error_ends_its_case(tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        return str(stubs[message](city="Oslo"))

    (case,) = run(evalc.Source("s.eval.yaml", suite().text.replace("hi\n", "get_weather\n")), agent, tmp_path)
    assert case.error.startswith("agent: StubError: timeout (test_stubs.py:")
    (case,) = run(evalc.Source("s.eval.yaml", suite().text.replace("hi\n", "book\n")), agent, tmp_path)
    assert "the case has no stub of `book`" in (case.error or "")


def test_a_run_is_recorded_replayed_and_rescored_with_its_stubs(tmp_path: Path) -> None:
    def agent(message: str, stubs: Tools) -> str:
        return tried(stubs, "get_weather", city="Oslo")

    recorded = tmp_path / "recorded"
    first = evalc.run(suite("tool errors >= 1"), agent=agent, output_dir=tmp_path / "a", record=recorded)
    assert [case.status for case in first.cases] == ["passed"]
    again = evalc.run(suite("tool errors >= 1"), agent=f"replay:{recorded}", output_dir=tmp_path / "b")
    assert [case.status for case in again.cases] == ["passed"]
    other = STUBS.replace("error: timeout", "error: down")
    (case,) = run(suite("tool errors >= 1", stubs=other), f"replay:{recorded}", tmp_path / "c")
    assert case.status == "error"
