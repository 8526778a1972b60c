"""From what each case contributes to the difference of two means to a verdict on it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from evalc.compare.bootstrap import mean_interval, variance
from evalc.compare.verdicts import FEWEST_CHANGES, more_cases, verdict_of
from evalc.model.comparison import Difference

_DECIMALS: Final = 12


def difference(before: float, after: float, changes: Sequence[float], *, changed: int) -> Difference:
    """The verdict on two means.

    Args:
        before, after: the means.
        changes: what each case contributes to their difference, which is the mean of it; at least one.
        changed: how many cases are not what they were.
    """
    low, high = mean_interval(changes)
    certain = changed >= FEWEST_CHANGES and not low <= 0 <= high
    mean = _rounded(fmean(changes))
    verdict = verdict_of(mean, changed=changed, certain=certain)
    return Difference(
        before=_rounded(before),
        after=_rounded(after),
        difference=mean,
        low=_rounded(low),
        high=_rounded(high),
        cases=len(changes),
        verdict=verdict,
        more_cases=(
            more_cases(mean, variance(changes), changed=changed, cases=len(changes))
            if verdict == "inconclusive"
            else None
        ),
    )


def _rounded(value: float) -> float:
    """As scores are rounded; never the negative zero."""
    return round(value, _DECIMALS) + 0.0
