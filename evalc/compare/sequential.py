"""Decides while cases still come in, as often as one likes, without more wrong answers than stated.

`foreseen` looks at cases drawn without replacement, in a random order, from a run that is known to be so long. It
holds the prior-posterior-ratio martingale of Waudby-Smith and Ramdas, "Confidence sequences for sampling without
replacement" (2020), against every number of passes that the whole run may have. `RegressionTest` is a sequential form
of McNemar's test.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, final

from evalc.compare.binomial import beta_share

Certain = Literal["holds", "fails"]

_EVEN: Final = 0.5


class WholeRun(NamedTuple):
    """A gate on a whole run of so many cases.

    Attributes:
        cases: how many cases it has.
        holds_from: so many passes meet the gate.
        fails_to: so many passes miss it for certain; less than `holds_from`.
        alpha: how often a decision may be wrong.
    """

    cases: int
    holds_from: int
    fails_to: int
    alpha: float


def foreseen(run: WholeRun, seen: int, passed: int) -> Certain | None:
    """The gate's verdict of the whole run, foreseen from the first cases of its random order; None where unsure."""
    if _excludes(run, seen, passed, run.holds_from - 1, above=True):
        return "holds"
    if _excludes(run, seen, passed, run.fails_to + 1, above=False):
        return "fails"
    return None


def _excludes(run: WholeRun, seen: int, passed: int, total: int, *, above: bool) -> bool:
    """Whether this number of passes, and all that lie beyond it, are excluded as that of the whole run.

    Beyond are the smaller ones where the run is thought to be `above`, else the greater ones. The posterior has one
    peak, so that it falls from the number on, if it falls at it.
    """
    if total < passed:
        return above
    if run.cases - total < seen - passed:
        return not above
    here = _log_ratio(run.cases, seen, passed, total)
    inward = total + 1 if above else total - 1
    return here <= math.log(run.alpha) and _log_ratio(run.cases, seen, passed, inward) >= here


def _log_ratio(cases: int, seen: int, passed: int, total: int) -> float:
    """log(posterior / prior) of a number of passes of the whole run, from a uniform prior."""
    failed, left = seen - passed, cases - total
    if total < passed or left < failed:
        return -math.inf
    ways = _log_choose(total, passed) + _log_choose(left, failed)
    return ways - _log_choose(cases, seen) + math.log(seen + 1)


@final
class PassRateTest:
    """Watches a run case by case, in its random order. The first verdict stays."""

    def __init__(self, run: WholeRun) -> None:
        self.verdict: Certain | None = None
        self._run = run
        self._seen = self._passed = 0

    def see(self, passed: bool) -> None:
        """Take in the next case of the random order."""
        self._seen += 1
        self._passed += passed
        if self.verdict is None:
            self.verdict = foreseen(self._run, self._seen, self._passed)


@final
class RegressionTest:
    """Whether more cases get worse than better: the bet that a flip is a regression, with all chances above one half.

    Args:
        alpha: how often it may say so where flips go either way with the same chance.
    """

    def __init__(self, alpha: float) -> None:
        self.fails = False
        self._alpha = alpha
        self._worse = self._better = 0

    def see(self, before: bool, after: bool) -> None:
        """Take in a case: whether it passed before, and passes now."""
        if before == after:
            return
        self._worse += before
        self._better += after
        self.fails = self.fails or self._log_stake() >= -math.log(self._alpha)

    def _log_stake(self) -> float:
        """The logarithm of what a stake of 1 has become.

        2 * 2^n * integral of p^worse (1-p)^better over p from 1/2 to 1: the mean over p of what each has won.
        """
        a, b = self._worse + 1, self._better + 1
        share = beta_share(b, a, _EVEN)
        if share <= 0:
            return -math.inf
        log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        return (self._worse + self._better + 1) * math.log(2) + log_beta + math.log(share)


def _log_choose(of: int, count: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
