"""The core schema, with its two exceptions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.source import Span
from evalc.diagnostics import Finding
from evalc.dsl.nodes import Mapping, Scalar, Sequence, Style, stretch
from evalc.dsl.scalars import Value, kind_of, to_plain, value_of


def scalar(text: str, style: Style = "plain", tag: str = "") -> Scalar:
    return Scalar(stretch(3, 3 + len(text)), text, style, tag)


def valued(node: Scalar) -> tuple[Value, list[tuple[Span, str]]]:
    found: list[tuple[Span, str]] = []

    def report(span: Span, finding: Finding) -> None:
        found.append((span, finding.code))

    return value_of(node, report), found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nULL", "nULL")),
        *(("true", True), ("True", True), ("TRUE", True), ("false", False), ("tRUE", "tRUE")),
        *((word, word) for word in ("yes", "no", "on", "off", "y", "n", "1:30", "2024-01-01", "1_000", "=", "<<")),
        *(("0", 0), ("-0", 0), ("+5", 5), ("12", 12), ("-12", -12), ("1" * 40, int("1" * 40))),
        *((text, text) for text in ("007", "00", "-007", "01.5", "+", "-", ".", "..", "1e", "0x", "0b1", "1.2.3", "٣")),
        *(("0x1F", 31), ("0o17", 15), ("0o8", "0o8"), ("-0x1F", "-0x1F"), ("0X1F", "0X1F")),
        *(("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("1E-2", 0.01), ("0.50", 0.5)),
    ],
)
def test_plain_scalars(text: str, value: Value) -> None:
    found, problems = valued(scalar(text))
    assert problems == []
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text", [".inf", "-.INF", "+.Inf", ".nan", ".NaN", "1e400", "-1e400", "9" * 5000, "0x" + "f" * 5000]
)
def test_numbers_that_json_cannot_hold(text: str) -> None:
    value, problems = valued(scalar(text))
    assert problems == [(Span(3, 3 + len(text)), "EV119")]
    assert value == text
    assert kind_of(scalar(text)) in {"int", "float"}


@pytest.mark.parametrize("style", ["single", "double", "literal", "folded", "hole"])
def test_other_styles_are_text(style: Style) -> None:
    assert valued(scalar("12", style)) == ("12", [])
    assert kind_of(scalar("true", style)) == "str"


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [
        ("12", "!!str", "12"),
        ("12", "!!int", 12),
        ("12", "!!float", 12.0),
        ("0x10", "!!float", 16.0),
        ("true", "!!bool", True),
        ("", "!!null", None),
    ],
)
def test_tags_have_the_last_word(text: str, tag: str, value: Value) -> None:
    for style in ("plain", "double"):
        assert valued(scalar(text, style, tag)) == (value, [])


@pytest.mark.parametrize(("text", "tag"), [("x", "!!int"), ("1.5", "!!int"), ("yes", "!!bool"), ("x", "!!null")])
def test_a_tag_that_does_not_fit(text: str, tag: str) -> None:
    assert valued(scalar(text, "plain", tag)) == (text, [(Span(3, 3 + len(text)), "EV117")])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_exactly(number: float) -> None:
    value, problems = valued(scalar(repr(number)))
    assert problems == []
    assert isinstance(value, float)
    assert math.copysign(1, value) == math.copysign(1, number)
    assert value == number


def test_trees_become_plain_data() -> None:
    tree = Mapping(
        stretch(0, 9), ((scalar("a"), Sequence(stretch(0, 9), (scalar("1"), scalar("x")))), (scalar("b"), scalar("")))
    )
    assert to_plain(tree, lambda *_: None) == {"a": [1, "x"], "b": None}
