"""Misspelt keywords and unchecked formats in JSON Schemas: in files, in eval JSON and in tool registries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft3Validator, Draft4Validator, Draft6Validator, Draft7Validator
from jsonschema.validators import validator_for

import evalc
from evalc.base.source import Source
from evalc.diagnostics.problem import Diagnostics
from evalc.diagnostics.raised import misspelt_keywords, unchecked_formats
from evalc.model.json_schema import KEYWORDS
from evalc.tools.load import RegistryFile, load_tools, parse_tools

CASE = "{name: %s, message: hi, validate: ['json matching \"s.json\"']}"
SUITE = f"eval: {{test_cases: [{CASE % 'a'}, {CASE % 'b'}]}}"


def advice(schema: Any) -> list[tuple[str, str]]:
    formats = [(pointer, finding.fields["name"]) for pointer, finding in unchecked_formats(schema)]
    return [(pointer, finding.fields["meant"]) for pointer, finding in misspelt_keywords(schema)] + formats


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"require": ["a"]}, [("/require", "required")]),
        ({"propertes": {"a": {"require": []}}}, [("/propertes", "properties")]),
        ({"properties": {"a": {"Type": "string"}}}, [("/properties/a/Type", "type")]),
        ({"items": {"min_length": 3}}, [("/items/min_length", "minLength")]),
        ({"anyOf": [{}, {"patern": "x"}]}, [("/anyOf/1/patern", "pattern")]),
        ({"$defs": {"a/b": {"enums": []}}}, [("/$defs/a~1b/enums", "enum")]),
        ({"not": {"additionalProperty": False}}, [("/not/additionalProperty", "additionalProperties")]),
        ({"ref": "#"}, [("/ref", "$ref")]),
        ({"format": "phone", "items": {"format": "date"}}, [("/format", "phone")]),
        ({"x-require": 1, "x-format": "phone"}, []),
        ({"properties": {"require": {}, "format": {"type": "string"}}}, []),
        ({"const": {"require": 1}, "default": {"format": "x"}, "examples": [{"require": 1}]}, []),
        ({"nullable": True, "example": 1, "discriminator": {}, "xml": {}, "externalDocs": {}}, []),
        ({"enumDescriptions": [], "markdownDescription": "", "errorMessage": "", "formatMinimum": "1"}, []),
        ({"patternProperties": {"require": {}}, "dependentSchemas": {"require": {}}, "definitions": {"type": {}}}, []),
        (
            {"dependencies": {"require": ["a"], "format": {"format": "phone"}}},
            [("/dependencies/format/format", "phone")],
        ),
        (True, []),
    ],
)
def test_what_a_schema_asks_for_in_vain(schema: Any, expected: list[tuple[str, str]]) -> None:
    assert advice(schema) == expected


def test_the_keywords_of_all_drafts_are_known() -> None:
    drafts = (Draft3Validator, Draft4Validator, Draft6Validator, Draft7Validator)
    known = {key for draft in drafts for key in draft.META_SCHEMA["properties"]} | set(
        validator_for({"$schema": "https://json-schema.org/draft/2019-09/schema"}).VALIDATORS
    )
    known |= set(validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema"}).VALIDATORS)
    assert known <= set(KEYWORDS)


@given(st.sampled_from([key for key in KEYWORDS if len(key) > 4]), st.data())
def test_a_keyword_without_one_letter_is_found(keyword: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(keyword) - 1))
    misspelt = keyword[:at] + keyword[at + 1 :]
    found = advice({misspelt: {}})
    assert len(found) == (misspelt not in KEYWORDS and misspelt != "example")


def test_a_file_is_reported_once_at_the_check_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text('{\n "require": ["a"],\n "properties": {"a": {"format": "phone"}}\n}')
    first, second = evalc.check(evalc.Source("s.eval.yaml", SUITE))
    assert (first.code, first.severity, first.start.line) == ("EV158", "warning", 1)
    assert first.finding.message() == "the schema `s.json` has the key `require`, which checks nothing (line 2)"
    assert second.finding.message() == "the schema `s.json` names the format `phone`, which is not checked (line 3)"


def test_eval_json_is_reported_at_its_place() -> None:
    schema = {"require": ["a"], "format": "phone"}
    case = {"id": "a", "description": "d", "input": {"message": "hi"}}
    cases = [{**case, "expect": {"checks": [{"type": "json", "schema": schema}]}}]
    text = json.dumps({"metadata": {"name": "s", "tier": "golden", "toolName": "s"}, "cases": cases})
    found = [
        problem
        for problem in evalc.check(evalc.Source("s.golden.json", text))
        if problem.code not in ("EV406", "EV408")
    ]
    assert [(problem.code, text[slice(*problem.span)]) for problem in found] == [
        ("EV158", '"require"'),
        ("EV159", '"phone"'),
    ]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ({"parameters": {"type": "object", "propertes": {}}}, [('"propertes"', "properties")]),
        ({"inputSchema": {"type": "object", "properties": {"a": {"enums": []}}}}, [('"enums"', "enum")]),
        ({"schema": {"require": {"type": "string"}, "b": {"typ": "string"}}}, [('"typ"', "type")]),
        ({"parameters": {"type": "object", "properties": {"a": {"format": "int32"}}}}, []),
    ],
)
def test_a_registry_in_json(tool: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    text = json.dumps([{"type": "function", "function": {"name": "t", **tool}}])
    problems = Diagnostics()
    parse_tools(Source("tools.json", text), problems)
    assert [(text[slice(*problem.span)], problem.finding.fields.get("meant", "")) for problem in problems] == expected


def test_a_registry_in_a_module(tmp_path: Path) -> None:
    module = tmp_path / "tools.ts"
    module.write_text("export const t = {\n  name: 't',\n  parameters: {type: 'object', propertes: {}},\n};\n")
    problems = Diagnostics()
    load_tools(RegistryFile(module, tmp_path), problems)
    assert [(problem.code, problem.start.line) for problem in problems] == [("EV158", 3)]
