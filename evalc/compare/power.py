"""The power of so many cases: how many verdicts have to change, and how large a regression is likely to be seen.

The noise is how often the verdicts of cases differ between two runs of the same agent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

from evalc.compare.exact import POWER, regression_p
from evalc.compare.rates import alpha_of, at_least, decision

_FEWEST: Final = 30
"""The attempts, or pairs of verdicts, below which nothing is estimated."""


class Noise(NamedTuple):
    """How the verdicts of an agent vary between runs though nothing has changed."""

    passes: float  # the share of the cases that pass
    flips: float  # the share whose verdict differs between two runs
    of: int = 0  # how many attempts, or pairs of verdicts, it was seen in; 0 where it is assumed


ASSUMED: Final = Noise(passes=0.9, flips=0.18)
"""The noise of an agent that passes each case nine times in ten, by chance: 2 * 0.9 * 0.1 of the verdicts differ."""


def noise_of_attempts(cases: Iterable[tuple[int, int]]) -> Noise | None:
    """The noise of verdicts that are single attempts, from the attempts at each case and how many of them passed.

    Two of the n attempts at a case, c of which passed, differ with a chance of 2c(n - c) / n(n - 1). None if
    there are too few.
    """
    repeated = [(attempts, passed) for attempts, passed in cases if attempts > 1]
    of = sum(attempts for attempts, _ in repeated)
    if of < _FEWEST:
        return None
    passes = sum(passed / attempts for attempts, passed in repeated)
    flips = sum(2 * passed * (attempts - passed) / (attempts * (attempts - 1)) for attempts, passed in repeated)
    return Noise(passes / len(repeated), flips / len(repeated), of)


def noise_of_verdicts(pairs: Iterable[tuple[bool, bool]]) -> Noise | None:
    """The noise of verdicts, from those of the same cases in two runs each. None if there are too few."""
    known = list(pairs)
    if len(known) < _FEWEST:
        return None
    passes = sum(before + after for before, after in known) / 2
    return Noise(passes / len(known), sum(before != after for before, after in known) / len(known), len(known))


_STEPS: Final = 14
_EVEN: Final = 0.5

_FAR: Final = 8
"""How many standard deviations of the number of flips are summed over."""

_MOST_EXACT: Final = 2000
"""The cases up to which the power is summed; of more, the number of flips is as good as normal."""


def fewest_changes(confidence: float) -> int:
    """How many verdicts have to change, all for the worse, before that is not chance (McNemar's test, one-sided)."""
    alpha = alpha_of(confidence)
    count = 1
    while regression_p(count, 0) > alpha:
        count += 1
    return count


def likely_regression(cases: int, confidence: float, noise: Noise) -> float | None:
    """How far the pass rate has to fall for that to be shown four times in five; None if no fall is.

    A regression is taken to hit each answer that would have passed with the same chance.
    """

    def power(fall: float) -> float:
        # Of the noise's flips half go each way; what newly fails can no longer flip for the better.
        better = noise.flips / 2 * (1 - fall / noise.passes)
        return regression_power(cases, confidence, worse=better + fall, better=better)

    low, high = 0.0, noise.passes
    if not noise.passes or power(high) < POWER:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def regression_power(cases: int, confidence: float, *, worse: float, better: float) -> float:
    """How likely a regression is shown if each case gets worse, or better, with these chances (McNemar, one-sided)."""
    flips = min(1.0, worse + better)
    if not flips:
        return 0.0
    alpha = alpha_of(confidence)
    mean, spread = cases * flips, math.sqrt(cases * flips * (1 - flips))
    if cases > _MOST_EXACT:
        drift = cases * (worse - better) - 1  # since the exact test needs about one more than the normal one
        deviation = math.sqrt(cases * max(flips - (worse - better) ** 2, 1e-12))
        return NormalDist().cdf((drift - NormalDist().inv_cdf(1 - alpha) * math.sqrt(mean)) / deviation)
    needed = _worse_needed(alpha, cases)
    return sum(
        _chance(cases, count, flips) * at_least(needed[count], count, worse / (worse + better))
        for count in range(max(1, math.floor(mean - _FAR * spread)), min(cases, math.ceil(mean + _FAR * spread)) + 1)
        if needed[count] <= count
    )


@lru_cache(maxsize=8)
def _worse_needed(alpha: float, most: int) -> Sequence[int]:
    """How many flips have to be for the worse, of none, one and so on to the most; each needs at most one more."""
    needed = [1]
    for flips in range(1, most + 1):
        worse = needed[-1]
        needed.append(worse if at_least(worse, flips, _EVEN) <= alpha else worse + 1)
    return needed


def _chance(of: int, count: int, rate: float) -> float:
    """P(X = count) of a binomial X."""
    if rate >= 1:
        return float(count == of)
    log = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(log + count * math.log(rate) + (of - count) * math.log1p(-rate))


def passes_needed(cases: int, limit: float) -> int:
    """The least number of passes whose rate is at least the limit, as that is written."""
    return math.ceil(Fraction(repr(limit)) * cases)


def passes_to_hold(cases: int, limit: float, confidence: float) -> int | None:
    """The least number of passes that shows a rate of at least the limit; None if none does."""
    found = _first(cases, lambda passed: decision(passed, cases, limit, confidence) == "holds")
    return found if found <= cases else None


def passes_to_fail(cases: int, limit: float, confidence: float) -> int | None:
    """The greatest number of passes that shows a rate below the limit; None if none does."""
    found = _first(cases, lambda passed: decision(passed, cases, limit, confidence) != "fails") - 1
    return found if found >= 0 else None


def _first(most: int, holds: Callable[[int], bool]) -> int:
    """The least number from 0 on that it holds for, as it does for all greater ones; one above `most` if for none."""
    low, high = 0, most + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
