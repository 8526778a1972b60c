"""Decides the gates of a suite or a run.

Rates and limits are compared as the decimals that they were written as: 9 of 10 cases meet 0.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import msgspec

from evalc.model.gates import Gates
from evalc.model.result import GateResult, Status
from evalc.runtime.store.journaled import Entry

_PERCENTILE: Final = 95


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What gates look at.

    Attributes:
        passed, total: how many cases passed, and of how many; those that ended in error are among the total alone.
        score: None where nothing was scored.
        durations: the milliseconds of every attempt that ended without an error; asked for only by a gate on time.
        regressions: how many cases fail that passed in the baseline; without one, how many fail.
    """

    passed: int
    total: int
    score: float | None
    durations: Callable[[], Iterable[float]]
    regressions: int


def judge_gates(gates: Gates | None, measured: Measured) -> tuple[GateResult, ...]:
    """A verdict on each gate that is given. Over no cases at all, none is met."""
    return () if gates is None else tuple(_judged(gates, measured))


def _judged(gates: Gates, measured: Measured) -> Iterator[GateResult]:
    total = measured.total
    if gates.min_pass_rate is not None:
        rate = Fraction(measured.passed, total) if total else None
        met = rate is not None and rate >= exact(gates.min_pass_rate)
        value = None if rate is None else round(float(rate), 12)
        yield GateResult(gate="minPassRate", limit=gates.min_pass_rate, value=value, passed=met)
    if gates.min_score is not None:
        score = measured.score
        met = score is not None and exact(score) >= exact(gates.min_score)
        yield GateResult(gate="minScore", limit=gates.min_score, value=score, passed=met)
    if gates.max_p95_ms is not None:
        p95 = percentile(sorted(measured.durations()))
        met = p95 is not None and exact(p95) <= exact(gates.max_p95_ms)
        yield GateResult(gate="maxP95Ms", limit=gates.max_p95_ms, value=p95, passed=met)
    if gates.fail_on_regression:
        met = total > 0 and measured.regressions == 0
        yield GateResult(gate="failOnRegression", limit=0, value=measured.regressions if total else None, passed=met)


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


class _Timed(msgspec.Struct, frozen=True, rename="camel"):
    """What a gate on time needs of a case's result."""

    status: Status
    duration_ms: float
    attempts: tuple[_Attempt, ...] = ()


def durations_of(entries: Iterable[Entry]) -> Iterator[float]:
    """The milliseconds of each attempt that ended without an error; a case that is not repeated is one attempt."""
    decoder = msgspec.json.Decoder(_Timed)
    for timed in (decoder.decode(entry.result) for entry in entries):
        for attempt in timed.attempts or (timed,):
            if attempt.status != "error":
                yield attempt.duration_ms
