"""What so many cases can show, held against scipy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalc.compare.binomial import decision
from evalc.compare.power import POWER, fewest_changes, likely_share, passes_to_fail, passes_to_hold

CONFIDENCES = st.sampled_from([0.6, 0.8, 0.95, 0.99])


@given(CONFIDENCES)
def test_the_fewest_changes_are_the_first_that_are_significant(confidence: float) -> None:
    fewest = fewest_changes(confidence)
    assert stats.binomtest(fewest, fewest, 0.5, "greater").pvalue <= 1 - confidence + 1e-12
    assert fewest == 1 or stats.binomtest(fewest - 1, fewest - 1, 0.5, "greater").pvalue > 1 - confidence


def test_five_changes_are_needed_at_95_per_cent() -> None:
    assert fewest_changes(0.95) == 5


@given(st.integers(1, 500), st.integers(1, 20))
def test_a_likely_regression_is_shown_four_times_in_five(cases: int, changes: int) -> None:
    share = likely_share(cases, changes)
    assert (share is None) == (changes > cases)
    if share is not None:
        assert stats.binom.sf(changes - 1, cases, share) >= POWER - 1e-6
        assert stats.binom.sf(changes - 1, cases, share - 1e-3) < POWER


@given(st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.99]), CONFIDENCES)
def test_the_passes_that_decide_are_the_first_that_do(cases: int, limit: float, confidence: float) -> None:
    holds, fails = passes_to_hold(cases, limit, confidence), passes_to_fail(cases, limit, confidence)
    verdicts = [decision(passed, cases, limit, confidence) for passed in range(cases + 1)]
    assert holds == (verdicts.index("holds") if "holds" in verdicts else None)
    assert fails == (cases - verdicts[::-1].index("fails") if "fails" in verdicts else None)
