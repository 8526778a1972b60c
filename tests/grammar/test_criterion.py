"""The one-line form of a criterion, with its places and faults."""

from __future__ import annotations

import pytest

from evalc.grammar.nodes import CriterionLine
from evalc.grammar.parse import parse_criterion
from tests.grammar.build import number, text


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("clarity", CriterionLine(start=0, end=7, name=text(0, 7, "clarity"))),
        ("clarity (0.3)", CriterionLine(start=0, end=13, name=text(0, 7, "clarity"), weight=number(9, 12, 0.3))),
        ("clarity(1)", CriterionLine(start=0, end=10, name=text(0, 7, "clarity"), weight=number(8, 9, 1))),
        ("clarity (30%)", CriterionLine(start=0, end=13, name=text(0, 7, "clarity"), weight=number(9, 12, 0.3))),
        (
            " my crit-x : Text: (well) \n",
            CriterionLine(start=1, end=25, name=text(1, 10, "my crit-x"), description=text(13, 25, "Text: (well)")),
        ),
        (
            "clarity (0.3): Clear",
            CriterionLine(
                start=0,
                end=20,
                name=text(0, 7, "clarity"),
                weight=number(9, 12, 0.3),
                description=text(15, 20, "Clear"),
            ),
        ),
    ],
)
def test_one_criterion(line: str, node: CriterionLine) -> None:
    assert parse_criterion(line) == (node, ())


@pytest.mark.parametrize(
    ("line", "start", "end", "message"),
    [
        ("", 0, 0, "expected a name here, found the end"),
        ("(0.3)", 0, 1, "expected a name here, found `(`"),
        ("a (x)", 3, 4, "expected a number here, found `x`"),
        ("a (1", 4, 4, "expected `%` or `)` here, found the end"),
        ("a (-1)", 3, 5, "`-1` is negative"),
        ("a:", 2, 2, "expected a description here, found the end"),
        ("a (1) b", 6, 7, "expected `:` or the end here, found `b`"),
    ],
)
def test_one_fault(line: str, start: int, end: int, message: str) -> None:
    node, faults = parse_criterion(line)
    assert node is None
    assert [(fault.start, fault.end, fault.finding.message()) for fault in faults] == [(start, end, message)]
