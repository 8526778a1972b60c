"""Measures how far a judge agrees with people's labels: accuracy, Cohen's kappa, the confusion table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import msgspec

from evalc.compare.means import Estimate, corrected_mean, length_bias


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
    """How far a judge agrees with people.

    Attributes:
        judges: who judged.
        answers: how many labelled answers have a score.
        accuracy: the share of them whose score is the label; None without answers.
        kappa: Cohen's kappa; None where chance alone would agree always, as where all labels and scores are one.
        weighted_kappa: the same with quadratic weights, where a score that is near the label counts nearly as it.
        confusion: the pairs of label and score that occur, in order.
        disagreements: the answers whose score is not the label, the furthest apart first.
        unjudged: those without a score, which count in nothing above.
        unlabelled: how many answers without a label have a score.
        uncorrected: the judge's mean over these, from 0 to 1; None without any.
        corrected: the same mean, corrected by the labels; None with fewer than two labels.
        length_bias: how score minus label goes with the length of the answer, from -1 to 1; None with fewer than ten
            labels, or if nothing varies.
    """

    judges: tuple[str, ...]
    answers: int
    accuracy: float | None
    kappa: float | None
    weighted_kappa: float | None
    confusion: tuple[Confusion, ...]
    disagreements: tuple[LabelledAnswer, ...]
    unjudged: tuple[Unjudged, ...] = ()
    unlabelled: int = 0
    uncorrected: float | None = None
    corrected: Estimate | None = None
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
