"""Checks of JSON responses: modes, schemas, one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evalc.ecma.regexp import RegexpError
from evalc.model import checks as c
from evalc.runtime.checks import schema as schema_module
from tests.runtime.checks.conftest import Ask

FENCED = 'Here:\n```json\n{"a": 1}\n```\nDone.'


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ('{"a": 1}', "passed"),
        (" \n[1]\t", "passed"),
        ('"x"', "passed"),
        ("1e999", "passed"),
        ('{"a": 1, "a": 2}', "passed"),
        ('"\\ud800"', "passed"),
        ("9" * 5000, "passed"),
        ("", "failed"),
        ("NaN", "failed"),
        ("[Infinity]", "failed"),
        ("{'a': 1}", "failed"),
        ("[1,]", "failed"),
        ('"a\nb"', "failed"),
        ("\ufeff{}", "failed"),
        ("\u00a0{}", "failed"),
        (FENCED, "failed"),
        ("[" * 100_000, "error"),
    ],
)
def test_strict_is_json_parse(ask: Ask, response: str, outcome: str) -> None:
    assert ask(c.Json(), response).outcome == outcome


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ('{"a": 1}', "passed"),
        (FENCED, "passed"),
        ("~~~~\n[1]\n~~~~", "passed"),
        ("```\n[1]\n```\n```\n[2]\n```", "failed"),
        ("```json\n{oops}\n```", "failed"),
        ("no JSON", "failed"),
    ],
)
def test_lenient_takes_the_one_fenced_block(ask: Ask, response: str, outcome: str) -> None:
    assert ask(c.Json(mode="lenient"), response).outcome == outcome


def test_modes_of_a_type(ask: Ask) -> None:
    assert ask(c.Json(mode="object"), "{}").outcome == "passed"
    assert ask(c.Json(mode="object"), "[]").message == "expected a JSON object but got an array"
    assert ask(c.Json(mode="array"), "null").message == "expected a JSON array but got null"


def test_a_failure_says_where(ask: Ask) -> None:
    message = ask(c.Json(), "[1, oops]").message
    assert message == "expected JSON but got '[1, oops]': texts stand in double quotes (line 1, column 5)"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["items"],
    "properties": {"items": {"type": "array", "items": {"properties": {"id": {"type": "integer"}}}}},
}


def test_a_schema(ask: Ask) -> None:
    assert ask(c.Json(schema=SCHEMA), '{"items": [{"id": 1.0}]}').outcome == "passed"
    verdict = ask(c.Json(schema=SCHEMA), '{"items": [{"id": 1}, {"id": "x"}]}')
    assert verdict.message == "expected JSON that fits the schema but items[1].id: 'x' is not of type 'integer'"


def test_a_schema_of_a_truth_value(ask: Ask) -> None:
    assert ask(c.Json(schema=True), "1").outcome == "passed"
    assert ask(c.Json(schema=False), "1").outcome == "failed"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/$defs/gone"},
        {"type": "strange"},
        {"pattern": "("},
        {"$ref": "#"},
        {"unevaluatedProperties": False, "patternProperties": {"a": True}},
        {"unevaluatedProperties": False, "patternProperties": {}},
    ],
)
def test_a_schema_that_cannot_be_used_is_an_error_and_fetches_nothing(ask: Ask, schema: dict[str, Any]) -> None:
    assert ask(c.Json(schema=schema), '"x"').outcome == "error"


def test_a_malformed_pattern_is_named(ask: Ask) -> None:
    pattern = "(?P<n>a)"
    message = ask(c.Json(schema={"pattern": pattern}), '"x"').message
    assert message == "the schema cannot be used: it is not a JSON Schema: '(?P<n>a)' is not a 'regex'"


def test_a_pattern_without_an_answer_is_an_error(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: str) -> None:
        raise RegexpError("the worker ended")

    monkeypatch.setattr(schema_module, "compile_pattern", fails)
    message = ask(c.Json(schema={"pattern": "unanswered"}), '"x"').message
    assert message == "a pattern of the schema gave no answer: the worker ended"


def test_a_response_that_is_too_deep_is_an_error_at_a_place_too(ask: Ask) -> None:
    verdict = ask(c.At(path="a", check=c.NonEmpty()), "[" * 100_000)
    assert (verdict.outcome, verdict.message) == ("error", "the response is nested too deeply to be read as JSON")


def test_a_schema_s_own_references_work(ask: Ask) -> None:
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    assert ask(c.Json(schema=schema), "1").outcome == "passed"
    assert ask(c.Json(schema=schema), '"x"').outcome == "failed"


def test_patterns_of_a_schema_are_ecmascript_s(ask: Ask) -> None:
    assert ask(c.Json(schema={"pattern": r"^\d$"}), '"٣"').outcome == "failed"
    assert ask(c.Json(schema={"pattern": r"^(?<year>\d{4})$"}), '"2026"').outcome == "passed"
    properties = {"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": False}
    assert ask(c.Json(schema=properties), '{"n1": 1}').outcome == "passed"
    assert ask(c.Json(schema=properties), '{"n1": "x"}').outcome == "failed"
    message = ask(c.Json(schema=properties), '{"m": 1}').message
    assert message == "expected JSON that fits the schema but the property 'm' is not allowed"


def test_a_property_of_one_pattern_is_no_additional_one(ask: Ask) -> None:
    schema = {"properties": {"a": True}, "patternProperties": {"^n": True, "^m": True}, "additionalProperties": False}
    assert ask(c.Json(schema=schema), '{"a": 1, "n1": 1, "m1": 1}').outcome == "passed"
    assert ask(c.Json(schema=schema), '{"a": 1, "x": 1}').outcome == "failed"


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_a_schema_is_read_to_a_depth_of_200(ask: Ask, wrap: Callable[[Any], Any]) -> None:
    value: Any = "leaf"
    for _ in range(199):
        value = wrap(value)
    assert ask(c.Json(schema={"const": value}), '"x"').outcome == "failed"
    message = ask(c.Json(schema={"const": wrap(value)}), '"x"').message
    assert message == "the schema cannot be used: it is nested more than 200 deep"


def test_patterns_of_a_schema_are_bounded(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_module, "DEFAULT_TIMEOUT", 0.05)
    verdict = ask(c.Json(schema={"pattern": r"^(a+)+\1$"}), '"' + "a" * 40 + 'b"')
    assert verdict.outcome == "error"
    assert "ran longer than" in (verdict.message or "")


DOCUMENT = '{"items": [{"title": "One", "n": 150.0, "none": null, "list": [1, "a"]}]}'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("items[0].title", "One"),
        ("items[0].n", "150"),
        ("items[0].none", "null"),
        ("items[0].list", '[1,"a"]'),
    ],
)
def test_at_looks_at_the_text_of_one_place(ask: Ask, path: str, text: str) -> None:
    assert ask(c.At(path=path, check=c.Equals(value=text)), DOCUMENT).outcome == "passed"


def test_at_of_an_array_s_own_item(ask: Ask) -> None:
    assert ask(c.At(path="[1]", check=c.Equals(value="b")), '["a", "b"]').outcome == "passed"


def test_at_says_where_and_why(ask: Ask) -> None:
    verdict = ask(c.At(path="items[0].title", check=c.Contains(value="Two")), DOCUMENT)
    assert verdict.message == "items[0].title: expected 'Two' in response but not found"
    missing = ask(c.At(path="items[1].title", check=c.Contains(value="x")), DOCUMENT)
    assert missing.message == "expected 'items[1].title' in the JSON response but it is not there"
    assert ask(c.At(path="a", check=c.NonEmpty()), "no").outcome == "failed"
    assert ask(c.At(path="items[].title", check=c.NonEmpty()), DOCUMENT).outcome == "error"
