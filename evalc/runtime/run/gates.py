"""Decides the gates of a suite or a run, and when a run sends no more cases.

A run stops when too many failed, too much was spent, or its gates are decided. Rates and limits are compared as the
decimals that they were written as: 9 of 10 cases meet 0.9.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Final, Literal, NamedTuple, TypeVar, final

import msgspec

from evalc.base.terminal import counted
from evalc.compare.rates import (
    Certain,
    Decision,
    PassRateTest,
    RegressionTest,
    WholeRun,
    alpha_of,
    decision,
    mean_decision,
    more_to_decide,
    passes_needed,
    passes_to_fail,
    passes_to_hold,
)
from evalc.compare.totals import regression_p
from evalc.model.case import Gates
from evalc.model.numbers import USUAL_CONFIDENCE, shown_confidence
from evalc.model.result import PASSING, CaseResult, GateResult, LabelSummary, SkippedCase, Status
from evalc.model.suite import LocatedCase
from evalc.runtime.store.journal import CaseNumbers, CaseRun, Entry

T = TypeVar("T")

_PERCENTILE: Final = 95

WATCHED_SHARE: Final = 0.5
"""The share of the wrong answers that each of the two tests of regressions may give, where a run is watched."""


@final
class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The measures that gates look at."""

    # passed, total: how many cases passed, and of how many; those that ended in error are among the total alone, and
    # those that verified nothing are in neither
    passed: int
    total: int
    score: float | None  # None if nothing was scored
    # the milliseconds of every attempt that ended without an error, infinite where no answer came in time; asked for
    # only by a gate on time
    durations: Callable[[], Iterable[float]]
    # the score of every case that has one; asked for only by a gate on the score that has a confidence
    scores: Callable[[], Iterable[float]]
    regressions: int  # how many cases fail that passed in the baseline, or that it does not have
    new_failures: int = 0  # how many of these it does not have
    new_passes: int | None = None  # how many cases pass that failed in the baseline; None without one
    watched: bool = False  # whether the run would have ended at regressions that a sequential test shows
    missing: int = 0  # how many cases of the baseline the suites should have and no longer have
    labels: LabelSummary | None = None  # how well cases were classified; None if none has a label


def judge_gates(gates: Gates | None, measured: Measured) -> tuple[GateResult, ...]:
    """A verdict on each gate that is given. Over no cases at all, none is met."""
    if gates is None:
        return ()
    return tuple(_judged(gates, measured) if gates.confidence is None else _judged_surely(gates, measured))


def _judged(gates: Gates, measured: Measured) -> Iterator[GateResult]:
    total = measured.total
    if gates.min_pass_rate is not None:
        rate = Fraction(measured.passed, total) if total else None
        met = rate is not None and rate >= exact(gates.min_pass_rate)
        value = None if rate is None else round(float(rate), 12)
        yield GateResult(gate="minPassRate", limit=gates.min_pass_rate, value=value, passed=met)
    if gates.min_score is not None:
        yield _at_least("minScore", gates.min_score, measured.score)
    if gates.max_p95_ms is not None:
        p95 = percentile(sorted(measured.durations()))
        p95 = None if p95 == inf else p95
        met = p95 is not None and exact(p95) <= exact(gates.max_p95_ms)
        yield GateResult(gate="maxP95Ms", limit=gates.max_p95_ms, value=p95, passed=met)
    if gates.fail_on_regression:
        found = measured.regressions + measured.missing
        yield GateResult(
            gate="failOnRegression",
            limit=0,
            value=found if total else None,
            passed=total > 0 and found == 0,
            new_failures=measured.new_failures or msgspec.UNSET,
            missing=measured.missing or msgspec.UNSET,
        )
    classes = () if measured.labels is None else measured.labels.classes
    recall = {each.name: each.recall.value for each in classes}
    precision = {each.name: each.precision.value for each in classes}
    for label, limit in (gates.recall or {}).items():
        yield _at_least("recall", limit, recall.get(label), label)
    for label, limit in (gates.precision or {}).items():
        yield _at_least("precision", limit, precision.get(label), label)
    if gates.macro_f1 is not None:
        yield _at_least("macroF1", gates.macro_f1, None if measured.labels is None else measured.labels.macro_f1)


def _at_least(
    gate: Literal["minScore", "recall", "precision", "macroF1"],
    limit: float,
    value: float | None,
    label: str | msgspec.UnsetType = msgspec.UNSET,
) -> GateResult:
    least = exact(limit if label is msgspec.UNSET else round(limit, 12))  # as shares of classes are
    met = value is not None and exact(value) >= least
    return GateResult(gate=gate, label=label, limit=limit, value=value, passed=met)


