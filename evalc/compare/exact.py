"""McNemar's exact test and Wilson's interval."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

LEVEL: Final = 0.05
"""How often chance alone may be taken for a difference."""

Z: Final = 1.959963984540054
"""The quantile of the normal distribution that leaves half of `LEVEL` above it."""

_EXACT_UP_TO: Final = 1000
"""The flips up to which the sum is one of whole numbers."""

_NEGLIGIBLE: Final = 1e-17


class Interval(NamedTuple):
    """Where a value lies, at a confidence of 95 %."""

    low: float
    high: float


def mcnemar_p(one_way: int, other_way: int) -> float:
    """The two-sided p-value of McNemar's exact test: how likely flips as uneven as these are if nothing changed.

    A flip goes either way with a chance of 1/2, so p = 2 P(X <= min) of a binomial X, and at most 1.
    """
    return min(1.0, 2 * _at_most(one_way + other_way, min(one_way, other_way)))


def regression_p(worse: int, better: int) -> float:
    """The one-sided p-value of McNemar's exact test: how likely so many of the flips are for the worse by chance."""
    flips = worse + better
    if flips <= _EXACT_UP_TO or better <= worse:
        return _at_most(flips, better)
    return 1 - _at_most(flips, worse - 1) if worse else 1.0


def _at_most(flips: int, most: int) -> float:
    """P(X <= most) of a fair binomial."""
    if flips <= _EXACT_UP_TO:
        return sum(math.comb(flips, count) for count in range(most + 1)) / (1 << flips)
    return _half_tail(flips, most)


def _half_tail(flips: int, most: int) -> float:
    """P(X <= most) of a fair binomial, from its largest term down; by logarithms, since 2^-flips may underflow."""
    log_term = math.lgamma(flips + 1) - math.lgamma(most + 1) - math.lgamma(flips - most + 1) - flips * math.log(2)
    total = ratio = 1.0
    for count in range(most, 0, -1):
        ratio *= count / (flips - count + 1)
        total += ratio
        if ratio < _NEGLIGIBLE:
            break
    return math.exp(log_term) * total


def wilson(passed: int, of: int) -> Interval | None:
    """Wilson's score interval of a rate; None of no cases."""
    if not of:
        return None
    rate, spread = passed / of, Z * Z / of
    middle = (rate + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * math.sqrt((rate * (1 - rate) + spread / 4) / of)
    # Of none and of all, the bound is the end itself, which rounding may miss.
    return Interval(0.0 if not passed else max(0.0, middle - half), 1.0 if passed == of else min(1.0, middle + half))
