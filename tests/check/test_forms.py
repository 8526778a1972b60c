"""Each form of a check in JSON is its own inverse: a record's tree is written as that record."""

from typing import Any

import pytest

from evalc.check.contract import fields_of, rank
from evalc.check.forms import FORMS, check_of, record_of
from evalc.check.tree import Bounds, Measure, Of, Test

_TEXT = {"type": "contains", "value": "a"}
RECORDS: list[dict[str, Any]] = [
    _TEXT,
    {"type": "contains", "value": 5},
    {"type": "not_contains", "value": "a"},
    {"type": "not", "check": {"type": "contains", "value": 5}},
    {"type": "icontains", "value": "a"},
    {"type": "contains_any", "values": ["a", "b"]},
    {"type": "contains_any", "values": ["a"], "ignoringCase": True},
    {"type": "contains_all", "values": ["a", 2, [3]]},
    {"type": "occurs", "value": "a", "min": 2, "max": 3},
    {"type": "regex", "pattern": "a", "flags": "i"},
    {"type": "equals", "value": "a"},
    {"type": "equals", "value": "a", "ignoringCase": True},
    {"type": "starts_with", "value": "a"},
    {"type": "ends_with", "value": "a"},
    {"type": "non_empty"},
    {"type": "empty"},
    {"type": "exists"},
    {"type": "similar", "value": "a"},
    {"type": "similar", "value": "a", "threshold": 0.5},
    {"type": "markdown", "has": "code block", "language": "python"},
    {"type": "language", "of": "English"},
    {"type": "json"},
    {"type": "json", "mode": "lenient", "schema": {"type": "object"}},
    {"type": "structure", "fields": [{"path": "a"}, {"path": "b[].c", "type": "string"}]},
    {"type": "structure", "headings": ["A", "B"]},
    {"type": "number", "min": 1},
    {"type": "number", "above": 1, "below": 2.5},
    {"type": "count", "min": 2, "max": 2},
    {"type": "value", "value": None},
    {"type": "value", "value": {"a": [1, "b", True]}},
    {"type": "within", "by": 0.5, "of": 20},
    {"type": "one_of", "values": ["a", 1, None]},
    {"type": "is_a", "of": "integer"},
    {"type": "format", "of": "date"},
    {"type": "sorted"},
    {"type": "sorted", "descending": True, "by": "price"},
    {"type": "unique"},
    {"type": "numbers_from"},
    {"type": "quotes_from", "sources": ["tools", "message"]},
    {"type": "tools_called", "names": []},
    {"type": "tools_acceptable", "sets": [["a"], ["__none__"]]},
    {"type": "tools_not_called", "names": ["a"]},
    {"type": "tools_include", "names": ["a", "a"]},
    {"type": "tools_in_order", "names": ["a", "b"]},
    {"type": "tools_only", "names": ["a"]},
    {"type": "called_before", "first": "a", "then": "b"},
    {"type": "tool_param", "tool": "t", "paramName": "p", "assertion": "equals", "value": "a"},
    {"type": "tool_param", "tool": "t", "paramName": "p", "assertion": "contains", "value": "a"},
    {"type": "tool_param", "tool": "t", "paramName": "p", "assertion": "oneOf", "value": ["a", "b"]},
    {"type": "tool_param", "tool": "t", "paramName": "p", "assertion": "matches", "value": "a"},
    {"type": "tool_param", "tool": "t", "paramName": "p", "assertion": "exists"},
    {"type": "tool_param", "tool": "t", "paramName": "p", "assertion": "notExists"},
    {"type": "argument", "tool": "t", "name": "p", "check": {"type": "number", "min": 2}},
    {"type": "call_has", "tool": "t", "args": {"a": {"equals": "x"}, "b.c": {"min": 1, "max": 2, "exists": True}}},
    {"type": "call_has", "tool": "t", "which": 2, "args": {"a": {"oneOf": ["x", 1]}, "b": {"exists": False}}},
    {"type": "call_has", "tool": "t", "which": "no", "args": {"a": {"matches": "x"}, "b": {"contains": "y"}}},
    {"type": "call", "tool": "t", "which": "every", "check": {"type": "at", "path": "a", "check": {"type": "empty"}}},
    {"type": "call", "tool": "t", "check": {"type": "result", "check": _TEXT}},
    {"type": "call", "tool": "t", "check": {"type": "failure", "check": _TEXT}},
    {"type": "call", "tool": "t", "which": "every", "check": {"type": "fails"}},
    {"type": "fails"},
    {"type": "result", "check": _TEXT},
    {"type": "failure", "check": _TEXT},
    {"type": "no_tool_errors"},
    {"type": "tool_count", "min": 1},
    {"type": "tool_count", "min": 2, "max": 2, "tool": "t"},
    {"type": "tool_errors", "max": 1},
    {"type": "length", "min": 3, "max": 10, "unit": "words"},
    {"type": "length", "below": 10},
    {"type": "latency", "max": 2000},
    {"type": "latency", "below": 2000},
    {"type": "tokens", "max": 5},
    {"type": "cost", "max": 0.5},
    {"type": "usage", "of": "total_tokens", "max": 500},
    {"type": "measure", "of": "words", "check": {"type": "one_of", "values": [5, 10]}},
    {"type": "measure", "of": "calls", "tool": "t", "check": {"type": "within", "by": 1, "of": 5}},
    {"type": "check", "name": "overlap", "args": ["a", 1], "options": {"b": [2]}},
    {"type": "check", "name": "overlap", "min": 0.7},
    {"type": "at", "path": "a.b", "check": {"type": "not_contains", "value": "x"}},
    {"type": "file", "path": "out/a.md", "check": {"type": "not_contains", "value": "x"}},
    {"type": "items", "path": "items[]", "which": "every", "check": {"type": "number", "above": 0}},
    {"type": "turn", "turn": 2, "check": {"type": "non_empty"}},
    {"type": "any_of", "checks": [_TEXT, {"type": "unique"}]},
    {"type": "all_of", "checks": [_TEXT, {"type": "unique"}]},
    {"type": "not", "check": {"type": "unique"}},
    {"type": "judge", "dimension": "d", "criteria": "Is it kind?", "minScore": 1},
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["type"]))
def test_a_record_is_what_its_tree_is_written_as(record: dict[str, Any]) -> None:
    written = record_of(check_of(record))
    assert written == record
    assert list(written) == list(record)


def test_each_form_has_a_record() -> None:
    assert {record["type"] for record in RECORDS} == {form.type for form in FORMS} | {"call_has"}


@pytest.mark.parametrize("limit", [0, 1, 1.0, 5, "{{seed:n}}", None])
@pytest.mark.parametrize("of", ["chars", "calls", "ms", "words"])
def test_bounds_are_ranked_by_what_their_limits_are(of: Any, limit: Any) -> None:
    """Limits that are equal, such as 1 and 1.0, may be held by different fields."""
    for bounds in (Bounds(min=limit), Bounds(max=limit), Bounds(limit, 7)):
        check = Of(Measure(of), Test("between", bounds))
        _, is_entry, _ = rank(check)
        assert is_entry is not bool(fields_of(check))
