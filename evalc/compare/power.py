"""What so many cases can show: how many verdicts have to change, and how large a regression is likely to be seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from evalc.compare.binomial import alpha_of, at_least, decision
from evalc.compare.exact import regression_p

POWER: Final = 0.8
"""How often a regression has to be shown for it to be likely."""

_STEPS: Final = 50


def fewest_changes(confidence: float) -> int:
    """How many verdicts have to change, all for the worse, before that is not chance (McNemar's, one-sided)."""
    alpha = alpha_of(confidence)
    count = 1
    while regression_p(count, 0) > alpha:
        count += 1
    return count


def likely_share(cases: int, changes: int) -> float | None:
    """The share of the cases that has to regress for so many changes to come about four times in five."""
    if changes > cases:
        return None
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if at_least(changes, cases, middle) >= POWER else (middle, high)
    return high


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
