"""The compiler's findings about the checks of a case together, against the runner's verdicts."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.check.tree import At, Call, Check, Of, Test, Turn
from evalc.compiler import ir
from evalc.compiler.passes.check_logic import Contradictions
from evalc.diagnostics import Diagnostics
from evalc.runtime.checks import Evidence
from tests.compiler.logic.trees import CHECKS, LEAVES, answers, outcomes
from tests.support.laws import examples


def found(checks: list[Check]) -> Diagnostics:
    """The problems of a case; a check's index is where it stands."""
    trees: list[Any] = checks
    items = tuple(ir.Check(check=check, where=Span(at, at + 1)) for at, check in enumerate(trees))
    case = ir.Case(id="s/a", name="a", description="", tier="labeled", message="", checks=items, where=Span(0, 0))
    suite = ir.Suite(
        source=Source("s.eval.yaml", "x" * len(checks)),
        name="s",
        tool="s",
        tier="labeled",
        cases=ir.Cases([case]),
        where=Span(0, 0),
        name_at=Span(0, 0),
        tool_at=Span(0, 0),
        locate=lambda where: where if isinstance(where, Span) else Span(0, 0),
    )
    problems = Diagnostics()
    contradictions = Contradictions()
    contradictions.check(suite, problems)
    contradictions.finish(suite, problems)
    return problems


_PARTS = (Of(At("p"), Test("exists")), Test("fails"))
_CALL = st.sampled_from([Of(Call("t", which), part) for which in ("any", "any", "no", "every") for part in _PARTS])
_OF_CALLS = _CALL | st.builds(Of, st.sampled_from([Turn(1), Turn(2)]), _CALL)


@given(checks=st.lists(_OF_CALLS, min_size=2, max_size=4), evidence=st.lists(answers(), min_size=4, max_size=10))
@settings(max_examples=examples(100))
def test_findings_about_lines_that_compete_for_calls_are_true(checks: list[Check], evidence: list[Evidence]) -> None:
    assert_so(checks, evidence)


@given(
    checks=st.lists(st.one_of(LEAVES, LEAVES, CHECKS), min_size=2, max_size=6),
    evidence=st.lists(answers(), min_size=4, max_size=10),
)
@settings(max_examples=examples(200))
def test_findings_about_checks_together_are_true(checks: list[Check], evidence: list[Evidence]) -> None:
    assert_so(checks, evidence)


def assert_so(checks: list[Check], evidence: list[Evidence]) -> None:
    problems = list(found(checks))
    if not problems:
        return
    redundant = {p.span.start for p in problems if p.code in {"EV504", "EV505", "EV506"}}
    for answer in evidence:
        met = outcomes(checks, answer, in_case=True)
        if any(problem.code == "EV503" and not problem.finding.fields["unless"] for problem in problems):
            assert {"failed", "error"} & set(met), "neither is a pass"
        others = {outcome for at, outcome in enumerate(met) if at not in redundant}
        if not others & {"failed", "error"}:
            assert all(met[at] != "failed" for at in redundant)
