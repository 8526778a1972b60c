"""Corrects what a judge says of many answers by what people say of some, and looks for a bias towards long answers.

The corrected mean is that of prediction-powered inference (Angelopoulos et al., Science 382, 2023): the judge's mean
over the answers without labels, plus the mean of label minus score over those with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, pvariance
from typing import Final

import msgspec

from evalc.compare.exact import Z

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
    mean_excess, mean_length = fmean(excess), fmean(lengths)
    shared = sum((e - mean_excess) * (n - mean_length) for e, n in zip(excess, lengths, strict=True))
    spread = math.sqrt(sum((e - mean_excess) ** 2 for e in excess) * sum((n - mean_length) ** 2 for n in lengths))
    r = max(-1.0, min(1.0, shared / spread))
    if abs(r) > 1 - _NEGLIGIBLE:
        return Estimate(r, r, r)
    half = Z / math.sqrt(len(excess) - 3)
    return Estimate(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
