"""Turns a p-value or an interval into a verdict, and says how many more cases would decide an unsure one."""

from __future__ import annotations

import math
from typing import Final

from evalc.compare.exact import Z
from evalc.model.result import Verdict

FEWEST_CHANGES: Final = 6
"""The changed cases below which nothing is certain: even where all go one way, 2 / 2^5 is more than 5 %."""

POWER: Final = 0.8
"""How likely as many cases as `more_cases` says would show the difference, if it is as large as it seems."""

Z_POWER: Final = 0.8416212335729143
"""The quantile of the normal distribution at `POWER`."""


def verdict_of(direction: float, *, changed: int, certain: bool) -> Verdict:
    """The verdict on a difference: which way it goes, how many cases it is of, and whether it is certain."""
    if not changed:
        return "unchanged"
    if not certain:
        return "inconclusive"
    return "better" if direction > 0 else "worse"


def more_cases(mean: float, spread: float, *, changed: int, cases: int) -> int | None:
    """About how many cases more would show the difference four times in five, if it and its variance stay as they are.

    n = (z_0.975 + z_0.8)^2 variance / mean^2, and enough for `FEWEST_CHANGES` changed cases; None for a mean of 0,
    which no number of cases distinguishes from none.
    """
    if mean == 0 or not changed:
        return None
    for_mean = math.ceil((Z + Z_POWER) ** 2 * spread / mean**2)
    for_changes = math.ceil(FEWEST_CHANGES * cases / changed)
    return max(for_mean - cases, for_changes - cases, 1)
