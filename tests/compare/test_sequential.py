"""Runs that stop when they are sure are wrong no more often than they say; what they save stands in the docs."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from evalc.compare.rates import PassRateTest, RegressionTest, WholeRun, foreseen
from tests.compare.simulation import ALPHA, RUNS, simulate, simulate_total

DOCS = Path(__file__).parents[2] / "docs" / "statistics.md"
RATES = (0.80, 0.85, 0.95, 0.98)


def allowed(alpha: float) -> float:
    """The rate that a simulation may find where the true rate is alpha: four standard errors more."""
    return alpha + 4 * math.sqrt(alpha * (1 - alpha) / RUNS)


@pytest.mark.parametrize("rate", [*RATES, 0.89, 0.90, 0.91])
def test_a_run_is_decided_wrongly_no_more_often_than_stated(rate: float) -> None:
    assert simulate(rate).wrong <= allowed(ALPHA)


@pytest.mark.parametrize(("cases", "limit"), [(20, 0.9), (50, 0.5), (100, 0.95), (200, 0.9)])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_nor_where_the_whole_run_is_at_the_limit(cases: int, limit: float, alpha: float) -> None:
    least = math.ceil(round(limit * cases, 9))
    for passes in (least - 1, least):
        assert simulate_total(passes, cases=cases, limit=limit, alpha=alpha) <= allowed(alpha)


def test_the_docs_state_what_is_saved() -> None:
    rows = dict(re.findall(r"^\| (0\.\d\d) \| (\d+) % \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows == {f"{rate:.2f}": f"{100 * simulate(rate).saved:.0f}" for rate in RATES}


@given(st.integers(1, 60), st.data())
def test_certain_verdicts_are_foreseen(cases: int, data: st.DataObject) -> None:
    least = data.draw(st.integers(0, cases))
    seen = data.draw(st.integers(1, cases))
    passed = data.draw(st.integers(0, seen))
    verdict = foreseen(WholeRun(cases, least, least - 1, 0.05), seen, passed)
    if passed >= least:
        assert verdict == "holds"
    elif passed + cases - seen < least:
        assert verdict == "fails"


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.floats(0.1, 1))
def test_the_first_verdict_stays(passes: list[bool], limit: float) -> None:
    least = math.ceil(limit * len(passes))
    test = PassRateTest(WholeRun(len(passes), least, least - 1, 0.05))
    verdicts = []
    for passed in passes:
        test.see(passed)
        verdicts.append(test.verdict)
    assert verdicts[-1] is not None
    assert len({*verdicts} - {None}) == 1


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_stake_on_regressions_is_the_integral_that_it_says(worse: int, better: int) -> None:
    def won(chance: float) -> float:
        return float(2 * (2 * chance) ** worse * (2 * (1 - chance)) ** better)

    expected, _ = integrate.quad(won, 0.5, 1, epsabs=1e-12)
    test = RegressionTest(0.05)
    test._worse, test._better = worse, better
    assert math.exp(test._log_stake()) == pytest.approx(expected, rel=1e-6)


def test_flips_by_chance_are_called_a_regression_no_more_often_than_stated() -> None:
    draw = np.random.default_rng(11)
    wrong = 0
    runs = 2_000
    for flips in draw.random((runs, 100)) < 0.5:
        test = RegressionTest(ALPHA)
        for worse in flips.tolist():
            test.see(worse, not worse)
        wrong += test.fails
    assert wrong / runs <= ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / runs)


def test_a_regression_is_seen() -> None:
    test = RegressionTest(ALPHA)
    for _ in range(20):
        test.see(True, True)
        test.see(True, False)
    assert test.fails
