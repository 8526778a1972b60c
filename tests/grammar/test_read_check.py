"""Lines of checks, the records that they mean, and the places of their texts."""

# ruff: noqa: E501 - the table holds a record for each line

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import record_of
from evalc.check.predicates import texts_of
from evalc.check.tree import All, At, Blank, Bounds, Call, Measure, Of, Test
from evalc.grammar import read_check as reader
from evalc.grammar.nodes import PatternAtom, Text
from evalc.grammar.read_check import read_check

LINES: list[tuple[str, dict[str, Any]]] = [
    ('the answer should not contain "a"', {"type": "not_contains", "value": "a"}),
    ('!contains "a" && json', {"type": "all_of", "checks": [{"type": "not_contains", "value": "a"}, {"type": "json"}]}),
    ('in turn 2 mentions "a" twice', {"type": "turn", "turn": 2, "check": {"type": "occurs", "value": "a", "min": 2, "max": 2}}),
    ('contains one of "a", "b" ignore case', {"type": "contains_any", "values": ["a", "b"], "ignoringCase": True}),
    ('contains none of ["a"]', {"type": "not", "check": {"type": "contains_any", "values": ["a"]}}),
    ("contains all of [1, null]", {"type": "contains_all", "values": [1, None]}),
    ("at most 50 words", {"type": "length", "max": 50, "unit": "words"}),
    ("should have length between 5 and 10", {"type": "length", "min": 5, "max": 10}),
    ("length is not 5", {"type": "not", "check": {"type": "length", "min": 5, "max": 5}}),
    ("has exactly 3 sentences", {"type": "length", "min": 3, "max": 3, "unit": "sentences"}),
    ("count 3", {"type": "count", "min": 3, "max": 3}),
    ("at $.items.0.price over 10", {"type": "at", "path": "items[0].price", "check": {"type": "number", "above": 10}}),
    ("at least >= 5", {"type": "at", "path": "least", "check": {"type": "number", "min": 5}}),
    ('at n != 5', {"type": "at", "path": "n", "check": {"type": "not", "check": {"type": "value", "value": 5}}}),
    ('at n is "5"', {"type": "at", "path": "n", "check": {"type": "equals", "value": "5"}}),
    ("at n is missing", {"type": "at", "path": "n", "check": {"type": "not", "check": {"type": "exists"}}}),
    ("at n is an integer", {"type": "at", "path": "n", "check": {"type": "is_a", "of": "integer"}}),
    ("at d is a date-time", {"type": "at", "path": "d", "check": {"type": "format", "of": "date-time"}}),
    ("at l is sorted descending by a.b", {"type": "at", "path": "l", "check": {"type": "sorted", "descending": True, "by": "a.b"}}),
    ("at n within 1 of 20", {"type": "at", "path": "n", "check": {"type": "within", "by": 1, "of": 20}}),
    ("at a.words words <= 5", {"type": "at", "path": "a.words", "check": {"type": "length", "max": 5, "unit": "words"}}),
    ("at items[*].price > 0", {"type": "items", "path": "items[].price", "which": "every", "check": {"type": "number", "above": 0}}),
    ("no item of tags is empty", {"type": "items", "path": "tags[]", "which": "no", "check": {"type": "empty"}}),
    (
        'every item of items has price > 0, sku "A"',
        {
            "type": "items", "path": "items[]", "which": "every",
            "check": {"type": "all_of", "checks": [
                {"type": "at", "path": "price", "check": {"type": "number", "above": 0}},
                {"type": "at", "path": "sku", "check": {"type": "equals", "value": "A"}},
            ]},
        },
    ),
    ("tool t.n >= 2", {"type": "argument", "tool": "t", "name": "n", "check": {"type": "number", "min": 2}}),
    ('tool t.n not equals "a"', {"type": "not", "check": {"type": "tool_param", "tool": "t", "paramName": "n", "assertion": "equals", "value": "a"}}),
    ("tool t.n is missing", {"type": "tool_param", "tool": "t", "paramName": "n", "assertion": "notExists"}),
    ("tool t called", {"type": "tools_include", "names": ["t"]}),
    ("tool t should not be called", {"type": "tools_not_called", "names": ["t"]}),
    ("tool t not not called", {"type": "not", "check": {"type": "not", "check": {"type": "tools_include", "names": ["t"]}}}),
    ("tool t called at least twice", {"type": "tool_count", "min": 2, "tool": "t"}),
    ("tool t called after u", {"type": "called_before", "first": "u", "then": "t"}),
    ("tools called a, b", {"type": "tools_called", "names": ["a", "b"]}),
    ('any call of t has a.b "x", c >= 2', {"type": "call_has", "tool": "t", "args": {"a.b": {"equals": "x"}, "c": {"min": 2}}}),
    ('any call of t returns status "ok"', {"type": "call", "tool": "t", "check": {"type": "result", "check": {"type": "at", "path": "status", "check": {"type": "equals", "value": "ok"}}}}),
    ('any call of t returns contains "ok"', {"type": "call", "tool": "t", "check": {"type": "result", "check": {"type": "contains", "value": "ok"}}}),
    ("no call of t fails", {"type": "call", "tool": "t", "which": "no", "check": {"type": "fails"}}),
    ('call 2 of t fails with contains "x"', {"type": "call", "tool": "t", "which": 2, "check": {"type": "failure", "check": {"type": "contains", "value": "x"}}}),
    ("the response time should be below 2 seconds", {"type": "latency", "below": 2000}),
    ("cost is $0.5", {"type": "cost", "max": 0.5, "min": 0.5}),
    ("output tokens <= 100", {"type": "usage", "of": "output_tokens", "max": 100}),
    ('json matches schema {"type": "object"}', {"type": "json", "schema": {"type": "object"}}),
    ("has a code block in python", {"type": "markdown", "has": "code block", "language": "python"}),
    ("is in German", {"type": "language", "of": "German"}),
    ('check f("a", n=1) >= 70%', {"type": "check", "name": "f", "args": ["a"], "options": {"n": 1}, "min": 0.7}),
    ("contains 5 ignoring case", {"type": "contains", "value": 5}),
    ("is not true ignoring case", {"type": "not", "check": {"type": "value", "value": True}}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "record"), LINES, ids=[line for line, _ in LINES])
