"""A value that is guessed for a check passes it, whatever the predicate."""

from __future__ import annotations

from typing import Any, cast

import pytest

from evalc.check.forms import check_of
from evalc.check.holds import HOLDS, holds
from evalc.check.predicates import PREDICATES
from evalc.check.tree import All, At, Bounds, Check, Items, Measure, Not, Of, Test
from evalc.check.values import measure
from evalc.extras.challenge.answers import good_value
from tests.check.test_forms import RECORDS

TESTS = [check for check in map(check_of, RECORDS) if isinstance(check, Test | Not)]


def of_a_value(check: Check) -> bool:
    test = check.check if isinstance(check, Not) else check
    return isinstance(test, Test) and test.predicate in HOLDS and "value" in PREDICATES[test.predicate].on


@pytest.mark.parametrize("check", [check for check in TESTS if of_a_value(check)], ids=str)
def test_a_good_value_has_the_predicate(check: Check) -> None:
    value = good_value(check)
    if isinstance(check, Not):
        assert not holds(value, cast("Test", check.check))
    else:
        assert holds(value, cast("Test", check))


@pytest.mark.parametrize("unit", ["chars", "words", "lines", "bytes", "sentences"])
@pytest.mark.parametrize("bounds", [Bounds(min=3), Bounds(max=4), Bounds(above=3), Bounds(below=7), Bounds(3, 3)])
def test_a_good_text_is_as_long_as_it_has_to_be(unit: Any, bounds: Bounds) -> None:
    value = good_value(Of(Measure(unit), Test("between", bounds)))
    assert holds(measure(value, unit), Test("between", bounds))


def test_a_good_value_has_what_each_place_asks() -> None:
    item = All((Of(At("price"), Test("between", Bounds(above=0))), Of(At("sku"), Test("equals", "A1"))))
    check = All((Of(At("total"), Test("between", Bounds(above=1, below=2))), Of(Items("items[]", "every"), item)))
    assert good_value(check) == {"total": 1.5, "items": [{"price": 1, "sku": "A1"}]}
    assert good_value(Of(At("a"), Not(Test("exists")))) == {}
