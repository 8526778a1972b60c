"""Checks of JSON responses: modes, schemas, one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evalc.check.forms import check_of, record_of
from evalc.check.tree import Check
from evalc.ecma.regexp.nodes import RegexpError
from evalc.grammar.read_check import read_check
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
    assert ask(check_of({"type": "json"}), response).outcome == outcome


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
    assert ask(check_of({"type": "json", "mode": "lenient"}), response).outcome == outcome


def test_modes_of_a_type(ask: Ask) -> None:
    assert ask(check_of({"type": "json", "mode": "object"}), "{}").outcome == "passed"
    assert ask(check_of({"type": "json", "mode": "object"}), "[]").message == "expected a JSON object but got an array"
    assert ask(check_of({"type": "json", "mode": "array"}), "null").message == "expected a JSON array but got null"


def test_a_failure_says_where(ask: Ask) -> None:
    message = ask(check_of({"type": "json"}), "[1, oops]").message
    assert message == "expected JSON but got '[1, oops]': texts must be in double quotes (line 1, column 5)"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["items"],
    "properties": {"items": {"type": "array", "items": {"properties": {"id": {"type": "integer"}}}}},
}


def test_a_schema(ask: Ask) -> None:
    assert ask(check_of({"type": "json", "schema": SCHEMA}), '{"items": [{"id": 1.0}]}').outcome == "passed"
    verdict = ask(check_of({"type": "json", "schema": SCHEMA}), '{"items": [{"id": 1}, {"id": "x"}]}')
    assert verdict.message == "expected JSON that fits the schema but items[1].id: 'x' is not of type 'integer'"


def test_a_schema_of_a_truth_value(ask: Ask) -> None:
    assert ask(check_of({"type": "json", "schema": True}), "1").outcome == "passed"
    assert ask(check_of({"type": "json", "schema": False}), "1").outcome == "failed"


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
    assert ask(check_of({"type": "json", "schema": schema}), '"x"').outcome == "error"


def test_a_malformed_pattern_is_named(ask: Ask) -> None:
    pattern = "(?P<n>a)"
    message = ask(check_of({"type": "json", "schema": {"pattern": pattern}}), '"x"').message
    assert message == "the schema cannot be used: it is not a JSON Schema: '(?P<n>a)' is not a 'regex'"


def test_a_pattern_without_an_answer_is_an_error(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: str) -> None:
        raise RegexpError("the worker ended")

    monkeypatch.setattr(schema_module, "compile_pattern", fails)
    message = ask(check_of({"type": "json", "schema": {"pattern": "unanswered"}}), '"x"').message
    assert message == "a pattern of the schema gave no answer: the worker ended"


def test_a_response_that_is_too_deep_is_an_error_at_a_place_too(ask: Ask) -> None:
    verdict = ask(check_of({"type": "at", "path": "a", "check": {"type": "non_empty"}}), "[" * 100_000)
    assert (verdict.outcome, verdict.message) == ("error", "the response is nested too deeply to be read as JSON")


def test_a_schema_s_own_references_work(ask: Ask) -> None:
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    assert ask(check_of({"type": "json", "schema": schema}), "1").outcome == "passed"
    assert ask(check_of({"type": "json", "schema": schema}), '"x"').outcome == "failed"


def test_patterns_of_a_schema_are_ecmascript_s(ask: Ask) -> None:
    assert ask(check_of({"type": "json", "schema": {"pattern": "^\\d$"}}), '"٣"').outcome == "failed"
    assert ask(check_of({"type": "json", "schema": {"pattern": "^(?<year>\\d{4})$"}}), '"2026"').outcome == "passed"
    properties = {"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": False}
    assert ask(check_of({"type": "json", "schema": properties}), '{"n1": 1}').outcome == "passed"
    assert ask(check_of({"type": "json", "schema": properties}), '{"n1": "x"}').outcome == "failed"
    message = ask(check_of({"type": "json", "schema": properties}), '{"m": 1}').message
    assert message == "expected JSON that fits the schema but the property 'm' is not allowed"


def test_a_property_of_one_pattern_is_no_additional_one(ask: Ask) -> None:
    schema = {"properties": {"a": True}, "patternProperties": {"^n": True, "^m": True}, "additionalProperties": False}
    assert ask(check_of({"type": "json", "schema": schema}), '{"a": 1, "n1": 1, "m1": 1}').outcome == "passed"
    assert ask(check_of({"type": "json", "schema": schema}), '{"a": 1, "x": 1}').outcome == "failed"


@pytest.mark.parametrize(
    ("step", "number", "outcome"),
    [
        (0.01, "19.99", "passed"),
        (0.1, "0.3", "passed"),
        (0.01, "19.999", "failed"),
        (3, "9007199254740993", "passed"),
        (2, "9007199254740993", "failed"),
        (1e-300, "1e300", "passed"),
        (0.5, "1e999", "failed"),
        (0.5, '"text"', "passed"),
    ],
)
def test_a_multiple_is_one_of_the_numbers_as_they_are_written(ask: Ask, step: float, number: str, outcome: str) -> None:
    assert ask(check_of({"type": "json", "schema": {"multipleOf": step}}), number).outcome == outcome
    draft_3 = {"$schema": "http://json-schema.org/draft-03/schema#", "divisibleBy": step}
    assert ask(check_of({"type": "json", "schema": draft_3}), number).outcome == outcome


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
@pytest.mark.parametrize("inner", [{"$ref": "#"}, {}])
def test_the_checks_stay_evalc_s_within_a_schema_that_names_its_draft(
    ask: Ask, draft: str, inner: dict[str, Any]
) -> None:
    within = inner or {"$schema": draft, "multipleOf": 0.1}
    schema = {"$schema": draft, "multipleOf": 0.1, "items": within}
    assert ask(check_of({"type": "json", "schema": schema}), "[0.3, 0.7]").outcome == "passed"
    assert ask(check_of({"type": "json", "schema": schema}), "[0.35]").outcome == "failed"


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_a_schema_is_read_to_a_depth_of_200(ask: Ask, wrap: Callable[[Any], Any]) -> None:
    value: Any = "leaf"
    for _ in range(199):
        value = wrap(value)
    assert ask(check_of({"type": "json", "schema": {"const": value}}), '"x"').outcome == "failed"
    message = ask(check_of({"type": "json", "schema": {"const": wrap(value)}}), '"x"').message
    assert message == "the schema cannot be used: it is nested more than 200 deep"


def test_patterns_of_a_schema_are_bounded(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_module, "DEFAULT_TIMEOUT", 0.05)
    verdict = ask(check_of({"type": "json", "schema": {"pattern": "^(a+)+\\1$"}}), '"' + "a" * 40 + 'b"')
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
    assert (
        ask(check_of({"type": "at", "path": path, "check": {"type": "equals", "value": text}}), DOCUMENT).outcome
        == "passed"
    )


def test_at_of_an_array_s_own_item(ask: Ask) -> None:
    assert (
        ask(check_of({"type": "at", "path": "[1]", "check": {"type": "equals", "value": "b"}}), '["a", "b"]').outcome
        == "passed"
    )


def test_at_says_where_and_why(ask: Ask) -> None:
    verdict = ask(
        check_of({"type": "at", "path": "items[0].title", "check": {"type": "contains", "value": "Two"}}), DOCUMENT
    )
    assert verdict.message == "items[0].title is `One`, expected it to contain `Two`"
    missing = ask(
        check_of({"type": "at", "path": "items[1].title", "check": {"type": "contains", "value": "x"}}), DOCUMENT
    )
    assert missing.message == "items[1].title is not there"
    assert ask(check_of({"type": "at", "path": "a", "check": {"type": "non_empty"}}), "no").outcome == "failed"
    assert (
        ask(check_of({"type": "at", "path": "items[].title", "check": {"type": "non_empty"}}), DOCUMENT).outcome
        == "error"
    )


NUMBERS = '{"total": 20, "age": 30.0, "ok": true, "none": null, "items": [1, "a"], "digits": "18", "of": {"a": [1]}}'


@pytest.mark.parametrize(
    ("path", "check", "message"),
    [
        ("total", check_of({"type": "number", "min": 18}), None),
        ("total", check_of({"type": "number", "min": 20, "max": 20}), None),
        ("age", check_of({"type": "value", "value": 30}), None),
        ("ok", check_of({"type": "value", "value": True}), None),
        ("none", check_of({"type": "value", "value": None}), None),
        ("items", check_of({"type": "value", "value": [1.0, "a"]}), None),
        ("of", check_of({"type": "value", "value": {"a": [1]}}), None),
        ("digits", check_of({"type": "value", "value": "18"}), None),
        ("items", check_of({"type": "count", "min": 2, "max": 2}), None),
        ("items", check_of({"type": "count"}), None),
        ("total", check_of({"type": "number"}), None),
        ("total", check_of({"type": "number", "min": 20.5}), "total is 20, expected at least 20.5"),
        ("total", check_of({"type": "number", "max": -1}), "total is 20, expected at most -1"),
        ("total", check_of({"type": "number", "min": 1, "max": 2}), "total is 20, expected between 1 and 2"),
        ("total", check_of({"type": "number", "min": 1, "max": 1}), "total is 20, expected 1"),
        ("digits", check_of({"type": "number", "min": 1}), "expected a number at digits, found the text `18`"),
        ("ok", check_of({"type": "number", "min": 0}), "expected a number at ok, found true"),
        ("none", check_of({"type": "number"}), "expected a number at none, found null"),
        ("ok", check_of({"type": "value", "value": 1}), "ok is true, expected 1"),
        ("digits", check_of({"type": "value", "value": 18}), "digits is the text `18`, expected the number 18"),
        ("items", check_of({"type": "count", "min": 3}), "expected at least 3 items at items, found 2"),
        ("of", check_of({"type": "count", "min": 1}), "expected a list at of, found an object"),
        ("digits", check_of({"type": "count", "max": 5}), "expected a list at digits, found the text `18`"),
    ],
)
def test_values_at_a_place(ask: Ask, path: str, check: Check, message: str | None) -> None:
    verdict = ask(check_of({"type": "at", "path": path, "check": record_of(check)}), NUMBERS)
    assert verdict.outcome == ("passed" if message is None else "failed")
    assert verdict.message == message


def test_the_whole_response_may_be_the_value(ask: Ask) -> None:
    assert ask(check_of({"type": "number", "min": 42, "max": 42}), "```json\n42.0\n```").outcome == "passed"
    assert ask(check_of({"type": "value", "value": [1, {"a": None}]}), '[1, {"a": null}]').outcome == "passed"
    verdict = ask(check_of({"type": "count", "min": 1}), "no JSON")
    assert (verdict.outcome, verdict.message) == (
        "failed",
        "expected JSON but got 'no JSON': texts must be in double quotes (line 1, column 1)",
    )


def test_a_token_that_stands_alone_is_the_value_of_the_seed(ask: Ask) -> None:
    check = check_of({"type": "at", "path": "total", "check": {"type": "value", "value": "{{seed:limit}}"}})
    assert ask(check, NUMBERS, seed={"limit": 20}).outcome == "passed"
    assert ask(check, NUMBERS, seed={"limit": "20"}).outcome == "failed"
    assert ask(check, NUMBERS, seed={}).skipped_tokens == ("{{seed:limit}}",)


@pytest.mark.parametrize(
    "check", [check_of({"type": "number"}), check_of({"type": "count"}), check_of({"type": "value", "value": 1})]
)
def test_a_value_nested_too_deeply_is_an_error_or_a_failure(ask: Ask, check: Check) -> None:
    for depth in (400, 900, 100_000):
        assert ask(check, "[" * depth + "]" * depth).outcome in ("failed", "passed", "error")
        inner = '{"a": ' + "[" * depth + "]" * depth + "}"
        assert ask(check_of({"type": "at", "path": "a", "check": record_of(check)}), inner).outcome in (
            "failed",
            "passed",
            "error",
        )


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ('no item of a has b contains "x"', 'any item of a[].b contains "x"'),
        ('at a[*].b not contains "x"', 'any item of a[].b contains "x"'),
        ('no item of a[0].c contains "x"', 'any item of a[0].c[] contains "x"'),
        ('at a[0].b contains "x"', 'any item of a[0].b contains "x"'),
    ],
)
def test_the_line_for_what_is_only_inside_an_item_asks_all_items(ask: Ask, line: str, advice: str) -> None:
    advised, node = read_check(advice).node, read_check(line).node
    assert node is not None
    assert advised is not None
    response = '{"a": [{"b": ["xy"], "c": [["xy"]]}, {"b": ["y"], "c": []}]}'
    message = ask(node.check, response).message or ""
    assert message.endswith(f"write `{advice}` or `{advice.replace('any', 'no', 1)}`")
    assert ask(advised.check, response).outcome == "passed"