def _judged_surely(gates: Gates, measured: Measured) -> Iterator[GateResult]:
    """The verdicts if they have to be certain.

    A gate on a rate is met where it holds. That nothing has regressed can never be shown, so the gate on regressions is
    met unless it fails.
    """
    sure = 1.0 if gates.confidence is None else gates.confidence
    for plain in _judged(msgspec.structs.replace(gates, confidence=None), measured):
        more: int | None = None
        met: tuple[Decision, ...] = ("holds",)
        match plain.gate:
            case "minPassRate":
                verdict = decision(measured.passed, measured.total, plain.limit, sure)
                more = more_to_decide(measured.passed, measured.total, plain.limit, sure)
            case "maxP95Ms":
                durations = list(measured.durations())
                in_time = sum(duration <= plain.limit for duration in durations)
                verdict = decision(in_time, len(durations), _PERCENTILE / 100, sure)
                more = more_to_decide(in_time, len(durations), _PERCENTILE / 100, sure)
            case "minScore":
                verdict = mean_decision(measured.scores(), plain.limit, sure)
            case "recall" | "precision":
                right, of = _counts_of(plain, measured)
                verdict = decision(right, of, plain.limit, sure)
                more = more_to_decide(right, of, plain.limit, sure)
            case "macroF1":  # no bound of it is known that would be certain
                yield plain
                continue
            case "failOnRegression":
                verdict, met = _regressed(plain, measured, sure), ("holds", "undecided")
        yield msgspec.structs.replace(
            plain,
            passed=verdict in met and plain.value is not None,
            confidence=sure,
            verdict=verdict,
            more_cases=more if verdict == "undecided" else msgspec.UNSET,
        )


def _counts_of(gate: GateResult, measured: Measured) -> tuple[int, int]:
    """How many cases of a class were right, and of how many, as its gate counts them."""
    for each in () if measured.labels is None else measured.labels.classes:
        if each.name == gate.label:
            estimate = each.recall if gate.gate == "recall" else each.precision
            return round((estimate.value or 0.0) * estimate.of), estimate.of
    return 0, 0


def _regressed(plain: GateResult, measured: Measured, confidence: float) -> Decision:
    if measured.missing:  # which is never chance
        return "fails"
    if not measured.regressions or measured.new_passes is None:
        return "holds" if plain.passed else "fails"
    alpha = alpha_of(confidence) * (WATCHED_SHARE if measured.watched else 1)
    return "fails" if regression_p(measured.regressions, measured.new_passes) <= alpha else "undecided"


