"""Tools in eval files, held to a registry: each finding at its exact place, and nothing on a guess."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.model.json import short_hash
from evalc.tools.load import RegistryFile

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "exact": {"type": ["number", "null"]},
        "now": {"type": "boolean"},
        "unit": {"enum": ["celsius", "fahrenheit", 1]},
        "kind": {"const": "x"},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    },
}
TOOLS: list[dict[str, Any]] = [
    {"name": "get_weather", "description": "The weather", "version": "1.2.0", "parameters": WEATHER},
    {"name": "get_forecast", "description": "The forecast"},
    {"name": "open", "parameters": {"type": "object", "properties": {"a": {}}, "additionalProperties": True}},
    {"name": "closed", "parameters": {"type": "object", "additionalProperties": False}},
    {"name": "empty", "parameters": {"type": "object", "properties": {}}},
]


def compiled(text: str, folder: Path, *, tools: Any = None, name: str = "a.eval.yaml") -> evalc.Compilation:
    file = folder / "tools.json"
    file.write_text(json.dumps(TOOLS if tools is None else tools))
    options = CompileOptions(tools=RegistryFile(file, folder))
    return compile_sources([evalc.Source(name, text)], options)


def said(text: str, folder: Path, **more: Any) -> list[str]:
    """Every problem as `code what it stands at`."""
    return [
        f"{problem.code} {problem.source.text[problem.span.start : problem.span.end]}"
        for problem in compiled(text, folder, **more).problems
        if not problem.source.name.endswith("tools.json") and not problem.code.startswith(("EV427", "EV436", "EV5"))
    ]


def case(validate: str, more: str = "") -> str:
    head = f"suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n{more}"
    return f"{head}      validate:\n        - {validate}\n"


@pytest.mark.parametrize(
    ("check", "problems"),
    [
        ("tools called [get_weather, get_forecast]", []),
        ("tools called [get_weather, get_forcast]", ["EV230 get_forcast"]),
        ("tools one of [[get_weather], [x, 'y z'], none]", ["EV230 x", "EV230 'y z'"]),
        ("tools not called [delete]", ["EV233 delete"]),
        ("not tools called [delete]", ["EV233 delete"]),
        ("not tools not called [delete]", ["EV230 delete"]),
        ("tool get_wether.city equals 'Paris'", ["EV230 get_wether"]),
        ("tool get_weather.city equals 'Paris'", []),
        ("tool get_weather.citty equals 'Paris'", ["EV231 citty"]),
        ("tool get_weather.citty not exists", []),
        ("not tool get_weather.citty exists", []),
        ("contains 'x' or tool get_weather.citty exists", ["EV231 citty"]),
        ("tool get_forecast.anything exists", []),
        ("tool open.anything exists", []),
        ("tool closed.anything exists", ["EV231 anything"]),
        ("tool empty.anything exists", []),
        ("{type: tool_param, tool: get_weather, param: citty, op: exists}", ["EV231 citty"]),
        ("{type: tools_called, rule: [get_forcast]}", ["EV230 get_forcast"]),
        ("tool get_weather.unit equals 'celsius'", []),
        ("tool get_weather.unit equals '1'", []),
        ("tool get_weather.unit equals 'kelvin'", ["EV232 'kelvin'"]),
        ("tool get_weather.unit one of ['kelvin', 'celsius']", []),
        ("tool get_weather.unit one of ['kelvin', 'K']", ["EV232 'kelvin'"]),
        ("tool get_weather.unit equals '{{seed:unit}}'", []),
        ("tool get_weather.unit contains 'kel'", []),
        ("not tool get_weather.unit equals 'kelvin'", []),
        ("tool get_weather.kind equals 'y'", ["EV232 'y'"]),
        ("tool get_weather.days equals '3'", []),
        ("tool get_weather.days equals '3.0'", ["EV232 '3.0'"]),
        ("tool get_weather.days equals '3.5'", ["EV232 '3.5'"]),
        ("tool get_weather.days equals 'three'", ["EV232 'three'"]),
        ("tool get_weather.exact equals '3.5'", []),
        ("tool get_weather.exact equals 'null'", []),
        ("tool get_weather.exact equals 'nil'", ["EV232 'nil'"]),
        ("tool get_weather.now equals 'true'", []),
        ("tool get_weather.now equals 'True'", ["EV232 'True'"]),
        ("tool get_weather.either equals 'three'", []),
    ],
)
def test_checks_are_held_to_the_registry(check: str, problems: list[str], tmp_path: Path) -> None:
    text = case(check if check.startswith("{") else f'"{check}"')
    assert said(text, tmp_path) == problems


def test_names_are_found_where_they_stand(tmp_path: Path) -> None:
    text = (
        "suite: s\nrules:\n  r:\n    - tools not called [nope]\n"
        "defaults:\n  stubs: {get_wether: {}}\n"
        "eval:\n  test_cases:\n    - name: a\n      message: hi\n"
        "      for_each: {key: t, rows: [{t: get_weather}, {t: get_wether}]}\n"
        "      validate: [{use: r}, tools called ['{{t}}']]\n".replace(
            "tools called ['{{t}}']", "\"tools called ['{{t}}']\""
        )
    )
    assert said(text, tmp_path) == ["EV233 nope", "EV230 get_wether", "EV230 '{{t}}'"]


STUBS = """\
      stubs:
        get_weather:
          - {when: {city: Rome}, returns: 1}
          - {when: {citty: Rome}, answer: 1}
          - {when: {unit: kelvin}, answer: 2}
          - {when: {days: "3", now: yes}, answer: 3}
          - {when: {days: 3.0, unit: 1, exact: null, either: {a: 1}, city: Rome}, sequence: [{answer: 1}]}
        get_forecast: {when: {anything: 1}, error: no}
        get_wether: {when: {citty: 1}, error: no}
