"""Exact binomial decisions and bets on a mean: held against scipy, and their error rates simulated."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from evalc.compare.rates import (
    alpha_of,
    at_least,
    at_most,
    beta_share,
    decision,
    fewest_to_fail,
    fewest_to_hold,
    mean_decision,
    more_to_decide,
)

COUNTS = st.integers(1, 100_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
RATES = st.floats(0.001, 0.999)
CONFIDENCES = st.sampled_from([0.6, 0.8, 0.9, 0.95, 0.99, 0.999])

RUNS = 10_000


@given(COUNTS, RATES)
def test_the_p_values_are_those_of_scipy(counts: tuple[int, int], rate: float) -> None:
    passed, of = counts
    greater = stats.binomtest(passed, of, rate, alternative="greater").pvalue
    less = stats.binomtest(passed, of, rate, alternative="less").pvalue
    assert at_least(passed, of, rate) == pytest.approx(greater, rel=1e-6, abs=1e-12)
    assert at_most(passed, of, rate) == pytest.approx(less, rel=1e-6, abs=1e-12)


@given(st.floats(0.5, 1e5), st.floats(0.5, 1e5), st.floats(0, 1))
def test_the_incomplete_beta_function_is_that_of_scipy(a: float, b: float, x: float) -> None:
    assert beta_share(a, b, x) == pytest.approx(float(special.betainc(a, b, x)), rel=1e-6, abs=1e-10)


@given(COUNTS, RATES, CONFIDENCES)
def test_a_decision_is_that_of_the_clopper_pearson_bounds(
    counts: tuple[int, int], limit: float, confidence: float
) -> None:
    passed, of = counts
    alpha = alpha_of(confidence)
    low = 0.0 if not passed else float(stats.beta.ppf(alpha, passed, of - passed + 1))
    high = 1.0 if passed == of else float(stats.beta.ppf(1 - alpha, passed + 1, of - passed))
    if min(abs(low - limit), abs(high - limit)) > 1e-9:
        expected = "holds" if low >= limit else "fails" if high <= limit else "undecided"
        assert decision(passed, of, limit, confidence) == expected


@given(st.floats(0.05, 0.99), CONFIDENCES)
def test_the_fewest_cases_are_the_fewest(limit: float, confidence: float) -> None:
    holds, fails = fewest_to_hold(limit, confidence), fewest_to_fail(limit, confidence)
    assert holds is not None
    assert fails is not None
    assert decision(holds, holds, limit, confidence) == "holds"
    assert holds == 1 or decision(holds - 1, holds - 1, limit, confidence) != "holds"
    assert decision(0, fails, limit, confidence) == "fails"
    assert fails == 1 or decision(0, fails - 1, limit, confidence) != "fails"


def test_limits_that_no_number_of_cases_can_show() -> None:
    assert fewest_to_hold(1, 0.95) is None
    assert fewest_to_fail(0, 0.95) is None
    assert (fewest_to_hold(0, 0.95), fewest_to_fail(1, 0.95)) == (1, 1)
    assert more_to_decide(9, 10, 0.9, 0.95) is None
    assert more_to_decide(0, 0, 0.9, 0.95) is None


@given(st.integers(0, 200), st.integers(1, 200), st.sampled_from([0.5, 0.8, 0.9, 0.95]), CONFIDENCES)
def test_as_many_cases_as_it_says_decide(passed: int, more: int, limit: float, confidence: float) -> None:
    of = passed + more
    found = more_to_decide(passed, of, limit, confidence)
    if found is not None:
        rate = passed / of
        assert decision(passed + round(rate * found), of + found, limit, confidence) != "undecided"


def tolerance(rate: float) -> float:
    """How far above its true rate a simulation may find one: four of its standard errors."""
    return 4 * math.sqrt(max(rate * (1 - rate), 1e-9) / RUNS)


@pytest.mark.parametrize("cases", [5, 20, 100, 1000])
@pytest.mark.parametrize("limit", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_certain_answers_are_wrong_no_more_often_than_stated(cases: int, limit: float, confidence: float) -> None:
    """At the limit itself every `fails` is wrong, and just below it every `holds`: the hardest settings."""
    alpha = alpha_of(confidence)
    passes = np.random.default_rng(17).binomial(cases, limit, RUNS)

    @lru_cache
    def of(passed: int) -> str:
        return decision(passed, cases, limit, confidence)

    answers = [of(int(passed)) for passed in passes]
    assert answers.count("fails") / RUNS <= alpha + tolerance(alpha)
    assert answers.count("holds") / RUNS <= alpha + tolerance(alpha)


@pytest.mark.parametrize("kind", ["bernoulli", "beta", "two points"])
@pytest.mark.parametrize("limit", [0.5, 0.8])
def test_bets_on_a_mean_are_wrong_no_more_often_than_stated(kind: str, limit: float) -> None:
    draw = np.random.default_rng(23)
    runs, cases = 2_000, 60
    match kind:
        case "bernoulli":
            scores = draw.binomial(1, limit, (runs, cases)).astype(float)
        case "beta":
            scores = draw.beta(2 * limit, 2 * (1 - limit), (runs, cases))
        case _:
            scores = np.where(draw.random((runs, cases)) < 0.5, limit - 0.2, limit + 0.2)
    answers = [mean_decision(row.tolist(), limit, 0.95) for row in scores]
    allowed = 0.05 + 4 * math.sqrt(0.05 * 0.95 / runs)
    assert answers.count("holds") / runs <= allowed
    assert answers.count("fails") / runs <= allowed


def test_bets_are_won_where_the_mean_is_far_from_the_limit() -> None:
    draw = np.random.default_rng(5)
    assert mean_decision(draw.beta(9, 1, 100).tolist(), 0.7, 0.95) == "holds"
    assert mean_decision(draw.beta(5, 5, 100).tolist(), 0.7, 0.95) == "fails"
    assert mean_decision([], 0.7, 0.95) == "undecided"
    assert mean_decision([0.2], 0, 0.95) == "holds"
