"""The canonical order: an entry of the table for a kind of checks holds for every check of it."""

from __future__ import annotations

from hypothesis import given

from evalc.compiler.order import rank
from evalc.model import checks as c
from tests.compiler.logic.checks import CHECKS


@given(CHECKS)
def test_checks_with_a_field_come_first(check: c.Check) -> None:
    _, has_none, is_upper = rank(check)
    assert has_none is not check.has_field()
    assert is_upper is (isinstance(check, c.Length | c.ToolCount) and check.min is None)
