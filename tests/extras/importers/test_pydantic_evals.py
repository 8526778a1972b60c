"""Datasets of pydantic-evals to YAML: each evaluator, what is sent, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics, Problem
from evalc.extras.importers import import_source
from evalc.extras.importers.imported import Imported
from evalc.extras.importers.pydantic_evals import EVALUATORS
from tests.extras.importers.envelopes import VALUES

NAME = "questions.yaml"


def imported(text: str) -> tuple[Imported | None, list[Problem]]:
    problems = Diagnostics()
    return import_source(Source(NAME, dedent(text)), "auto", Path(), problems), list(problems)


def asked(evaluator: object, **case: object) -> tuple[list[str], list[str], int]:
    """The lines of a case that one evaluator is asked of, the messages, and how many cases are weaker."""
    cases = [{"name": "a", "inputs": "hi", **case, "evaluators": [evaluator, {"Equals": "last"}]}]
    made, problems = imported(json.dumps({"cases": cases}))
    assert made is not None
    lines = [line.strip().removeprefix("- ") for line in made.text.partition("validate:\n")[2].splitlines()]
    messages = [problem.finding.message().partition(": ")[2] for problem in problems]
    return [line for line in lines if not line.startswith("#")][:-1], messages, made.weaker


MAPPED = [
    ({"Equals": "HELLO"}, ['equals "HELLO"']),
    ({"Equals": {"value": {"a": 1}}}, ["'equals {\"a\": 1}'"]),
    ({"name": "Equals", "arguments": ["HELLO"]}, ['equals "HELLO"']),
    ({"name": "Equals", "arguments": {"value": 3}}, ["equals 3"]),
    ({"Contains": "Paris {{x}}"}, ['contains "Paris \\{{x}}"']),
    ({"Contains": {"value": 5}}, ["is a list", "contains 5"]),
    ({"Contains": {"value": 5, "as_strings": True}}, ['contains "5"']),
    ({"Contains": {"value": {"a": "b", "c": [1]}}}, ['at a equals "b"', "at c equals [1]"]),
    ({"IsInstance": "dict"}, ["is an object"]),
    ({"IsInstance": "str"}, []),
    ({"MaxDuration": 2.5}, ["latency <= 2.5s"]),
    ({"MaxDuration": {"seconds": "PT1M2S"}}, ["latency <= 62s"]),
    ({"LLMJudge": "Is it polite?"}, ['judge "Is it polite?"']),
    ({"LLMJudge": {"rubric": "Is it?", "include_input": True}}, ['judge "Is it?"']),
    ({"ToolCorrectness": {"expected_tools": ["a", "a"], "allow_extra": True}}, ["tools include [a, a]"]),
    ({"ToolCorrectness": {"expected_tools": ["a", "b"]}}, ["tools include [a, b]", "tool count == 2"]),
    ({"ToolCorrectness": {"expected_tools": []}}, ["tools called []"]),
    (
        {"ArgumentCorrectness": {"tool_name": "book", "expected_arguments": {"city": "Oslo"}, "occurrence": 1}},
        ['call 2 of book has city "Oslo"'],
    ),
    ({"MaxToolCalls": 3}, ["tool count <= 3"]),
]


@pytest.mark.parametrize(("evaluator", "lines"), MAPPED)
def test_an_evaluator_becomes_its_lines(evaluator: object, lines: list[str]) -> None:
    assert asked(evaluator) == (lines, [], 0)


WEAKER = [
    ({"CustomThreshold": {"min_length": 5}}, [], "`CustomThreshold`: a check of the project in Python can say it"),
    ("Mine", [], "`Mine`: a check of the project in Python can say it"),
    ({"IsInstance": "Answer"}, [], "`IsInstance`: an answer has no class; nearest is `json matching`"),
    ({"GEval": {"criteria": "x", "evaluation_steps": ["y"]}}, [], "`GEval`: it gives a score and no verdict"),
    ({"LLMJudge": {"rubric": "x", "assertion": False}}, [], "`LLMJudge`: it gives a score and no verdict"),
    ({"HasMatchingSpan": {"query": {"name_equals": "x"}}}, [], "`HasMatchingSpan`: spans are not looked at"),
    ({"MaxModelRequests": 3}, [], "`MaxModelRequests`: requests to the model are not counted"),
    ({"MaxDuration": {"minutes": 3}}, [], "`MaxDuration`: it does not have these arguments"),
    ({"MaxDuration": "soon"}, [], "`MaxDuration`: it is not a number of seconds"),
    ({"TrajectoryMatch": {"expected_trajectory": ["a", "b"]}}, ["tools called [a, b]"], "it is a score between"),
    (
        {"ArgumentCorrectness": {"tool_name": "t", "expected_arguments": {"a": 1}, "match_mode": "exact"}},
        ["call 1 of t has a 1"],
        "a call may have no further arguments",
    ),
]


@pytest.mark.parametrize(("evaluator", "lines", "why"), WEAKER)
def test_the_loss_of_an_evaluator_is_reported_and_makes_the_case_weaker(
    evaluator: object, lines: list[str], why: str
) -> None:
    found, [message], weaker = asked(evaluator)
    assert (found, weaker) == (lines, 1)
    assert why in message


IGNORED = [
    ({"LLMJudge": {"rubric": "x", "model": "openai:gpt-5"}}, ['judge "x"'], "`model` of `LLMJudge`"),
    ({"Equals": {"value": "x", "evaluation_name": "same"}}, ['equals "x"'], "`evaluation_name` of `Equals`"),
    ({"Contains": {"value": "x", "case_sensitive": False}}, ['contains "x" ignoring case'], "`ignoring case` takes"),
]


@pytest.mark.parametrize(("evaluator", "lines", "what"), IGNORED)
def test_a_loss_that_decides_nothing_leaves_the_case_whole(evaluator: object, lines: list[str], what: str) -> None:
    found, [message], weaker = asked(evaluator)
    assert (found, weaker) == (lines, 0)
    assert what in message


def test_an_expected_output_that_is_data_shows_what_contains_asks() -> None:
    assert asked({"Contains": "answer"}, expected_output={"answer": "Paris"})[0] == ["at answer exists"]


def test_evaluators_of_the_dataset_are_defaults_and_limits_of_a_case_are_the_narrower_ones() -> None:
    made, problems = imported("""
        name: my tests
        cases:
        - {name: One, inputs: hi, evaluators: [{MaxDuration: 9}]}
        - {name: One, inputs: hello, evaluators: [{MaxDuration: 1}]}
        - {inputs: ho}
        evaluators: [{MaxDuration: 2}, {IsInstance: str}]
    """)
    assert problems == []
    assert made is not None
    assert made.text == dedent("""\
        # Imported from questions.yaml (pydantic-evals).
        # `IsInstance` holds of every answer.
        suite: my-tests
        defaults:
          validate: [latency <= 2s]
        eval:
          test_cases:
            - {name: one, message: hi}

            - name: one_2
              message: hello
              validate: [latency <= 1s]

            - {name: case_3, message: ho}
    """)


def test_inputs_that_are_mappings_fill_a_prompt() -> None:
    made, [problem] = imported("""
        cases:
        - {inputs: {question: "Where is {{it}}?", context: null}, expected_output: Paris}
        - {inputs: {question: Why?, context: {a: 1}}}
        evaluators: [EqualsExpected, LLMJudge: Is it short?]
    """)
    assert "the task is given an object" in problem.finding.message()
    assert made is not None
    compilation = evalc.compile(Source("made.eval.yaml", made.text))
    assert not compilation.has_errors
    (suite,) = compilation.suites
    assert [case.input.message for case in suite.cases()] == [
        "question: Where is {{it}}?\n",
        'question: Why?\ncontext: {"a": 1}',
    ]
    assert 'equals "Paris"' in made.text


def test_an_expected_output_is_the_reference_of_a_judge_or_else_compared_by_words() -> None:
    made, [problem] = imported("""
        cases:
        - name: a
          inputs: hi
          expected_output: Hello
          evaluators: [{LLMJudge: {rubric: Same?, include_expected_output: true}}]
        - {name: b, inputs: hi, expected_output: {a: 1}}
    """)
    assert "`expected_output`: without an evaluator nothing compares it there" in problem.finding.message()
    assert made is not None
    assert "expected: Hello\n" in made.text
    assert "expected: '{\"a\": 1}'" in made.text
    assert (made.cases, made.weaker, made.lost) == (2, 1, 0)


def test_a_case_that_checks_nothing_is_lost_and_said_where_it_was() -> None:
    made, problems = imported(
        "cases: [{name: a, inputs: hi, evaluators: [Mine]}, {inputs: x, evaluators: [Equals: x]}]"
    )
    assert made is not None
    assert (made.cases, made.lost) == (1, 1)
    assert "# not imported: the case `a`: nothing of it is checked here (" in made.text.partition("- name: case_2")[0]
    assert len(problems) == 2


def test_json_is_a_dataset_too_and_not_eval_json() -> None:
    made, problems = imported(
        '{"$schema": "s.json", "name": "t", "cases": [{"inputs": "a", "expected_output": "A"}], '
        '"evaluators": ["EqualsExpected"]}'
    )
    assert problems == []
    assert made is not None
    assert made.file_name == "t.eval.yaml"


@pytest.mark.parametrize("text", ["cases: 3", "name: x", "cases: []", "- 1", ""])
def test_any_other_file_is_refused(text: str) -> None:
    problems = Diagnostics()
    source = Source(NAME, text)
    assert import_source(source, "pydantic-evals", Path(), problems) is None
    assert [problem.code for problem in problems] == ["EV652"]


def test_a_dataset_of_which_nothing_comes_over_is_an_error() -> None:
    made, problems = imported("cases: [{inputs: hi, evaluators: [Mine]}]")
    assert made is None
    assert "EV656" in [problem.code for problem in problems]


ARGUMENTS = [
    "value",
    "seconds",
    "rubric",
    "expected_tools",
    "tool_name",
    "expected_arguments",
    "max_calls",
    "type_name",
]


@given(st.sampled_from([*EVALUATORS]), VALUES, st.dictionaries(st.sampled_from(ARGUMENTS), VALUES, max_size=2))
def test_whatever_is_written_compiles(name: str, first: Any, named: dict[str, Any]) -> None:
    for evaluator in ({name: first}, {name: named}):
        case = {"inputs": "hi", "evaluators": [evaluator]}
        made, problems = imported(json.dumps({"cases": [case, {"inputs": "x", "evaluators": [{"Equals": "x"}]}]}))
        assert made is not None or any(problem.severity == "error" for problem in problems)
        errors = [] if made is None else evalc.compile(Source("made.eval.yaml", made.text)).problems
        assert [each.finding.message() for each in errors if each.severity == "error" and each.code != "EV502"] == []
