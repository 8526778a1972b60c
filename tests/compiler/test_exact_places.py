"""A finding stands at what must change: the cell of a row, the flags of a pattern, a reference, a token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc

INPUTS = """prompt: "{{count}} ideas about {{topic}}"
inputs: [{name: count, type: integer}, {name: topic, options: ["cats", "dogs", "a, b"]}]
eval:
  test_cases:
    - {name: a, for_each: {file: %s, key: topic}, validate: [contains "x"]}
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


def marked(text: str, name: str = "s.eval.yaml") -> list[tuple[str, str]]:
    """The code and the text at the place of every problem."""
    found = evalc.check(evalc.Source(name, text))
    return [(problem.code, problem.source.text[slice(*problem.span)]) for problem in found]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('"a, b",many,x', [("EV314", "many")]),
        ("dogz,1,x", [("EV315", "dogz")]),
        ('"do""gz",1,x', [("EV315", '"do""gz"')]),
        ('"a\n, c",1,x', [("EV315", '"a\n, c"')]),
        ("cats,1,x\ncats,2,", [("EV206", "cats")]),
        (",1,x", [("EV215", ",1,x")]),
    ],
)
def test_a_cell_of_a_csv_file(row: str, expected: list[tuple[str, str]]) -> None:
    Path("r.csv").write_text(f"topic,count,note\n{row}\n", newline="")
    assert marked(INPUTS % "r.csv") == expected


def test_a_column_of_the_header() -> None:
    Path("r.csv").write_text('topic,"a, b",topic\n')
    assert marked(INPUTS % "r.csv") == [("EV206", "topic")]
    Path("r.csv").write_text('topic,"a, b",count,,\n')
    assert marked(INPUTS % "r.csv") == [("EV613", "")]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('{"topic": "dogs", "count": "many"}', [("EV314", '"many"')]),
        ('{"count": 1, "topic": "do\\u0067z"}', [("EV315", '"do\\u0067z"')]),
        ('{"topic": "dogs", "count": 1, "list": [{"a/b": 1e999}]}', [("EV119", "1e999")]),
        ('{"topic": "dogs", "cuont": 1}', [("EV207", '"cuont"')]),
    ],
)
def test_a_value_of_json_lines(row: str, expected: list[tuple[str, str]]) -> None:
    Path("r.jsonl").write_text(f"{row}\n")
    assert marked(INPUTS % "r.jsonl") == expected


def in_json(tier: str = "labeled", **fields: Any) -> str:
    case = {"id": "ls-t-001", "description": "d", "difficulty": "edge", "input": {"message": "hi"}, **fields}
    return json.dumps({"metadata": {"toolName": "t", "tier": tier}, "cases": [case]}, indent=1)


