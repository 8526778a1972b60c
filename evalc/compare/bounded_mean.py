"""Tests of the mean of scores from 0 to 1: a bet against a limit, which holds for any distribution.

Whoever bets on every score that the mean is above the limit cannot hope to multiply the money by 1/alpha if it is not
(Ville's inequality). Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evalc.compare.binomial import Decision, alpha_of

_BOLDEST: Final = 0.5
"""The share of the money that a bet may lose at most."""


def mean_decision(scores: Iterable[float], limit: float, confidence: float) -> Decision:
    """Whether the mean of the scores, from 0 to 1 and in any fixed order, is at least the limit.

    Each of the two certain answers is wrong in at most 1 - confidence of all runs.
    """
    target = 1 / alpha_of(confidence)
    above, below = _Bettor(limit), _Bettor(1 - limit)
    for score in scores:
        above.see(score)
        below.see(1 - score)
        if above.money >= target or limit <= 0:
            return "holds"
        if below.money >= target:
            return "fails"
    return "undecided"


class _Bettor:
    """Bets that a mean is above a limit. Each bet depends on the scores before it alone."""

    def __init__(self, limit: float) -> None:
        self.money = 1.0
        self._limit = limit
        self._seen = 1
        self._sum = 0.5
        self._squares = 0.25

    def see(self, score: float) -> None:
        mean = self._sum / self._seen
        edge = mean - self._limit
        if edge > 0 and self._limit > 0:
            bet = min(edge / (self._squares / self._seen + edge * edge), _BOLDEST / self._limit)
            self.money *= 1 + bet * (score - self._limit)
        self._seen += 1
        self._sum += score
        self._squares += (score - self._sum / self._seen) ** 2
