"""The statistics, held against scipy and statsmodels on generated data."""

from __future__ import annotations

import math
import random
from statistics import fmean, pvariance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from evalc.compare.means import RESAMPLES, difference, mean_interval, variance
from evalc.compare.totals import (
    FEWEST_CHANGES,
    LEVEL,
    POWER,
    Z_POWER,
    Flips,
    Z,
    mcnemar_p,
    more_cases,
    regression_p,
    wilson,
)
from evalc.model.result import Significance
from tests.support.laws import examples

COUNTS = st.integers(0, 3000)


def test_the_quantiles_are_those_of_scipy() -> None:
    assert pytest.approx(stats.norm.ppf(1 - LEVEL / 2), rel=1e-15) == Z
    assert pytest.approx(stats.norm.ppf(POWER), rel=1e-15) == Z_POWER


@given(COUNTS, COUNTS)
def test_mcnemar_is_that_of_statsmodels_and_scipy(one: int, other: int) -> None:
    found = mcnemar_p(one, other)
    peer = mcnemar([[7, one], [other, 7]], exact=True).pvalue if one + other else 1.0
    assert found == pytest.approx(float(peer), rel=1e-9, abs=1e-300)
    if one + other:
        assert found == pytest.approx(stats.binomtest(one, one + other).pvalue, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (0, 5, 0.0625), (6, 0, 0.03125), (12, 0, 2 / 2**12), (5, 6, 1.0), (500, 500, 1.0)],
)
def test_mcnemar_at_the_edges(one: int, other: int, p: float) -> None:
    assert mcnemar_p(one, other) == mcnemar_p(other, one) == p


@pytest.mark.parametrize(
    ("one", "other"), [(501, 500), (10**6, 10**6), (10**6, 998_000), (10**7, 9_990_000), (10**6, 0)]
)
def test_mcnemar_of_huge_counts(one: int, other: int) -> None:
    assert mcnemar_p(one, other) == pytest.approx(stats.binomtest(one, one + other).pvalue, rel=1e-6, abs=1e-300)


@given(COUNTS, COUNTS)
def test_the_test_of_regressions_is_the_one_sided_one_of_scipy(worse: int, better: int) -> None:
    peer = stats.binomtest(worse, worse + better, alternative="greater").pvalue if worse + better else 1.0
    assert regression_p(worse, better) == pytest.approx(float(peer), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("worse", "better"), [(501, 500), (500, 501), (998_000, 10**6), (10**6, 998_000), (0, 2000)])
def test_the_test_of_regressions_of_huge_counts(worse: int, better: int) -> None:
    peer = stats.binomtest(worse, worse + better, alternative="greater").pvalue
    assert regression_p(worse, better) == pytest.approx(float(peer), rel=1e-6, abs=1e-300)


def test_mcnemar_adds_up_to_the_smallest_term() -> None:
    assert mcnemar_p(1000, 1) == pytest.approx(2 * (1 + 1001) / 2**1001, rel=1e-9, abs=0)


