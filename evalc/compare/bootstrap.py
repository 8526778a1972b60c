"""From what each case changed by to an interval of their mean: the paired bootstrap, the same on every machine."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from evalc.compare.exact import LEVEL, Interval, Z

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
