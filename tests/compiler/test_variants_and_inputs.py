"""Prompts that a suite compares, declared inputs, repetitions, and the other fields that a case may have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalc
from evalc.model.case import Case


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


def cases_of(text: str, name: str = "s.eval.yaml") -> list[Case]:
    compilation = evalc.compile(evalc.Source(name, text))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    return [case for suite in compilation.suites for case in suite.cases()]


def places(text: str, name: str = "s.eval.yaml") -> list[str]:
    return [f"{p.start.line}:{p.start.column} {p.code}" for p in evalc.check(evalc.Source(name, text))]


def case_with(more: str) -> str:
    return f"eval: {{test_cases: [{{name: a, message: hi, validate: [non-empty], {more}}}]}}\n"


# --- variants --------------------------------------------------------------------------------------------------------


def test_every_case_compiles_once_a_prompt() -> None:
    Path("long.txt").write_text("Hello {{name}}")
    Path("p.yaml").write_text("id: greet-v2\nprompt: 'Dear {{name}}'\ninputs: [name]\n")
    text = """prompts: {short: "Hi {{name}}", long: {file: long.txt}, dear: {id: greet-v2}}
eval:
  test_cases:
    - {name: a, inputs: {name: Ann}, validate: [contains "Ann"]}
    - {name: b, message: own, validate: [contains "x"]}
    - {name: c, for_each: [{id: r, name: Bob}], validate: [contains "Bob"]}
"""
    assert [(case.id, case.variant, case.input.message) for case in cases_of(text)] == [
        ("s/a@short", "short", "Hi Ann"),
        ("s/a@long", "long", "Hello Ann"),
        ("s/a@dear", "dear", "Dear Ann"),
        ("s/b", None, "own"),
        ("s/c@r@short", "short", "Hi Bob"),
        ("s/c@r@long", "long", "Hello Bob"),
        ("s/c@r@dear", "dear", "Dear Bob"),
    ]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("prompts: {}\n", "1:1 EV309"),
        ("prompts: [a]\n", "1:10 EV301"),
        ("prompts: {a: {fil: x}}\n", "1:15 EV201"),
        ("prompts: {a: {file: x.txt, id: y}}\n", "1:28 EV312"),
        ("prompts: {a: {file: nowhere.txt}}\n", "1:21 EV600"),
        ("prompts: {a: {}}\n", "1:11 EV202"),
        ("prompts: {a: hi}\nprompt: hi\n", "1:1 EV312"),
        ("prompts: {a: 'hi {{nam}}'}\n", "1:20 EV205"),
    ],
)
def test_mistakes_of_prompts(head: str, said: str) -> None:
    assert said in places(head + "eval: {test_cases: [{name: a, inputs: {name: b}, validate: [non-empty]}]}\n")


# --- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declaration", "value", "code"),
    [
        ("type: integer", "3", None),
        ("type: integer", "'3'", None),
        ("type: integer", "3.5", "EV314"),
        ("type: number", "3.5", None),
        ("type: Number", "x", "EV314"),
        ("type: boolean", "true", None),
        ("type: bool", "yes", "EV314"),
        ("type: string", "12", None),
        ("type: string", "[a]", "EV314"),
        ("type: array", "[a]", None),
        ("type: list", "{a: b}", "EV314"),
        ("type: object", "{a: b}", None),
        ("type: object", "[a]", "EV314"),
        ("type: whatever", "[a]", None),
        ("options: [Go, Python]", "Go", None),
        ("options: [Go, Python]", "Goo", "EV315"),
        ("options: [1.0, 2]", "1.0", None),
        ("type: array, options: [a, b]", "[a, c]", "EV315"),
        ("options: [{value: a, label: A}]", "a", None),
    ],
)
def test_values_are_held_to_their_declarations(declaration: str, value: str, code: str | None) -> None:
    given = f"""prompt: "{{{{x}}}}"
