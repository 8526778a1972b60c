"""The power of so many cases, held against scipy and a simulation."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalc.compare.rates import (
    ASSUMED,
    Noise,
    decision,
    fewest_changes,
    likely_regression,
    noise_of_attempts,
    noise_of_verdicts,
    passes_to_fail,
    passes_to_hold,
    regression_power,
)
from evalc.compare.totals import POWER
from tests.compare.simulation import ALPHA, RUNS, simulate_regression, simulate_watched_run

CONFIDENCES = st.sampled_from([0.6, 0.8, 0.95, 0.99])


@given(CONFIDENCES)
def test_the_fewest_changes_are_the_first_that_are_significant(confidence: float) -> None:
    fewest = fewest_changes(confidence)
    assert stats.binomtest(fewest, fewest, 0.5, "greater").pvalue <= 1 - confidence + 1e-12
    assert fewest == 1 or stats.binomtest(fewest - 1, fewest - 1, 0.5, "greater").pvalue > 1 - confidence


def test_five_changes_are_needed_at_95_per_cent() -> None:
    assert fewest_changes(0.95) == 5


@pytest.mark.parametrize(
    ("cases", "after"), [(60, 0.9), (60, 0.77), (60, 0.7), (200, 0.861), (1000, 0.86), (3000, 0.88)]
)
def test_the_power_is_that_of_a_simulated_agent_that_passes_nine_times_in_ten(cases: int, after: float) -> None:
    shown = simulate_regression(0.9, after, cases=cases)
    power = regression_power(cases, 0.95, worse=0.9 * (1 - after), better=0.1 * after)
    assert power == pytest.approx(shown, abs=4 * math.sqrt(0.25 / RUNS) + (0.01 if cases > 2000 else 0))


@pytest.mark.parametrize("cases", [60, 120, 240, 3000])
def test_a_likely_regression_of_an_agent_that_varies_is_shown_four_times_in_five(cases: int) -> None:
    fall = likely_regression(cases, 0.95, ASSUMED)
    assert fall is not None
    shown = simulate_regression(0.9, 0.9 - fall, cases=cases)
    assert shown == pytest.approx(POWER, abs=0.025)


@given(st.integers(5, 500))
def test_without_noise_a_likely_regression_is_that_of_a_binomial(cases: int) -> None:
    fall = likely_regression(cases, 0.95, Noise(passes=1.0, flips=0.0))
    assert fall is not None
    assert stats.binom.sf(fewest_changes(0.95) - 1, cases, fall) == pytest.approx(POWER, abs=0.01)


def test_too_few_cases_have_no_likely_regression() -> None:
    assert likely_regression(4, 0.95, ASSUMED) is None
    assert likely_regression(60, 0.95, Noise(passes=0.0, flips=0.0)) is None


@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=6), min_size=15, max_size=30))
def test_the_noise_of_attempts_is_the_share_of_pairs_that_differ(cases: list[list[bool]]) -> None:
    noise = noise_of_attempts((len(case), sum(case)) for case in cases)
    differing = [[one != other for one, other in combinations(case, 2)] for case in cases]
    assert noise is not None
    assert noise.flips == pytest.approx(sum(sum(case) / len(case) for case in differing) / len(cases))
    assert noise.passes == pytest.approx(sum(sum(case) / len(case) for case in cases) / len(cases))


def test_the_noise_of_verdicts_is_what_two_runs_differ_in() -> None:
    pairs = [(True, True)] * 50 + [(True, False)] * 4 + [(False, True)] * 6
    assert noise_of_verdicts(pairs) == pytest.approx((110 / 120, 10 / 60, 60))
    assert noise_of_verdicts(pairs[:20]) is None
    assert noise_of_attempts([(2, 1)] * 14) is None


def test_a_gate_on_regressions_is_wrong_no_more_often_than_stated() -> None:
    """It asks a one-sided question: the two-sided test would be wrong half as often, and show less."""
    wrong = simulate_regression(0.9, 0.9, cases=200)
    allowed = ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / RUNS)
    assert 0.025 < wrong <= allowed
    watched = simulate_watched_run(0.9, cases=200)
    assert watched <= allowed


@given(st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.99]), CONFIDENCES)
def test_the_passes_that_decide_are_the_first_that_do(cases: int, limit: float, confidence: float) -> None:
    holds, fails = passes_to_hold(cases, limit, confidence), passes_to_fail(cases, limit, confidence)
    verdicts = [decision(passed, cases, limit, confidence) for passed in range(cases + 1)]
    assert holds == (verdicts.index("holds") if "holds" in verdicts else None)
    assert fails == (cases - verdicts[::-1].index("fails") if "fails" in verdicts else None)