def checks(*written: dict[str, Any]) -> dict[str, Any]:
    return {"expect": {"responseContains": ["x"], "checks": list(written)}}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (checks({"type": "regex", "pattern": "a", "flags": "gi"}), ("EV306", '"gi"')),
        (checks({"type": "regex", "pattern": "a(", "flags": "i"}), ("EV306", "(")),
        (checks({"type": "json", "schema": {"items": {"$ref": "#/$defs/a"}}}), ("EV310", '"#/$defs/a"')),
        (checks({"type": "json", "schema": {"items": {"$ref": "other.json"}}}), ("EV310", '"other.json"')),
        (checks({"type": "json", "schema": {"items": {"type": "txt"}}}), ("EV310", '"txt"')),
        (checks({"type": "json", "schema": {"pattern": "(?P<n>a)"}}), ("EV310", '"(?P<n>a)"')),
        (checks({"type": "tools_called", "names": ["a", "{{seed:b}}"]}), ("EV405", '"{{seed:b}}"')),
        (checks({"type": "at", "path": "a", "check": {"type": "fails"}}), ("EV160", '"fails"')),
        (checks({"type": "not", "check": {"type": "result", "check": {"type": "exists"}}}), ("EV160", '"result"')),
        (checks({"type": "measure", "of": "ms", "check": {"type": "empty"}}), ("EV160", '"empty"')),
        (checks({"type": "call", "tool": "a", "check": {"type": "length", "max": 2}}), ("EV160", '"length"')),
        ({**checks(), "criteria": [{"name": "c", "weight": 2}]}, ("EV305", "2")),
    ],
)
def test_eval_json(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    codes = {"EV501"}  # of the empty list of checks, where there is none
    assert [found for found in marked(in_json(**fields), "t.json") if found[0] not in codes] == [expected]


def test_a_predicate_in_json_that_can_never_be_asked_is_named_with_its_subject() -> None:
    entry = "{type: any_of, checks: [{type: call, tool: a, check: {type: contains, value: x}}, {type: fails}]}"
    text = f"eval: {{test_cases: [{{name: a, message: hi, expect: {{checks: [{entry}]}}}}]}}"
    assert [problem.finding.message() for problem in evalc.check(evalc.Source("s.eval.yaml", text))] == [
        "`call` is a call; `contains` asks a text or a list",
        "`response` is a value; `fails` asks a call",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a b/c": {}}, "items": {"$ref": "#/$defs/a%20b~1c"}},
        {"$defs": {"a": {"$anchor": "here"}}, "items": {"$ref": "#here"}},
        {"prefixItems": [True], "items": {"$ref": "#/prefixItems/0"}},
        {"const": {"$ref": "#/nowhere"}},
        {"properties": {"$ref": {"type": "string"}}},
    ],
)
def test_a_reference_that_leads_somewhere(schema: dict[str, Any]) -> None:
    assert marked(in_json(**checks({"type": "json", "schema": schema})), "t.json") == []


def test_a_reference_in_a_file_is_reported_with_its_line() -> None:
    Path("s.json").write_text('{\n "items": {"$ref": "#/$defs/a"}}')
    text = "eval: {test_cases: [{name: a, message: hi, validate: ['json matching \"s.json\"']}]}"
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", text))
    assert problem.finding.message() == "the schema `s.json` refers to `#/$defs/a`, which is not there (line 2)"


def test_a_schema_that_cannot_be_read_is_reported_with_the_line() -> None:
    text = "eval: {test_cases: [{name: a, message: hi, validate: ['json matching \"s.json\"']}]}"
    for schema, why in (
        ('{"properties":\n {"\\ud800": {}}}', "`\\ud800` is half of a character (line 2)"),
        ('{\n"type":\n "object",}', "a comma is not allowed after the last item (line 3)"),
    ):
        Path("s.json").write_text(schema)
        (problem,) = evalc.check(evalc.Source("s.eval.yaml", text))
        assert problem.finding.message() == f"the schema `s.json` cannot be read: {why}"


def test_a_mistake_of_some_rows_names_the_first() -> None:
    text = """prompt: "{{word}}"
inputs: [word]
eval:
  test_cases:
    - name: a
      for_each: rows.csv
      validate: ['contains "{{word}}"', 'not contains "{{id}}"']
"""
    Path("rows.csv").write_text("id,word\nr1,abc\nr2,\nr3,\nr4,has r4\n")
    problems = evalc.check(evalc.Source("s.eval.yaml", text))
    assert [(problem.code, problem.note) for problem in problems] == [
        ("EV501", "first seen with the row on line 3 of `rows.csv`"),
        ("EV503", "first seen with the row on line 5 of `rows.csv`"),
    ]


def test_a_snapshot_in_a_regression_case() -> None:
    head = "tier: regression\neval:\n  test_cases:\n    - {name: a, message: hi, created_at: 2026-01-01, bug_ref: x,"
    one_line = f"""{head} validate: ['contains "x {{{{snapshot:a}}}}"']}}\n"""
    assert marked(one_line) == [("EV404", "{{snapshot:a}}")]
    mapping = f"""{head} validate: [{{type: contains, rule: "{{{{snapshot:b}}}}"}}]}}\n"""
    assert marked(mapping) == [("EV404", "{{snapshot:b}}")]