def test_a_line_means_a_record(line: str, record: dict[str, Any]) -> None:
    node = read_check(line).node
    assert node is not None
    assert record_of(node.check) == record


@pytest.mark.parametrize("line", [line for line, _ in LINES])
def test_each_text_has_its_place(line: str) -> None:
    node = read_check(line).node
    assert node is not None
    texts = [text for _, text in texts_of(node.check)]
    assert len(node.places) == len(texts)
    for text, place in zip(texts, node.places, strict=True):
        said = place.pattern if isinstance(place, PatternAtom) else place.value
        assert said in (text, "items[*].price", "$.items.0.price")
        assert line[place.start : place.end].strip("\"'/") == said


def test_bare_templates_are_blanks_that_say_what_their_place_asks() -> None:
    def blank(line: str) -> Any:
        node = read_check(line).node
        assert node is not None
        (place,) = [place for place in node.places if isinstance(place, Text) and place.value.startswith("{{")]
        assert line[place.start : place.end] == place.value
        return node.check

    assert blank("contains {{x}}") == Test("contains", Blank("{{x}}", "text"))
    assert blank("is {{x}}") == Test("is", Blank("{{x}}", "any"))
    assert blank("one of {{x}}") == Test("one_of", Blank("{{x}}", "items"))
    assert blank("latency < {{x}}s") == Of(Measure("ms"), Test("between", Bounds(below=Blank("{{x}}", "number", 1000))))
    assert blank("any call of t has a one of {{x}}, b exists") == Of(
        Call("t"), All((Of(At("a"), Test("one_of", Blank("{{x}}", "items"))), Of(At("b"), Test("exists"))))
    )
    assert blank("at most {{x}} words") == Of(Measure("words"), Test("between", Bounds(max=Blank("{{x}}", "whole"))))
    assert blank('similar to "a" >= {{x}}%') == Test("similar", ("a", Blank("{{x}}", "number", 0.01)))


_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\"'\\\n"), max_size=8)


@given(st.sampled_from(LINES), _TEXTS)
def test_a_line_read_by_its_shape_is_what_it_is_read_with_care(case: tuple[str, dict[str, Any]], text: str) -> None:
    line = case[0].replace('"a"', f'"{text}"').replace('"x"', f'"{text}"').replace('"ok"', f"'{text}'")
    by_shape, with_care = read_check(line), reader._read_with_care(line)
    assert by_shape.faults == with_care.faults
    if by_shape.node is not None and with_care.node is not None:
        assert by_shape.node.check == with_care.node.check
        assert tuple(by_shape.node.places) == tuple(with_care.node.places)
        assert (by_shape.node.start, by_shape.node.end) == (with_care.node.start, with_care.node.end)


@pytest.mark.parametrize(
    "line",
    [
        'any call of t has "a" 1, a 2',
        'any call of t has "a" 1, "a" 2',
        'any call of t has "a" exists, b >= 1, a <= 2',
        'any call of t has "a" exists, b >= 1, "c" <= 2',
        'at "a" contains "b" for "c"',
    ],
)
def test_keys_in_quotes_are_compared_with_the_others(line: str) -> None:
    assert (read_check(line).node is None) == (reader._read_with_care(line).node is None)
    by_shape, with_care = read_check(line).node, reader._read_with_care(line).node
    assert by_shape is with_care is None or (by_shape and with_care and by_shape.check == with_care.check)
