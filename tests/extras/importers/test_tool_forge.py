"""Eval JSON to YAML: what is written compiles to what was read."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import assume, given, settings

import evalc
from evalc.base.source import Source
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.diagnostics import Diagnostics, Problem
from evalc.dsl.format import format_text
from evalc.extras.importers import import_tool_forge
from evalc.extras.importers.imported import Imported
from tests.extras.importers.envelopes import envelopes
from tests.support.laws import examples

ROOT = Path(__file__).parents[3]
TWINS = sorted(
    path for path in (ROOT / "specs" / "conformance" / "twins").glob("*.json") if not path.name.endswith(".agents.json")
)


def imported(data: object, name: str = "get-weather.labeled.json") -> tuple[Imported | None, list[Problem]]:
    problems = Diagnostics()
    text = data if isinstance(data, str) else json.dumps(data)
    return import_tool_forge(Source(name, text), problems), list(problems)


def compiled(*subjects: Path | Source) -> list[dict[str, Any]]:
    """The compiled files, without what says who wrote them; checks that contradict are errors in YAML alone."""
    compilation = compile_sources(subjects, CompileOptions())
    assert compilation.suites, [str(problem) for problem in compilation.problems]
    files = [json.loads(b"".join(suite.encode())) for suite in compilation.suites]
    for file in files:
        del file["metadata"]["generatedBy"]
    return files


@settings(max_examples=examples(80))
@given(envelopes())
def test_the_law(tmp_path_factory: pytest.TempPathFactory, envelope: dict[str, Any]) -> None:
    source = Source("get-weather.labeled.json", json.dumps(envelope))
    assume(not evalc.compile(source).has_errors)
    suite, problems = imported(envelope)
    assert suite is not None
    assert not problems
    assert format_text(suite.text) == suite.text
    assert compiled(suite.write(tmp_path_factory.mktemp("law"))) == compiled(source)


@pytest.mark.parametrize("twin", TWINS, ids=lambda path: path.stem)
def test_the_twins(twin: Path, tmp_path: Path) -> None:
    suite, problems = imported(twin.read_text(encoding="utf-8"), twin.name)
    assert suite is not None
    assert not problems
    expected = compiled(Source(twin.name, twin.read_text(encoding="utf-8")))
    assert compiled(suite.write(tmp_path)) == expected


def test_it_reads_well() -> None:
    envelope = {
        "metadata": {"toolName": "get_weather", "tier": "regression", "toolVersion": "1.2.0"},
        "cases": [
            {
                "id": "rg-get-weather-001",
                "description": "regression: the minus sign of a temperature was lost",
                "difficulty": "regression",
                "createdAt": "2026-03-02",
                "bugRef": "#17",
                "input": {"message": "How cold is it\nin Oslo?"},
                "stubs": {"get_weather": {"celsius": -2}},
                "expect": {
                    "toolsCalled": ["get_weather"],
                    "noToolErrors": True,
                    "responseContains": ["-2°C", "a: b"],
                    "maxLatencyMs": 10000,
                },
            }
        ],
    }
    suite, problems = imported(envelope, "evals/get-weather.regression.json")
    assert not problems
    assert suite is not None
    assert (suite.file_name, suite.cases, suite.side_files) == ("get-weather.regression.eval.yaml", 1, ())
    assert suite.text == dedent("""\
        # Imported from get-weather.regression.json.
        suite: get_weather
        tier: regression
        tool: get_weather
        tool_version: "1.2.0"
        eval:
          test_cases:
            - name: regression_the_minus_sign_of_a_temperature_was_lost
              id: rg-get-weather-001
              description: "regression: the minus sign of a temperature was lost"
              created_at: "2026-03-02"
              bug_ref: "#17"
              message: |-
                How cold is it
                in Oslo?
              validate:
                - tools called [get_weather]
                - no tool errors
                - contains "-2°C"
                - 'contains "a: b"'
                - latency <= 10s
              stubs: {get_weather: {celsius: -2}}
    """)


def test_a_bare_array_takes_tool_and_tier_from_its_name() -> None:
    case = {"id": "gs-x-001", "description": "d", "input": {"message": "m"}, "expect": {"responseNonEmpty": True}}
    suite, _ = imported([case], "x.golden.json")
    assert suite is not None
    assert "suite: x\ntier: golden\n" in suite.text


def test_keys_of_ones_own_are_kept_in_cases_and_named_elsewhere(tmp_path: Path) -> None:
    case = {
        "id": "t/a",
        "description": "a",
        "difficulty": "edge",
        "input": {"message": "m", "x-note": 1},
        "expect": {"responseNonEmpty": True},
        "stubs": {"x-tool": {"x-key": 1}},
        "x-a/b": {"who": "{{me}}"},
    }
    envelope = {"metadata": {"toolName": "t", "tier": "labeled", "x-team": "one"}, "cases": [case], "x-top": 2}
    suite, problems = imported(envelope)
    assert suite is not None
    assert "x-a/b: {who:" in suite.text
    assert [problem.finding.fields["what"] for problem in problems] == [
        "`/metadata/x-team`",
        "`/cases/0/input/x-note`",
        "`/x-top`",
    ]
    assert compiled(suite.write(tmp_path)) == compiled(Source("get-weather.labeled.json", json.dumps(envelope)))


def test_criteria_weights_and_links() -> None:
    envelope = {
        "metadata": {"toolName": "t", "tier": "labeled", "criteria": [{"name": "my facts", "weight": 1}]},
        "cases": [
            {
                "id": "t/a",
                "description": "a",
                "difficulty": "edge",
                "input": {"message": "m"},
                "expect": {"responseContains": ["x", "y"], "minLength": 5, "maxLength": 9},
                "criteria": [
                    {
                        "name": "my facts",
                        "weight": 1,
                        "checks": [
                            {"at": ["/expect/responseContains/0"], "weight": 2},
                            {"at": ["/expect/responseContains/1"]},
                            {"at": ["/expect/minLength", "/expect/maxLength"]},
                        ],
                    }
                ],
            }
        ],
    }
    suite, problems = imported(envelope)
    assert not problems
    assert suite is not None
    assert suite.text.partition("validate:\n")[2] == (
        "        - {type: contains, rule: x, criterion: my facts, weight: 2}\n"
        "        - contains \"y\" for \"my facts\"\n"
        "        - length 5..9 chars for \"my facts\"\n"
    )  # fmt: skip


def test_a_schema_becomes_a_file() -> None:
    check = {"type": "json", "schema": {"type": "object"}}
    case = {
        "id": "t/a",
        "description": "a",
        "difficulty": "edge",
        "input": {"message": "m"},
        "expect": {"checks": [check]},
    }
    suite, problems = imported([case], "t.labeled.json")
    assert not problems
    assert suite is not None
    assert [(side.path, json.loads(side.text)) for side in suite.side_files] == [
        ("t.labeled.1.schema.json", {"type": "object"})
    ]
    assert '[json matching "t.labeled.1.schema.json"]' in suite.text


BOTH = {"type": "structure", "fields": [{"path": "a"}], "headings": ["B {{x}}"]}
"""A check that no line says."""


def one_case(*checks: dict[str, Any], **more: Any) -> dict[str, Any]:
    expect = {"responseNonEmpty": True, "checks": [*checks]}
    return {"id": "t/a", "description": "a", "difficulty": "edge", "input": {"message": "m"}, "expect": expect, **more}


@pytest.mark.parametrize(
    "check",
    [
        BOTH,
        {
            "type": "all_of",
            "checks": [{"type": "icontains", "value": "{{a}}"}, {"type": "json", "schema": {"a": "{{a}}"}}],
        },
        {"type": "any_of", "checks": [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}]},
        {"type": "not", "check": {"type": "not", "check": {"type": "equals", "value": "x1"}}},
        {"type": "not", "check": {"type": "judge", "dimension": "d", "criteria": "q?", "minScore": 1}},
        {"type": "at", "path": "a.b[0]", "check": {"type": "any_of", "checks": [BOTH, BOTH]}},
        {"type": "at", "path": '["a.b"].c', "check": {"type": "regex", "pattern": "{{a}}|\\d{2}", "flags": "i"}},
    ],
    ids=lambda check: check["type"],
)
def test_checks_without_a_line_are_written_as_the_model_has_them(check: dict[str, Any], tmp_path: Path) -> None:
    envelope = [one_case({"type": "icontains", "value": "1"}, check, {**check})]
    suite, problems = imported(envelope, "t.labeled.json")
    assert not problems
    assert suite is not None
    assert suite.side_files == ()
    assert "      expect:\n        checks:\n" in suite.text
    assert compiled(suite.write(tmp_path)) == compiled(Source("t.labeled.json", json.dumps(envelope)))


def test_later_checks_stay_behind_such_a_check(tmp_path: Path) -> None:
    first, second = ({"type": "not", "check": {"type": "equals", "value": value}} for value in "xy")
    envelope = [one_case({"type": "not", "check": {"type": "not", "check": first}}, second)]
    suite, problems = imported(envelope, "t.labeled.json")
    assert not problems
    assert suite is not None
    assert compiled(suite.write(tmp_path)) == compiled(Source("t.labeled.json", json.dumps(envelope)))


def test_a_link_of_what_no_line_says_is_named_at_its_place_and_in_the_suite() -> None:
    metadata = {"toolName": "t", "tier": "labeled", "criteria": [{"name": "facts", "weight": 1}]}
    linked = [{"name": "facts", "weight": 1, "checks": [{"at": ["/expect/checks/0"]}]}]
    text = json.dumps({"metadata": metadata, "cases": [one_case(BOTH, criteria=linked)]})
    suite, problems = imported(text, "t.labeled.json")
    said = "not imported: `/expect/checks/0`: no line says the same, so that it counts for no criterion"
    assert [str(problem.finding.message()) for problem in problems] == [said]
    column = problems[0].start.column
    assert column == text.index('{"type": "structure"') + 1
    assert suite is not None
    assert f"# {said} (t.labeled.json:1:{column})" in suite.text
    assert "- type: structure\n" in suite.text


def test_a_judge_that_counts_for_a_criterion_is_a_check(tmp_path: Path) -> None:
    criteria = [{"name": "tone", "weight": 1}]
    links = {"criteria": [{**criteria[0], "checks": [{"at": ["/rubric/1"]}, {"at": ["/rubric/2"], "weight": 2}]}]}
    rubric: list[dict[str, Any]] = [
        {"dimension": "facts", "criteria": "right?"},
        {"dimension": "tone", "maxScore": 5, "criteria": "kind?", "minScore": 4},
        {"dimension": "tone-2", "criteria": "polite?", "minScore": 1},
        {"dimension": "odd", "criteria": "last?", "minScore": 1},
    ]
    metadata = {"toolName": "t", "tier": "labeled", "criteria": criteria}
    envelope = {"metadata": metadata, "cases": [one_case(BOTH, rubric=rubric, **links)]}
    suite, problems = imported(envelope)
    assert not problems
    assert suite is not None
    assert '- judge "kind?" >= 4/5 for tone\n' in suite.text
    assert compiled(suite.write(tmp_path)) == compiled(Source("get-weather.labeled.json", json.dumps(envelope)))


def test_the_gates_of_a_suite_are_taken_over(tmp_path: Path) -> None:
    gates = {"minPassRate": 0.9, "maxP95Ms": 500, "failOnRegression": True}
    envelope = {"metadata": {"toolName": "t", "tier": "labeled", "gates": gates}, "cases": [one_case()]}
    suite, problems = imported(envelope)
    assert not problems
    assert suite is not None
    assert compiled(suite.write(tmp_path))[0]["metadata"]["gates"] == gates


@pytest.mark.parametrize(
    ("label", "check"),
    [
        ({"expected": "{{b}} a"}, {"type": "regex", "pattern": "^\\s*\\{\\{b\\}\\} a\\s*$", "flags": "u"}),
        (
            {"expected": "{{b}} a", "from": "at x[0].y"},
            {"type": "at", "path": "x[0].y", "check": {"type": "equals", "value": "{{b}} a"}},
        ),
    ],
    ids=["response", "place"],
)
def test_a_label_brings_its_check(label: dict[str, Any], check: dict[str, Any], tmp_path: Path) -> None:
    case = {
        "id": "ls-a-001",
        "description": "A",
        "difficulty": "edge",
        "input": {"message": "hi"},
        "expect": {"checks": [check]},
        "label": label,
    }
    envelope = {"metadata": {"toolName": "get_weather", "tier": "labeled"}, "cases": [case]}
    suite, problems = imported(envelope)
    assert suite is not None
    assert not problems
    assert "validate" not in suite.text
    assert compiled(suite.write(tmp_path))[0]["cases"] == [case]


def test_a_label_without_its_check_is_named_as_a_difference() -> None:
    case = {
        "id": "ls-a-001",
        "description": "A",
        "input": {"message": "hi"},
        "expect": {"responseContains": ["x"]},
        "label": {"expected": "x"},
    }
    _, problems = imported({"metadata": {"toolName": "get_weather", "tier": "labeled"}, "cases": [case]})
    assert {problem.code for problem in problems} == {"EV653"}


def test_several_schemas_of_a_check_are_several_files(tmp_path: Path) -> None:
    schemas = ({"type": "object"}, {"type": "array", "items": {"required": ["a name that is long enough"]}})
    check = {"type": "any_of", "checks": [*({"type": "json", "schema": schema} for schema in schemas)]}
    equals = {"type": "equals", "value": "long " * 20}
    metadata = {"toolName": "t", "tier": "labeled", "criteria": [{"name": "facts", "weight": 1}]}
    linked = [{"name": "facts", "weight": 1, "checks": [{"at": ["/expect/checks/1"]}]}]
    any_of = {"type": "any_of", "checks": [*check["checks"], equals]}
    envelope = {"metadata": metadata, "cases": [one_case(check, any_of, criteria=linked)]}
    suite, problems = imported(envelope)
    assert not problems
    assert suite is not None
    assert [json.loads(side.text) for side in suite.side_files] == [*schemas]
    assert compiled(suite.write(tmp_path)) == compiled(Source("t.labeled.json", json.dumps(envelope)))


def test_cases_that_compile_otherwise_are_named() -> None:
    criteria = [{"name": "facts", "weight": 1}]
    linked = [{**criteria[0], "checks": [{"at": ["/expect/checks/0"]}]}]
    # YAML says it without the two denials
    check = {"type": "not", "check": {"type": "not", "check": {"type": "contains", "value": "x"}}}
    envelope = {
        "metadata": {"toolName": "t", "tier": "labeled", "descriptionHash": "0123456789ab", "criteria": criteria},
        "cases": [one_case(check, criteria=linked)],
    }
    suite, problems = imported(envelope)
    assert suite is not None
    assert [problem.code for problem in problems] == ["EV653", "EV653"]
    assert ["the metadata" in problems[0].finding.message(), "`t/a`" in problems[1].finding.message()] == [True, True]


@pytest.mark.parametrize(
    "text", ['{"metadata": {}, "cases": [', '{"cases": [{"id": 1}]}', '{"cases": []}', "[1]", "", "x: 1"]
)
def test_errors_are_problems(text: str) -> None:
    suite, problems = imported(text)
    assert suite is None
    assert any(problem.severity == "error" for problem in problems)
