"""The predicates: their rows, the texts of a check, and whether a value has a predicate: of text, number or set."""

from typing import Any

import pytest

from evalc.check.forms import check_of
from evalc.check.predicates import HOLDS, PREDICATES, holds, mapped, texts_of
from evalc.check.tree import Bounds, Test, within
from evalc.check.values import CannotAsk
from tests.check.test_forms import RECORDS


def test_each_predicate_has_a_form() -> None:
    checks = [check_of(record) for record in RECORDS]
    tests = [part for check in checks for part in within(check) if isinstance(part, Test)]
    assert {test.predicate for test in tests} == PREDICATES.keys()


def test_the_texts_of_a_check_are_those_that_are_changed() -> None:
    check = check_of({"type": "call_has", "tool": "t", "args": {"a": {"equals": "x"}, "b": {"matches": "y"}}})
    assert [text for _, text in texts_of(check)] == ["t", "a", "x", "b", "y"]
    loud = mapped(check, lambda role, text: text if role.names else str(text).upper())
    assert [text for _, text in texts_of(loud)] == ["T", "a", "X", "b", "Y"]


def test_a_check_whose_texts_stay_is_the_same_one() -> None:
    for record in RECORDS:
        check = check_of(record)
        assert mapped(check, lambda _, text: text) is check


@pytest.mark.parametrize(
    ("test", "holding", "failing"),
    [
        (Test("contains", "a"), "cat", "A"),
        (Test("contains", "a", True), "A", "b"),
        (Test("contains", 1), [1.0], [True]),
        (Test("contains_any", ("a", 1)), "cat", "dog"),
        (Test("contains_all", ("a", "b")), ["b", "a"], ["a"]),
        (Test("occurs", ("a", Bounds(min=2))), "banana", "cat"),
        (Test("equals", "1"), 1, 2),
        (Test("is", True), True, 1),
        (Test("one_of", ("a", 1)), 1, "b"),
        (Test("starts_with", "A", True), "ab", "ba"),
        (Test("ends_with", "a"), "ba", "ab"),
        (Test("between", Bounds(above=1)), 1.5, 1),
        (Test("within", (1, 20)), 21, 22),
        (Test("empty"), " ", "a"),
        (Test("non_empty"), [0], {}),
        (Test("is_a", "number"), 1, "1"),
        (Test("format", "date"), "2026-01-31", "soon"),
        (Test("sorted", (False, None)), [1, 2], [2, 1]),
        (Test("sorted", (True, "p")), [{"p": 2}, {"p": 1}], [{"p": 1}, {"p": 2}]),
        (Test("unique"), [1, True], [1, 1.0]),
        (Test("called", ("a",)), ("a",), ("a", "a")),
        (Test("acceptable", (("a", "b"), ("__none__",))), (), ("a",)),
        (Test("not_called", ("a",)), ("b",), ("b", "a")),
        (Test("include", ("a", "a")), ("a", "b", "a"), ("a",)),
        (Test("in_order", ("a", "b")), ("a", "c", "b"), ("b", "a")),
        (Test("only", ("a",)), ("a", "a"), ("a", "b")),
        (Test("before", ("a", "b")), ("a", "b", "a"), ("b", "a", "b")),
    ],
    ids=str,
)
def test_a_predicate_holds_of_some_values_and_not_of_others(test: Test, holding: Any, failing: Any) -> None:
    assert holds(holding, test)
    assert not holds(failing, test)


def test_only_predicates_have_an_answer() -> None:
    assert HOLDS.keys() <= PREDICATES.keys()


@pytest.mark.parametrize(
    ("required", "holds_any", "holds_all"),
    [
        (("a", "b"), True, None),
        (("b", "a"), True, None),
        (("b", "z"), None, False),
        (("z", "b"), None, False),
        (("b",), None, None),
        (("a", "z"), True, False),
    ],
)
def test_a_text_only_inside_an_item_decides_nothing(
    required: tuple[str, ...], holds_any: bool | None, holds_all: bool | None
) -> None:
    for predicate, expected in (("contains_any", holds_any), ("contains_all", holds_all)):
        test = Test(predicate, required)
        if expected is None:
            with pytest.raises(CannotAsk):
                holds(["a", "bc"], test)
        else:
            assert holds(["a", "bc"], test) is expected
