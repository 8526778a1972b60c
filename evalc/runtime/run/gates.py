"""Decides the gates of a suite or a run.

Rates and limits are compared as the decimals that they were written as: 9 of 10 cases meet 0.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Final, Literal, final

import msgspec

from evalc.compare.binomial import Decision, alpha_of, decision, more_to_decide
from evalc.compare.bounded_mean import mean_decision
from evalc.compare.exact import regression_p
from evalc.model.case import Gates
from evalc.model.result import GateResult, LabelSummary, RateEstimate, Status
from evalc.runtime.store.journaled import Entry

_PERCENTILE: Final = 95

WATCHED_SHARE: Final = 0.5
"""The share of the wrong answers that each of the two tests of regressions may give, where a run is watched."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What gates look at.

    Attributes:
        passed, total: how many cases passed, and of how many; those that ended in error are among the total alone, and
            those that verified nothing are in neither.
        score: None if nothing was scored.
        durations: the milliseconds of every attempt that ended without an error, infinite where no answer came in
            time; asked for only by a gate on time.
        scores: the score of every case that has one; asked for only by a gate on the score that has a confidence.
        regressions: how many cases fail that passed in the baseline; without one, how many fail.
        new_passes: how many cases pass that failed in the baseline; None without one.
        watched: whether the run would have ended at regressions that a sequential test shows.
        missing: how many cases of the baseline the suites should have and no longer have.
        labels: how well cases were classified; None if none has a label.
    """

    passed: int
    total: int
    score: float | None
    durations: Callable[[], Iterable[float]]
    scores: Callable[[], Iterable[float]]
    regressions: int
    new_passes: int | None = None
    watched: bool = False
    missing: int = 0
    labels: LabelSummary | None = None


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
        yield GateResult(gate="minPassRate", limit=gates.min_pass_rate, value=_rate_of(measured), passed=met)
    if gates.min_score is not None:
        score = measured.score
        met = score is not None and exact(score) >= exact(gates.min_score)
        yield GateResult(gate="minScore", limit=gates.min_score, value=score, passed=met)
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
            missing=measured.missing or msgspec.UNSET,
        )
    classes = {} if measured.labels is None else {each.name: each for each in measured.labels.classes}
    for label, limit in (gates.recall or {}).items():
        yield _of_class("recall", label, limit, classes[label].recall if label in classes else None)
    for label, limit in (gates.precision or {}).items():
        yield _of_class("precision", label, limit, classes[label].precision if label in classes else None)
    if gates.macro_f1 is not None:
        f1 = None if measured.labels is None else measured.labels.macro_f1
        met = f1 is not None and exact(f1) >= exact(gates.macro_f1)
        yield GateResult(gate="macroF1", limit=gates.macro_f1, value=f1, passed=met)


def _of_class(
    gate: Literal["recall", "precision"], label: str, limit: float, measured: RateEstimate | None
) -> GateResult:
    value = None if measured is None else measured.value
    met = value is not None and exact(value) >= exact(round(limit, 12))
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


def _rate_of(measured: Measured) -> float | None:
    return round(float(Fraction(measured.passed, measured.total)), 12) if measured.total else None


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
    """What a gate on time needs of a case's result."""

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
