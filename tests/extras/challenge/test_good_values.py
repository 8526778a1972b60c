"""A value that is guessed for a check passes it, whatever the predicate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from evalc.check.forms import check_of, record_of
from evalc.check.predicates import HOLDS, PREDICATES, holds
from evalc.check.tree import All, Argument, At, Bounds, Call, Check, Items, Measure, Not, Of, Result, Test
from evalc.check.values import measure
from evalc.extras.challenge.answers import good_replies, good_value, last_response
from evalc.model import case as m
from evalc.runtime.checks import View
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.run.case import CaseOptions, evidence_of
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


UNKNOWN = {"matches", "judge", "check", "language"}
"""Predicates of which no good value can be guessed, or none without an extra."""
SUBJECTS: dict[str, Callable[[Any], Check]] = {
    "the response": lambda check: check,
    "a place": lambda check: Of(At("a"), check),
    "an argument": lambda check: Of(Call("t", "first"), Of(Argument("p.q"), check)),
    "arguments": lambda check: Of(Call("t", "every"), Of(At("p"), check)),
    "a result": lambda check: Of(Call("t", 2), Of(Result(), Of(At("p"), check))),
    "items": lambda check: Of(Items("a[].b", "every"), check),
    "no item": lambda check: Of(Items("a[]", "no"), check),
}


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("check", [check for check in TESTS if isinstance(check, Test)], ids=str)
def test_the_guessed_answer_passes_each_predicate_of_each_subject(check: Test, subject: str) -> None:
    if "value" not in PREDICATES[check.predicate].on or (check.predicate in UNKNOWN and subject != "no item"):
        return
    whole = SUBJECTS[subject](check)
    case = m.Case(id="c", description="", input=m.Input(message=""), expect=m.Expect(checks=(record_of(whole),)))
    answer = good_replies(case, None)
    verdict = asyncio.run(evaluate(whole, View.of(evidence_of(case, answer, CaseOptions()))))
    assert verdict.outcome == "passed", verdict.message


@pytest.mark.parametrize("subject", ["the response", "a place", "arguments", "a result"])
def test_the_guessed_answer_passes_several_checks_of_one_subject(subject: str) -> None:
    tests = ("ends_with", "bye"), ("contains", "rain"), ("contains_any", ("wet", "rain")), ("starts_with", "Dear")
    several = [Test(predicate, operand) for predicate, operand in tests]
    whole = SUBJECTS[subject](All((*several, Of(Measure("words"), Test("between", Bounds(min=9))))))
    case = m.Case(id="c", description="", input=m.Input(message=""), expect=m.Expect(checks=(record_of(whole),)))
    answer = good_replies(case, None)
    verdict = asyncio.run(evaluate(whole, View.of(evidence_of(case, answer, CaseOptions()))))
    assert verdict.outcome == "passed", verdict.message


@pytest.mark.parametrize(("bounds", "times"), [(Bounds(0, 0), 0), (Bounds(min=2), 2), (Bounds(min=10**12), 100)])
def test_tools_are_called_as_often_as_asked_up_to_a_hundred_times(bounds: Bounds, times: int) -> None:
    check = record_of(Of(Measure("calls", "t"), Test("between", bounds)))
    case = m.Case(id="c", description="", input=m.Input(message=""), expect=m.Expect(checks=(check,)))
    assert [call.name for call in last_response(good_replies(case, None)).tool_calls] == ["t"] * times
