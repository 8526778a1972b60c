"""The promises of the IR: a broken one is noticed, whichever it is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import evalc
from evalc.base.source import Span
from evalc.compiler import ir
from evalc.compiler.lower import BrokenPromiseError, verify

HERE = Span(0, 0)
TEXT = (
    'eval: {criteria: ["a (1): b"], test_cases: [{name: x, message: hi, validate: [json for a, contains "y"]}, '
    "{name: z, message: hi, validate: [json]}]}"
)


def suite() -> ir.Suite:
    (compiled,) = evalc.compile(evalc.Source("x.eval.yaml", TEXT)).suites
    return compiled.ir


def changed(**fields: Any) -> ir.Suite:
    original = suite()
    first, *others = original.cases
    return replace(original, cases=ir.Cases([msgspec.structs.replace(first, **fields), *others]))


def test_a_good_one() -> None:
    good = suite()
    assert [case.id for case in good.cases] == ["x/x", "x/z"]
    verify(good)


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "x/z"},
        {"partial": True},
        {"links": (ir.Link(criterion="a", checks=(2,), where=HERE),)},
        {"links": (ir.Link(criterion="a", checks=(), where=HERE),)},
        {"links": (ir.Link(criterion="b", checks=(0,), where=HERE),)},
        {"links": (ir.Link(criterion="a", checks=(0,), weight=-1, where=HERE),)},
        {"links": (ir.Link(criterion="a", checks=(1,), where=HERE), ir.Link(criterion="a", checks=(0,), where=HERE))},
    ],
    ids=["id", "partial", "index", "nothing", "criterion", "weight", "order of links"],
)
def test_a_broken_promise(fields: dict[str, Any]) -> None:
    with pytest.raises(BrokenPromiseError):
        verify(changed(**fields))


def test_no_cases_and_criteria_of_one_name() -> None:
    original = suite()
    with pytest.raises(BrokenPromiseError, match="has cases"):
        verify(replace(original, cases=ir.Cases([])))
    with pytest.raises(BrokenPromiseError, match="unique"):
        verify(replace(original, criteria=original.criteria * 2))
