"""Simulates gates: how often they are wrong, or show a regression, and how many cases runs that stop leave out."""

from __future__ import annotations

from functools import cache
from math import ceil, log
from typing import Final, NamedTuple

import numpy as np

from evalc.compare.rates import RegressionTest, WholeRun, foreseen
from evalc.model.case import Gates
from evalc.runtime.run.gates import WATCHED_SHARE, Measured, judge_gates

RUNS: Final = 10_000
CASES: Final = 200
LIMIT: Final = 0.9
ALPHA: Final = 0.05


class Simulated(NamedTuple):
    """The share of runs that stopped with a wrong verdict, and the mean share of the cases that were left out."""

    wrong: float
    saved: float


@cache
def _verdicts(run: WholeRun) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """The forecast after so many cases with so many passes: 1 holds, -1 fails, 0 nothing."""
    table = np.zeros((run.cases + 1, run.cases + 1), dtype=np.int8)
    for seen in range(1, run.cases + 1):
        for passed in range(seen + 1):
            table[seen, passed] = {"holds": 1, "fails": -1, None: 0}[foreseen(run, seen, passed)]
    return table


def simulate(rate: float, *, cases: int = CASES, limit: float = LIMIT, alpha: float = ALPHA) -> Simulated:
    """Whole runs whose cases pass with this chance, each looked at in a random order until it is decided."""
    least = ceil(round(limit * cases, 9))
    table = _verdicts(WholeRun(cases, least, least - 1, alpha))
    draw = np.random.default_rng(2026)
    whole = draw.random((RUNS, cases)) < rate
    passed = np.cumsum(whole, axis=1)
    verdicts = table[np.arange(1, cases + 1), passed]
    decided = verdicts != 0
    first = np.argmax(decided, axis=1)
    verdict = verdicts[np.arange(RUNS), first]
    meets = passed[:, -1] >= least
    wrong = (verdict == 1) & ~meets | (verdict == -1) & meets
    assert decided.any(axis=1).all()  # at the end of a run it is
    return Simulated(float(wrong.mean()), float(1 - (first + 1).mean() / cases))


def simulate_total(passes: int, *, cases: int = CASES, limit: float = LIMIT, alpha: float = ALPHA) -> float:
    """How often runs with just so many passes are decided wrongly: at the limit, the hardest setting there is."""
    least = ceil(round(limit * cases, 9))
    table = _verdicts(WholeRun(cases, least, least - 1, alpha))
    draw = np.random.default_rng(7)
    whole = draw.permuted(np.tile(np.arange(cases) < passes, (RUNS, 1)), axis=1)
    verdicts = table[np.arange(1, cases + 1), np.cumsum(whole, axis=1)]
    verdict = verdicts[np.arange(RUNS), np.argmax(verdicts != 0, axis=1)]
    return float((verdict == (-1 if passes >= least else 1)).mean())


@cache
def _fails(worse: int, better: int, *, watched: bool) -> bool:
    """Whether the gate on regressions fails at the end of a run."""
    measured = Measured(
        passed=0,
        total=1,
        score=None,
        durations=list,
        scores=list,
        regressions=worse,
        new_passes=better,
        watched=watched,
    )
    (gate,) = judge_gates(Gates(fail_on_regression=True, confidence=1 - ALPHA), measured)
    return not gate.passed


@cache
def _is_shown_early(worse: int, better: int) -> bool:
    test = RegressionTest(ALPHA * WATCHED_SHARE)
    test._worse, test._better = worse, better
    return test._log_stake() >= -log(ALPHA * WATCHED_SHARE)


def simulate_regression(before: float, after: float, *, cases: int) -> float:
    """How often the gate fails, if each case passes with one chance in the baseline and with another in the run."""
    draw = np.random.default_rng(1947)
    fails = 0
    for _ in range(RUNS):
        old, new = draw.random(cases) < before, draw.random(cases) < after
        fails += _fails(int((old & ~new).sum()), int((~old & new).sum()), watched=False)
    return fails / RUNS


def simulate_watched_run(rate: float, *, cases: int) -> float:
    """How often a run with `--stop-when-sure` fails for regressions, early or at its end, without any."""
    draw = np.random.default_rng(1948)
    fails = 0
    for _ in range(RUNS):
        old, new = draw.random(cases) < rate, draw.random(cases) < rate
        worse, better = np.cumsum(old & ~new).tolist(), np.cumsum(~old & new).tolist()
        early = any(_is_shown_early(*counts) for counts in set(zip(worse, better, strict=True)))
        fails += early or _fails(worse[-1], better[-1], watched=True)
    return fails / RUNS
