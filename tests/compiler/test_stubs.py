"""Stubs whose answers depend on the call: compiled from YAML, JSON and Python, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.compiler.pipeline import CompileOptions, compile_sources

SUITE = """\
suite: s
defaults:
  stubs: {get: {a: 1}, book: {error: 404}, ping: [1, 2]}
eval:
  test_cases:
    - name: a
      message: hi
      stubs:
        get:
          - {when: {city: Paris}, answer: {t: 21}}
          - {x-note: mine, answer: }
      validate: [contains "x"]
    - {name: b, message: hi, validate: [contains "x"], for_each: [{n: 1}, {n: 2}]}
"""


def compiled(*sources: evalc.Source) -> tuple[list[Any], tuple[str, ...]]:
    """The cases and what a runner of the contract would not check."""
    found = compile_sources(sources, CompileOptions())
    assert [problem.code for problem in found.problems if problem.severity == "error"] == []
    (suite,) = found.suites
    return [json.loads(case) for case in map(_in_json, suite.cases())], suite.metadata.requires or ()


def _in_json(case: Any) -> bytes:
    from evalc.model.json import to_json

    return to_json(case)


def said(text: str, name: str = "s.eval.yaml") -> list[str]:
    """Every problem as `code line what it stands at`."""
    problems = compile_sources([evalc.Source(name, text)], CompileOptions()).problems
    return [
        f"{each.code} {each.source.position(each.span.start).line} {text[each.span.start : each.span.end]}"
        for each in problems
    ]


def case_in_json(answers: Any) -> dict[str, Any]:
    return {
        "id": "ls-s-001",
        "description": "d",
        "difficulty": "edge",
        "input": {"message": "m"},
        "stubAnswers": {"get": answers},
        "expect": {"responseContains": ["x"]},
    }


def test_results_stay_a_field_of_the_contract_and_answers_have_their_own() -> None:
    cases, requires = compiled(evalc.Source("s.eval.yaml", SUITE))
    book = [{"error": "404"}]
    assert cases[0]["stubs"] == {"ping": [1, 2]}
    assert cases[0]["stubAnswers"] == {
        "book": book, "get": [{"when": {"city": "Paris"}, "answer": {"t": 21}}, {"answer": None}]
    }  # fmt: skip
    for case in cases[1:]:
        assert (case["stubs"], case["stubAnswers"]) == ({"get": {"a": 1}, "ping": [1, 2]}, {"book": book})
    assert requires == ("stubAnswers",)


def test_a_result_under_answer_is_that_result() -> None:
    text = SUITE.replace("ping: [1, 2]", "ping: {answer: {error: none}}, pong: {answer: }, pang: [{answer: [1]}]")
    cases, _ = compiled(evalc.Source("s.eval.yaml", text))
    assert cases[0]["stubs"] == {"ping": {"error": "none"}, "pong": None, "pang": [1]}


def test_a_compiled_file_means_the_same() -> None:
    cases, requires = compiled(evalc.Source("s.eval.yaml", SUITE))
    text = json.dumps({"metadata": {"toolName": "s", "tier": "labeled"}, "cases": cases})
    assert compiled(evalc.Source("s.labeled.json", text)) == (cases, requires)


def test_a_suite_in_python_has_them_too() -> None:
    stubs = {"get": [{"when": {"city": "Paris"}, "answer": None}, {"error": "no such city"}]}
    suite = evalc.Suite("s", cases=[evalc.Case("a", "hi", stubs=stubs, checks=["non-empty"])])
    cases, _ = compiled(suite)
    assert cases[0]["stubAnswers"] == stubs
    wrong = evalc.Suite(
        "s",
        cases=[
            evalc.Case("a", "hi", stubs={"get": {"wen": {"city": "Paris"}, "answer": 1}}, checks=["non-empty"]),
        ],
    )
    (problem,) = evalc.check(wrong)
    line = problem.source.line(problem.source.position(problem.span.start).line)
    assert (problem.code, problem.source.name, "wen" in line) == ("EV201", "tests/compiler/test_stubs.py", True)


@pytest.mark.parametrize(
    ("stubs", "problems"),
    [
        ("{a: {errors: []}, b: {answers: 1}, c: {erro: 1, e: 2}, d: [], e: {}, f: [[{error: 1}]]}", []),
        ("{a: [{eror: 1}, {anwser: 2}]}", ["EV428 6 eror", "EV428 6 anwser"]),
        ("{a: [{answer: 1}, 2]}", ["EV301 6 2"]),
        ("{a: [{when: {x: 1}, answer: 1}, {when: {x: 1.0, y: 2}, answer: 1}]}", ["EV429 6 when"]),
        ("{a: [{when: {x: {y: 1}}, answer: 1}, {when: {x: {y: 1, z: 1}}, answer: 1}]}", ["EV429 6 when"]),
        ("{a: [{when: {x: [1]}, answer: 1}, {when: {x: [1, 2]}, answer: 1}, {when: {x: true}, answer: 1}]}", []),
        ("{a: [{when: {x: 1, y: 2}, answer: 1}, {when: {x: 1}, answer: 1}, {answer: 1}]}", []),
        ("{a: [{answer: 1}, {error: 1}, {sequence: [{answer: 2}]}]}", ["EV429 6 error", "EV429 6 sequence"]),
        (
            "{a: {answer: 1, error: e, sequence: [{answer: 1}]}, b: {wen: 1, answer: 1}}",
            ["EV312 6 error", "EV312 6 sequence", "EV201 6 wen"],
        ),
        ("{a: {sequence: [{answer: 1, error: e}, {when: {x: 1}, answer: 1}]}}", ["EV312 6 error", "EV201 6 when"]),
        (
            "{a: [{when: {x: 1}, eror: e}, {answer: 1}, {when: {x: 1}, answer: 1}], b: {when: {x: 1}}}",
            ["EV201 6 eror", "EV429 6 when", "EV202 6 when"],
        ),
        ("{a: {sequence: {answer: 1}}, b: {error: ' '}}", ["EV301 6 {answer: 1}", "EV309 6 ' '"]),
    ],
)
def test_mistakes_are_found_all_at_once_where_they_stand(stubs: str, problems: list[str]) -> None:
    head = "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n"
    assert said(f"{head}      stubs: {stubs}\n      validate: [json]\n") == problems


@pytest.mark.parametrize(
    ("stubs", "found"),
    [
        ('{a: "in {{city}}", b: [{when: {city: "{{ n }}"}, error: "{{city}}"}]}', ["{{city}}", "{{ n }}", "{{city}}"]),
        ('{a: {answer: {x: ["{{city.name}}"]}}}', ["{{city.name}}"]),
        ('{a: {sequence: [{error: "no {{city}}"}, {answer: "{{city}}"}]}}', ["{{city}}", "{{city}}"]),
        ("{a: \"{{town}} {city and {{ }}\", b: '\\{{city}}'}", []),
    ],
)
def test_names_in_braces_within_stubs_are_plain_text(stubs: str, found: list[str]) -> None:
    head = "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi {{city}}\n      inputs: {city: x}\n"
    text = f"{head}      for_each: [{{id: i, n: 1}}]\n      stubs: {stubs}\n      validate: [json]\n"
    assert said(text) == [f"EV225 8 {each}" for each in found]


def test_comments_within_stubs_are_no_part_of_them() -> None:
    head = "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi {{city}}\n      inputs: {city: x}\n"
    stubs = (
        "      stubs:\n        a:  # {{city}}\n          b: 1  # {{city}}\n          c: '# {{city}}'\n          d: 2\n"
    )
    assert said(f"{head}{stubs}      validate: [json]\n") == ["EV225 10 {{city}}"]


def test_stubs_of_defaults_are_looked_at_once_and_where_they_are_written() -> None:
    text = SUITE.replace("{a: 1}", '"{{n}}"')
    assert [each for each in said(text) if each.startswith("EV225")] == ["EV225 3 {{n}}"]


@pytest.mark.parametrize(
    ("answers", "problems"),
    [
        ([{"answer": 1}, {"when": {"x": 1}, "answer": 2}], ["EV429"]),
        ([{"answer": 1, "error": "e"}], ["EV312"]),
        ([{"when": {"x": 1}}], ["EV202"]),
        ([{"when": {}, "sequence": []}], ["EV309", "EV309"]),
        ([{"sequence": [{"error": " "}, {}]}], ["EV309", "EV202"]),
        ([{"wen": {}, "answer": 1}], ["EV201"]),
        ([{"x-note": 1, "when": {"x-y": 1}, "answer": {"x-z": 1}}], []),
        ([], ["EV309"]),
        ({"answer": 1}, ["EV301"]),
    ],
)
def test_mistakes_in_json_are_found_too(answers: Any, problems: list[str]) -> None:
    case = case_in_json(answers)
    found = said(json.dumps([case], indent=1), "s.labeled.json")
    assert [problem.partition(" ")[0] for problem in found] == problems
    twice = said(json.dumps([{**case, "stubAnswers": {"get": [{"answer": 1}]}, "stubs": {"get": 1}}]), "s.labeled.json")
    assert twice == ['EV206 1 "get"']


def test_own_keys_of_results_are_kept() -> None:
    answers = [{"x-note": 1, "when": {"x-y": 1}, "answer": {"x-z": 1}}]
    case = case_in_json(answers)
    cases, _ = compiled(evalc.Source("s.labeled.json", json.dumps([case])))
    assert cases[0]["stubAnswers"] == {"get": [{"when": {"x-y": 1}, "answer": {"x-z": 1}}]}


def test_a_source_map_leads_to_the_answers(tmp_path: Path) -> None:
    from evalc.compiler.lower import wheres_of

    (suite,) = compile_sources([evalc.Source("s.eval.yaml", SUITE)], CompileOptions()).suites
    case = next(iter(suite.ir.cases))
    lines = {pointer: suite.ir.line(where) for pointer, where in wheres_of(case).items()}
    assert {pointer: line for pointer, line in lines.items() if "stub" in pointer} == {
        "/stubs/ping": 3,
        "/stubAnswers/book": 3,
        "/stubAnswers/book/0": 3,
        "/stubAnswers/get": 9,
        "/stubAnswers/get/0": 10,
        "/stubAnswers/get/0/when/city": 10,
        "/stubAnswers/get/1": 11,
    }
