"""Whether two means differ, and how far a judge agrees with people's labels: accuracy, kappa, the corrected mean.

Means are compared by the paired bootstrap over what each case contributes, the same on every machine. The corrected
mean is that of prediction-powered inference (Angelopoulos et al., Science 382, 2023): the judge's mean over the answers
without labels, plus the mean of label minus score over those with.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist, correlation, fmean, pvariance
from typing import Final, NamedTuple

import msgspec

from evalc.compare.totals import DECIMALS, FEWEST_CHANGES, Interval, Z, more_cases, verdict_of
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
    """The expanded percentile interval (95 %) of the mean of the changes, at least one.

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
    samples = (draw.choices(ordered, k=len(ordered)) for _ in range(RESAMPLES))
    means = sorted(sum(total for total, _ in drawn) / sum(cases for _, cases in drawn) for drawn in samples)
    cut = round(RESAMPLES * _beyond(len(ordered)))
    return Interval(means[cut], means[-cut - 1])


def _beyond(drawn: int) -> float:
    """The share of the means that lies beyond either end: of fewer, they spread too little to leave out 2.5 %.

    They spread by sqrt(1 - 1/n) too little, and as if the variance were known: Hesterberg, "What Teachers Should Know
    About the Bootstrap" (2015), makes up for both. Student's quantile is that of Abramowitz and Stegun, 26.7.5.
    """
    freedom = drawn - 1
    t = Z + (Z**3 + Z) / (4 * freedom) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * freedom**2)
    t += (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / (384 * freedom**3)
    return NormalDist().cdf(-t * math.sqrt(drawn / freedom))


def variance(changes: Sequence[float]) -> float:
    """The mean of the squared distances from the mean."""
    mean = fmean(changes)
    return fmean((change - mean) ** 2 for change in changes)


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
    return round(value, DECIMALS) + 0.0


# --- a judge against people ------------------------------------------------------------------------------------------

_FEWEST: Final = 2
_FEWEST_FOR_BIAS: Final = 10
_NEGLIGIBLE: Final = 1e-12


class Estimate(msgspec.Struct, frozen=True):
    """A value and its interval (95 %)."""

    value: float
    low: float
    high: float


def corrected_mean(labels: Sequence[float], scores: Sequence[float], unlabelled: Sequence[float]) -> Estimate | None:
    """The mean label of all answers, from 0 to 1; None with fewer than two labels, or without answers that have none.

    `scores` are what the judge says of the labelled answers, `unlabelled` what it says of the others.
    """
    if len(labels) < _FEWEST or not unlabelled:
        return None
    off = [label - score for label, score in zip(labels, scores, strict=True)]
    mean = fmean(unlabelled) + fmean(off)
    half = Z * math.sqrt(pvariance(unlabelled) / len(unlabelled) + pvariance(off) / len(off))
    return Estimate(_share(mean), _share(mean - half), _share(mean + half))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def length_bias(excess: Sequence[float], lengths: Sequence[int]) -> Estimate | None:
    """How the judge's excess over the labels goes with the length of the answer: Pearson's r, by Fisher's interval.

    None with fewer than ten labels, or where all excesses or all lengths are one.
    """
    if len(excess) < _FEWEST_FOR_BIAS or pvariance(excess) < _NEGLIGIBLE or len(set(lengths)) == 1:
        return None
    r = max(-1.0, min(1.0, correlation(excess, lengths)))
    if abs(r) > 1 - _NEGLIGIBLE:
        return Estimate(r, r, r)
    half = Z / math.sqrt(len(excess) - 3)
    return Estimate(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


class LabelledAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One labelled answer that was judged; `line` is its line in the file, from 1, `length` its characters."""

    line: int
    case: str
    label: int | float
    score: int | float
    max_score: int | float
    reason: str | None = None
    length: int = 0


class Confusion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """So many answers had this label and this score."""

    label: int | float
    score: int | float
    count: int


class Unjudged(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An answer that the judge gave no score."""

    line: int
    case: str
    error: str


class Calibration(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How far a judge agrees with people."""

    judges: tuple[str, ...]  # who judged
    answers: int  # how many labelled answers have a score
    accuracy: float | None  # the share of them whose score is the label; None without answers
    # Cohen's kappa; None where chance alone would agree always, as where all labels and scores are one
    kappa: float | None
    # the same with quadratic weights, where a score that is near the label counts nearly as it
    weighted_kappa: float | None
    confusion: tuple[Confusion, ...]  # the pairs of label and score that occur, in order
    disagreements: tuple[LabelledAnswer, ...]  # the answers whose score is not the label, the furthest apart first
    unjudged: tuple[Unjudged, ...] = ()  # those without a score, which count in nothing above
    unlabelled: int = 0  # how many answers without a label have a score
    uncorrected: float | None = None  # the judge's mean over these, from 0 to 1; None without any
    corrected: Estimate | None = None  # the same mean, corrected by the labels; None with fewer than two labels
    # how score minus label goes with the length of the answer, from -1 to 1; None with fewer than ten labels, or if
    # nothing varies
    length_bias: Estimate | None = None


def calibration_of(
    judges: Sequence[str],
    pairs: Sequence[LabelledAnswer],
    unjudged: Sequence[Unjudged] = (),
    unlabelled: Sequence[float] = (),
) -> Calibration:
    """Compare the pairs, with the scores from 0 to 1 of answers without labels."""
    labels = [pair.label / pair.max_score for pair in pairs]
    scores = [pair.score / pair.max_score for pair in pairs]
    excess = [score - label for label, score in zip(labels, scores, strict=True)]
    counts = Counter((pair.label, pair.score) for pair in pairs)
    differing = [pair for pair in pairs if pair.label != pair.score]
    return Calibration(
        judges=tuple(judges),
        answers=len(pairs),
        accuracy=1 - len(differing) / len(pairs) if pairs else None,
        kappa=kappa_of(counts, squared=False),
        weighted_kappa=kappa_of(counts, squared=True),
        confusion=tuple(Confusion(label=pair[0], score=pair[1], count=counts[pair]) for pair in sorted(counts)),
        disagreements=tuple(sorted(differing, key=lambda pair: -abs(pair.label - pair.score) / pair.max_score)),
        unjudged=tuple(unjudged),
        unlabelled=len(unlabelled),
        uncorrected=fmean(unlabelled) if unlabelled else None,
        corrected=corrected_mean(labels, scores, unlabelled),
        length_bias=length_bias(excess, [pair.length for pair in pairs]),
    )


def kappa_of(counts: Counter[tuple[int | float, int | float]], *, squared: bool) -> float | None:
    """Cohen's kappa: 1 minus the disagreement observed divided by the disagreement expected by chance.

    `squared` weighs a disagreement by the square of its distance; otherwise every one weighs the same. None where
    chance would bring none.
    """
    labels: Counter[int | float] = Counter()
    scores: Counter[int | float] = Counter()
    for (label, score), count in counts.items():
        labels[label] += count
        scores[score] += count

    def weight(label: float, score: float) -> float:
        return (label - score) ** 2 if squared else float(label != score)

    seen = sum(weight(*pair) * count for pair, count in counts.items())
    by_chance = sum(
        weight(label, score) * times * others for label, times in labels.items() for score, others in scores.items()
    )
    return None if by_chance == 0 else 1 - seen * counts.total() / by_chance
