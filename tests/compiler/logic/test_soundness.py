"""The compiler's claims about checks, against the runner's verdicts."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.check.tree import Check
from evalc.compiler.logic.formula import formula_of, negation
from evalc.compiler.logic.implies import Spoken, always, implies, never
from evalc.runtime.checks import Evidence
from tests.compiler.logic.trees import CHECKS, LEAVES, answers, outcomes
from tests.support.laws import examples


@given(
    checks=st.lists(st.one_of(LEAVES, LEAVES, CHECKS), min_size=6, max_size=10),
    evidence=st.lists(answers(), min_size=4, max_size=8),
)
@settings(max_examples=examples(150))
def test_conclusions_of_checks_are_so(checks: list[Check], evidence: list[Evidence]) -> None:
    formulas = list(map(formula_of, checks))
    met = [outcomes(checks, answer) for answer in evidence]
    for at, formula in enumerate(formulas):
        of_one = {outcome[at] for outcome in met}
        assert not (always(formula) and "failed" in of_one)
        assert not (never(formula) and "passed" in of_one)
    for one, other in permutations(range(len(checks)), 2):
        of_other = {outcome[other] for outcome in met if outcome[one] == "passed"}
        assert of_other <= {"passed"} or not implies(formulas[one], formulas[other])
        assert "passed" not in of_other or not implies(formulas[one], negation(formulas[other]))


@given(checks=st.lists(st.one_of(LEAVES, LEAVES, CHECKS), min_size=6, max_size=10))
@settings(max_examples=examples(300))
def test_formulas_of_which_one_follows_touch(checks: list[Check]) -> None:
    """Formulas that do not touch are not compared: nothing may follow from one for the other."""
    formulas = [formula for formula in map(formula_of, checks) if not always(formula) and not never(formula)]
    for one, other in permutations(formulas, 2):
        ones, others = Spoken.of(one), Spoken.of(other)
        touch = ones.touches(others)
        assert touch is others.touches(ones)
        assert touch is ones._replace(topics=frozenset({None})).touches(others)
        assert touch or not (implies(one, other) or implies(one, negation(other)))
