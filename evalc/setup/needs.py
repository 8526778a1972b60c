"""What chosen cases need somebody for: a judge to score them, or a player for their simulated user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.diagnostics.catalogue.contract import NeedsJudge
from evalc.diagnostics.problem import Problem
from evalc.model import checks as c
from evalc.model.assertions import asks_judge, assertions
from evalc.model.case import Case
from evalc.model.checks.declaration import has_parts, members
from evalc.model.suite import Suite

_MAY_ASK: Final = frozenset(kind for kind in members(c.Check) if kind is c.Judge or has_parts(kind))
"""The kinds of checks of which one may ask a judge."""


class _Asking(NamedTuple):
    """A case, and its check that asks a judge."""

    suite: CompiledSuite
    case: ir.Case
    check: ir.Check


def judge_warning(suites: Iterable[CompiledSuite]) -> Problem | None:
    """That a judge is needed, at the first check that asks one; None where none does."""
    found = next(_asking(suites), None)
    if found is None:
        return None
    source, span = found.suite.ir.place(found.check.where)
    return Problem(source=source, span=span, finding=NeedsJudge(case=found.case.id), severity="warning")


def needing_judge(compiled: Iterable[CompiledSuite], chosen: Iterable[Suite]) -> str | None:
    """The id of the first chosen case that asks a judge; None where none does."""
    if next(_asking(compiled), None) is None:  # few suites ask one, and choosing makes all cases
        return None
    return _first(chosen, _asks)


def needing_user(compiled: Iterable[CompiledSuite], chosen: Iterable[Suite]) -> str | None:
    """The id of the first chosen case with a simulated user; None where none has one."""
    if not any(case.user is not None for suite in compiled for case in _samples(suite)):
        return None
    return _first(chosen, lambda case: case.input.user is not None)


def _first(chosen: Iterable[Suite], needs: Callable[[Case], bool]) -> str | None:
    cases = (located.case for suite in chosen for located in suite.cases)
    return next((case.id for case in cases if case.skip is None and case.archived is None and needs(case)), None)


def _samples(suite: CompiledSuite) -> Iterator[ir.Case]:
    """A case of each part of a suite: the rows of a table have the same checks, and a user each or none."""
    for part in suite.ir.cases.parts:
        case = next(part.expand(), None) if isinstance(part, ir.CaseRows) else part
        if case is not None:
            yield case


def _asking(suites: Iterable[CompiledSuite]) -> Iterator[_Asking]:
    for suite in suites:
        for case in _samples(suite):
            if case.skip is None and case.archived is None and case.tier == suite.tier:
                for check in case.checks:
                    if type(check.check) in _MAY_ASK and asks_judge(check.check):
                        yield _Asking(suite, case, check)


def _asks(case: Case) -> bool:
    return bool(case.rubric) or any(asks_judge(assertion.check) for assertion in assertions(case.expect))
