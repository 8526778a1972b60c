"""Values of bare templates: what each place makes of a cell of CSV and of a value of JSON Lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.blanks import Given, Misfit, fitted
from evalc.check.tree import NO_TOOL, Asked, Blank
from evalc.ecma import to_json
from evalc.model.json import is_same

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e15, 1e15) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
ASKED: tuple[Asked, ...] = ("number", "whole", "items", "names", "sets", "flag", "any")


def of_cell(asks: Asked, cell: str, scale: float = 1) -> Any:
    return fitted(Blank("{{x}}", asks, scale), Given(cell, cell, is_cell=True))


def of_json(asks: Asked, value: Any, scale: float = 1) -> Any:
    return fitted(Blank("{{x}}", asks, scale), Given(json.dumps(value), value))


@given(st.text())
def test_where_a_text_is_asked_a_cell_is_what_it_is(cell: str) -> None:
    assert of_cell("text", cell) == cell


@given(st.text())
def test_where_any_value_fits_a_cell_is_the_text_or_a_value_that_is_written_like_it(cell: str) -> None:
    value = of_cell("any", cell)
    if cell.strip():
        assert (
            value == cell if isinstance(value, str) and value == cell else cell in (to_json(value), json.dumps(value))
        )


@given(JSON)
def test_where_any_value_fits_a_cell_as_javascript_writes_a_value_is_that_value(value: Any) -> None:
    found = of_cell("any", to_json(value))
    assert is_same(found, value)


AS_TEXTS = "007|1.10|1e5|1.0|-0|+5| 5|5 |NaN|nan|Infinity|1e999|True|NULL|12 EUR|0x1|1_000|٣|[1,  2]|[1|'a'|{{n}}"


@pytest.mark.parametrize("cell", [*AS_TEXTS.split("|"), '{"a":1,"a":1}', "[" * 100_000])
def test_where_any_value_fits_other_cells_stay_texts(cell: str) -> None:
    assert of_cell("any", cell) == cell


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *(("5", 5), ("-1.5", -1.5), ("true", True), ("null", None), ("[1,2]", [1, 2]), ('["a", "b"]', ["a", "b"])),
        *(('{"a": [1]}', {"a": [1]}), ("9007199254740993", 9007199254740993), ('"5"', "5"), ("1e+21", 1e21)),
    ],
)
def test_where_any_value_fits_json_is_a_value(cell: str, value: Any) -> None:
    found = of_cell("any", cell)
    assert (found, type(found)) == (value, type(value))


@given(JSON)
def test_values_of_json_keep_their_types(value: Any) -> None:
    assert of_json("any", value) is value
    is_filled = isinstance(value, list) and bool(value)
    assert isinstance(of_json("items", value), Misfit) is not is_filled
    assert isinstance(of_json("flag", value), Misfit) is not isinstance(value, bool)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    assert isinstance(of_json("number", value), Misfit) is not is_number
    if is_number:
        assert of_json("number", value) == value


@given(st.lists(st.lists(st.text(min_size=1, max_size=3), max_size=3), max_size=3))
def test_names_of_tools_are_texts_and_an_empty_set_is_no_tool(value: list[list[str]]) -> None:
    for names in value:
        assert of_json("names", names) == tuple(names)
    assert of_json("sets", value) == tuple(tuple(names) or (NO_TOOL,) for names in value)


@given(JSON)
def test_a_cell_fits_where_the_value_that_it_writes_fits(value: Any) -> None:
    for asks in ASKED[:-1]:
        in_json, in_cell = of_json(asks, value), of_cell(asks, json.dumps(value))
        assert isinstance(in_json, Misfit) is isinstance(in_cell, Misfit)
        assert isinstance(in_json, Misfit) or is_same(in_json, in_cell)


@given(st.sampled_from(ASKED), st.text(st.sampled_from(" \t\n\r\u00a0")))
def test_an_empty_cell_fits_texts_alone(asks: Asked, cell: str) -> None:
    found = of_cell(asks, cell)
    assert isinstance(found, Misfit)
    assert found.is_empty
    assert of_cell("text", cell) == cell
    assert of_json("any", "") == ""


@pytest.mark.parametrize(
    ("asks", "cell", "required", "found"),
    [
        ("number", "12 EUR", "a number", "the text `12 EUR`"),
        ("number", "007", "a number", "the text `007`"),
        ("number", "true", "a number", "true"),
        ("number", "NaN", "a number", "the text `NaN`"),
        ("number", "9" * 400, "a number", "the number 9"),
        ("whole", "2.5", "a whole number", "the number 2.5"),
        ("whole", "-1", "a whole number", "the number -1"),
        ("items", "smoke", "a list that is not empty", "the text `smoke`"),
        ("items", "[]", "a list that is not empty", "an empty list"),
        ("names", "[1]", "a list of names", "a list of 1 item"),
        ("names", '[""]', "a list of names", "a list of 1 item"),
        ("sets", '["a"]', "a list of lists of names", "a list of 1 item"),
        ("sets", '[[""]]', "a list of lists of names", "a list of 1 item"),
        ("flag", "TRUE", "`true` or `false`", "the text `TRUE`"),
        ("flag", "1", "`true` or `false`", "the number 1"),
    ],
)
def test_a_cell_that_does_not_fit_is_said_in_words(asks: Asked, cell: str, required: str, found: str) -> None:
    misfit = of_cell(asks, cell)
    assert isinstance(misfit, Misfit)
    assert misfit.required == required
    assert misfit.found.startswith(found)
    assert not misfit.is_empty


@pytest.mark.parametrize(
    ("cell", "scale", "value"),
    [
        *(("4.35", 1000, 4350), ("0.1", 1000, 100), ("1.5", 60_000, 90_000), ("70", 0.01, 0.7), ("29", 0.01, 0.29)),
        *(("5.0", 1, 5), (" 5 ", 1, 5), ("1e3", 1, 1000), ("9007199254740993", 1, 9007199254740993)),
    ],
)
def test_a_number_is_in_the_unit_of_its_place(cell: str, scale: float, value: float) -> None:
    found = of_cell("number", cell, scale)
    assert (found, type(found)) == (value, type(value))
