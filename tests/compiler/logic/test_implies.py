"""Return what follows from predicates of one subject, or of what is inside it; soundness is held on drawn values."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.check.tree import (
    Argument,
    At,
    Bounds,
    Call,
    Check,
    File,
    Items,
    Measure,
    Not,
    Of,
    Result,
    Step,
    Test,
    Tools,
    Turn,
)
from evalc.compiler.logic.formula import formula_of, negation
from evalc.compiler.logic.implies import always, implies, never

_EVERY = Items("items[]", "every")
_ANY = Items("items[]", "any")
_NO = Items("items[]", "no")


def _at(path: str, check: Check) -> Check:
    return Of(At(path), check)


def _is(value: Any) -> Check:
    return Test("equals" if isinstance(value, str) else "is", value)


def _between(**bounds: float) -> Check:
    return Test("between", Bounds(**bounds))


def _a(type_: str) -> Check:
    return Test("is_a", type_)


def _text(predicate: str, text: str, *, folded: bool = False) -> Check:
    return Test(predicate, text, folded)


SUBJECTS: dict[str, tuple[Step, ...]] = {
    "a place": (At("a"),),
    "an argument": (Call("t", "first"), Argument("p")),
    "an argument of a call": (Call("t", 2), At("p")),
    "a result": (Call("t", 1), Result()),
    "a place in a file": (File("a.json"), At("p")),
    "a turn": (Turn(2), At("a")),
    "every item": (_EVERY,),
    "every argument": (Call("t", "every"), At("p")),
}

EXCLUDED = [
    (_is("a"), _between(min=4, max=4)),
    (_is("a"), _between(min=4)),
    (_is(1042), _is("ok")),
    (_is("a"), _is(True)),
    (_is(1), _is(True)),
    (_is(5), Not(_is(5.0))),
    (_between(min=3), _between(below=3)),
    (_between(above=3), _between(max=3)),
    (Test("within", (1, 5)), _between(above=6.5)),
    (Test("within", (1, 5)), Test("within", (1, 8))),
    (_a("number"), _a("string")),
    (_a("integer"), Test("sorted", (False, None))),
    (_a("boolean"), _between(min=0)),
    (Test("format", "date"), _a("number")),
    (Test("empty"), Test("non_empty")),
    (Test("empty"), _text("starts_with", "Dear")),
    (Test("empty"), _a("boolean")),
    (_is([1]), Of(Measure("items"), _between(min=2))),
    (_is([2, 1]), Test("sorted", (False, None))),
    (_is([1, 1.0]), Test("unique")),
    (_a("string"), Of(Measure("items"), _between(min=2))),
    (_a("object"), Of(Measure("words"), _between(max=9))),
    (Test("one_of", ("a", "b")), _is(5)),
    (Test("one_of", (1, 2)), _between(min=3)),
    (_text("equals", "Rome", folded=True), _text("starts_with", "pa", folded=True)),
    (Not(Test("exists")), _between(min=3)),
    (_text("contains", "abc"), Not(_text("contains", "b"))),
    (_text("starts_with", "Dear"), _is({"a": 1})),
]
IMPLIED = [
    (_is(5), _a("number")),
    (_is(5), _text("starts_with", "5")),
    (_is("a"), Test("one_of", ("a", 4))),
    (_is("2026-01-31"), Test("format", "date")),
    (_between(min=3), _a("number")),
    (_between(above=3), _between(min=3)),
    (Test("within", (1, 5)), _between(min=3)),
    (Not(_between(max=5)), _between(above=5)),
    (Not(_between(max=5)), _a("number")),
    (Not(_text("contains", "x")), Not(_text("contains", "ax"))),
    (_a("integer"), _a("number")),
    (Test("sorted", (False, None)), _a("array")),
    (Test("unique"), Test("exists")),
    (Test("contains_all", ("a", "b")), _text("contains", "a")),
    (_text("contains", "a"), Test("contains_any", ("a", "b"))),
    (_text("starts_with", "Dear Ann"), _text("contains", "ear", folded=True)),
]
NEITHER = [
    (_text("contains", "5"), _a("number")),
    (_text("equals", "5"), _a("string")),
    (_text("equals", "5"), _a("number")),
    (_text("equals", "[1]"), Test("unique")),
    (_text("contains", "abc"), _text("contains", "b")),
    (Not(_between(min=5)), _text("contains", "5")),
    (Not(_is(5)), _a("number")),
    (_is(2**53), _text("contains", "9007199254740992")),
    (_text("ends_with", "a{{seed:y}}"), _text("contains", "a")),
]


def _behind(steps: tuple[Step, ...], check: Check) -> Check:
    for step in reversed(steps):
        check = Of(step, check)
    return check


@pytest.mark.parametrize("steps", SUBJECTS.values(), ids=SUBJECTS.keys())
@pytest.mark.parametrize(("first", "second"), EXCLUDED, ids=str)
def test_they_exclude_each_other(first: Check, second: Check, steps: tuple[Step, ...]) -> None:
    one, other = (formula_of(_behind(steps, check)) for check in (first, second))
    assert implies(one, negation(other))
    assert implies(other, negation(one))


@pytest.mark.parametrize("steps", SUBJECTS.values(), ids=SUBJECTS.keys())
@pytest.mark.parametrize(("first", "second"), IMPLIED, ids=str)
def test_the_first_implies_the_second(first: Check, second: Check, steps: tuple[Step, ...]) -> None:
    assert implies(formula_of(_behind(steps, first)), formula_of(_behind(steps, second)))


@pytest.mark.parametrize(("first", "second"), NEITHER, ids=str)
def test_nothing_follows(first: Check, second: Check) -> None:
    one, other = formula_of(_at("a", first)), formula_of(_at("a", second))
    assert not implies(one, other)
    assert not implies(one, negation(other))


def _calls(test: Check, tool: str = "") -> Check:
    return Of(Measure("calls", tool), test)


def _tools(predicate: str, *names: str) -> Check:
    return Of(Tools(), Test(predicate, names))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_at("order", _is({"total": 5})), _at("order.total", _between(min=10))),
        (_is({"total": 5}), _at("total", _between(min=10))),
        (_text("equals", '{"total": 5}'), _at("total", _between(min=10))),
        (_at("a", _a("number")), _at("a.b", Test("exists"))),
        (_at("[0]", Test("exists")), _at("a", Test("exists"))),
        (Test("json", ("array", None)), _at("a", Test("exists"))),
        (Of(_EVERY, _is("a")), Of(_ANY, _between(min=4))),
        (Of(_EVERY, _between(min=4)), Of(_EVERY, _between(max=3))),
        (Of(_NO, _between(min=4)), Of(_ANY, _between(min=5))),
        (Of(Items("a[].p", "no"), _is(1)), Of(Items("a[]", "any"), _at("p", _is(1)))),
        (Of(Call("t", "no"), _at("p", Test("exists"))), Of(Call("t", "any"), _at("p", _is(1)))),
        (_tools("not_called", "t"), Of(Call("t", "any"), _at("p", _is(1)))),
        (_tools("not_called", "t"), _tools("before", "t", "u")),
        (_tools("before", "t", "u"), _tools("before", "u", "t")),
        (_tools("called", "t", "t"), _calls(_between(max=1), "t")),
        (_calls(_between(min=2, max=2), "t"), _tools("called", "t")),
        (_calls(_between(min=3), "t"), _calls(_between(below=3))),
        (Test("occurs", ("a", Bounds(max=0))), _text("contains", "ba")),
        (Test("occurs", ("ab", Bounds(max=1))), _text("starts_with", "abab")),
    ],
    ids=str,
)
def test_items_and_counts_exclude_too(first: Check, second: Check) -> None:
    one, other = formula_of(first), formula_of(second)
    assert implies(one, negation(other)) or implies(other, negation(one))


@pytest.mark.parametrize(
    "check",
    [
        Of(Measure("words"), _between(above=3, below=4)),
        _at("n", _between(min=5, below=5)),
        Test("occurs", ("a", Bounds(above=2, max=2))),
        _tools("before", "t", "t"),
        _at("a", Not(_text("contains", ""))),
    ],
    ids=str,
)
def test_it_never_holds(check: Check) -> None:
    assert never(formula_of(check))


def test_a_place_that_may_be_missing_is_not_always_so() -> None:
    for check in (_is(5), _text("contains", "a"), _between(min=3), Test("judge", ("", 1, "Is it kind?", 0))):
        assert not always(formula_of(Of(At("a"), check)))
        assert not implies(formula_of(Not(_at("a", Test("exists")))), formula_of(Not(_at("a", check))))


def test_a_number_is_in_no_longer_number() -> None:
    one, other = formula_of(_at("a", _is([15]))), formula_of(_at("a", Not(Test("contains", 5))))
    assert implies(one, other)
    assert not implies(one, negation(other))


def test_true_is_not_1() -> None:
    assert not implies(formula_of(_at("a", _is(True))), formula_of(_at("a", _is(1))))
    assert not implies(formula_of(Of(_ANY, _is([True]))), formula_of(Of(_ANY, _is([1]))))
