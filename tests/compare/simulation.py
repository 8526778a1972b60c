"""Simulates runs that stop when they are sure: how often they are wrong, and how many cases they leave out."""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from evalc.compare.sequential import WholeRun, foreseen

RUNS: Final = 10_000
CASES: Final = 200
LIMIT: Final = 0.9
ALPHA: Final = 0.05


class Simulated(NamedTuple):
    """The share of runs that stopped with a wrong verdict, and the mean share of the cases that were left out."""

    wrong: float
    saved: float


@lru_cache
def _verdicts(run: WholeRun) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """What is foreseen after so many cases with so many passes: 1 holds, -1 fails, 0 nothing."""
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
