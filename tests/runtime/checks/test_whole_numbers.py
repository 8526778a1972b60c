"""Whole numbers that a double cannot hold: an id is never taken for its neighbour, wherever it comes from."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.source import Source
from evalc.check.contract import assertions
from evalc.check.forms import check_of
from evalc.check.tree import Check
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.model.answer import ToolCall
from tests.runtime.checks.conftest import Ask

ID: Final = 9007199254740993
TOKEN: Final = "{{seed:id}}"
CHECKS: Final[dict[str, Check]] = {
    "contains": check_of({"type": "contains", "value": f'"id":{TOKEN}'}),
    "at equals": check_of({"type": "at", "path": "id", "check": {"type": "equals", "value": TOKEN}}),
    "at starts": check_of({"type": "at", "path": "id", "check": {"type": "starts_with", "value": TOKEN}}),
    "at any": check_of({"type": "at", "path": "id", "check": {"type": "contains_any", "values": (TOKEN,)}}),
    "whole": check_of({"type": "at", "path": "all", "check": {"type": "equals", "value": f'["x",{TOKEN}]'}}),
    "value": check_of({"type": "at", "path": "id", "check": {"type": "value", "value": TOKEN}}),
    "param equals": check_of(
        {"type": "tool_param", "tool": "t", "paramName": "id", "assertion": "equals", "value": TOKEN}
    ),
    "param contains": check_of(
        {"type": "tool_param", "tool": "t", "paramName": "id", "assertion": "contains", "value": TOKEN}
    ),
    "param one of": check_of(
        {"type": "tool_param", "tool": "t", "paramName": "id", "assertion": "oneOf", "value": (TOKEN,)}
    ),
    "call equals": check_of({"type": "call_has", "tool": "t", "which": "any", "args": {"id": {"equals": TOKEN}}}),
    "call one of": check_of({"type": "call_has", "tool": "t", "which": "any", "args": {"id": {"oneOf": (TOKEN,)}}}),
    "call contains": check_of({"type": "call_has", "tool": "t", "which": "any", "args": {"id": {"contains": TOKEN}}}),
}


def outcome(check: Check, given_id: int, seed_id: int = ID) -> str:
    response = json.dumps({"id": given_id, "all": ["x", given_id]}, separators=(",", ":"))
    calls = (ToolCall(name="t", params={"id": given_id}),)
    return Ask()(check, response, tool_calls=calls, seed={"id": seed_id}).outcome


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
@pytest.mark.parametrize("size", [2**53 + 1, 2**64 + 1, 10**21 + 1, 10**40 + 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_whole_number_of_the_seed_is_exact(check: Check, size: int, sign: int) -> None:
    number = sign * size
    assert outcome(check, number, number) == "passed"
    assert [outcome(check, number + step, number) for step in (-1, 1)] == ["failed", "failed"]


@pytest.mark.parametrize("schema", ["const", "enum", "minimum", "maximum"])
def test_a_whole_number_of_a_schema_is_exact(schema: str) -> None:
    rule = {schema: [ID] if schema == "enum" else ID}
    check = check_of({"type": "json", "mode": "lenient", "schema": {"properties": {"id": rule}}})
    off = ID + 1 if schema == "maximum" else ID - 1
    assert (outcome(check, ID), outcome(check, off)) == ("passed", "failed")


ROWS: Final = f"""\
suite: s
eval:
  test_cases:
    - name: a
      message: Find {{{{id}}}}
      for_each: [{{name: one, id: {ID}}}]
      validate:
        - contains "{{{{id}}}}"
        - at id equals "{{{{id}}}}"
        - tool t.id equals "{{{{id}}}}"
        - {{type: value, at: id, rule: {ID}}}
        - {{type: call_has, tool: t, args: {{id: {ID}}}}}
"""


def test_a_whole_number_of_a_row_and_of_a_line_is_exact() -> None:
    (suite,) = compile_sources([Source("s.eval.yaml", ROWS)], CompileOptions()).suites
    (case,) = suite.cases()
    assert (case.input.inputs or {})["id"] == ID
    checks = [assertion.check for assertion in assertions(case.expect)]
    assert len(checks) == 5
    for check in checks:
        assert outcome(check, ID) == "passed", check
        assert outcome(check, ID - 1) == "failed", check


@given(st.integers(2**53, 10**30), st.integers(-3, 3))
def test_two_numbers_are_the_same_only_if_all_their_digits_are(number: int, step: int) -> None:
    for name in ("value", "at equals", "param equals", "call equals"):
        check: Any = CHECKS[name]
        assert (outcome(check, number + step, number) == "passed") is (step == 0)


def test_a_number_of_very_many_digits_is_read(ask: Ask) -> None:
    for digits in ("1" * 299, "9" * 5_000, "-" + "9" * 100_000):
        check = check_of({"type": "json", "mode": "lenient", "schema": {"properties": {"id": {"multipleOf": 0.5}}}})
        assert ask(check, f'{{"id": {digits}}}').outcome in ("passed", "failed", "error")
        assert ask(
            check_of({"type": "at", "path": "id", "check": {"type": "number", "min": 0}}), f'{{"id": {digits}}}'
        ).outcome in ("passed", "failed")
