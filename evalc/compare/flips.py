"""Counts the cases whose verdict changed between two runs, and tests whether that is chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from evalc.compare.exact import LEVEL, mcnemar_p
from evalc.compare.verdicts import more_cases, verdict_of
from evalc.model.result import Significance


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
        """The significance of the counts."""
        return _significance(self._pairs, self._regressed, self._newly_passed, self._errors)


def significance_of_all(parts: Iterable[Significance]) -> Significance:
    """The significance over several suites: changed verdicts that are too few in each may be enough in all."""
    known = list(parts)
    return _significance(
        sum(part.pairs for part in known),
        sum(part.regressed for part in known),
        sum(part.newly_passed for part in known),
        sum(part.errors for part in known),
    )


def _significance(pairs: int, worse: int, better: int, errors: int) -> Significance:
    p_value = mcnemar_p(worse, better)
    verdict = verdict_of(better - worse, changed=worse + better, certain=p_value < LEVEL)
    return Significance(
        pairs=pairs,
        regressed=worse,
        newly_passed=better,
        errors=errors,
        p_value=p_value,
        verdict=verdict,
        more_cases=_more_cases(pairs, worse, better) if verdict == "inconclusive" else None,
    )


def _more_cases(pairs: int, worse: int, better: int) -> int | None:
    mean = (better - worse) / pairs
    return more_cases(mean, (worse + better) / pairs - mean * mean, changed=worse + better, cases=pairs)
