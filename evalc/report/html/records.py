"""The records that the page's scripts read: bounded in size, with the secrets struck out, and safe inside HTML."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from evalc.model.case import Message
from evalc.model.reports import CaseStrength, ChallengerCount, CheckStrength, Coverage, Strength, Trend, TrendPoint
from evalc.model.result import AssertionResult, AttemptResult, CaseResult, CriterionResult, Status, TurnDetails
from evalc.model.suite import Place
from evalc.report.others import PARTS, idle_checks, reasons_not_challenged, weak_cases
from evalc.report.reported import ReportedSuite
from evalc.report.words import main_reason, why_skipped

LONGEST_TEXT: Final = 20_000
"""The characters of a message or a response that the page holds; what is cut says so."""

MOST_CALLS: Final = 100
"""The tool calls of a case that the page holds; the rest are counted."""

MOST_RUNS: Final = 60
"""The runs of a suite that the page plots, the newest."""

_LONGEST_PARAMS: Final = 5_000
_LONGEST_NOTE: Final = 2_000


class Cut(msgspec.Struct, frozen=True):
    """The beginning of a text that is `length` characters long."""

    text: str
    length: int


Text = str | Cut


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The common settings of the page's records."""


class ToolCallRecord(_Record, frozen=True, kw_only=True):
    """A tool call. `params` is JSON in a text, since JavaScript would round its large numbers."""

    name: Text
    success: bool | None = None
    duration_ms: float | None = None
    params: Text | None = None
    result: Text | None = None
    error: Text | None = None


class TurnRecord(_Record, frozen=True, kw_only=True):
    """A turn of a conversation; the case's `tool_calls` are those of one turn after the other, `calls` in this one."""

    message: Text
    response: Text
    duration_ms: float
    calls: int = 0


class OutcomeRecord(_Record, frozen=True, kw_only=True):
    """How a case ended at another time: in one attempt at it, or in the run that this one is compared with."""

    status: Status
    duration_ms: float
    score: float | None = None
    error: Text | None = None
    response: Text | None = None


class CaseRecord(_Record, frozen=True, kw_only=True):
    """A case as the page shows it. `suite` is the suite's index.

    A case that was skipped, or in which nothing was checked, has a `reason`; a skipped case has no details.
    """

    suite: int
    id: str
    description: Text
    status: Status | str
    duration_ms: float | None = None
    score: float | None = None
    error: Text | None = None
    reason: Text | None = None
    expected_failure: Text | None = None
    flaky: bool = False
    variant: str | None = None
    tags: tuple[str, ...] = ()
    place: Place | None = None
    criteria: tuple[CriterionResult, ...] = ()
    assertions: tuple[AssertionResult, ...] = ()
    skipped_tokens: tuple[str, ...] = ()
    message: Text | None = None
    messages: tuple[Message, ...] = ()
    response: Text | None = None
    turns: tuple[TurnRecord, ...] = ()
    tool_calls: tuple[ToolCallRecord, ...] = ()
    more_calls: int = 0
    usage: dict[str, int | float] | UnsetType = UNSET
    finish_reason: str | None = None
    attempts: tuple[OutcomeRecord, ...] = ()
    baseline: OutcomeRecord | None = None


def case_records(index: int, suite: ReportedSuite) -> Iterator[CaseRecord]:
    """The records of the suite with that index: its cases in source order, then those that were skipped."""
    for case in suite.cases:
        yield _case_record(index, case, suite.baseline.get(case.id))
    for skipped in suite.skipped:
        yield CaseRecord(
            suite=index,
            id=skipped.id,
            description=_cut(skipped.description, _LONGEST_NOTE),
            status="skipped",
            reason=_cut(why_skipped(skipped), _LONGEST_NOTE),
        )


class TrendRecord(_Record, frozen=True, kw_only=True, omit_defaults=False):
    """The newest runs of a suite, the oldest of them first, out of so many."""

    suite: str
    tier: str
    agent_endpoint: str | None
    criteria: tuple[str, ...]
    points: tuple[TrendPoint, ...]
    of: int


def trend_record(trend: Trend) -> TrendRecord:
    """As much of the course of a suite as the page plots."""
    return TrendRecord(
        suite=trend.suite,
        tier=trend.tier,
        agent_endpoint=trend.agent_endpoint,
        criteria=trend.criteria,
        points=trend.points[-MOST_RUNS:],
        of=len(trend.points),
    )


