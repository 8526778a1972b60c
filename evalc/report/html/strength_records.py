"""The records of the page's parts on strength and coverage: bounded in size, with the secrets struck out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from evalc.model.reports import CaseStrength, ChallengerCount, CheckStrength, Coverage, Strength
from evalc.report.coverage import PARTS
from evalc.report.strength import idle_checks, reasons_not_challenged, weak_cases

MOST_CASES: Final = 100
"""The weakest cases, for which the page says what they miss."""

_MOST_SURVIVORS: Final = 14
_MOST_CHECKS: Final = 100
_MOST_MISSING: Final = 200
_LONGEST: Final = 400

Redact = Callable[[str], str]


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records."""


class SurvivorRecord(_Record, frozen=True, kw_only=True):
    """A faulty answer that a case passes, and the line that would notice it."""

    challenger: str
    difference: str
    line: str | None


class WeakCaseRecord(_Record, frozen=True, kw_only=True):
    """A case that misses faults: its counts by challenger, and what survives it, out of `survivors_of`."""

    id: str
    suite: str
    tier: str
    mutants: int
    killed: int
    challengers: tuple[ChallengerCount, ...]
    survivors: tuple[SurvivorRecord, ...]
    survivors_of: int


class IdleCheckRecord(_Record, frozen=True, kw_only=True):
    """A check that noticed nothing, and where it was written."""

    check: str
    where: str
    mutants: int


class StrengthRecord(_Record, frozen=True, kw_only=True):
    """Missed faults of suites: the weakest cases out of `cases_of` with survivors, idle checks out of `idle_of`."""

    strength: float | None
    mutants: int
    killed: int
    undecided: int
    challengers: tuple[ChallengerCount, ...]
    cases: tuple[WeakCaseRecord, ...]
    cases_of: int
    idle: tuple[IdleCheckRecord, ...]
    idle_of: int
    notes: tuple[str, ...]


class PartRecord(_Record, frozen=True, kw_only=True):
    """A kind of thing that cases may look at, in words; `missing` are the first of those that none does."""

    words: str
    total: int
    covered: int
    missing: tuple[str, ...]


class CoverageRecord(_Record, frozen=True, kw_only=True):
    """The coverage of cases, as a share and kind by kind."""

    coverage: float | None
    total: int
    covered: int
    parts: tuple[PartRecord, ...]


def strength_record(strength: Strength, redact: Redact) -> StrengthRecord:
    """As much of the strength as the page shows; what it quotes of eval files is redacted."""
    weak, idle, reasons = weak_cases(strength), idle_checks(strength), reasons_not_challenged(strength)
    left_out = (f"{cases} not challenged: {_short(reason, redact)}" for reason, cases in reasons.items())
    return StrengthRecord(
        strength=strength.strength,
        mutants=strength.mutants,
        killed=strength.killed,
        undecided=strength.undecided,
        challengers=strength.challengers,
        cases=tuple(_weak(case, redact) for case in weak[:MOST_CASES]),
        cases_of=len(weak),
        idle=tuple(_idle(check, redact) for check in idle[:_MOST_CHECKS]),
        idle_of=len(idle),
        notes=(*left_out, *(_short(warning, redact) for warning in strength.warnings)),
    )


def coverage_record(coverage: Coverage, redact: Redact) -> CoverageRecord:
    """As much of the coverage as the page shows."""
    return CoverageRecord(
        coverage=coverage.coverage,
        total=coverage.total,
        covered=coverage.covered,
        parts=tuple(
            PartRecord(
                words=PARTS[part.kind],
                total=part.total,
                covered=part.covered,
                missing=tuple(_short(name, redact) for name in part.missing[:_MOST_MISSING]),
            )
            for part in coverage.parts
        ),
    )


def _weak(case: CaseStrength, redact: Redact) -> WeakCaseRecord:
    return WeakCaseRecord(
        id=case.id,
        suite=case.suite,
        tier=case.tier,
        mutants=case.mutants,
        killed=case.killed,
        challengers=case.challengers,
        survivors=tuple(
            SurvivorRecord(
                challenger=each.challenger,
                difference=_short(each.difference, redact),
                line=None if each.line is None else _short(each.line, redact),
            )
            for each in case.survivors[:_MOST_SURVIVORS]
        ),
        survivors_of=len(case.survivors),
    )


def _idle(check: CheckStrength, redact: Redact) -> IdleCheckRecord:
    where = f"{check.id} {check.at}" if check.place is None else str(check.place)
    return IdleCheckRecord(check=_short(check.check, redact), where=where, mutants=check.mutants)


def _short(text: str, redact: Redact) -> str:
    """The text without secrets, and no longer than a line or two; what is cut ends in an ellipsis."""
    sound = redact(text)
    return sound if len(sound) <= _LONGEST else sound[:_LONGEST] + "…"
