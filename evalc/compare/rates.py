"""Tests of a true rate or mean against a limit, at the end or while cases still come in, and the power of such tests.

By a number of passes: the exact binomial test, one-sided. By scores from 0 to 1: a bet against the limit, which holds
for any distribution. Whoever bets on every score that the mean is above the limit cannot hope to multiply the money by
1/alpha if it is not (Ville's inequality; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
betting", 2024).

`foreseen` looks at cases drawn without replacement, in a random order, from a run that is known to be so long. It
holds the prior-posterior-ratio martingale of Waudby-Smith and Ramdas, "Confidence sequences for sampling without
replacement" (2020), against every number of passes that the whole run may have. `RegressionTest` is a sequential form
of McNemar's test.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final, Literal, NamedTuple, final

from evalc.compare.totals import POWER, regression_p

Decision = Literal["holds", "fails", "undecided"]
"""The certainty about a limit: kept, not kept, or neither."""

_MOST_STEPS: Final = 10_000
_TINY: Final = 1e-300
_ENOUGH: Final = 1e-16
_MOST_MORE: Final = 10_000_000


def alpha_of(confidence: float) -> float:
    """How often a certain decision may be wrong: 0.05 of a confidence of 0.95, as decimals."""
    return float(1 - Fraction(repr(confidence)))


def at_least(passed: int, of: int, rate: float) -> float:
    """P(X >= passed) of a binomial X of so many cases at this rate: the p-value against a lower rate."""
    return 1.0 if passed <= 0 else beta_share(passed, of - passed + 1, rate)


def at_most(passed: int, of: int, rate: float) -> float:
    """P(X <= passed): the p-value against a higher rate."""
    return 1.0 if passed >= of else beta_share(of - passed, passed + 1, 1 - rate)


def decision(passed: int, of: int, limit: float, confidence: float) -> Decision:
    """Whether the rate is at least the limit, as far as so many cases can show at this confidence.

    Each of the two certain answers is wrong in at most 1 - confidence of all runs.
    """
    alpha = alpha_of(confidence)
    if of and (limit <= 0 or at_least(passed, of, limit) <= alpha):
        return "holds"
    if of and at_most(passed, of, limit) <= alpha:
        return "fails"
    return "undecided"


def more_to_decide(passed: int, of: int, limit: float, confidence: float) -> int | None:
    """How many cases more would decide, if they pass at the rate that these did; None if no number would."""
    if not of:
        return None
    rate = Fraction(passed, of)
    if rate == Fraction(repr(limit)):
        return None

    def decides(more: int) -> bool:
        return decision(passed + round(rate * more), of + more, limit, confidence) != "undecided"

    high = 1
    while not decides(high):
        high *= 2
        if high > _MOST_MORE:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def fewest_to_hold(limit: float, confidence: float) -> int | None:
    """How many cases it takes to show a rate of at least the limit, if all pass; None if no number does."""
    if limit <= 0:
        return 1
    if limit >= 1:
        return None
    return _first_power(limit, alpha_of(confidence))


def fewest_to_fail(limit: float, confidence: float) -> int | None:
    """How many cases it takes to show a rate below the limit, if none passes; None if no number does."""
    if limit <= 0:
        return None
    return 1 if limit >= 1 else _first_power(1 - limit, alpha_of(confidence))


def _first_power(base: float, alpha: float) -> int:
    """The least n with base^n <= alpha."""
    count = max(1, math.floor(math.log(alpha) / math.log(base)) - 1)
    while at_least(count, count, base) > alpha:
        count += 1
    return count


def beta_share(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b), for a and b above 0."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The continued fraction converges fast on one side of the mean; the other is its complement.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    value = d
    for step in range(1, _MOST_STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        before = value
        for term in (even, odd):
            d = 1 / _apart(1 + term * d)
            c = _apart(1 + term / c)
            value *= c * d
        if abs(value - before) <= _ENOUGH * abs(value):
            break
    return value


def _apart(value: float) -> float:
    """The value, away from zero."""
    return value if abs(value) > _TINY else _TINY


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


Certain = Literal["holds", "fails"]

_EVEN: Final = 0.5


class WholeRun(NamedTuple):
    """A gate on a whole run of so many cases."""

    cases: int  # how many cases it has
    holds_from: int  # so many passes meet the gate
    fails_to: int  # so many passes miss it for certain; less than `holds_from`
    alpha: float  # how often a decision may be wrong


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

    `alpha` is how often it may say so where flips go either way with the same chance.
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


_FEWEST: Final = 30
"""The attempts, or pairs of verdicts, below which nothing is estimated."""


class Noise(NamedTuple):
    """How the verdicts of an agent vary between runs though nothing has changed."""

    passes: float  # the share of the cases that pass
    flips: float  # the share whose verdict differs between two runs
    of: int = 0  # how many attempts, or pairs of verdicts, it was seen in; 0 where it is assumed


ASSUMED: Final = Noise(passes=0.9, flips=0.18)
"""The noise of an agent that passes each case nine times in ten, by chance: 2 * 0.9 * 0.1 of the verdicts differ."""


def noise_of_attempts(cases: Iterable[tuple[int, int]]) -> Noise | None:
    """The noise of verdicts that are single attempts, from the attempts at each case and how many of them passed.

    Two of the n attempts at a case, c of which passed, differ with a chance of 2c(n - c) / n(n - 1). None if
    there are too few.
    """
    repeated = [(attempts, passed) for attempts, passed in cases if attempts > 1]
    of = sum(attempts for attempts, _ in repeated)
    if of < _FEWEST:
        return None
    passes = sum(passed / attempts for attempts, passed in repeated)
    flips = sum(2 * passed * (attempts - passed) / (attempts * (attempts - 1)) for attempts, passed in repeated)
    return Noise(passes / len(repeated), flips / len(repeated), of)


def noise_of_verdicts(pairs: Iterable[tuple[bool, bool]]) -> Noise | None:
    """The noise of verdicts, from those of the same cases in two runs each. None if there are too few."""
    known = list(pairs)
    if len(known) < _FEWEST:
        return None
    passes = sum(before + after for before, after in known) / 2
    return Noise(passes / len(known), sum(before != after for before, after in known) / len(known), len(known))


_STEPS: Final = 14

_FAR: Final = 8
"""How many standard deviations of the number of flips are summed over."""

_MOST_EXACT: Final = 2000
"""The cases up to which the power is summed; of more, the number of flips is as good as normal."""


def fewest_changes(confidence: float) -> int:
    """How many verdicts have to change, all for the worse, before that is not chance (McNemar's test, one-sided)."""
    alpha = alpha_of(confidence)
    count = 1
    while regression_p(count, 0) > alpha:
        count += 1
    return count


def likely_regression(cases: int, confidence: float, noise: Noise) -> float | None:
    """How far the pass rate has to fall for that to be shown four times in five; None if no fall is.

    A regression is taken to hit each answer that would have passed with the same chance.
    """

    def power(fall: float) -> float:
        # Of the noise's flips half go each way; what newly fails can no longer flip for the better.
        better = noise.flips / 2 * (1 - fall / noise.passes)
        return regression_power(cases, confidence, worse=better + fall, better=better)

    low, high = 0.0, noise.passes
    if not noise.passes or power(high) < POWER:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def regression_power(cases: int, confidence: float, *, worse: float, better: float) -> float:
    """How likely a regression is shown if each case gets worse, or better, with these chances (McNemar, one-sided)."""
    flips = min(1.0, worse + better)
    if not flips:
        return 0.0
    alpha = alpha_of(confidence)
    mean, spread = cases * flips, math.sqrt(cases * flips * (1 - flips))
    if cases > _MOST_EXACT:
        drift = cases * (worse - better) - 1  # since the exact test needs about one more than the normal one
        deviation = math.sqrt(cases * max(flips - (worse - better) ** 2, 1e-12))
        return NormalDist().cdf((drift - NormalDist().inv_cdf(1 - alpha) * math.sqrt(mean)) / deviation)
    needed = _worse_needed(alpha, cases)
    return sum(
        _chance(cases, count, flips) * at_least(needed[count], count, worse / (worse + better))
        for count in range(max(1, math.floor(mean - _FAR * spread)), min(cases, math.ceil(mean + _FAR * spread)) + 1)
        if needed[count] <= count
    )


@lru_cache(maxsize=8)
def _worse_needed(alpha: float, most: int) -> Sequence[int]:
    """How many flips have to be for the worse, of none, one and so on to the most; each needs at most one more."""
    needed = [1]
    for flips in range(1, most + 1):
        worse = needed[-1]
        needed.append(worse if at_least(worse, flips, _EVEN) <= alpha else worse + 1)
    return needed


def _chance(of: int, count: int, rate: float) -> float:
    """P(X = count) of a binomial X."""
    if rate >= 1:
        return float(count == of)
    return math.exp(_log_choose(of, count) + count * math.log(rate) + (of - count) * math.log1p(-rate))


def passes_needed(cases: int, limit: float) -> int:
    """The least number of passes whose rate is at least the limit, as that is written."""
    return math.ceil(Fraction(repr(limit)) * cases)


def passes_to_hold(cases: int, limit: float, confidence: float) -> int | None:
    """The least number of passes that shows a rate of at least the limit; None if none does."""
    numbers = range(cases + 1)
    found = bisect_left(numbers, True, key=lambda passed: decision(passed, cases, limit, confidence) == "holds")
    return found if found in numbers else None


def passes_to_fail(cases: int, limit: float, confidence: float) -> int | None:
    """The greatest number of passes that shows a rate below the limit; None if none does."""
    numbers = range(cases + 1)
    found = bisect_left(numbers, True, key=lambda passed: decision(passed, cases, limit, confidence) != "fails") - 1
    return found if found in numbers else None