@given(st.integers(1, 10**9).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_wilson_is_that_of_statsmodels(counts: tuple[int, int]) -> None:
    found = wilson(*counts)
    assert found is not None
    assert found == pytest.approx(proportion_confint(*counts, alpha=LEVEL, method="wilson"), abs=1e-12)
    assert 0 <= found.low <= counts[0] / counts[1] <= found.high <= 1


def test_wilson_at_the_edges() -> None:
    assert wilson(0, 0) is None
    none, every = wilson(0, 10), wilson(10, 10)
    assert none is not None
    assert every is not None
    assert none.low == 0
    assert every.high == 1
    assert none.high == pytest.approx(1 - every.low)


@settings(max_examples=examples(15))
@given(st.lists(st.integers(-10, 10).map(lambda tenths: tenths / 10), min_size=8, max_size=60))
def test_the_bootstrap_is_about_that_of_scipy(changes: list[float]) -> None:
    if len(set(changes)) == 1:
        assert mean_interval(changes) == pytest.approx((changes[0], changes[0]))
        return
    cases = len(changes)
    beyond = stats.norm.cdf(stats.t.ppf(0.025, cases - 1) * math.sqrt(cases / (cases - 1)))
    peer = stats.bootstrap(
        (np.array(changes),),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=1 - 2 * beyond,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    # Both are draws of 2,000: their ends scatter by about a tenth of a standard error.
    error = float(np.std(changes)) / math.sqrt(len(changes))
    found = mean_interval(changes)
    assert found.low == pytest.approx(peer.low, abs=0.35 * error + 1e-9)
    assert found.high == pytest.approx(peer.high, abs=0.35 * error + 1e-9)


@settings(max_examples=examples(40))
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_bootstrap_is_the_same_each_time_and_in_any_order(changes: list[float], shuffling: random.Random) -> None:
    first = mean_interval(changes)
    shuffled = list(changes)
    shuffling.shuffle(shuffled)
    assert mean_interval(shuffled) == pytest.approx(first)
    assert min(changes) - 1e-9 <= first.low <= first.high <= max(changes) + 1e-9


def test_the_ends_of_the_bootstrap_are_pinned() -> None:
    """One rank further in or out is another number: the interval is the same on every machine."""
    found = mean_interval([number * number % 97 / 97 for number in range(40)])
    assert (round(found.low, 9), round(found.high, 9)) == (0.361082474, 0.57242268)


def test_an_interval_of_equal_changes_is_their_value_to_the_last_bit() -> None:
    assert mean_interval([0.1] * 10) == (0.1, 0.1)


def test_the_interval_of_many_pairs_is_the_normal_one() -> None:
    draw = random.Random(3)
    changes = [draw.choice((0.0, 0.0, 0.0, 0.5, -0.25)) for _ in range(50_000)]
    found = mean_interval(changes)
    peer = stats.norm.interval(0.95, loc=fmean(changes), scale=float(np.std(changes)) / math.sqrt(len(changes)))
    assert found == pytest.approx(peer)


def flips(regressed: int, newly_passed: int, *, pairs: int, errors: int = 0) -> Significance:
    counted = Flips()
    for number in range(pairs):
        before = number < regressed or number >= regressed + newly_passed
        after = number >= regressed
        counted.add(before, after, error=False)
    for _ in range(errors):
        counted.add(True, False, error=True)
    return counted.significance()


def test_a_planted_regression_is_worse_and_noise_is_inconclusive() -> None:
    planted = flips(12, 0, pairs=200, errors=3)
    assert planted == Significance(
        pairs=200, regressed=12, newly_passed=0, errors=3, p_value=2 / 2**12, verdict="worse", more_cases=None
    )
    assert flips(0, 12, pairs=200).verdict == "better"
    noise = flips(5, 6, pairs=200)
    assert (noise.verdict, noise.p_value) == ("inconclusive", 1.0)
    assert noise.more_cases == pytest.approx(17_000, rel=0.05)


@pytest.mark.parametrize("pairs", [0, 1, 200])
def test_without_a_flip_nothing_has_changed(pairs: int) -> None:
    found = flips(0, 0, pairs=pairs)
    assert (found.verdict, found.p_value, found.more_cases) == ("unchanged", 1.0, None)


def test_as_many_either_way_are_settled_by_no_number_of_cases() -> None:
    assert flips(4, 4, pairs=50).more_cases is None


def test_one_case_proves_nothing_and_six_could() -> None:
    one = flips(1, 0, pairs=1)
    assert (one.verdict, one.more_cases) == ("inconclusive", 5)


def test_all_flips() -> None:
    assert flips(50, 0, pairs=50).verdict == "worse"
    assert flips(5, 0, pairs=5).verdict == "inconclusive"


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 400))
def test_an_inconclusive_result_asks_for_at_least_one_more_case(worse: int, better: int, same: int) -> None:
    found = flips(worse, better, pairs=worse + better + same)
    assert (found.verdict == "unchanged") == (worse + better == 0)
    assert (found.verdict in ("better", "worse")) == (found.p_value < LEVEL)
    if found.more_cases is not None:
        assert found.verdict == "inconclusive"
        assert found.more_cases >= 1


@pytest.mark.parametrize(("regressed", "newly_passed", "pairs"), [(5, 0, 200), (9, 4, 120), (4, 1, 40)])
def test_the_estimate_has_about_the_power_that_it_promises(regressed: int, newly_passed: int, pairs: int) -> None:
    found = flips(regressed, newly_passed, pairs=pairs)
    assert found.more_cases is not None
    power = exact_power(found.pairs + found.more_cases, regressed / pairs, newly_passed / pairs)
    assert power == pytest.approx(POWER, abs=0.1)


def exact_power(cases: int, one: float, other: float) -> float:
    """How likely McNemar's test finds a difference, over all that may come of so many cases."""
    flipping = stats.binom(cases, one + other)
    return float(
        sum(
            flipping.pmf(count) * stats.binom.pmf(way, count, one / (one + other))
            for count in range(int(flipping.ppf(1e-6)), int(flipping.ppf(1 - 1e-6)) + 1)
            for way in range(count + 1)
            if mcnemar_p(way, count - way) < LEVEL
        )
    )


