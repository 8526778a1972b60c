"""Whether two means differ: the paired bootstrap over what each case contributes, the same on every machine."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Final, NamedTuple

from evalc.compare.exact import FEWEST_CHANGES, LEVEL, Interval, Z, more_cases, verdict_of
from evalc.model.result import Difference

RESAMPLES: Final = 2000

_MOST_RESAMPLED: Final = 1000
"""The pairs up to which they are drawn anew; of more, the mean is as good as normal, and drawing would take seconds."""

_SEED: Final = 20_260_101


FEWEST_CLUSTERS: Final = 10
"""The groups of cases below which they are not drawn as groups: so few say little of what others would be like."""


class Cluster(NamedTuple):
    """Cases that belong together, such as the rows of a table: the sum of their changes, and how many they are."""

    total: float
    cases: int


def clusters_of(changes: Sequence[float], groups: Sequence[str]) -> list[Cluster]:
    """The changes by group; each by itself if there are too few groups, or each is a group anyway."""
    names = dict.fromkeys(groups)
    if not FEWEST_CLUSTERS <= len(names) < len(changes):
        return [Cluster(change, 1) for change in changes]
    sums = dict.fromkeys(names, 0.0)
    sizes = Counter(groups)
    for change, group in zip(changes, groups, strict=True):
        sums[group] += change
    return [Cluster(sums[name], sizes[name]) for name in names]


def mean_interval(changes: Sequence[float], groups: Sequence[str] | None = None) -> Interval:
    """The percentile interval (95 %) of the mean of the changes, at least one.

    `groups` says of each change which others it belongs together with: they are drawn together.
    """
    mean = fmean(changes)
    if all(change == changes[0] for change in changes):
        return Interval(mean, mean)
    clusters = clusters_of(changes, [str(number) for number in range(len(changes))] if groups is None else groups)
    if len(clusters) > _MOST_RESAMPLED:
        half = Z * math.sqrt(sum((total - mean * cases) ** 2 for total, cases in clusters)) / len(changes)
        return Interval(mean - half, mean + half)
    ordered = sorted(clusters)  # so that the order of the cases is nothing to the interval
    draw = random.Random(_SEED)  # noqa: S311 - no secret: the interval is the same each time
    means = sorted(_mean_of(draw.choices(ordered, k=len(ordered))) for _ in range(RESAMPLES))
    cut = round(RESAMPLES * LEVEL / 2)
    return Interval(means[cut], means[-cut - 1])


def _mean_of(clusters: Sequence[Cluster]) -> float:
    return sum(total for total, _ in clusters) / sum(cases for _, cases in clusters)


def variance(changes: Sequence[float]) -> float:
    """The mean of the squared distances from the mean."""
    mean = fmean(changes)
    return fmean((change - mean) ** 2 for change in changes)


_DECIMALS: Final = 12


def difference(
    before: float, after: float, changes: Sequence[float], *, changed: int, groups: Sequence[str] | None = None
) -> Difference:
    """The verdict on two means, which differ by the mean of the changes: what each case contributes, at least one.

    `changed` is how many cases are not what they were; `groups` are as for `mean_interval`.
    """
    low, high = mean_interval(changes, groups)
    together = None if groups is None else len(clusters_of(changes, groups))
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
        clusters=None if together == len(changes) else together,
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
