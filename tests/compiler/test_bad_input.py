"""Input that nobody meant to write: each has a diagnostic at its place, none goes by without a word."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evalc
from tests.support.checking import case_of, codes, found

CASE = "{name: a, message: hi, validate: [non-empty]}"

DOCUMENTS: dict[str, tuple[str, list[str]]] = {
    "an empty file": ("", ["1:1 EV640"]),
    "only comments": ("# nothing\n", ["1:1 EV640"]),
    "eval without a value": ("eval:\n", ["1:1 EV309"]),
    "eval that is a list": ("eval: []\n", ["1:7 EV301"]),
    "eval without cases": ("eval: {criteria: []}\n", ["1:8 EV202"]),
    "cases that are a mapping": ("eval: {test_cases: {}}\n", ["1:20 EV301"]),
    "cases without a value": ("eval:\n  test_cases:\n", ["2:3 EV309"]),
    "a case that is a text": ("eval: {test_cases: [abc]}\n", ["1:21 EV301"]),
    "a name without a value": ("eval: {test_cases: [{name: , message: hi, validate: [json]}]}\n", ["1:22 EV309"]),
    "an empty name": ('eval: {test_cases: [{name: "", message: hi, validate: [json]}]}\n', ["1:28 EV309"]),
    "checks without a value": (case_of(""), ["1:44 EV309"]),
    "an empty list of checks": (case_of("[]"), ["1:44 EV309"]),
    "a list as a rule": (case_of("[{type: contains, rule: [a]}]"), ["1:78 EV301"]),
    "a mapping as a rule": (case_of("[{type: contains, rule: {a: b}}]"), ["1:78 EV301"]),
    "a rule without a value": (case_of("[{type: contains, rule: }]"), ["1:72 EV309"]),
    "no rule": (case_of("[{type: contains}]"), ["1:56 EV202"]),
    "a tool list that is a text": (case_of("[{type: tools_called, rule: t}]"), ["1:82 EV301"]),
    "a tool set that is a text": (case_of("[{type: tools_acceptable, rule: [t]}]"), ["1:87 EV301"]),
    "criteria that are a text": (f"eval: {{criteria: x, test_cases: [{CASE}]}}\n", ["1:18 EV301"]),
    "a criterion that is a list": (f"eval: {{criteria: [[x]], test_cases: [{CASE}]}}\n", ["1:19 EV301"]),
    "weights that sum to nothing": (f'eval: {{criteria: ["a (0): x"], test_cases: [{CASE}]}}\n', ["1:23 EV304"]),
    "two prompts": (f"prompt: x\nprompt_id: y\neval: {{test_cases: [{CASE}]}}\n", ["2:1 EV312"]),
    "an input declared twice": (f"prompt: x\ninputs: [a, a]\neval: {{test_cases: [{CASE}]}}\n", ["2:13 EV206"]),
    "inputs that are a number": (f"prompt: x\ninputs: 5\neval: {{test_cases: [{CASE}]}}\n", ["2:9 EV301"]),
    "no messages": ("eval: {test_cases: [{name: a, messages: [], validate: [json]}]}\n", ["1:28 EV409"]),
    "a role that is none": (
        "eval: {test_cases: [{name: a, messages: [{role: bot, content: x}], validate: [json]}]}\n",
        ["1:49 EV302"],
    ),
    "a negative link weight": (case_of("[{type: non_empty, weight: -1}]"), ["1:81 EV303"]),
    "an id that another case's name makes": (
        f"suite: s\neval: {{test_cases: [{CASE}, {{name: b, id: s/a, message: hi, validate: [json]}}]}}\n",
        ["2:82 EV206"],
    ),
    "a key of ours misspelt is one problem": (
        "eval: {test_cases: [{nmae: a, message: hi, validate: [json]}]}\n",
        ["1:22 EV201"],
    ),
    "an unknown alias": ("eval: {test_cases: *x}\n", ["1:20 EV114"]),
    "a second document that is no eval": (
        f"eval: {{test_cases: [{CASE}]}}\n---\nevl: {{}}\n",
        ["3:1 EV640", "3:6 EV202"],
    ),
    "half of a character in a field's path": (
        case_of("[{type: structure, rule: 'fields:a,[\"b\\udc00\"]'}]"),
        ["1:92 EV129"],
    ),
    "half of a character in a place": (case_of("[{type: contains, rule: x, at: '[\"\\ud800\"].a'}]"), ["1:88 EV129"]),
    "half of a character in a check": (case_of("['has fields \"\\ud800\"']"), ["1:68 EV133"]),
    "half of a character in an input": (
        'prompt: "{{x}}"\ninputs: [x]\neval: {test_cases: [{name: a, inputs: {x: "\\udfff"}, validate: [json]}]}\n',
        ["3:44 EV129"],
    ),
    "half of a character in a name": (case_of("[json]", suite='suite: "s\\ud83d"\n'), ["1:10 EV129"]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name: str) -> None:
    text, expected = DOCUMENTS[name]
    assert found(text) == expected


@pytest.mark.parametrize("rule", ["404", "1.50", "yes", "007", "null", "~", ".inf", "0x1F", "1:30", "2026-05-03"])
def test_a_rule_is_the_text_that_was_written(rule: str) -> None:
    (suite,) = evalc.compile(evalc.Source("x.eval.yaml", case_of(f"[{{type: contains, rule: {rule}}}]"))).suites
    assert [case.expect.response_contains for case in suite.cases()] == [(rule,)]


def test_a_quoted_criterion() -> None:
    text = 'eval: {criteria: ["a b (1): x"], test_cases: [{name: a, message: hi, validate: [json for "a b"]}]}'
    assert found(text) == []


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends(newline: str) -> None:
    text = 'eval:\n  test_cases:\n    - name: a\n      message: hi\n      validate: [contains "x" fro y]\n'
    assert found(text.replace("\n", newline)) == found(text) == ["5:31 EV131"]


def test_a_prompt_of_a_megabyte() -> None:
    prompt = "x" * 990_000 + " {{city}}"
    text = f"prompt: {prompt}\neval: {{test_cases: [{{name: a, inputs: {{city: Bern}}, validate: [json]}}]}}\n"
    (suite,) = evalc.compile(evalc.Source("x.eval.yaml", text)).suites
    assert [len(case.input.message) for case in suite.cases()] == [990_005]


def test_a_check_behind_an_alias_is_spoken_of_once_and_means_the_same_in_both_cases() -> None:
    text = (
        "eval:\n  test_cases:\n    - {name: a, message: hi, validate: &v [contains 'x', containz 'y']}\n"
        "    - {name: b, message: hi, validate: *v}\n"
    )
    assert found(text) == ["3:58 EV203"]
    (suite,) = evalc.compile(evalc.Source("x.eval.yaml", text.replace("containz", "contains"))).suites
    first, second = suite.cases()
    assert first.expect == second.expect


# --- JSON ------------------------------------------------------------------------------------------------------------


def envelope(expect: Any = None, *, metadata: Any = None, **case: Any) -> str:
    given = {
        "id": "ls-t-001",
        "description": "d",
        "difficulty": "edge",
        "input": {"message": "hi"},
        "expect": {"responseNonEmpty": True} if expect is None else expect,
        **case,
    }
    return json.dumps({"metadata": {"toolName": "t", "tier": "labeled", **(metadata or {})}, "cases": [given]})


JSON: dict[str, tuple[str, list[str]]] = {
    "empty": ("", ["EV127"]),
    "an empty array": ("[]", ["EV309"]),
    "another object": ("{}", ["EV640"]),
    "no cases": ('{"cases": []}', ["EV309"]),
    "cases that are null": ('{"metadata": {}, "cases": null}', ["EV301"]),
    "broken": ('{"cases": [{}', ["EV127"]),
    "too deep": ("[" * 200 + "]" * 200, ["EV610"]),
    "a key twice": ('{"metadata": {"tier": "golden", "tier": "labeled"}, "cases": []}', ["EV111", "EV309"]),
    "an infinite number": (envelope({"maxTokens": float("inf")}), ["EV128"]),
    "nulls where something may be absent": (envelope(stubs=None, tags=None, createdAt=None), []),
    "expect that is null": (envelope([]).replace("[]", "null"), ["EV301"]),
    "a misspelt `cases`, with a mistake below it": (
        envelope({"responseContain": ["x"]}).replace('"cases"', '"case/s"'),
        ["EV640", "EV201"],
    ),
    "an unknown field": (envelope({"responseContain": ["x"]}), ["EV201"]),
    "a field of the user's own": (envelope({"responseNonEmpty": True, "x-note": 1}, **{"x-note": 1}), []),
    "a key of another tool": (envelope(metadata={"generatedAt": "x", "model": "y"}), []),
    "an unknown check": (envelope({"checks": [{"type": "nope"}]}), ["EV203"]),
    "a check without a type": (envelope({"checks": [{"value": "x"}]}), ["EV202"]),
    "a check without a value": (envelope({"checks": [{"type": "contains"}]}), ["EV202"]),
    "a pattern that is none": (envelope({"responseMatches": ["("]}), ["EV306"]),
    "a pattern that is none, deep inside": (
        envelope({"checks": [{"type": "not", "check": {"type": "regex", "pattern": "(", "flags": "i"}}]}),
        ["EV306"],
    ),
    "a schema that is none": (envelope({"checks": [{"type": "json", "schema": {"type": "x"}}]}), ["EV310"]),
    "a token in a pattern": (envelope({"responseMatches": ["{{seed:a}}"]}), ["EV405"]),
    "a token in a message": (envelope(input={"message": "{{seed:a}}"}), ["EV405"]),
    "a value that is missing": (
        envelope({"toolsCalled": ["t"], "toolParams": [{"tool": "t", "paramName": "p", "assertion": "equals"}]}),
        ["EV414"],
    ),
    "a text where a list is wanted": (
        envelope(
            {
                "toolsCalled": ["t"],
                "toolParams": [{"tool": "t", "paramName": "p", "assertion": "oneOf", "value": "x"}],
            }
        ),
        ["EV414"],
    ),
    "both tool expectations": (envelope({"toolsCalled": ["a"], "toolsAcceptable": [["__none__"]]}), ["EV402"]),
    "a blank name of a tool": (envelope({"toolsNotCalled": ["", " "]}), ["EV501"]),
    "a limit of 0 and a false": (envelope({"maxTokens": 0, "noToolErrors": False}), ["EV401", "EV501", "EV501"]),
    "bounds that contradict": (envelope({"minLength": 5, "maxLength": 3}), ["EV502"]),
    "a negative limit": (envelope({"maxTokens": -1}), ["EV502"]),
    "a link that leads nowhere": (envelope(unlinked=[{"at": ["/expect/nope"]}]), ["EV212"]),
    "a link of nothing": (envelope(unlinked=[{"at": []}]), ["EV309"]),
    "a negative weight": (envelope(criteria=[{"name": "a", "weight": -1}]), ["EV303"]),
    "a tool that is a path": (envelope(metadata={"toolName": "../../x"}), ["EV308"]),
    "a tier that is none": (envelope(metadata={"tier": "gold"}), ["EV302"]),
    "a threshold above 1": (envelope(threshold=2), ["EV303"]),
    "no turns": (envelope(maxTurns=0), ["EV303"]),
    "an id of no documented form": (envelope(id="first"), ["EV408"]),
    "two cases with one id": (
        envelope()[:-2] + ", " + json.dumps(json.loads(envelope())["cases"][0]) + "]}",
        ["EV206"],
    ),
}


@pytest.mark.parametrize("name", JSON)
def test_json(name: str) -> None:
    text, expected = JSON[name]
    assert codes(text, "x.json") == expected


def test_a_bare_array_with_items_of_other_kinds() -> None:
    text = '[{"id": "ls-t-001", "input": {"message": "x"}, "expect": {}}, 5, null]'
    assert found(text, "t.labeled.json") == ["1:2 EV202", "1:63 EV301", "1:66 EV301"]


@pytest.mark.parametrize(
    ("name", "id_", "tool", "tier"),
    [
        ("get-weather.golden.json", "gs-get-weather-001", "get-weather", "golden"),
        ("cases.json", "rg-x-001", "cases", "regression"),
        ("cases.eval.json", "other", "cases", "labeled"),
        ("odd name!.json", "other", "odd-name", "labeled"),
    ],
)
def test_tool_and_tier_of_a_bare_array(name: str, id_: str, tool: str, tier: str) -> None:
    case = {"id": id_, "description": "d", "input": {"message": "x"}, "expect": {"responseNonEmpty": True}}
    case |= {"difficulty": "regression", "createdAt": "2026-05-03", "bugRef": "#1"} if tier == "regression" else {}
    case |= {"difficulty": "edge"} if tier == "labeled" else {}
    (suite,) = evalc.compile(evalc.Source(name, json.dumps([case]))).suites
    assert (suite.ir.tool, suite.tier, suite.to_suite().metadata) == (tool, tier, None)


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        (
            "eval: {criteria: [c], test_cases: [{name: a, message: hi, threshold: 80%, validate: [json]}]}\n",
            "threshold: 0.8",
        ),
        (case_of("[{any_of: contains 'x'}]"), "any_of: ['contains ''x''']"),
        (case_of("contains 'x'"), "validate: ['contains ''x''']"),
        (case_of("[tool x.y equals Tokyo]"), '- tool x.y equals "Tokyo"'),
    ],
)
def test_a_value_that_is_nearly_right_is_shown_as_it_must_be_written(text: str, corrected: str) -> None:
    (problem,) = evalc.check(evalc.Source("example.eval.yaml", text))
    assert problem.finding.help() == f"write it as `{corrected}`"
