"""Whether two means differ: the paired bootstrap over what each case contributes, the same on every machine."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from evalc.compare.exact import LEVEL, Interval, Z
from evalc.compare.verdicts import FEWEST_CHANGES, more_cases, verdict_of
from evalc.model.comparison import Difference

RESAMPLES: Final = 2000

_MOST_RESAMPLED: Final = 1000
"""The pairs up to which they are drawn anew; of more, the mean is as good as normal, and drawing would take seconds."""

_SEED: Final = 20_260_101


def mean_interval(changes: Sequence[float]) -> Interval:
    """The percentile interval (95 %) of the mean of the changes, of which there is at least one."""
    mean = fmean(changes)
    if all(change == changes[0] for change in changes):
        return Interval(mean, mean)
    if len(changes) > _MOST_RESAMPLED:
        half = Z * math.sqrt(variance(changes) / len(changes))
        return Interval(mean - half, mean + half)
    ordered = sorted(changes)  # so that the order of the cases is nothing to the interval
    draw = random.Random(_SEED)  # noqa: S311 - no secret: the same interval is wanted each time
    means = sorted(sum(draw.choices(ordered, k=len(ordered))) / len(ordered) for _ in range(RESAMPLES))
    cut = round(RESAMPLES * LEVEL / 2)
    return Interval(means[cut], means[-cut - 1])


def variance(changes: Sequence[float]) -> float:
    """The mean of the squared distances from the mean."""
    mean = fmean(changes)
    return fmean((change - mean) ** 2 for change in changes)


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
