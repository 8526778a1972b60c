"""Counts what cases come to: means of criteria, pass@k, how well they were classified, and what changed in two runs.

Changed verdicts are tested for chance by McNemar's exact test. An unsure verdict says how many more cases would decide.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from math import comb, fsum
from statistics import fmean
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.terminal import counted
from evalc.model import result as r
from evalc.model.case import Criterion
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
    counts = [(part.pairs, part.regressed, part.newly_passed, part.errors) for part in parts]
    return _significance(*map(sum, zip((0, 0, 0, 0), *counts, strict=True)))


def _significance(pairs: int, worse: int, better: int, errors: int) -> Significance:
    p_value, changed = mcnemar_p(worse, better), worse + better
    verdict = verdict_of(better - worse, changed=changed, certain=p_value < LEVEL)
    more = None
    if verdict == "inconclusive":
        mean = (better - worse) / pairs
        more = more_cases(mean, changed / pairs - mean * mean, changed=changed, cases=pairs)
    return Significance(
        pairs=pairs,
        regressed=worse,
        newly_passed=better,
        errors=errors,
        p_value=p_value,
        verdict=verdict,
        more_cases=more,
    )


DECIMALS: Final = 12
"""Scores are rounded to them, so that 0.1 + 0.2 compares with a threshold of 0.3 as its author means it."""


@final
class SuiteScore:
    """The running means of a suite's criteria over its cases, added in source order so that sums are always equal."""

    def __init__(self, criteria: Iterable[Criterion] | None) -> None:
        self._criteria = {criterion.name: _Mean(criterion.weight) for criterion in criteria or ()}

    def add(self, results: Iterable[r.CriterionResult]) -> None:
        """Add the criteria of one case; an undeclared criterion keeps the weight of its first case."""
        for result in results:
            mean = self._criteria.get(result.name)
            if mean is None:
                mean = self._criteria[result.name] = _Mean(result.weight)
            mean.add(result)

    def summaries(self) -> tuple[r.CriterionSummary, ...]:
        """The criteria with their means, in the order of the suite."""
        return tuple(
            r.CriterionSummary(
                name=name,
                weight=mean.weight,
                score=mean.value(),
                cases=mean.scored,
                of=mean.cases,
                scored_by=tuple(sorted(mean.scored_by)),
            )
            for name, mean in self._criteria.items()
        )

    def score(self) -> float | None:
        """The weighted mean of the criteria's means."""
        return weighted_mean((mean.weight, mean.value()) for mean in self._criteria.values())

    def scored_weight(self) -> float | None:
        """The share of the weight that was scored; None without criteria."""
        weights = sum(mean.weight for mean in self._criteria.values())
        scored = sum(mean.weight for mean in self._criteria.values() if mean.scored)
        return round(scored / weights, DECIMALS) if weights > 0 else None


@final
class _Mean:
    """One criterion's scores so far."""

    __slots__ = ("cases", "scored", "scored_by", "total", "weight")

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.total = 0.0
        self.scored = 0
        self.cases = 0
        self.scored_by: set[r.ScoredBy] = set()

    def add(self, result: r.CriterionResult) -> None:
        self.cases += 1
        if result.score is not None:
            self.total += result.score
            self.scored += 1
        if result.scored_by is not None:
            self.scored_by.add(result.scored_by)

    def value(self) -> float | None:
        return round(self.total / self.scored, DECIMALS) if self.scored else None


def rate_of(passed: int, of: int, errors: int) -> r.Rate:
    """The rate of passes, with its interval."""
    low, high = wilson(passed, of) or (None, None)
    return r.Rate(passed=passed, of=of, errors=errors, rate=passed / of if of else None, low=low, high=high)


_MOST_SLICES: Final = 200