inputs: [{{name: x, {declaration}}}]
eval: {{test_cases: [{{name: a, inputs: {{x: {value}}}, validate: [non-empty]}}]}}
"""
    assert [place.split()[1] for place in places(given)] == ([] if code is None else [code])
    default = given.replace(declaration, f"{declaration}, default: {value}").replace(f"inputs: {{x: {value}}}", "id: y")
    assert [place.split() for place in places(default)] == ([] if code is None else [[places(default)[0][:4], code]])


def test_an_input_that_nothing_uses_is_a_warning_where_that_is_sure() -> None:
    text = "prompt: hi\ninputs: [{name: x, default: 1}]\n" + "eval: {test_cases: [{name: a, validate: [%s]}]}\n"
    assert places(text % "non-empty") == ["2:17 EV217"]
    assert places(text % """'contains "{{x}}"'""") == []
    assert places(text % """'contains "#{{x}} # {{x}}"'""") == []
    assert places("# {{x}}\n" + text % "non-empty # {{x}}\n      ") == ["3:17 EV217"]
    assert places(text % """'contains "a # b"', 'contains "{{x}}"'""") == []
    Path("r.yaml").write_text("rules: {r: [contains 'y']}\n")
    assert places("include: r.yaml\n" + text % "non-empty") == []


def test_an_input_that_the_body_of_the_request_asks_for_is_used() -> None:
    text = "inputs: [{name: x, default: 1}]\neval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n"
    Path("s.eval.yaml").write_text(text)
    assert [problem.code for problem in evalc.check(Path("s.eval.yaml"))] == ["EV217"]
    Path("evalc.toml").write_text('[agent.body]\ntext = "{{message}}"\nturn = ["about {{ input.x }}"]\n')
    assert [problem.code for problem in evalc.check(Path("s.eval.yaml"))] == []


# --- repetitions and reasons -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "require"),
    [("8/10", 8), ("8", 8), ("80%", 8), ("75%", 8), ("10 / 10", 10), ("100%", 10), ("1%", 1), ("70%", 7)],
)
def test_how_many_repetitions_have_to_pass(written: str, require: int) -> None:
    (case,) = cases_of(case_with(f"repeat: 10, require: {written}"))
    assert (case.repeat, case.require) == (10, require)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("repeat: 0", "EV303"),
        ("repeat: -1", "EV303"),
        ("repeat: 1.5", "EV301"),
        ("repeat: 5, require: 8/10", "EV313"),
        ("repeat: 5, require: 6", "EV313"),
        ("repeat: 5, require: 120%", "EV313"),
        ("repeat: 5, require: 0", "EV313"),
        ("require: 2", "EV313"),
        ("repeat: 5, require: most", "EV301"),
        ("skip: true", "EV317"),
        ("archived: yes", "EV317"),
        ("expected_failure: 1", "EV317"),
        ("inherit: maybe", "EV301"),
    ],
)
def test_mistakes_of_repetitions_and_reasons(more: str, code: str) -> None:
    assert [place.split()[1] for place in places(case_with(more))] == [code]


def test_everything_reaches_the_compiled_case_and_comes_back_from_it() -> None:
    more = "repeat: 3, require: 2, expected_failure: 'bug 1', skip: later, archived: old"
    (case,) = cases_of(case_with(more))
    assert (case.repeat, case.require, case.expected_failure, case.skip, case.archived) == (
        3,
        2,
        "bug 1",
        "later",
        "old",
    )
    (suite,) = evalc.compile(evalc.Source("s.eval.yaml", case_with(more))).suites
    assert cases_of(b"".join(suite.encode()).decode(), "s.labeled.json") == [case]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"repeat": 0}, "EV303"),
        ({"repeat": 2, "require": 3}, "EV303"),
        ({"require": 0}, "EV303"),
        ({"skip": True}, "EV317"),
        ({"archived": "yes"}, "EV317"),
        ({"expectedFailure": 1}, "EV317"),
        ({"repeat": "3"}, "EV301"),
    ],
)
def test_eval_json_is_held_to_the_same(more: dict[str, object], code: str) -> None:
    case = {"id": "s/a", "description": "a", "difficulty": "edge", "input": {"message": "hi"}}
    envelope = {"metadata": {"toolName": "s", "tier": "labeled"}, "cases": [{**case, "expect": {}, "expected": "x y"}]}
    envelope["cases"][0] |= more  # type: ignore[index]
    assert [place.split()[1] for place in places(json.dumps(envelope), "s.labeled.json") if "EV411" not in place] == [
        code
    ]


# --- the rest --------------------------------------------------------------------------------------------------------


def test_the_message_of_a_conversation_is_what_the_user_said_last() -> None:
    messages = "[{role: user, content: one}, {role: user, content: two}, {role: assistant, content: three}]"
    (case,) = cases_of(f"eval: {{test_cases: [{{name: a, messages: {messages}, validate: [non-empty]}}]}}\n")
    assert case.input.message == "two"


@pytest.mark.parametrize("head", ["prompt: Q", "prompts: {one: 'Q {{name}}', two: Q}\ninputs: [name]"])
def test_a_conversation_is_sent_in_place_of_the_prompts(head: str) -> None:
    case = "{name: a, messages: [{role: user, content: hi}], validate: [non-empty]}"
    (made,) = cases_of(f"{head}\neval: {{test_cases: [{case}]}}\n")
    assert (made.id, made.input.message, made.variant) == ("s/a", "hi", None)


def test_a_rubric_takes_both_spellings() -> None:
    entries = "[{dimension: a, max_score: 5, min_score: 3}, {dimension: b, maxScore: 4, minScore: 2}]"
    (case,) = cases_of(f"tier: rubric\neval: {{test_cases: [{{name: a, message: hi, rubric: {entries}}}]}}\n")
    assert [(item.max_score, item.min_score) for item in case.rubric or ()] == [(5, 3), (4, 2)]


def test_a_result_file_is_no_eval_file() -> None:
    Path("s.labeled.results.json").write_text('{"runId": "x", "summary": {}, "cases": [{"id": "a"}]}')
    assert [problem.code for problem in evalc.check("s.labeled.results.json")] == ["EV641"]
    assert evalc.check(".") == ()


@pytest.mark.parametrize("text", ['{"tests": {"cases": [1], "eval": 2}}', '[{"eval": 1}]'])
def test_json_of_another_kind_is_passed_over_by_a_search(text: str) -> None:
    Path("other.json").write_text(text)
    assert evalc.check(".") == ()
    assert [problem.code for problem in evalc.check("other.json")] == ["EV640"]


def test_metadata_may_hold_anything_and_a_typo_in_it_is_a_warning() -> None:
    case = {"id": "s/a", "description": "a", "difficulty": "edge", "input": {"message": "hi"}}
    cases = [{**case, "expect": {"responseContains": ["x"]}}]
    for key, said in (("toolVersio", ["EV218"]), ("team", [])):
        envelope = {"metadata": {"toolName": "s", "tier": "labeled", key: "1"}, "cases": cases}
        found = evalc.check(evalc.Source("s.labeled.json", json.dumps(envelope)))
        assert [problem.code for problem in found] == said
        assert all(problem.severity == "warning" for problem in found)