def in_html(record: object) -> bytes:
    """The record as JSON that is safe in a script element: nothing in it can end the element.

    Half a surrogate pair stays one, written as an escape; UTF-8 could not hold it.
    """
    try:
        encoded = msgspec.json.encode(record)
    except UnicodeEncodeError:
        encoded = json.dumps(msgspec.to_builtins(record)).encode()
    escaped = encoded.replace(b"<", b"\\u003c")
    return escaped.replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")


def _case_record(index: int, case: CaseResult, before: CaseResult | None) -> CaseRecord:
    details, why = case.details, main_reason(case) if case.status == "unverified" else None
    return CaseRecord(
        suite=index,
        id=case.id,
        description=_cut(case.description, _LONGEST_NOTE),
        status=case.status,
        duration_ms=case.duration_ms,
        score=case.score,
        error=_optional(case.error, _LONGEST_NOTE),
        reason=None if why is None else _cut(why.message, _LONGEST_NOTE),
        expected_failure=_optional(case.expected_failure, _LONGEST_NOTE),
        flaky=case.flaky is True,
        variant=None if case.variant is UNSET else case.variant,
        tags=() if case.tags is UNSET else case.tags,
        place=None if case.place is UNSET else case.place,
        criteria=case.criteria,
        assertions=case.assertions,
        skipped_tokens=details.skipped_tokens,
        message=_optional(details.message, LONGEST_TEXT),
        messages=() if details.messages is UNSET else details.messages,
        response=_optional(details.response, LONGEST_TEXT),
        turns=() if details.turns is UNSET else tuple(map(_turn, details.turns)),
        tool_calls=tuple(map(_tool_call, details.tool_calls[:MOST_CALLS])),
        more_calls=max(len(details.tool_calls) - MOST_CALLS, 0),
        usage=details.usage,
        finish_reason=None if details.finish_reason is UNSET else details.finish_reason,
        attempts=() if case.attempts is UNSET else tuple(_outcome(each, each.response) for each in case.attempts),
        baseline=None if before is None else _outcome(before, before.details.response),
    )


def _turn(turn: TurnDetails) -> TurnRecord:
    return TurnRecord(
        message=_cut(turn.message, LONGEST_TEXT),
        response=_cut(turn.response, LONGEST_TEXT),
        duration_ms=turn.duration_ms,
        calls=turn.calls,
    )


def _tool_call(call: Mapping[str, Any]) -> ToolCallRecord:
    """A call as the results have it; calls are the agent's, and may lack anything."""
    success, duration_ms = call.get("success"), call.get("durationMs")
    sent = call["params"] if call.get("params") is not None else call.get("arguments")
    return ToolCallRecord(
        name=_cut(str(call.get("name")), _LONGEST_NOTE),
        success=success if isinstance(success, bool) else None,
        duration_ms=duration_ms if isinstance(duration_ms, int | float) else None,
        params=None if sent is None else _cut(_indented(sent), _LONGEST_PARAMS),
        result=_cut(_indented(call["result"]), _LONGEST_PARAMS) if "result" in call else None,
        error=_cut(str(call["error"]), _LONGEST_NOTE) if "error" in call else None,
    )


def _indented(value: object) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError, TypeError):  # nested too deeply, holding itself, with keys that are not texts
        return "(no JSON)"


def _outcome(ended: AttemptResult | CaseResult, response: str | None) -> OutcomeRecord:
    return OutcomeRecord(
        status=ended.status,
        duration_ms=ended.duration_ms,
        score=ended.score,
        error=_optional(ended.error, _LONGEST_NOTE),
        response=_optional(response, LONGEST_TEXT),
    )


def _optional(text: str | UnsetType | None, longest: int) -> Text | None:
    return None if text is None or text is UNSET else _cut(text, longest)


def _cut(text: str, longest: int) -> Text:
    return text if len(text) <= longest else Cut(text[:longest], len(text))


MOST_CASES: Final = 100
"""The weakest cases, for which the page says what they miss."""

_MOST_SURVIVORS: Final = 14
_MOST_CHECKS: Final = 100
_MOST_MISSING: Final = 200
_LONGEST: Final = 400

Redact = Callable[[str], str]


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
