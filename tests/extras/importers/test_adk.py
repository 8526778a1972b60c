"""Eval sets of ADK to YAML: each form of them, the criteria, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics
from evalc.extras.importers import import_source
from evalc.extras.importers.imported import Imported
from tests.extras.importers.envelopes import VALUES
from tests.support.laws import examples

TRAJECTORY = {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "EXACT", "ignore_args": True}}


def content(text: str) -> dict[str, Any]:
    return {"parts": [{"text": text}], "role": "user"}


def turn(text: str = "Roll a die", answer: str = "", *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    uses = [{"name": name, "args": args} for name, args in calls]
    return {"user_content": content(text), "final_response": content(answer), "intermediate_data": {"tool_uses": uses}}


def imported(data: object, criteria: object = None, folder: Path | None = None) -> tuple[Imported | None, list[str]]:
    if folder is not None and criteria is not None:
        (folder / "test_config.json").write_text(json.dumps({"criteria": criteria}))
    problems = Diagnostics()
    source = Source(str((folder or Path("no such folder")) / "dice.evalset.json"), json.dumps(data))
    made = import_source(source, "auto", Path(), problems)
    return made, [problem.finding.message() for problem in problems]


def of_case(**case: object) -> dict[str, Any]:
    return {"eval_set_id": "dice", "eval_cases": [{"eval_id": "one", **case}]}


def body(made: Imported | None) -> str:
    """The text of the cases, without comments."""
    assert made is not None
    lines = made.text.partition("test_cases:\n")[2].splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (("roll", {"sides": 6}), ("check", {}), ("roll", {"sides": 17}))
ORDERS = [
    ("EXACT", ["tools called [roll, check, roll]", "call 1 of roll has sides 6", "call 2 of roll has sides 17"]),
    (1, ["tools in order [roll, check, roll]", "any call of roll has sides 6", "any call of roll has sides 17"]),
    (
        "any_order",
        ["tools include [roll, check, roll]", "any call of roll has sides 6", "any call of roll has sides 17"],
    ),
]


@pytest.mark.parametrize(("order", "lines"), ORDERS)
def test_calls_are_checked_in_the_order_of_the_criterion(order: object, lines: list[str], tmp_path: Path) -> None:
    criteria = {"tool_trajectory_avg_score": {"threshold": 1, "matchType": order}}
    made, [message, *_] = imported(of_case(conversation=[turn("Roll", "", *CALLS)]), criteria, tmp_path)
    checks = "".join(f"\n        - {line}" for line in lines)
    assert body(made) == f"    - name: one\n      message: Roll\n      validate:{checks}"
    assert "a call may have no further arguments" in message
    assert made is not None
    assert made.weaker == 1


@pytest.mark.parametrize("order", ["IN_ORDER", "ANY_ORDER"])
def test_one_call_is_asked_for_by_its_arguments_alone(order: str, tmp_path: Path) -> None:
    criteria = {"tool_trajectory_avg_score": {"threshold": 1, "matchType": order}}
    made, [message] = imported(of_case(conversation=[turn("Roll", "", ("roll", {"sides": 6}))]), criteria, tmp_path)
    assert made is not None
    assert made.text.endswith(f"validate:\n        # {message}\n        - any call of roll has sides 6\n")


def test_without_a_configuration_the_criteria_are_those_of_adk() -> None:
    made, messages = imported(of_case(conversation=[turn("Hi", "Hello!")]))
    assert body(made).endswith('      validate:\n        - tools called []\n        - similar to "Hello!" >= 0.8')
    assert [message.partition(": ")[2].partition(":")[0] for message in messages] == ["`response_match_score`"]
    assert made is not None
    assert (
        "# Criteria: `tool_trajectory_avg_score` 1.0, `response_match_score` 0.8 (the default of ADK).\n" in made.text
    )


def test_a_case_that_comes_over_whole_has_no_messages(tmp_path: Path) -> None:
    made, messages = imported(of_case(conversation=[turn("Roll", "6", *CALLS), turn("Thanks")]), TRAJECTORY, tmp_path)
    assert messages == []
    assert body(made) == (
        "    - name: one\n      turns:\n"
        "        - say: Roll\n          validate:\n            - tools called [roll, check, roll]\n"
        "        - say: Thanks\n          validate:\n            - tools called []"
    )
    assert made is not None
    assert (made.file_name, made.cases, made.weaker, made.lost) == ("dice.eval.yaml", 1, 0, 0)


EVENT = {
    "author": "dice",
    "content": {"parts": [{"functionCall": {"name": "roll", "args": {"sides": 6}}}, {"text": "x"}]},
}
OLD_TURN = {"query": "Roll", "expected_tool_use": [{"tool_name": "roll", "tool_input": {"sides": 6}}], "reference": ""}
FORMS: list[Any] = [
    of_case(conversation=[turn("Roll", "", ("roll", {"sides": 6}))]),
    {"evalSetId": "dice", "evalCases": [{"evalId": "one", "conversation": [{
        "userContent": content("Roll"), "intermediateData": {"toolUses": [{"name": "roll", "args": {"sides": 6}}]}}]}]},
    of_case(conversation=[{"user_content": content("Roll"), "intermediate_data": {"invocation_events": [EVENT]}}]),
    [{"name": "one", "data": [OLD_TURN], "initial_session": {"state": {}, "app_name": "dice", "user_id": "me"}}],
]  # fmt: skip


@pytest.mark.parametrize("data", FORMS)
def test_each_form_that_adk_reads_becomes_the_same_case(data: object) -> None:
    checks = "tools called [roll]\n        - call 1 of roll has sides 6"
    assert body(imported(data)[0]) == f"    - name: one\n      message: Roll\n      validate:\n        - {checks}"


def test_a_list_of_turns_is_one_conversation() -> None:
    assert body(imported([OLD_TURN, {"query": "Thanks", "reference": ""}])[0]).count("- say:") == 2


def test_rubrics_and_references_are_asked_of_a_judge_and_a_scenario_is_a_user(tmp_path: Path) -> None:
    rubric = {"rubric_id": "r", "rubric_content": {"text_property": "Is it concise?"}}
    criteria = {
        "final_response_match_v2": {"threshold": 0.8},
        "rubric_based_final_response_quality_v1": {"threshold": 0.8, "rubrics": [rubric]},
        "hallucinations_v1": 0.5,
    }
    scenario = {"starting_prompt": "Hi", "conversation_plan": "Roll a die.", "user_persona": "NOVICE"}
    data = of_case(conversation=[turn("Hi", "Hello!")], rubrics=[{"rubricContent": {"textProperty": "Is it kind?"}}])
    data["eval_cases"].append({"eval_id": "two", "conversation_scenario": scenario})
    made, messages = imported(data, criteria, tmp_path)
    share, criterion = messages
    assert share.endswith("there a share of the rubrics has to hold, here all of them")
    assert criterion == "not imported: the criterion `hallucinations_v1`: nearest is `judge`"
    judged = ["Does it say the same as this answer? Hello!", "Is it kind?"]
    first, second = body(made).split("\n\n")
    assert first.endswith("validate:" + "".join(f'\n        - judge "{question}"' for question in judged))
    assert second == "    - {name: two, user: {goal: Roll a die., opens: Hi, persona: NOVICE}}"
    assert made is not None
    assert f'defaults:\n  validate:\n    # {share}\n    - judge "Is it concise?"\n' in made.text
    assert (made.cases, made.weaker) == (2, 2)


LOST = [
    ({"conversation": []}, "nothing of it is checked here"),
    ({"conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "x"}}, "nothing of it is checked here"),
    ({"conversation": [turn(" ")]}, "in it, the user says nothing"),
    ({"conversation": [{"user_content": {"parts": [{"inline_data": {}}]}}]}, "a part of it is not a text"),
]


@pytest.mark.parametrize(("case", "why"), LOST)
def test_a_case_that_cannot_come_over_is_lost_and_said_where_it_was(case: dict[str, object], why: str) -> None:
    data = of_case(**case)
    data["eval_cases"].append({"eval_id": "two", "conversation": [turn()]})
    made, messages = imported(data)
    assert made is not None
    assert (made.cases, made.lost) == (1, 1)
    assert f"not imported: the case `one`: {why}" in messages
    assert f"# not imported: the case `one`: {why} (dice.evalset.json:" in made.text


def test_the_state_of_a_session_and_unknown_keys_are_reported() -> None:
    data = of_case(conversation=[turn()], session_input={"app_name": "a", "user_id": "u", "state": {"n": 1}}, odd=1)
    made, messages = imported(data)
    assert [message.split(": ")[1] for message in messages] == ["the state of the session", "`odd`"]
    assert made is not None
    assert made.weaker == 1


def test_rubrics_that_no_criterion_asks_are_reported() -> None:
    made, messages = imported(of_case(conversation=[turn()], rubrics=[{"rubric_content": {"text_property": "Kind?"}}]))
    assert messages == ["not imported: a rubric: the criterion `rubric_based_final_response_quality_v1` is not asked"]
    assert made is not None
    assert f"# {messages[0]} (dice.evalset.json:" in made.text


def test_any_other_file_is_refused() -> None:
    problems = Diagnostics()
    assert import_source(Source("x.json", '{"a": []}'), "adk", Path(), problems) is None
    assert [problem.code for problem in problems] == ["EV652"]


KEYS = ["conversation", "data", "query", "reference", "expected_tool_use", "rubrics", "user_content", "final_response"]
KEYS += ["parts", "text", "name", "args", "intermediate_data", "tool_uses", "session_input", "state", "eval_id"]
TREES = st.recursive(
    VALUES, lambda inner: st.dictionaries(st.sampled_from(KEYS), inner) | st.lists(inner), max_leaves=9
)


@settings(max_examples=examples(50))
@given(st.dictionaries(st.sampled_from(KEYS), TREES), st.lists(st.dictionaries(st.sampled_from(KEYS), TREES)))
def test_whatever_is_written_compiles(case: dict[str, Any], turns: list[dict[str, Any]]) -> None:
    for broken in (case, {"conversation": turns}):
        made, _ = imported({"eval_set_id": "x", "eval_cases": [broken, {"eval_id": "y", "conversation": [turn()]}]})
        assert made is not None
        compiled = evalc.compile(Source("made.eval.yaml", made.text))
        errors = {each.code for each in compiled.problems if each.severity == "error"}
        assert errors <= {"EV502"}
