"""The assertions of tool-forge's newer runner: in JSON and in YAML, compiled again, and what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics
from evalc.extras.importers import import_tool_forge
from evalc.model.json import to_json

EXPECT: dict[str, Any] = {
    "responseNonEmpty": True,
    "minLength": 1,
    "maxLength": 50,
    "jsonValid": True,
    "requiredKeys": ["b"],
    "typeChecks": {"a": "string", "x-b.c": "number"},
    "minToolCalls": 1,
    "maxToolCalls": 2,
    "maxCost": 0.5,
    "regexPattern": "a+",
    "copOutPhrases": ["I'm sorry", "as an AI"],
}
TIERS = {"labeled": ("ls", {"difficulty": "edge"}), "golden": ("gs", {}), "regression": ("rg", {
    "difficulty": "regression", "createdAt": "2026-05-03", "bugRef": "#1",
})}  # fmt: skip


def envelope(tier: str = "labeled", **expect: Any) -> str:
    prefix, fields = TIERS[tier]
    case = {"id": f"{prefix}-t-001", "description": "d", **fields, "input": {"message": "hi"}, "expect": expect}
    return json.dumps({"metadata": {"toolName": "t", "tier": tier}, "cases": [case]})


def compiled(text: str, name: str = "t.json") -> dict[str, Any]:
    compilation = evalc.compile(evalc.Source(name, text))
    assert not compilation.has_errors, [problem.finding.message() for problem in compilation.problems]
    (suite,) = compilation.suites
    (case,) = suite.cases()
    expect: dict[str, Any] = json.loads(to_json(case))["expect"]
    return expect


@pytest.mark.parametrize("tier", TIERS)
def test_they_are_read_in_every_tier_and_what_is_written_reads_as_the_same(tier: str) -> None:
    once = compiled(envelope(tier, **EXPECT))
    assert compiled(envelope(tier, **once)) == once
    assert once.get("responseMatches") == (["a+"] if tier == "labeled" else None)
    assert once.get("regexPattern") == (None if tier == "labeled" else "a+")
    assert once["checks"] == [
        {"type": "structure", "fields": [{"path": "a", "type": "string"}, {"path": '["x-b.c"]', "type": "number"}]},
        {"type": "not", "check": {"type": "icontains", "value": "I'm sorry"}},
        {"type": "not", "check": {"type": "icontains", "value": "as an AI"}},
    ]


def test_yaml_says_the_same() -> None:
    yaml = json.dumps({"eval": {"test_cases": [{"name": "a", "message": "hi", "expect": EXPECT}]}})
    assert compiled(yaml, "t.eval.yaml") == compiled(envelope(**EXPECT))


def test_a_field_of_the_user_s_own_does_not_make_a_key_of_the_response_one() -> None:
    text = envelope(**EXPECT).replace('"responseNonEmpty"', '"x-note": 1, "responseNonEmpty"')
    assert compiled(text) == compiled(envelope(**EXPECT))


@pytest.mark.parametrize(
    ("expect", "code", "at"),
    [
        ({"typeChecks": {"a": "strin"}}, "EV302", '"strin"'),
        ({"typeChecks": {"a": ["string"]}}, "EV302", '["string"]'),
        ({"typeChecks": ["a"]}, "EV301", '["a"]'),
        ({"regexPattern": "a(b"}, "EV306", "("),
        ({"regexPattern": ["a"]}, "EV301", '["a"]'),
        ({"regexPattern": "{{seed:a}}"}, "EV405", '"{{seed:a}}"'),
        ({"copOutPhrases": "sorry"}, "EV301", '"sorry"'),
        ({"copOutPhrases": ["sorry", 3]}, "EV301", "3"),
        ({"copOutPhrases": [""]}, "EV502", '""'),
        ({"schemaData": {}}, "EV201", '"schemaData"'),
        ({"typeChecks": {}}, "EV501", "{}"),
        ({"regexPattern": ""}, "EV501", '""'),
        ({"copOutPhrases": []}, "EV501", "[]"),
    ],
)
def test_mistakes_are_reported_at_their_places(expect: dict[str, Any], code: str, at: str) -> None:
    text = envelope(responseNonEmpty=True, **expect)
    (problem,) = evalc.check(evalc.Source("t.json", text))
    assert problem.code == code
    assert text[problem.span.start : problem.span.end] == at


def test_imported_from_a_golden_file_the_pattern_is_left_out_and_said() -> None:
    found = Diagnostics()
    imported = import_tool_forge(Source("t.golden.json", envelope("golden", **EXPECT)), found)
    assert imported is not None
    assert "not imported: `/expect/regexPattern`" in imported.text
    assert [problem.code for problem in found] == ["EV651"]
