"""The compiler's claims about checks, against the runner's verdicts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.check.tree import Check
from evalc.compiler.logic.formula import formula_of, negation
from evalc.compiler.logic.implies import always, implies, never
from evalc.runtime.checks.verdict import Evidence
from tests.compiler.logic.trees import CHECKS, LEAVES, answers, outcomes

ANSWERS = st.lists(answers(), min_size=4, max_size=8)


@given(check=CHECKS, evidence=ANSWERS)
@settings(max_examples=600, deadline=None)
def test_checks_found_to_always_or_never_pass_do(check: Check, evidence: list[Evidence]) -> None:
    formula = formula_of(check)
    sure, vain = always(formula), never(formula)
    if not sure and not vain:
        return
    met = {outcomes([check], answer)[0] for answer in evidence}
    assert not (sure and "failed" in met)
    assert not (vain and "passed" in met)


@given(first=st.one_of(LEAVES, CHECKS), second=st.one_of(LEAVES, CHECKS), evidence=ANSWERS)
@settings(max_examples=1500, deadline=None)
def test_checks_found_implied_or_excluded_are(first: Check, second: Check, evidence: list[Evidence]) -> None:
    premise_says, conclusion_says = formula_of(first), formula_of(second)
    implied, excluded = implies(premise_says, conclusion_says), implies(premise_says, negation(conclusion_says))
    if not implied and not excluded:
        return
    for answer in evidence:
        premise, conclusion = outcomes([first, second], answer)
        if premise == "passed":
            assert not implied or conclusion == "passed"
            assert not excluded or conclusion != "passed"