"""
WRONG = ["EV201 returns", "EV231 citty", "EV232 kelvin", 'EV232 "3"', "EV232 yes", "EV230 get_wether"]


def test_the_arguments_of_stubs_are_held_too(tmp_path: Path) -> None:
    assert said(case("non-empty", STUBS), tmp_path) == WRONG
    problems = compiled(case("non-empty", STUBS.replace("days: 3.0", "days: 3")), tmp_path).problems
    assert {problem.finding.label() for problem in problems} >= {"did you mean `city`?", "did you mean `get_weather`?"}


def test_the_arguments_of_stubs_in_json_are_held_too(tmp_path: Path) -> None:
    answers = [{"when": {"citty": "Rome"}, "answer": 1}, {"when": {"days": "3"}, "error": "no"}]
    case = {
        "id": "ls-x-001",
        "description": "d",
        "difficulty": "edge",
        "input": {"message": "m"},
        "stubAnswers": {"get_weather": answers, "a/b": [{"answer": 1}]},
        "expect": {"responseContains": ["x"]},
    }
    text = json.dumps([case], indent=1)
    assert said(text, tmp_path, name="get_weather.labeled.json") == ['EV235 "citty"', 'EV235 "3"', 'EV235 "a/b"']


def test_the_fields_of_expect_are_held_too(tmp_path: Path) -> None:
    text = (
        "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      expect:\n"
        "        toolsCalled: [bogus]\n"
        "        toolParams: [{tool: get_weather, paramName: town, assertion: equals, value: Rome}]\n"
        "        checks: [{type: any_of, checks: [{type: tools_called, names: [nope]}, {type: equals, value: x}]}]\n"
    )
    assert said(text, tmp_path) == ["EV230 bogus", "EV231 town", "EV230 nope"]


def test_eval_json_is_warned_of_and_compiled(tmp_path: Path) -> None:
    document = {
        "metadata": {"toolName": "get-weather", "tier": "labeled"},
        "cases": [
            {
                "id": "ls-get-weather-001",
                "description": "d",
                "difficulty": "edge",
                "input": {"message": "m"},
                "stubs": {"a/b": {}},
                "expect": {
                    "toolsAcceptable": [["get_weather"], ["get_wether", "__none__"]],
                    "toolParams": [{"tool": "get_weather", "paramName": "unit", "assertion": "oneOf", "value": ["K"]}],
                    "checks": [{"type": "not", "check": {"type": "tools_called", "names": ["zzz"]}}],
                },
            }
        ],
    }
    text, name = json.dumps(document, indent=1), "get-weather.labeled.json"
    found = compiled(text, tmp_path, name=name)
    assert said(text, tmp_path, name=name) == [
        'EV234 "get-weather"', 'EV235 "a/b"', 'EV235 "get_wether"', 'EV235 "K"', 'EV233 "zzz"'
    ]  # fmt: skip
    assert len(found.suites) == 1
    assert "did you mean `get_weather`?" in {problem.finding.label() for problem in found.problems}


def test_of_an_incomplete_registry_no_tool_is_unknown(tmp_path: Path) -> None:
    page = {"tools": TOOLS, "nextCursor": "x"}
    text = case("tools called [elsewhere]\n        - tool get_weather.citty exists")
    assert said(text, tmp_path, tools=page) == ["EV231 citty"]


@pytest.mark.parametrize(
    ("tool", "problems"),
    [("get_weather", 0), ("get_wether", 1), ("something_else", 0)],
)
def test_only_a_near_miss_of_the_suite_s_tool_is_reported(tool: str, problems: int, tmp_path: Path) -> None:
    text = case("non-empty").replace("suite: s\n", f"suite: s\ntool: {tool}\n")
    assert [found.split()[0] for found in said(text, tmp_path)] == ["EV234"] * problems


def test_a_registry_with_errors_stops_the_compilation(tmp_path: Path) -> None:
    found = compiled(case("non-empty"), tmp_path, tools=[{"name": 1}])
    assert ([problem.code for problem in found.problems], found.suites) == (["EV661"], ())


def test_compiled_files_know_the_tool_that_they_were_compiled_for(tmp_path: Path) -> None:
    text = case("non-empty").replace("suite: s\n", "suite: s\ntool: get_weather\n")
    metadata = compiled(text, tmp_path).suites[0].metadata
    assert (metadata.tool_version, metadata.description, metadata.registry_size) == ("1.2.0", "The weather", 5)
    assert metadata.description_hash == short_hash("The weather")
    authored = text.replace("suite: s\n", "suite: s\ntool_version: '0.9'\ntool_description: Old\nregistry_size: 1\n")
    metadata = compiled(authored, tmp_path).suites[0].metadata
    assert (metadata.tool_version, metadata.description, metadata.registry_size) == ("0.9", "Old", 1)
    other = compiled(case("non-empty"), tmp_path).suites[0].metadata
    assert (other.tool_version, other.description_hash, other.registry_size) == (None, None, None)
