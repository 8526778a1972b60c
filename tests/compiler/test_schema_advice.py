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
from evalc.compiler.libraries import unusable
from evalc.diagnostics import Diagnostics
from evalc.diagnostics.raised import idle_parts
from evalc.model.json_schema import KEYWORDS, dialect_of
from evalc.tools.load import RegistryFile, load_tools, parse_tools

CASE = "{name: %s, message: hi, validate: ['json matching \"s.json\"']}"
DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 7))
DRAFTS = (
    *(f"http://json-schema.org/draft-0{number}/schema#" for number in (3, 4, 6, 7)),
    *(f"https://json-schema.org/draft/{name}/schema" for name in ("2019-09", "2020-12")),
)
SUITE = f"eval: {{test_cases: [{CASE % 'a'}, {CASE % 'b'}]}}"


def advice(schema: Any) -> list[tuple[str, str]]:
    what = {"EV158": "meant", "EV159": "name", "EV695": "where"}
    return [(pointer, finding.fields[what[finding.code]]) for pointer, finding in idle_parts(schema)]


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
            {"$schema": DRAFT_7, "dependencies": {"require": ["a"], "format": {"format": "phone"}}},
            [("/dependencies/format/format", "phone")],
        ),
        (True, []),
    ],
)
def test_keywords_without_effect_in_a_schema_are_reported(schema: Any, expected: list[tuple[str, str]]) -> None:
    assert advice(schema) == expected


def test_the_keywords_of_all_drafts_are_known() -> None:
    drafts = (Draft3Validator, Draft4Validator, Draft6Validator, Draft7Validator)
    known = {key for draft in drafts for key in draft.META_SCHEMA["properties"]} | set(
        validator_for({"$schema": "https://json-schema.org/draft/2019-09/schema"}).VALIDATORS
    )
    known |= set(validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema"}).VALIDATORS)
    assert known <= set(KEYWORDS)


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        (
            {"dependencies": {"a": ["b"]}, "divisibleBy": 2, "$recursiveRef": "#"},
            "dependencies divisibleBy $recursiveRef",
        ),
        ({"additionalItems": False, "prefixItems": [{}], "$defs": {}, "definitions": {}, "id": "x"}, "additionalItems"),
        ({"$schema": DRAFT_7, "dependentRequired": {}, "prefixItems": [{}]}, "dependentRequired prefixItems"),
        ({"$schema": DRAFT_7, "$ref": "#/definitions/a", "maxLength": 2, "definitions": {"a": {}}}, "maxLength"),
        ({"$ref": "#/$defs/a", "maxLength": 2, "$defs": {"a": {}}}, ""),
        ({"$schema": DRAFT_4, "const": 1, "if": {}, "then": {}, "contains": {}}, "const if then contains"),
        ({"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True}, ""),
        ({"then": {}, "minContains": 2, "exclusiveMinimum": 1}, "then minContains"),
        ({"if": {}, "then": {}, "else": {}, "contains": {}, "maxContains": 2}, ""),
        ({"$schema": "https://example.com/mine", "dependencies": {}}, "dependencies"),
    ],
)
def test_a_keyword_that_checks_nothing_where_it_stands(schema: Any, places: str) -> None:
    found = [(pointer, finding.code) for pointer, finding in idle_parts(schema)]
    assert sorted(found) == sorted((f"/{place}", "EV695") for place in places.split())


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("key", KEYWORDS)
def test_a_keyword_is_reported_just_where_its_draft_has_no_check_for_it(draft: str, key: str) -> None:
    annotations = {"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"}
    containers = {"$defs", "definitions", "$id", "id", "$schema", "$anchor", "$vocabulary", "$recursiveAnchor"}
    documented = {"contentEncoding", "contentMediaType", "contentSchema", "$dynamicAnchor", "format"}
    helped = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
    helped |= {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
    schema = (
        {key: {}} if key == "$schema" else {"$schema": draft, **{helped[k]: 1 for k in helped if k == key}, key: {}}
    )
    dialect = dialect_of(schema)
    has = {*dialect.VALIDATORS, *dialect.META_SCHEMA.get("properties", {})}
    if "dependentSchemas" in dialect.VALIDATORS:
        has = {*dialect.VALIDATORS, "then", "else", "minContains", "maxContains"}
    reported = any(pointer == f"/{key}" and finding.code == "EV695" for pointer, finding in idle_parts(schema))
    assert reported == (key not in has | annotations | containers | documented)


def test_a_schema_is_held_against_the_draft_that_it_names() -> None:
    assert unusable({"$schema": DRAFT_4, "exclusiveMinimum": True, "minimum": 1}) is None
    assert unusable({"$schema": DRAFT_7, "items": [{"type": "string"}]}) is None
    assert unusable({"items": [{"type": "string"}]}) is not None
    assert unusable({"$schema": DRAFT_4, "exclusiveMinimum": 1}) is not None


@pytest.mark.parametrize(
    ("schema", "is_usable"),
    [
        ({"$ref": "#/$defs", "$defs": {"a": {}}}, False),
        ({"$ref": "#/properties", "properties": {"a": {}}}, False),
        ({"$ref": "#/properties/properties", "properties": {"properties": {"type": "string"}}}, True),
        ({"$ref": "#/$defs/a/$defs", "$defs": {"a": {"$defs": {}}}}, False),
        ({"$ref": "#/components/schemas/A", "components": {"schemas": {"A": {"type": "string"}}}}, True),
    ],
)
def test_a_reference_leads_to_a_schema(schema: Any, is_usable: bool) -> None:
    assert (unusable(schema) is None) == is_usable


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
