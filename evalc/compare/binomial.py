"""Tests of a true rate by a number of passes: the exact binomial test, one-sided."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, Literal

Decision = Literal["holds", "fails", "undecided"]
"""The certainty about a limit: kept, not kept, or neither."""

_MOST_STEPS: Final = 10_000
_TINY: Final = 1e-300
_ENOUGH: Final = 1e-16
_MOST_MORE: Final = 10_000_000


def alpha_of(confidence: float) -> float:
    """How often a certain decision may be wrong: 0.05 of a confidence of 0.95, as decimals."""
    return float(1 - Fraction(repr(confidence)))


def at_least(passed: int, of: int, rate: float) -> float:
    """P(X >= passed) of a binomial X of so many cases at this rate: the p-value against a lower rate."""
    return 1.0 if passed <= 0 else beta_share(passed, of - passed + 1, rate)


def at_most(passed: int, of: int, rate: float) -> float:
    """P(X <= passed): the p-value against a higher rate."""
    return 1.0 if passed >= of else beta_share(of - passed, passed + 1, 1 - rate)


def decision(passed: int, of: int, limit: float, confidence: float) -> Decision:
    """Whether the rate is at least the limit, as far as so many cases can show at this confidence.

    Each of the two certain answers is wrong in at most 1 - confidence of all runs.
    """
    alpha = alpha_of(confidence)
    if of and (limit <= 0 or at_least(passed, of, limit) <= alpha):
        return "holds"
    if of and at_most(passed, of, limit) <= alpha:
        return "fails"
    return "undecided"


def more_to_decide(passed: int, of: int, limit: float, confidence: float) -> int | None:
    """How many cases more would decide, if they pass at the rate that these did; None if no number would."""
    if not of:
        return None
    rate = Fraction(passed, of)
    if rate == Fraction(repr(limit)):
        return None

    def decides(more: int) -> bool:
        return decision(passed + round(rate * more), of + more, limit, confidence) != "undecided"

    high = 1
    while not decides(high):
        high *= 2
        if high > _MOST_MORE:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def fewest_to_hold(limit: float, confidence: float) -> int | None:
    """How many cases it takes to show a rate of at least the limit, if all pass; None if no number does."""
    if limit <= 0:
        return 1
    if limit >= 1:
        return None
    return _first_power(limit, alpha_of(confidence))


def fewest_to_fail(limit: float, confidence: float) -> int | None:
    """How many cases it takes to show a rate below the limit, if none passes; None if no number does."""
    if limit <= 0:
        return None
    return 1 if limit >= 1 else _first_power(1 - limit, alpha_of(confidence))


def _first_power(base: float, alpha: float) -> int:
    """The least n with base^n <= alpha."""
    count = max(1, math.floor(math.log(alpha) / math.log(base)) - 1)
    while at_least(count, count, base) > alpha:
        count += 1
    return count


def beta_share(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b), for a and b above 0."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The continued fraction converges fast on one side of the mean; the other is its complement.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    value = d
    for step in range(1, _MOST_STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        before = value
        for term in (even, odd):
            d = 1 / _apart(1 + term * d)
            c = _apart(1 + term / c)
            value *= c * d
        if abs(value - before) <= _ENOUGH * abs(value):
            break
    return value


def _apart(value: float) -> float:
    """The value, away from zero."""
    return value if abs(value) > _TINY else _TINY