def test_few_changes_are_inconclusive_however_large() -> None:
    for changed in range(1, FEWEST_CHANGES):
        found = difference(1, 0, [-1.0] * changed, changed=changed)
        assert (found.verdict, found.low, found.high) == ("inconclusive", -1, -1)
    assert difference(1, 0, [-1.0] * FEWEST_CHANGES, changed=FEWEST_CHANGES).verdict == "worse"
    assert difference(0, 1, [1.0] * FEWEST_CHANGES, changed=FEWEST_CHANGES).verdict == "better"


def test_identical_scores_are_unchanged() -> None:
    found = difference(0.5, 0.5, [0.0] * 30, changed=0)
    assert (found.verdict, found.difference, found.low, found.high) == ("unchanged", 0, 0, 0)
    assert math.copysign(1, found.low) == 1


@settings(max_examples=examples(40))
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_no_difference_holds_what_is_no_number(changes: list[float]) -> None:
    found = difference(0, fmean(changes), changes, changed=sum(change != 0 for change in changes))
    assert all(map(math.isfinite, (found.before, found.after, found.difference, found.low, found.high)))
    assert found.more_cases is None or found.more_cases >= 1


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(11)
    population = [0.0] * 14 + [0.4, 0.4, 0.2, -0.3, -0.1, 0.5]
    truth = fmean(population)
    intervals = [mean_interval(draw.choices(population, k=60)) for _ in range(60)]
    covered = sum(found.low <= truth <= found.high for found in intervals)
    assert covered / len(intervals) >= 0.88


def test_more_cases_of_no_mean_or_no_change() -> None:
    assert more_cases(0.0, 1.0, changed=3, cases=9) is None
    assert more_cases(0.1, 1.0, changed=0, cases=9) is None


def test_a_difference_of_means_is_rounded_and_never_the_negative_zero() -> None:
    found = difference(1 / 3, 2 / 3, [-1e-20] * 8, changed=0)
    assert (found.before, found.after) == (0.333333333333, 0.666666666667)
    assert [str(value) for value in (found.difference, found.low, found.high)] == ["0.0", "0.0", "0.0"]


def test_an_interval_that_touches_zero_is_not_certain() -> None:
    found = difference(0.0, 0.05, [0.0] * 19 + [1.0], changed=20)
    assert (found.low, found.verdict) == (0.0, "inconclusive")
    assert found.more_cases is not None


def test_a_certain_difference_needs_no_more_cases() -> None:
    found = difference(0.0, 0.5, [0.4, 0.5, 0.6] * 10, changed=30)
    assert (found.verdict != "inconclusive", found.more_cases) == (True, None)


def test_rows_that_go_together_make_an_interval_wider() -> None:
    """Twenty tables whose ten rows all change the same way say what twenty cases do."""
    draw = random.Random(3)
    by_table = [draw.choice([-1.0, 0.0, 1.0]) for _ in range(20)]
    changes = [change for change in by_table for _ in range(10)]
    groups = [f"table{number}" for number in range(20) for _ in range(10)]
    apart, together = mean_interval(changes), mean_interval(changes, groups)
    assert tuple(together) == pytest.approx(tuple(mean_interval(by_table)))
    assert together.high - together.low > 2.5 * (apart.high - apart.low)


def test_few_groups_are_drawn_case_by_case() -> None:
    changes = [0.0, 1.0] * 30
    assert mean_interval(changes, ["one table"] * 60) == mean_interval(changes)
    assert mean_interval(changes, [str(number) for number in range(60)]) == mean_interval(changes)


def test_the_interval_of_many_groups_is_that_of_a_regression_with_clustered_errors() -> None:
    draw = np.random.default_rng(4)
    effects = draw.normal(0.1, 1, 1500)
    changes = np.repeat(effects, 3) + draw.normal(0, 0.1, 4500)
    labels = np.repeat(np.arange(1500), 3)
    low, high = mean_interval(changes.tolist(), [str(label) for label in labels])
    fit = OLS(changes, np.ones(4500)).fit(cov_type="cluster", cov_kwds={"groups": labels, "use_correction": False})
    assert (low, high) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-6)


def test_ten_groups_are_drawn_as_groups_and_nine_are_not() -> None:
    for groups, clusters in ((10, 10), (9, None)):
        names = [f"table{number % groups}" for number in range(30)]
        assert difference(0.0, 0.5, [0.0, 1.0] * 15, changed=15, groups=names).clusters == clusters


def test_groups_of_one_case_each_are_not_named() -> None:
    names = [str(number) for number in range(30)]
    assert difference(0.0, 0.5, [0.0, 1.0] * 15, changed=15, groups=names).clusters is None


def test_the_variance_is_that_of_the_standard_library() -> None:
    assert variance([1.0, 2.0, 6.0]) == pytest.approx(pvariance([1.0, 2.0, 6.0]))
