"""McNemar's exact test and Wilson's interval, and verdicts on differences.

Changed verdicts of cases are counted, and tested for chance. An unsure verdict says how many more cases would decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple, final

from evalc.model.result import Significance, Verdict

LEVEL: Final = 0.05
"""How often chance alone may be taken for a difference."""

Z: Final = 1.959963984540054
"""The quantile of the normal distribution that leaves half of `LEVEL` above it."""

_EXACT_UP_TO: Final = 1000
"""The flips up to which the sum is one of whole numbers."""

_NEGLIGIBLE: Final = 1e-17


class Interval(NamedTuple):
    """Where a value lies, at a confidence of 95 %."""

    low: float
    high: float


def mcnemar_p(one_way: int, other_way: int) -> float:
    """The two-sided p-value of McNemar's exact test: how likely flips as uneven as these are if nothing changed.

    A flip goes either way with a chance of 1/2, so p = 2 P(X <= min) of a binomial X, and at most 1.
    """
    return min(1.0, 2 * _at_most(one_way + other_way, min(one_way, other_way)))


def regression_p(worse: int, better: int) -> float:
    """The one-sided p-value of McNemar's exact test: how likely so many of the flips are for the worse by chance."""
    flips = worse + better
    if flips <= _EXACT_UP_TO or better <= worse:
        return _at_most(flips, better)
    return 1 - _at_most(flips, worse - 1) if worse else 1.0


def _at_most(flips: int, most: int) -> float:
    """P(X <= most) of a fair binomial."""
    if flips <= _EXACT_UP_TO:
        return sum(math.comb(flips, count) for count in range(most + 1)) / (1 << flips)
    return _half_tail(flips, most)


def _half_tail(flips: int, most: int) -> float:
    """P(X <= most) of a fair binomial, from its largest term down; by logarithms, since 2^-flips may underflow."""
    log_term = math.lgamma(flips + 1) - math.lgamma(most + 1) - math.lgamma(flips - most + 1) - flips * math.log(2)
    total = ratio = 1.0
    for count in range(most, 0, -1):
        ratio *= count / (flips - count + 1)
        total += ratio
        if ratio < _NEGLIGIBLE:
            break
    return math.exp(log_term) * total


def wilson(passed: int, of: int) -> Interval | None:
    """Wilson's score interval of a rate; None of no cases."""
    if not of:
        return None
    rate, spread = passed / of, Z * Z / of
    middle = (rate + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * math.sqrt((rate * (1 - rate) + spread / 4) / of)
    # Of none and of all, the bound is the end itself, which rounding may miss.
    return Interval(0.0 if not passed else max(0.0, middle - half), 1.0 if passed == of else min(1.0, middle + half))


FEWEST_CHANGES: Final = 6
"""The changed cases below which nothing is certain: even where all go one way, 2 / 2^5 is more than 5 %."""

POWER: Final = 0.8
"""How often a difference has to be shown, if it is as large as it seems, for a number of cases to be enough."""

Z_POWER: Final = 0.8416212335729143
"""The quantile of the normal distribution at `POWER`."""


def verdict_of(direction: float, *, changed: int, certain: bool) -> Verdict:
    """The verdict on a difference: which way it goes, how many cases it is of, and whether it is certain."""
    if not changed:
        return "unchanged"
    if not certain:
        return "inconclusive"
    return "better" if direction > 0 else "worse"


def more_cases(mean: float, spread: float, *, changed: int, cases: int) -> int | None:
    """About how many cases more would show the difference four times in five, if it and its variance stay as they are.

    n = (z_0.975 + z_0.8)^2 variance / mean^2, and enough for `FEWEST_CHANGES` changed cases; None for a mean of 0,
    which no number of cases distinguishes from none.
    """
    if mean == 0 or not changed:
        return None
    for_mean = math.ceil((Z + Z_POWER) ** 2 * spread / mean**2)
    for_changes = math.ceil(FEWEST_CHANGES * cases / changed)
    return max(for_mean - cases, for_changes - cases, 1)


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
    p_value, changed = mcnemar_p(worse, better), worse + better
    verdict = verdict_of(better - worse, changed=changed, certain=p_value < LEVEL)
    mean = (better - worse) / pairs if pairs else 0.0
    return Significance(
        pairs=pairs,
        regressed=worse,
        newly_passed=better,
        errors=errors,
        p_value=p_value,
        verdict=verdict,
        more_cases=more_cases(mean, changed / pairs - mean * mean, changed=changed, cases=pairs)
        if verdict == "inconclusive"
        else None,
    )
