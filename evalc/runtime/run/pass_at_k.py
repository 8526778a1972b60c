"""Estimates pass@k and pass^k from the attempts at repeated cases."""

from __future__ import annotations

from collections import Counter
from math import comb, fsum
from typing import final

from evalc.model.result import PASSING, RepeatSummary, Status


@final
class RepeatedCases:
    """Counts the attempts at repeated cases; those that ended in error say nothing of the agent, and are left out."""

    def __init__(self) -> None:
        self._cases: Counter[tuple[int, int]] = Counter()

    def add(self, statuses: tuple[Status, ...]) -> None:
        """Add a case with how its attempts ended."""
        ended = [status for status in statuses if status != "error"]
        if ended:
            self._cases[len(ended), sum(status in PASSING for status in ended)] += 1

    def summaries(self) -> tuple[RepeatSummary, ...]:
        """pass@k and pass^k for k = 1, 2, 4 and so on, and for the most attempts at a case.

        Each is the mean over the cases with at least k attempts of the share of their sets of k attempts in which at
        least one passed, or all did.
        """
        most = max((attempts for attempts, _ in self._cases), default=0)
        ks = sorted({2**power for power in range(most.bit_length())} | {most} - {0}) if most else []
        return tuple(self._summary(k) for k in ks)

    def _summary(self, k: int) -> RepeatSummary:
        counted = {case: count for case, count in self._cases.items() if case[0] >= k}
        cases = sum(counted.values())
        sets = [(comb(n, k), comb(n - passed, k), comb(passed, k), count) for (n, passed), count in counted.items()]
        return RepeatSummary(
            k=k,
            cases=cases,
            pass_at_k=fsum(count * (1 - none / every) for every, none, _, count in sets) / cases,
            pass_hat_k=fsum(count * (whole / every) for every, _, whole, count in sets) / cases,
        )
