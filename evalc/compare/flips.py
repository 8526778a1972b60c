"""Counts the cases whose verdict changed between two runs, and tests whether that is chance."""

from __future__ import annotations

from typing import final

from evalc.compare.exact import LEVEL, mcnemar_p
from evalc.compare.verdicts import more_cases, verdict_of
from evalc.model.comparison import Significance


@final
class Flips:
    """Counts the cases of two runs by what became of their verdicts."""

    def __init__(self) -> None:
        self._pairs = self._regressed = self._newly_passed = self._errors = 0

    def add(self, before: bool, after: bool, *, error: bool) -> None:
        """Count a case: whether it passed in either run, and whether it ended in error in one of them."""
        if error:
            self._errors += 1
            return
        self._pairs += 1
        self._regressed += before and not after
        self._newly_passed += after and not before

    def significance(self) -> Significance:
        """What the counts say."""
        worse, better = self._regressed, self._newly_passed
        p_value = mcnemar_p(worse, better)
        verdict = verdict_of(better - worse, changed=worse + better, certain=p_value < LEVEL)
        return Significance(
            pairs=self._pairs,
            regressed=worse,
            newly_passed=better,
            errors=self._errors,
            p_value=p_value,
            verdict=verdict,
            more_cases=self._more_cases() if verdict == "inconclusive" else None,
        )

    def _more_cases(self) -> int | None:
        changed = self._regressed + self._newly_passed
        mean = (self._newly_passed - self._regressed) / self._pairs
        return more_cases(mean, changed / self._pairs - mean * mean, changed=changed, cases=self._pairs)
