"""Return what checks ask of JSON values; what a value cannot be asked is neither true nor false."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check import values as v
from evalc.check.tree import Bounds
from evalc.model.json import is_same

SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 5.0, 2**53, 2**53 + 1]) | st.text("a5 ")
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "required", "same"),
    [
        (5, 5.0, True),
        (5, "5", True),
        (5.0, "5", True),
        (5.0, "5.0", False),
        ("5", 5, False),
        ("5", "5", True),
        (True, "true", True),
        (True, 1, False),
        (None, "null", True),
        ([1, "a"], '[1,"a"]', True),
        ({"total": 5}, {"total": 5.0}, True),
        (["5"], [5], False),
        (2**53, 2**53 + 1, False),
        (float(2**53), 2**53 + 1, False),
    ],
)
def test_a_text_is_compared_with_the_text_of_a_value_and_other_values_as_json(
    value: Any, required: Any, same: bool
) -> None:
    assert v.equals(value, required) is same
    assert v.is_one_of(value, ["other", required]) is same


def test_case_is_ignored_where_it_is_asked() -> None:
    assert not v.equals("STRASSE", "straße")
    assert v.equals("STRASSE", "straße", ignoring_case=True)
    assert v.is_one_of("Paris", ["rome", "PARIS"], ignoring_case=True)
    assert v.contains(["Paris"], "paris", ignoring_case=True)
    assert v.occurrences("aAa", "A", ignoring_case=True) == 3


@given(VALUES)
def test_every_value_equals_its_json_and_its_text(value: Any) -> None:
    assert v.equals(value, v.text_of(value))
    assert isinstance(value, str) or v.equals(value, json.loads(v.text_of(value)))


@pytest.mark.parametrize(
    ("value", "empty"),
    [
        (None, True),
        ("", True),
        (" \n\u00a0\ufeff", True),
        ([], True),
        ({}, True),
        ("\x1c", False),
        ([0], False),
        ("a", False),
    ],
)
def test_empty(value: Any, empty: bool) -> None:
    assert v.is_empty(value) is empty


@pytest.mark.parametrize(
    ("value", "required", "contained"),
    [
        (["timeout"], "timeout", True),
        (["timeout", "timeout after 3s"], "timeout", True),
        (["late"], "timeout", False),
        (["timeout after 3s"], "timeout", "timeout after 3s"),
        (["a", "b"], 'a","b', ["a", "b"]),
        (['say "hi" now'], 'say "hi"', 'say "hi" now'),
        ([{"code": 'say "hi"'}], 'say "hi"', {"code": 'say "hi"'}),
        ([5], "5", True),
        ([5.0], 5, True),
        (["5"], 5, "5"),
        ([15], 5, False),
        ([], "a", False),
        ([True], True, True),
        ([1], True, False),
        ([{"id": 1}, {"id": 2}], {"id": 2.0}, True),
        ([{"id": 1, "n": 2}], {"id": 1}, False),
        ({"error": "timeout"}, "timeout", True),
        ({"error": "late"}, "timeout", False),
        ({"error": "late"}, "error", True),
        ("a timeout", "timeout", True),
        (1042, "04", True),
        (1042, 10, True),
        (None, "null", True),
    ],
)
def test_contains_looks_for_an_item_or_into_a_text(value: Any, required: Any, contained: Any) -> None:
    if isinstance(contained, bool):
        assert v.contains(value, required) is contained
        return
    with pytest.raises(v.OnlyInside) as caught:
        v.contains(value, required)
    assert (caught.value.sought, caught.value.found) == (required, contained)


@given(st.lists(SCALARS), SCALARS, st.booleans())
def test_a_list_without_the_item_in_its_json_contains_it_in_no_way(items: list[Any], required: Any, fold: bool) -> None:
    text, sought = (v.folded(v.text_of(each), fold) for each in (items, required))
    has_it = any(v.equals(item, required, ignoring_case=fold) for item in items)
    try:
        assert v.contains(items, required, ignoring_case=fold) is has_it
    except v.OnlyInside:
        assert not has_it
        assert sought in text
    else:
        assert has_it or sought not in text or not isinstance(required, str)


def test_occurrences_do_not_overlap_and_items_are_counted() -> None:
    assert v.occurrences("aaaa", "aa") == 2
    assert v.occurrences(["a", "b", "a"], "a") == 2
    assert v.occurrences({"a": "a"}, "a") == 2


@pytest.mark.parametrize(
    ("value", "bounds", "holds"),
    [
        (2**53 + 1, Bounds(above=2**53), True),
        (2**53 + 1, Bounds(above=float(2**53)), True),
        (2**53, Bounds(min=2**53 + 1), False),
        (5, Bounds(min=5.0, max=5.0), True),
        (5.0, Bounds(below=5), False),
        (5, Bounds(above=5), False),
        (6, Bounds(max=5), False),
        (10**400, Bounds(min=1e308), True),
        (7, Bounds(), True),
    ],
)
def test_orders_are_exact(value: Any, bounds: Bounds, holds: bool) -> None:
    assert v.is_between(value, bounds) is holds


@pytest.mark.parametrize(
    ("value", "distance", "of", "within"),
    [
        (0.1, 0.1, 0.2, True),
        (0.3, 0.1, 0.2, True),
        (0.30000000000000004, 0.1, 0.2, False),
        (20.5, 0.5, 20, True),
        (19.49, 0.5, 20, False),
        (2**53 + 1, 0, 2**53, False),
        (float("inf"), 1e308, 1e308, False),
        (1e-7, 1e-7, 0, True),
        (10**400, 1, 10**400 + 1, True),
    ],
)
def test_within_is_exact_in_decimal_digits(value: float, distance: float, of: float, within: bool) -> None:
    assert v.is_within(value, distance, of) is within


@given(st.decimals(0, 9, places=2), st.decimals(0, 9, places=2), st.decimals(0, 9, places=2))
def test_within_is_what_decimal_arithmetic_says(value: Decimal, distance: Decimal, of: Decimal) -> None:
    assert v.is_within(*map(float, (value, distance, of))) is (abs(value - of) <= distance)


@given(st.lists(NUMBERS) | st.lists(st.text()), st.booleans())
def test_sorted_is_what_sorting_makes(items: list[Any], descending: bool) -> None:
    in_order = sorted(items, reverse=descending)
    assert v.is_sorted(in_order, descending=descending)
    assert v.is_sorted(items, descending=descending) is (items == in_order)
    objects = [{"at": {"key": item}} for item in items]
    assert v.is_sorted(objects, descending=descending, by="at.key") is (items == in_order)


def test_texts_are_sorted_by_code_point() -> None:
    assert v.is_sorted(["10", "9", "Z", "a", "\uffff", "😀"])


@given(st.lists(VALUES))
def test_unique_is_that_no_two_items_are_the_same(items: list[Any]) -> None:
    pairs = [(one, other) for index, one in enumerate(items) for other in items[index + 1 :]]
    assert v.is_unique(items) is not any(is_same(one, other) for one, other in pairs)


@pytest.mark.parametrize(
    ("value", "types"),
    [
        ("", {"string"}),
        ("5", {"string"}),
        (5, {"number", "integer"}),
        (5.0, {"number", "integer"}),
        (5.5, {"number"}),
        (float("inf"), {"number"}),
        (True, {"boolean"}),
        (None, {"null"}),
        ([], {"array"}),
        ({}, {"object"}),
    ],
)
def test_types(value: Any, types: set[str]) -> None:
    assert {name for name in get_args(v.JsonType) if v.is_a(value, name)} == types


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: v.is_between("12 EUR", Bounds(min=10)), "expected a number, found the text `12 EUR`"),
        (lambda: v.is_between(True, Bounds(below=1)), "expected a number, found true"),
        (lambda: v.is_within(None, 1, 2), "expected a number, found null"),
        (lambda: v.measure(5, "words"), "expected a text, found the number 5"),
        (lambda: v.measure(["a"], "chars"), "expected a text, found a list of 1 item"),
        (lambda: v.count({}), "expected a list, found an empty object"),
        (lambda: v.is_empty(0), "expected a text, a list, an object or null, found the number 0"),
        (lambda: v.is_empty(False), "expected a text, a list, an object or null, found false"),
        (lambda: v.is_sorted("ab"), "expected a list, found the text `ab`"),
        (lambda: v.is_sorted([1, "a"]), "expected only numbers or only texts in the list, found the text `a`"),
        (
            lambda: v.is_sorted([{"a": [1, 9]}, {"a": [2, 0]}], by="a[]"),
            "expected only numbers or only texts at a[] of the items, found nothing",
        ),
        (
            lambda: v.is_sorted([{"a": []}], by="a[]"),
            "expected only numbers or only texts at a[] of the items, found nothing",
        ),
        (lambda: v.is_sorted([True]), "expected only numbers or only texts in the list, found true"),
        (lambda: v.is_sorted([{}], by="n"), "expected only numbers or only texts at n of the items, found nothing"),
        (lambda: v.has_format(2024, "date"), "expected a text, found the number 2024"),
        (lambda: v.is_unique(""), "expected a list, found an empty text"),
        (lambda: v.contains(["ab", "bc"], "b"), "expected an item `b`, found the text `ab`"),
    ],
)
def test_a_value_that_cannot_be_asked_is_named(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(v.CannotAsk) as caught:
        ask()
    assert str(caught.value) == message


def test_measures() -> None:
    assert v.measure("Hi. You\n", "words") == 2
    assert v.measure("Hi. You\n", "sentences") == 2
    assert v.count([1, 2]) == 2


def test_one_number_is_within_all_of_its_bounds() -> None:
    assert not v.is_between(5, Bounds(min=5, max=5, above=5))
    assert not v.is_between(5, Bounds(min=5, max=5, below=5))
    assert v.is_between("x", Bounds(min=5, max=5)) is False
