"""From compiled suites to the first case in them that needs somebody to play its user."""

from __future__ import annotations

from collections.abc import Iterable

from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.model.suite import Suite


def needing_user(compiled: Iterable[CompiledSuite], chosen: Iterable[Suite]) -> str | None:
    """The id of the first chosen case with a simulated user; None where none has one."""
    if not any(_has_user(part) for suite in compiled for part in suite.ir.cases.parts):
        return None  # few suites have one, and choosing makes all cases
    cases = (located.case for suite in chosen for located in suite.cases)
    is_run = (case for case in cases if case.skip is None and case.archived is None)
    return next((case.id for case in is_run if case.input.user is not None), None)


def _has_user(part: ir.Case | ir.CaseRows) -> bool:
    """The cases of a table have a user each, or none has, so that the first one tells."""
    case = next(part.expand(), None) if isinstance(part, ir.CaseRows) else part
    return case is not None and case.user is not None