def percentile(ordered: Sequence[float]) -> float | None:
    """The least of the numbers that 95 % of them do not exceed (the nearest rank); None of no numbers."""
    rank = -(-_PERCENTILE * len(ordered) // 100)
    return ordered[rank - 1] if ordered else None


def exact(number: float) -> Fraction:
    """The number as it is written: 0.9 is nine tenths."""
    return Fraction(repr(number))


class _Attempt(msgspec.Struct, frozen=True, rename="camel"):
    status: Status
    duration_ms: float
    response: str | None = ""

    @property
    def in_time(self) -> bool:
        return self.response is not None or self.status != "failed"


class _Timed(msgspec.Struct, frozen=True, rename="camel"):
    """The part of a case's result that a gate on time needs."""

    status: Status
    duration_ms: float
    timed_out: bool = False
    attempts: tuple[_Attempt, ...] = ()

    @property
    def in_time(self) -> bool:
        return not self.timed_out


def durations_of(entries: Iterable[Entry]) -> Iterator[float]:
    """The milliseconds of each attempt that ended without an error; a case that is not repeated is one attempt.

    How long an attempt would have taken that timed out is not known: it is longer than any limit.
    """
    decoder = msgspec.json.Decoder(_Timed)
    for timed in (decoder.decode(entry.result) for entry in entries):
        for attempt in timed.attempts or (timed,):
            if attempt.status != "error":
                yield attempt.duration_ms if attempt.in_time else inf


class _Scored(msgspec.Struct, frozen=True):
    score: float | None


def scores_of(entries: Iterable[Entry]) -> Iterator[float]:
    """The score of each case that has one."""
    decoder = msgspec.json.Decoder(_Scored)
    for entry in entries:
        score = decoder.decode(entry.result).score
        if score is not None:
            yield score


# --- when a run stops ------------------------------------------------------------------------------------------------

FIRST_CASES: Final = 20
"""How many cases try to reach an agent before it is given up."""


@final
class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a run stops before its end."""

    max_fail: int | None = None  # after this many cases that did not pass; None means no limit
    # before a case that would bring the known cost above it, in US dollars; None means no limit
    max_cost: float | None = None
    # after this many cases that ended in error; None means when an agent cannot be reached
    max_errors: int | None = None


@final
class StopPolicy:
    """Compares the limits with what has happened. `reason` is why nothing more is sent; None while it goes on.

    `held` is whether there is any limit, and `broke` whether too many cases ended in error.

    What the next case costs is not known before it ends: each is taken to cost as much as the dearest so far, and so
    are those under way.
    """

    def __init__(self, limits: Limits) -> None:
        self.reason: str | None = None
        self.held = (limits.max_fail, limits.max_cost, limits.max_errors) != (None, None, None)
        self.broke = False
        self.unseen = 0
        self._max_fail = limits.max_fail
        self._max_cost = None if limits.max_cost is None else exact(limits.max_cost)
        self._max_errors = limits.max_errors
        self._failed = 0
        self._errors = 0
        self._under_way = 0
        self._spent = Fraction(0)
        self._dearest = Fraction(0)

    def recall(self, entries: Iterable[Entry]) -> None:
        """Count the cases that were done before the run was resumed; errors are counted anew."""
        for entry in entries:
            self._count(entry.passed, entry.cost_usd)

    def lets_go(self) -> bool:
        """Whether another case may be sent; if so, it is under way from now on."""
        if self.reason is None and self._max_cost is not None:
            expected = self._spent + self._dearest * (self._under_way + 1)
            if expected > self._max_cost or self._spent >= self._max_cost:
                spent = f"${_shown(self._spent)} is spent, and a case has cost up to ${_shown(self._dearest)}"
                self.reason = f"the ceiling of ${_shown(self._max_cost)}: {spent}"
        self._under_way += self.reason is None
        return self.reason is None

    def finished(self, result: CaseResult, cost_usd: float | None) -> None:
        """A case that was let go has its result."""
        self._under_way -= 1
        self._count(result.passed, cost_usd)
        self._errors += result.status == "error"
        if self.reason is None and self._max_errors is not None and self._errors >= self._max_errors:
            self.reason, self.broke = f"{counted(self._errors, 'case')} ended in error", True

    def _count(self, passed: bool, cost_usd: float | None) -> None:
        self._failed += not passed
        if cost_usd is None:
            self.unseen += 1
        else:
            self._spent += exact(cost_usd)
            self._dearest = max(self._dearest, exact(cost_usd))
        if self.reason is None and self._max_fail is not None and self._failed >= self._max_fail:
            self.reason = f"{counted(self._failed, 'case')} did not pass"

    def warning(self) -> str | None:
        """The warning about a ceiling that could not see every cost."""
        if self._max_cost is None or not self.unseen:
            return None
        cases = counted(self.unseen, "case")
        return f"the ceiling of ${_shown(self._max_cost)} cannot see what {cases} cost: that is not known"


@final
class Reachability:
    """Gives up agents that cannot be reached. `tries` says of each that no case has reached how many have tried."""

    def __init__(self, agents: Iterable[str | None]) -> None:
        self.tries = dict.fromkeys(agents, 0)

    def finished(self, agent: str | None, run: CaseRun) -> None:
        """A case has its result. An agent that is given up stays so, whatever comes of the cases under way."""
        if run.unreachable and agent in self.tries:
            self.tries[agent] += 1
        elif not self.gives_up(agent):
            self.tries.pop(agent, None)

    def gives_up(self, agent: str | None) -> bool:
        """Whether the agent is sent no more."""
        return self.tries.get(agent, 0) >= FIRST_CASES


def not_run(located: LocatedCase, reason: str) -> SkippedCase:
    """The record of a case that the run stopped before."""
    case = located.case
    return SkippedCase(
        id=case.id, description=case.description, reason=f"not run: {reason}", archived=False, stopped=True
    )


def _shown(dollars: Fraction) -> str:
    return f"{float(dollars):.6g}"


_DECIDED: Final = "decided after"


def is_decided(skipped: SkippedCase) -> bool:
    """Whether a case was not run since gates were decided without it."""
    return skipped.reason.startswith(f"not run: {_DECIDED} ")


class Decided(NamedTuple):
    """A decision on gates: the verdict, how sure it is, and from how many of how many cases.

    `fails` are the gates that are missed, as results name them.
    """

    verdict: Certain
    fails: frozenset[str]
    confidence: float
    seen: int
    of: int

    @property
    def reason(self) -> str:
        """The warning for the user."""
        would = "meet" if self.verdict == "holds" else "miss"
        sure = shown_confidence(self.confidence)
        return f"{_DECIDED} {self.seen} of {self.of} cases: all of them would {would} the gates, at {sure}"


def in_random_order(jobs: Iterable[T], seed: str) -> list[T]:
    """The jobs in an order that the seed decides, the same on every machine."""
    ordered = list(jobs)
    random.Random(seed).shuffle(ordered)  # noqa: S311 - no secret
    return ordered


def measures_attempts(gates: Gates | None) -> bool:
    """Whether a gate measures every attempt at a case, rather than how the case ended."""
    return gates is not None and (gates.min_score is not None or gates.max_p95_ms is not None)


@final
class GateWatch:
    """Watches the gates of a suite or of a run over cases whose order is fixed.

    Gates are decided early only where they are on the pass rate and on regressions. `baseline` is whether each case
    passed before, by its place in the order; it is empty without a baseline.
    """

    def __init__(self, gates: Gates, cases: int, baseline: Mapping[int, bool]) -> None:
        self.decided: Decided | None = None
        self._confidence = USUAL_CONFIDENCE if gates.confidence is None else gates.confidence
        self._cases = cases
        self._baseline = baseline
        self._waiting: dict[int, Status] = {}
        self._seen = 0
        self._rate = _rate_test(gates, cases, alpha_of(self._confidence))
        alpha = alpha_of(self._confidence) * WATCHED_SHARE
        self._regressions = RegressionTest(alpha) if gates.fail_on_regression else None
        self._first_regression_fails = gates.confidence is None
        self._may_hold = not gates.fail_on_regression
        limits = (gates.min_score, gates.max_p95_ms, gates.macro_f1)
        self._others = any(limit is not None for limit in limits) or bool(gates.recall or gates.precision)

    def finished(self, place: int, status: Status) -> None:
        """A case has its verdict: the one at this place in the order. If it verified nothing, it decides nothing."""
        self._waiting[place] = status
        while self._seen in self._waiting:
            status = self._waiting.pop(self._seen)
            if status != "unverified":
                self._see(self._seen, status in PASSING)
            self._seen += 1

    def _see(self, place: int, passed: bool) -> None:
        if self.decided is not None or self._others:
            return
        before = self._baseline.get(place)
        fails: set[str] = set()
        if self._regressions is not None and before is not None:
            self._regressions.see(before, passed)
            if self._regressions.fails or (self._first_regression_fails and before and not passed):
                fails.add("failOnRegression")
        holds = False
        if self._rate is not None:
            self._rate.see(passed)
            holds = self._may_hold and self._rate.verdict == "holds"
            if self._rate.verdict == "fails":
                fails.add("minPassRate")
        if fails or holds:
            verdict: Certain = "fails" if fails else "holds"
            self.decided = Decided(verdict, frozenset(fails), self._confidence, place + 1, self._cases)


@final
class Watches:
    """The watched gates of a run and of its suites. A case is identified by the numbers of its suite and itself."""

    def __init__(self) -> None:
        self._watches: list[_Watch] = []
        self._needs_run = False

    def add(
        self, gates: Gates, cases: Sequence[CaseNumbers], baseline: Mapping[CaseNumbers, bool], suite: int | None
    ) -> None:
        """Watch the gates of a suite, or of the run if that is None, over its cases in their order."""
        places = {case: place for place, case in enumerate(cases)}
        past = {places[case]: passed for case, passed in baseline.items() if case in places}
        self._watches.append(_Watch(GateWatch(gates, len(cases), past), places, suite))

    def need_all(self) -> None:
        """Let every case run: there are gates that are not watched."""
        self._needs_run = True

    def finished(self, case: CaseNumbers, status: Status) -> None:
        """A case has its verdict."""
        for watch in self._watches:
            place = watch.places.get(case)
            if place is not None:
                watch.gates.finished(place, status)

    def enough_of(self, suite: int) -> Decided | None:
        """Why no more cases of a suite are needed: its gates and those of the run are decided; None if they are."""
        decided: Decided | None = None
        for watch in () if self._needs_run else self._watches:
            if watch.suite in (None, suite):
                decided = watch.gates.decided
                if decided is None:
                    return None
        return decided

    def decided(self, stopped: Collection[int]) -> Mapping[int | None, Decided]:
        """The decisions on the suites that stopped, by number, and on the run (None) where any did."""
        return {
            watch.suite: watch.gates.decided
            for watch in self._watches
            if watch.gates.decided is not None and (bool(stopped) if watch.suite is None else watch.suite in stopped)
        }


class _Watch(NamedTuple):
    gates: GateWatch
    places: Mapping[CaseNumbers, int]
    suite: int | None


def _rate_test(gates: Gates, cases: int, alpha: float) -> PassRateTest | None:
    """The test of what the gate on the pass rate will say of the whole run."""
    limit = gates.min_pass_rate
    if limit is None or not cases:
        return None
    if gates.confidence is None:
        least = passes_needed(cases, limit)
        return PassRateTest(WholeRun(cases, holds_from=least, fails_to=least - 1, alpha=alpha))
    sure = gates.confidence
    holds, fails = passes_to_hold(cases, limit, sure), passes_to_fail(cases, limit, sure)
    never, always = cases + 1, -1
    whole = WholeRun(
        cases,
        holds_from=never if holds is None else holds,
        fails_to=always if fails is None else fails,
        alpha=alpha,
    )
    return PassRateTest(whole)