@final
class Slices:
    """Counts the cases of each tag, and how many of them passed or broke."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, tags: Iterable[str], *, passed: bool, error: bool) -> None:
        """Count a case that has tags, each once."""
        for tag in dict.fromkeys(tags):
            counts = self._counts.setdefault(tag, [0, 0, 0])
            counts[0] += passed and not error
            counts[1] += not error
            counts[2] += error

    def summaries(self, cases: int) -> tuple[r.Slice, ...]:
        """A slice for each tag that some of so many cases have: of very many tags, those with the most cases."""
        some = [(tag, counts) for tag, counts in self._counts.items() if counts[1] + counts[2] < cases]
        if len(some) > _MOST_SLICES:
            kept = {tag for tag, _ in sorted(some, key=lambda each: -each[1][1] - each[1][2])[:_MOST_SLICES]}
            some = [(tag, counts) for tag, counts in some if tag in kept]
        return tuple(r.Slice(tag=tag, **msgspec.structs.asdict(rate_of(*counts))) for tag, counts in some)


@final
class RepeatedCases:
    """Counts the attempts at repeated cases; those that ended in error say nothing of the agent, and are left out."""

    def __init__(self) -> None:
        self.cut_short = 0  # how many cases have not had all of their attempts, since they were decided before
        self._all = 0
        self._cases: Counter[tuple[int, int]] = Counter()

    def add(self, statuses: tuple[r.Status, ...], *, cut_short: bool) -> None:
        """Add a case with how its attempts ended."""
        self._all += 1
        self.cut_short += cut_short
        ended = [status for status in statuses if status != "error"]
        if ended:
            self._cases[len(ended), sum(status in r.PASSING for status in ended)] += 1

    def summaries(self) -> tuple[r.RepeatSummary, ...]:
        """pass@k and pass^k for k = 1, 2, 4 and so on, and for the most attempts at a case.

        Each is the mean over the cases with at least k attempts of the share of their sets of k attempts in which at
        least one passed, or all did. Nothing where cases were cut short: how many attempts these have depends on how
        the attempts ended, and the cases that are left are those that were hard to decide.
        """
        if self.cut_short:
            return ()
        most = max((attempts for attempts, _ in self._cases), default=0)
        ks = sorted({2**power for power in range(most.bit_length())} | {most}) if most else []
        return tuple(self._summary(k) for k in ks)

    def warning(self) -> str | None:
        """A warning that they cannot be estimated; None if they can."""
        if not self.cut_short:
            return None
        return (
            f"{self.cut_short} of {counted(self._all, 'repeated case')} ended before the last attempt: pass@k cannot "
            "be estimated, and scores are those of the attempts that were made"
        )

    def _summary(self, k: int) -> r.RepeatSummary:
        counted = {case: count for case, count in self._cases.items() if case[0] >= k}
        cases = sum(counted.values())
        sets = [(comb(n, k), comb(n - passed, k), comb(passed, k), count) for (n, passed), count in counted.items()]
        return r.RepeatSummary(
            k=k,
            cases=cases,
            pass_at_k=fsum(count * (1 - none / every) for every, none, _, count in sets) / cases,
            pass_hat_k=fsum(count * (whole / every) for every, _, whole, count in sets) / cases,
        )


@final
class Classified:
    """Counts the cases by their expected and their given class."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str | None]] = Counter()

    def add(self, expected: str, predicted: str | None) -> None:
        """Count a case; `predicted` is None if its answer has no label."""
        self._counts[expected, predicted] += 1

    def summary(self) -> r.LabelSummary | None:
        """The summary of the counts; None of no cases."""
        if not self._counts:
            return None
        names = sorted({expected for expected, _ in self._counts} | {given for _, given in self._counts if given})
        classes = tuple(map(self._class, names))
        right = sum(count for (expected, given), count in self._counts.items() if expected == given)
        return r.LabelSummary(
            cases=self._counts.total(),
            accuracy=_estimate(right, self._counts.total()),
            macro_f1=round(fmean(each.f1 for each in classes), DECIMALS),
            classes=classes,
            confusion=tuple(
                r.ConfusedClasses(expected=expected, predicted=given, cases=count)
                for (expected, given), count in sorted(self._counts.items(), key=_in_order)
            ),
        )

    def _class(self, name: str) -> r.ClassSummary:
        right = self._counts[name, name]
        expected = sum(count for (label, _), count in self._counts.items() if label == name)
        given = sum(count for (_, label), count in self._counts.items() if label == name)
        return r.ClassSummary(
            name=name,
            recall=_estimate(right, expected),
            precision=_estimate(right, given),
            f1=round(2 * right / (expected + given), DECIMALS),
        )


def _in_order(counted: tuple[tuple[str, str | None], int]) -> tuple[str, bool, str]:
    (expected, given), _ = counted
    return expected, given is None, given or ""


def _estimate(right: int, of: int) -> r.RateEstimate:
    interval = wilson(right, of)
    if interval is None:
        return r.RateEstimate(value=None, low=None, high=None, of=0)
    low, high = (round(bound, DECIMALS) for bound in interval)
    return r.RateEstimate(value=round(right / of, DECIMALS), low=low, high=high, of=of)


def weighted_mean(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """sum(weight x score) / sum(weight) over the parts that have a score; None where these weigh nothing."""
    total = weights = 0.0
    for weight, score in parts:
        if score is not None:
            total += weight * score
            weights += weight
    return round(total / weights, DECIMALS) if weights > 0 else None
