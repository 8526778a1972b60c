"""From the results of a run to the lines of the console summary (contract, Console Summary), scores under it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from evalc.model.result import (
    PASSING,
    AssertionResult,
    CaseResult,
    CriterionSummary,
    RunSummary,
    SkippedCase,
    Status,
    SuiteResult,
    Summary,
)
from evalc.model.suite import Place
from evalc.terminal import Color, Screen, cells, padded, painted, shortened, visible

_RULE_WIDTH = 67
_BAR_WIDTH = 20
_LONGEST_MESSAGE = 400
_MOST_MESSAGES = 5
_MOST_SKIPPED = 10
_MEASURED_CASES = 500
"""The columns are as wide as these first cases need: all may be too many to hold."""


class _Symbols(NamedTuple):
    """The characters that the summary is drawn with."""

    marks: dict[Status, str]
    arrow: str
    warning: str
    title: str
    rule: str
    dash: str
    full: str
    empty: str
    ellipsis: str


_UNICODE = _Symbols(
    marks={
        "passed": "✓",
        "failed": "✗",
        "error": "!",
        "unverified": "?",
        "expected-failure": "⊘",
        "unexpected-pass": "✘",
    },
    arrow="→",
    warning="⚠",
    title="═",
    rule="─",
    dash="—",
    full="█",
    empty="░",
    ellipsis="…",
)
_ASCII = _Symbols(
    marks={
        "passed": "+",
        "failed": "x",
        "error": "!",
        "unverified": "?",
        "expected-failure": "~",
        "unexpected-pass": "X",
    },
    arrow="->",
    warning="!",
    title="=",
    rule="-",
    dash="-",
    full="#",
    empty=".",
    ellipsis="...",
)
_COLORS: dict[Status, Color] = {
    "passed": "green",
    "failed": "red",
    "error": "red",
    "unverified": "yellow",
    "expected-failure": "yellow",
    "unexpected-pass": "red",
}


def suite_lines(
    result: SuiteResult,
    screen: Screen,
    *,
    cases: Iterable[CaseResult] | None = None,
    skipped: Iterable[SkippedCase] | None = None,
) -> Iterator[str]:
    """The summary of one suite, without line ends.

    Args:
        result: the suite's result.
        screen: what the reader's screen can show.
        cases: the cases, read one at a time, where the result itself does not hold them.
        skipped: likewise the cases that were not run.
    """
    symbols = _UNICODE if screen.unicode else _ASCII
    title = f"{symbols.title * 3} {visible(result.tool_name)} {symbols.dash} {visible(result.tier)} evals "
    rule_width = min(_RULE_WIDTH, screen.width)
    yield painted(title + symbols.title * (rule_width - cells(title)), "bold", on=screen.color)
    remaining = iter(result.cases if cases is None else cases)
    measured = list(islice(remaining, _MEASURED_CASES))
    columns = _Columns.of(measured, screen.width)
    for case in chain(measured, remaining):
        yield _case_line(case, columns, symbols, screen)
        yield from _reasons(case, symbols, screen)
    yield symbols.rule * rule_width
    yield f"  {_totals(result.summary)}"
    yield from _scores(result.summary, symbols, screen)
    yield from _skipped(result.skipped if skipped is None else skipped, result.summary.skipped, symbols, screen)
    yield from _changes(result, symbols, screen)
    yield from _warnings((*result.staleness_warnings, *result.warnings), symbols, screen)


def run_lines(
    run_id: str,
    folder: Path,
    summary: RunSummary,
    screen: Screen,
    *,
    gates: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> Iterator[str]:
    """The end of the report: the totals of all suites, the gates that were not met, and where the results are."""
    symbols = _UNICODE if screen.unicode else _ASCII
    yield painted(f"run {run_id} | {_counted(summary.suites, 'suite')} | {_totals(summary)}", "bold", on=screen.color)
    if summary.score is not None:
        yield f"  score {_rounded(summary.score)}"
    if summary.regressions:
        yield painted(f"  {_counted(summary.regressions, 'regression')}", "red", on=screen.color)
    for gate in gates:
        yield painted(f"  {symbols.marks['failed']} {visible(gate)}", "red", on=screen.color)
    yield from _warnings(warnings, symbols, screen)
    yield f"  results in {visible(str(folder))}"


class _Columns(NamedTuple):
    """The widths of a suite's columns, and the room that ids and descriptions have together."""

    id: int
    description: int
    duration: int
    room: int

    @classmethod
    def of(cls, cases: Sequence[CaseResult], width: int) -> _Columns:
        """As wide as the contents; where they are too wide together, the longer texts give way."""
        widest_id = max((cells(visible(case.id)) for case in cases), default=0)
        widest_description = max((cells(visible(case.description)) for case in cases), default=0)
        duration = max((len(_milliseconds(case.duration_ms)) for case in cases), default=0)
        attempts = max((len(_attempts(case)) for case in cases), default=0)
        room = width - len("  ✓ ") - len("  ") * 2 - duration - attempts
        identity = min(widest_id, max(room // 2, room - widest_description))
        return cls(identity, min(widest_description, room - identity), duration, room)


def _case_line(case: CaseResult, columns: _Columns, symbols: _Symbols, screen: Screen) -> str:
    mark = painted(symbols.marks[case.status], _COLORS[case.status], on=screen.color)
    longest_id = max(columns.id, columns.room // 2)
    identity = padded(shortened(visible(case.id), longest_id, symbols.ellipsis), columns.id)
    longest_description = max(columns.room - cells(identity), 0)
    description = shortened(visible(case.description), longest_description, symbols.ellipsis)
    duration = _milliseconds(case.duration_ms).rjust(columns.duration)
    return f"  {mark} {identity}  {padded(description, columns.description)}  {duration}{_attempts(case)}"


def _attempts(case: CaseResult) -> str:
    """How many attempts passed, where the case was repeated."""
    if case.attempts is UNSET:
        return ""
    passed = sum(attempt.status in PASSING for attempt in case.attempts)
    return f"  ({passed}/{len(case.attempts)}{', flaky' if case.flaky is True else ''})"


def _reasons(case: CaseResult, symbols: _Symbols, screen: Screen) -> Iterator[str]:
    """Why a case did not simply pass: its error, whatever else failed in it, and where that was authored."""
    reasons = list(_messages(case))
    for message, place in reasons[:_MOST_MESSAGES]:
        text = shortened(visible(message[: _LONGEST_MESSAGE + 1]), _LONGEST_MESSAGE, symbols.ellipsis)
        yield painted(f"    {symbols.arrow} {text}", _COLORS[case.status], on=screen.color)
        if place is not None:
            yield painted(f"      at {visible(str(place))}", "dim", on=screen.color)
    if len(reasons) > _MOST_MESSAGES:
        yield f"    {symbols.arrow} and {len(reasons) - _MOST_MESSAGES} more"


def _messages(case: CaseResult) -> Iterator[tuple[str, Place | None]]:
    """The case's error, placed where its assertion was authored; then every other assertion that did not hold."""
    broken = [assertion for assertion in case.assertions if assertion.outcome in ("failed", "error")]
    case_place = None if case.place is UNSET else case.place
    if case.status == "expected-failure":
        yield f"a failure is expected: {case.expected_failure}", case_place
        return
    if case.status == "unverified":
        yield f"nothing was checked, {_why_unverified(case)}", case_place
    elif case.error is not UNSET:
        # The error is what one of them says, of a repeated case after the count of its attempts.
        told = [assertion for assertion in broken if case.error.endswith(_named(assertion))][:1]
        yield case.error, next((assertion.place for assertion in told), None) or case_place
        broken = [assertion for assertion in broken if assertion not in told]
    for assertion in broken:
        yield _named(assertion), assertion.place


def _why_unverified(case: CaseResult) -> str:
    if case.details.skipped_tokens:
        return f"no value for {', '.join(case.details.skipped_tokens)}"
    return "no assertion applies to what the agent did"


def _named(assertion: AssertionResult) -> str:
    """The assertion's message after the name of its field or check, as a case's error has it."""
    return f"{assertion.field}: {assertion.message}"


def _totals(summary: Summary | RunSummary) -> str:
    passed = _within(_any(summary.unverified, "unverified"), _any(summary.expected_failures, "expected failure", "s"))
    failed = _within(_any(summary.errors, "error", "s"), _any(summary.unexpected_passes, "unexpected pass", "es"))
    parts = (
        f"{summary.passed}/{summary.total_cases} passed{passed}",
        f"{summary.failed} failed{failed}",
        _any(summary.flaky, "flaky"),
        _any(summary.skipped, "skipped case", "s"),
        f"{summary.skipped_assertions} skipped assertions",
        f"{_milliseconds(summary.total_duration_ms)} total",
    )
    return " | ".join(filter(None, parts))


def _within(*counts: str) -> str:
    """What a total holds that deserves a word, in parentheses."""
    told = ", ".join(filter(None, counts))
    return f" ({told})" if told else ""


def _any(count: int, noun: str, plural: str = "") -> str:
    """The count with its noun, and nothing for none."""
    return _counted(count, noun, plural) if count else ""


def _skipped(cases: Iterable[SkippedCase], count: int, symbols: _Symbols, screen: Screen) -> Iterator[str]:
    """The cases that were not run, and why: the first of them."""
    if not count:
        return
    yield painted(f"  SKIPPED ({count})", "yellow", on=screen.color)
    for case in islice(cases, _MOST_SKIPPED):
        why = f"archived: {case.reason}" if case.archived else case.reason
        text = shortened(visible(f"{case.id}  {why}"[: _LONGEST_MESSAGE + 1]), _LONGEST_MESSAGE, symbols.ellipsis)
        yield f"    - {text}"
    if count > _MOST_SKIPPED:
        yield f"    and {count - _MOST_SKIPPED} more"


def _scores(summary: Summary, symbols: _Symbols, screen: Screen) -> Iterator[str]:
    """A line a criterion, and the suite's score under them."""
    if summary.score is None and not summary.criteria:
        return
    names = [shortened(visible(criterion.name), screen.width // 3, symbols.ellipsis) for criterion in summary.criteria]
    width = max(map(cells, (*names, "score")))
    for name, criterion in zip(names, summary.criteria, strict=True):
        drawn = _bar(criterion.score, symbols)
        yield f"  {padded(name, width)}  {criterion.weight:<5g} {drawn}  {_mean(criterion, summary.errors)}"
    score = "unscored" if summary.score is None else _rounded(summary.score)
    share = summary.scored_weight
    partial = f" over {_rounded(share)} of the weight" if share is not None and share < 1 else ""
    total = f"  {padded('score', width)}  {'':5} {_bar(summary.score, symbols)}  {score}{partial}"
    yield painted(total, "bold", on=screen.color)


def _mean(criterion: CriterionSummary, errors: int) -> str:
    """A criterion's mean, and of how many cases it is one: `0.81 over 47 of 50 cases, 3 errors`."""
    if criterion.score is None:
        return "unscored"
    broken = f", {_counted(errors, 'error')}" if errors else ""
    return f"{_rounded(criterion.score)} over {criterion.cases} of {criterion.of} cases{broken}"


def _bar(score: float | None, symbols: _Symbols) -> str:
    full = 0 if score is None else math.floor(min(max(score, 0), 1) * _BAR_WIDTH + 1e-9)
    return symbols.full * full + symbols.empty * (_BAR_WIDTH - full)


def _changes(result: SuiteResult, symbols: _Symbols, screen: Screen) -> Iterator[str]:
    """What changed since the baseline (contract, Baseline Diffing)."""
    yield from _changed("REGRESSIONS", result.regressions, "failed", result.baseline_run_id, symbols, screen)
    yield from _changed("NEW PASSES", result.new_passes, "passed", result.baseline_run_id, symbols, screen)


def _changed(
    heading: str, ids: tuple[str, ...], status: Status, baseline: str | None, symbols: _Symbols, screen: Screen
) -> Iterator[str]:
    if not ids:
        return
    since = f" since {visible(baseline)}" if baseline else ""
    yield painted(f"  {heading} ({len(ids)}){since}", _COLORS[status], on=screen.color)
    for identity in ids:
        yield painted(f"    {symbols.marks[status]} {visible(identity)}", _COLORS[status], on=screen.color)


def _warnings(warnings: Sequence[str], symbols: _Symbols, screen: Screen) -> Iterator[str]:
    for warning in warnings:
        yield painted(f"  {symbols.warning} {visible(warning)}", "yellow", on=screen.color)


def _milliseconds(duration: float) -> str:
    return f"{duration:.0f}ms"


def _rounded(score: float) -> str:
    """Two digits, rounded down: only a full score reads 1.00."""
    return f"{math.floor(score * 100 + 1e-9) / 100:.2f}"


def _counted(count: int, noun: str, plural: str = "s") -> str:
    return f"{count} {noun}{'' if count == 1 else plural}"
