"""The console summary (contract, Console Summary): a suite with its scores, its cases, and why they failed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice
from typing import Final, Literal, NamedTuple

from msgspec import UNSET

from evalc.base.terminal import Color, Screen, cells, counted, padded, shortened, visible
from evalc.compare.totals import significance_of_all
from evalc.model.numbers import rounded
from evalc.model.result import (
    PASSING,
    CaseResult,
    CriterionSummary,
    Outcome,
    RunSummary,
    Status,
    SuiteResult,
    Summary,
)
from evalc.model.suite import Place, key_of
from evalc.report import (
    Highlight,
    ReportedRun,
    ReportedSuite,
    SaidTurn,
    SourceLines,
    highlight,
    message_of,
    response_of,
    said_in,
    transcript,
)
from evalc.report.groups import FailureGroup, failure_groups, group_lines
from evalc.report.side_by_side import side_by_side_lines
from evalc.report.words import (
    Reason,
    Writer,
    failures_allowed,
    gate_line,
    label_lines,
    main_reason,
    milliseconds,
    missing_suite,
    nothing_ran,
    reasons,
    selected_line,
    significance_line,
    slice_lines,
    verdict,
    why_skipped,
)

_RULE_WIDTH: Final = 67
_BAR_WIDTH: Final = 20
_WIDE: Final = 80
"""The columns of a screen from which on bars have their whole width."""
_MOST_SKIPPED: Final = 10
_MOST_LISTED: Final = 30
"""The cases of a suite that are all listed; of more, those that passed are only counted."""
_MOST_FAILED: Final = 100
"""The cases of a suite that did not pass and are shown; more of them are only counted."""
_MEASURED_CASES: Final = 500
"""The columns are as wide as these first cases need: all may be too many to hold."""

_UNREMARKABLE: Final[frozenset[Status]] = frozenset(("passed", "expected-failure"))
"""Endings of cases that `quiet` leaves out."""

Detail = Literal["quiet", "normal", "verbose"]
"""How much is shown of the cases."""


def summary_lines(run: ReportedRun, screen: Screen, *, detail: Detail = "normal", slowest: int = 0) -> Iterator[str]:
    """The console summary, without line ends; cases are read one at a time.

    `slowest` is of how many cases the time that they took is listed.
    """
    sources = SourceLines(run.root, run.redact, run.checks)
    quiet = detail == "quiet"
    for suite in run.suites:
        if quiet and _all_is_well(suite.result):
            continue
        if run.several_agents:
            yield f"agent {visible(suite.result.agent_endpoint)}"
        yield from suite_lines(suite, screen, sources, detail=detail)
        yield ""
    if not quiet:
        yield from side_by_side_lines(run.suites, screen)
        yield from _of_all_suites(run, Writer(screen))
        yield from _groups(failure_groups(run), Writer(screen))
    if slowest:
        yield from _slowest(chain.from_iterable(suite.cases for suite in run.suites), slowest)
    yield from _missing_suites(run, Writer(screen))
    yield from run_lines(run, screen, detail=detail)


def render(run: ReportedRun) -> Iterator[bytes]:
    """The summary as a file in UTF-8, 120 columns wide and without colours."""
    for line in summary_lines(run, Screen()):
        yield f"{line}\n".encode(errors="backslashreplace")


# --- a suite ---------------------------------------------------------------------------------------------------------


def suite_lines(
    suite: ReportedSuite, screen: Screen, sources: SourceLines, *, detail: Detail = "normal"
) -> Iterator[str]:
    """The summary of one suite, without line ends.

    The detail `quiet` shows only what is not as it should be, `verbose` adds messages, answers and assertions.
    """
    writer, result, quiet = Writer(screen), suite.result, detail == "quiet"
    sources = sources.of_run(result.timestamp)
    symbols, rule_width = writer.symbols, min(_RULE_WIDTH, writer.width)
    title = f"{symbols.title * 3} {visible(key_of(result).name)} {symbols.dash} {visible(result.tier)} evals "
    yield writer.painted(title + symbols.title * (rule_width - cells(title)), "bold")
    folds = detail == "normal" and result.summary.total_cases > _MOST_LISTED
    remaining = (case for case in suite.cases if not quiet or case.status not in _UNREMARKABLE)
    measured = list(islice(remaining, _MEASURED_CASES))
    columns = _Columns.of(measured, writer.width)
    folded = failed = 0
    for case in chain(measured, remaining):
        failed += not case.passed
        if not case.passed and failed > _MOST_FAILED and detail != "verbose":
            continue
        if folds and case.status == "passed" and case.flaky is not True:
            folded += 1
            continue
        yield _case_line(case, columns, writer)
        if not case.passed or (detail == "verbose" and not any(said_in(case))):
            yield from asked_lines(case, writer, sources, answers=detail != "verbose")
        answers = detail != "verbose" and not any(said_in(case))
        yield from reason_lines(case, writer, None if case.passed else sources, answers=answers)
        if detail == "verbose":
            yield from _whole_response(case)
            yield from _assertions(case, writer, sources)
    if failed > _MOST_FAILED and detail != "verbose":
        more = counted(failed - _MOST_FAILED, "more case")
        yield writer.by_status(f"  {writer.mark('failed')} {more} did not pass; `evalc show -v` lists them", "failed")
    if folded:
        yield f"  {writer.by_status(writer.mark('passed'), 'passed')} {counted(folded, 'case')} passed; -v lists them"
    if quiet:
        yield from _stopped(result, writer)
        yield from _listed("MISSING", result.went or (), result.baseline_run_id, writer)
        yield from _gates(result, writer, quiet=True)
        return
    yield symbols.rule * rule_width
    said = [totals_of(result.summary), repeats_line(result.summary) or ""]
    for line in (*filter(None, said), *label_lines(result.summary), *slice_lines(result.summary)):
        yield from writer.wrapped(line.lstrip(), "  " + " " * (len(line) - len(line.lstrip())), "      ")
    if result.selected:
        yield f"  {selected_line(result.selected, result.summary.total_cases)}"
    yield from _scores(result.summary, result.judges or (), writer)
    skipped = (writer.in_short(f"{case.id}  {why_skipped(case)}") for case in suite.skipped)
    yield from _first(f"SKIPPED ({result.summary.skipped})", skipped, result.summary.skipped, writer)
    yield from _stopped(result, writer)
    yield from _changes(result, writer)
    yield from _gates(result, writer)
    yield from map(writer.warning, (*result.staleness_warnings, *result.warnings))


def _all_is_well(result: SuiteResult) -> bool:
    """Whether `quiet` shows nothing of a suite."""
    summary = result.summary
    unmet = any(not gate.passed for gate in result.gates or ())
    return not (summary.failed or summary.unverified or result.stopped or result.went or unmet)


def _gates(of: SuiteResult | ReportedRun, writer: Writer, *, quiet: bool = False) -> Iterator[str]:
    """The gates, or those that are not met; a warning if they are met though cases failed."""
    for gate in of.gates or ():
        if not (quiet and gate.passed):
            status: Status = "passed" if gate.passed else "failed"
            yield from writer.beside(writer.mark(status), gate_line(gate), status)
    note = failures_allowed(of)
    if note is not None:
        yield writer.warning(note)


def _stopped(result: SuiteResult, writer: Writer) -> Iterator[str]:
    if result.stopped:
        yield writer.warning(f"the run stopped: {result.stopped}", "red")


def totals_of(summary: Summary | RunSummary) -> str:
    """`3/4 passed | 1 failed | 12ms total`, with what else there is to count."""
    passed = _within(_any(summary.unverified, "unverified"), _any(summary.expected_failures, "expected failure", "s"))
    failed = _within(_any(summary.errors, "error", "s"), _any(summary.unexpected_passes, "unexpected pass", "es"))
    parts = (
        f"{summary.passed}/{summary.total_cases} passed{passed}",
        f"{summary.failed} failed{failed}",
        _any(summary.flaky, "flaky"),
        _any(summary.skipped, "skipped case", "s"),
        f"{summary.skipped_assertions} skipped assertions",
        f"{milliseconds(summary.total_duration_ms)} total",
    )
    return " | ".join(filter(None, parts))


def _within(*counts: str) -> str:
    """Notable parts of a total, in parentheses."""
    listed = ", ".join(filter(None, counts))
    return f" ({listed})" if listed else ""


def _any(count: int, noun: str, plural: str = "") -> str:
    """The count with its noun, and nothing for none."""
    return counted(count, noun, plural) if count else ""


def repeats_line(summary: Summary) -> str | None:
    """The chances of one attempt and of as many as there were, on a line; None if no case is repeated."""
    if not summary.repeats:
        return None
    once, most = summary.repeats[0], summary.repeats[-1]
    parts = [f"pass@1 {rounded(once.pass_at_k)}"]
    if most.k > 1:
        parts += [f"pass@{most.k} {rounded(most.pass_at_k)}", f"pass^{most.k} {rounded(most.pass_hat_k)}"]
    fewer = "" if most.cases == once.cases else f", {most.k} attempts at {most.cases} of them"
    return f"{' | '.join(parts)} over {counted(once.cases, 'repeated case')}{fewer}"


def _scores(summary: Summary, judges: Sequence[str], writer: Writer) -> Iterator[str]:
    """A line a criterion, with the judges where they scored it, and the suite's score under them."""
    if summary.score is None and not summary.criteria:
        return
    names = [writer.shortened(criterion.name, writer.width // 3) for criterion in summary.criteria]
    width = max(map(cells, (*names, "score")))
    linked = any("linked" in criterion.scored_by for criterion in summary.criteria)
    for name, criterion in zip(names, summary.criteria, strict=True):
        mean = f"{_mean(criterion, summary.errors)}{_by(criterion, judges, linked=linked)}"
        yield f"  {padded(name, width)}  {criterion.weight:<5g} {_bar(criterion.score, writer)}  {mean}"
    score = "unscored" if summary.score is None else rounded(summary.score)
    share = summary.scored_weight
    partial = f" over {rounded(share)} of the weight" if share and share < 1 else ""
    yield writer.painted(f"  {padded('score', width)}  {'':5} {_bar(summary.score, writer)}  {score}{partial}", "bold")


def _mean(criterion: CriterionSummary, errors: int) -> str:
    """A criterion's mean, and of how many cases it is one: `0.81 over 47 of 50 cases, 3 errors`."""
    if criterion.score is None:
        return "unscored"
    broken = f", {counted(errors, 'error')}" if errors else ""
    return f"{rounded(criterion.score)} over {criterion.cases} of {counted(criterion.of, 'case')}{broken}"


def _by(criterion: CriterionSummary, judges: Sequence[str], *, linked: bool) -> str:
    """The scorers of a criterion: ` (judge openai:MODEL; by all checks)`; empty if only checks that name it did.

    `linked` says whether checks name any criterion of the suite: if so, the others score a criterion that none names.
    """
    by = set(criterion.scored_by)
    if by <= {"linked"}:
        return ""
    who = [f"judge{'s' if len(judges) > 1 else ''} {', '.join(map(visible, judges))}"] if "judge" in by else []
    if "unlinked" in by:
        who.append("by the other checks" if linked and "linked" not in by else "by all checks")
    elif "linked" in by:
        who.append("by its checks")
    return f" ({'; '.join(who)})"


def _bar(score: float | None, writer: Writer) -> str:
    width = _BAR_WIDTH if writer.width >= _WIDE else _BAR_WIDTH // 2
    full = 0 if score is None else math.floor(min(max(score, 0), 1) * width + 1e-9)
    return writer.symbols.full * full + writer.symbols.empty * (width - full)


def _changes(result: SuiteResult, writer: Writer) -> Iterator[str]:
    """The changes since the baseline (contract, Baseline Diffing)."""
    since = result.baseline_run_id
    changed: tuple[tuple[str, Sequence[str], Status], ...] = (
        ("REGRESSIONS", result.regressions, "failed"),
        ("NEW PASSES", result.new_passes, "passed"),
    )
    for heading, ids, status in changed:
        if ids:
            yield writer.by_status(f"  {heading} ({len(ids)}){f' since {visible(since)}' if since else ''}", status)
        yield from (writer.by_status(f"    {writer.mark(status)} {visible(id_)}", status) for id_ in ids)
    for heading, others in (("NEW", result.came), ("CHANGED", result.changed), ("MISSING", result.went)):
        yield from _listed(heading, others or (), since, writer)
    if result.significance and result.significance.verdict != "unchanged":
        yield from writer.wrapped(significance_line(result.significance), "  ", "    ")


def _listed(heading: str, ids: Sequence[str], baseline: str | None, writer: Writer) -> Iterator[str]:
    """Cases that are not those of the baseline: the first of them."""
    return _first(f"{heading} ({len(ids)}) since {visible(baseline or '')}", map(visible, ids), len(ids), writer)


def _first(heading: str, lines: Iterable[str], count: int, writer: Writer) -> Iterator[str]:
    """The first of so many lines below a heading; nothing of none."""
    if count:
        yield writer.painted(f"  {heading}", "yellow")
        yield from (f"    - {line}" for line in islice(lines, _MOST_SKIPPED))
    if count > _MOST_SKIPPED:
        yield f"    and {count - _MOST_SKIPPED} more"


# --- all suites ------------------------------------------------------------------------------------------------------


def _of_all_suites(run: ReportedRun, writer: Writer) -> Iterator[str]:
    """The significance over all suites, if there are several that were compared."""
    found = [result.significance for result in run.results if result.significance]
    whole = significance_of_all(found)
    if len(found) > 1 and whole.verdict != "unchanged":
        yield from writer.wrapped(f"all suites: {significance_line(whole)}", hanging="  ")


def _groups(groups: Sequence[FailureGroup], writer: Writer) -> Iterator[str]:
    """The failures by their reasons."""
    if not groups:
        return
    failures = sum(group.cases for group in groups)
    yield writer.painted(f"  REASONS ({counted(len(groups), 'reason')} of {counted(failures, 'failure')})", "bold")
    yield from group_lines(groups, writer)
    yield ""


def _slowest(cases: Iterable[CaseResult], count: int) -> Iterator[str]:
    """The `count` slowest cases, the slowest first; of as slow ones, the first."""
    timed = ((case.duration_ms, case.id) for case in cases)
    slowest = nlargest(count, timed, key=lambda each: each[0])
    if slowest:
        yield f"  SLOWEST ({len(slowest)})"
    width = max((len(milliseconds(duration)) for duration, _ in slowest), default=0)
    for duration, identity in slowest:
        yield f"    {milliseconds(duration).rjust(width)}  {visible(identity)}"


def _missing_suites(run: ReportedRun, writer: Writer) -> Iterator[str]:
    """The suites that are gone, and what to do about them and the cases that are gone."""
    yield from _listed("MISSING SUITES", [missing_suite(suite) for suite in run.missing], "the baseline", writer)
    if run.missing or any(result.went for result in run.results):
        yield "  if what is missing was removed on purpose, `evalc accept` records that"
        yield ""


def run_lines(run: ReportedRun, screen: Screen, *, detail: Detail = "normal") -> Iterator[str]:
    """The end of the report: the totals of all suites, what decides the run, and where the results are.

    The detail `quiet` leaves out what decides nothing.
    """
    writer, summary, quiet = Writer(screen), run.summary, detail == "quiet"
    totals = f"{counted(summary.suites, 'suite')} | {totals_of(summary)}"
    line = writer.wrapped(f"run {run.run_id} | {totals}", hanging="  ")
    yield from (writer.painted(part, "bold") for part in line)
    if not quiet:
        if run.selected is not None:
            yield f"  {selected_line(run.selected, summary.total_cases)}"
        if summary.score is not None:
            yield f"  score {rounded(summary.score)}"
        for baseline in dict.fromkeys(filter(None, (result.baseline_run_id for result in run.results))):
            # The id of a run, or the path of an accepted baseline.
            yield f"  compared with {'the run ' if '/' not in baseline else ''}{visible(baseline)}"
    if summary.regressions:
        yield writer.painted(f"  {counted(summary.regressions, 'regression')}", "red")
    yield from _gates(run, writer, quiet=quiet)
    for words in run.below:
        yield from writer.beside(writer.mark("failed"), words, "failed")
    nothing = nothing_ran(summary)
    if not quiet:
        yield from (writer.warning(warning) for warning in run.warnings if warning != nothing)
        if run.folder:
            yield f"  results in {visible(run.folder)}"
    if nothing is not None:  # last, for readers who skip the rest
        yield writer.warning(nothing)
    elif run.exit_code is not None:
        status, why = verdict(run)
        yield writer.by_status(f"{writer.mark(status)} {status}: {why}", status)


# --- a case ----------------------------------------------------------------------------------------------------------


_MOST_REASONS: Final = 5
_WIDEST_PART: Final = 76
_MOST_TURNS: Final = 4
"""The turns of a failed conversation that are shown: the failed turn, and those before it."""
_MOST_RESPONSE_LINES: Final = 3
_LONGEST_QUOTED: Final = 200
"""The characters of a response that a message may quote whole."""
_MESSAGE_MARGIN: Final = "      message: "
_RESPONSE_MARGIN: Final = "      response: "
_MARKED: Final[dict[str, tuple[str, Color]]] = {
    "forbidden": ("found here", "red"),
    "missing": ("nearest", "yellow"),
    "differs": ("differs from here", "red"),
}
_STATUS_OF_OUTCOME: Final[dict[Outcome, Status]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "skipped": "unverified",
}


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
        widest_description = max((cells(visible(_description(case))) for case in cases), default=0)
        duration = max((len(milliseconds(case.duration_ms)) for case in cases), default=0)
        attempts = max((len(_attempts(case)) for case in cases), default=0)
        room = width - len("  ✓ ") - len("  ") * 2 - duration - attempts
        identity = min(widest_id, max(room // 2, room - widest_description))
        return cls(identity, min(widest_description, room - identity), duration, room)


def _description(case: CaseResult) -> str:
    """The case's description, unless it is only the name that its id ends with."""
    name = case.id.rpartition("/")[2]
    return "" if case.description in (name, name.partition("@")[0]) else case.description


def _case_line(case: CaseResult, columns: _Columns, writer: Writer) -> str:
    """How the case ended, its id and description, the time that it took."""
    mark = writer.by_status(writer.mark(case.status), case.status)
    identity = padded(writer.shortened(case.id, max(columns.id, columns.room // 2)), columns.id)
    description = writer.shortened(_description(case), max(columns.room - cells(identity), 0))
    duration = milliseconds(case.duration_ms).rjust(columns.duration)
    described = f"  {padded(description, columns.description)}" if columns.description else ""
    return f"  {mark} {identity}{described}  {duration}{_attempts(case)}"


def asked_lines(case: CaseResult, writer: Writer, sources: SourceLines, *, answers: bool) -> Iterator[str]:
    """The row that a case is made from, and the message that was sent, each on one line.

    Of a conversation, with `answers`, what was said up to the turn that failed; without, the message of that turn.
    """
    if case.row is not UNSET:
        row = f"      row {case.row.file}:{case.row.line}"
        line = (sources.line(case.row) or "").strip()
        yield writer.painted(writer.shortened(f"{row} | {line}" if line else row, writer.width), "dim")
    reason = main_reason(case)
    turn = None if reason is None else reason.turn
    said = list(said_in(case))[:turn] if answers else []
    message = message_of(case, turn)
    for margin, text in _said(said) if said else [(_MESSAGE_MARGIN, message)] if message else ():
        room = writer.width - cells(margin)
        yield writer.painted(f"{margin}{writer.shortened(text[: room + 1], room)}", "dim")


def _said(turns: Sequence[SaidTurn]) -> Iterator[tuple[str, str]]:
    """A margin and a text for each message of the turns; of many turns the last."""
    if len(turns) > _MOST_TURNS:
        yield "      ", f"{counted(len(turns) - _MOST_TURNS, 'earlier turn')}; -v shows all"
    for turn in turns[-_MOST_TURNS:]:
        margin = f"      turn {turn.number} user: "
        yield margin, turn.message
        if turn.calls:
            yield "calls: ".rjust(len(margin)), ", ".join(turn.calls)
        yield "agent: ".rjust(len(margin)), "(no answer)" if turn.response is None else turn.response or "(empty)"


def _attempts(case: CaseResult) -> str:
    """How many attempts passed, where the case was repeated."""
    if case.attempts is UNSET:
        return ""
    passed = sum(attempt.status in PASSING for attempt in case.attempts)
    left_out = f", {case.not_attempted} not made" if case.not_attempted else ""
    return f"  ({passed}/{len(case.attempts)}{', flaky' if case.flaky is True else ''}{left_out})"


def reason_lines(
    case: CaseResult, writer: Writer, sources: SourceLines | None, *, answers: bool = False
) -> Iterator[str]:
    """Why a case did not simply pass: its error, whatever else failed in it, and where that was authored.

    With `sources`, the authored line is below its place, and below it the part of the response that is meant; with
    `answers`, the beginning of the response follows where no line shows a part of it, or all.
    """
    every = list(reasons(case))
    is_shown = False
    for reason in every[:_MOST_REASONS]:
        words = writer.in_short(reason.check or reason.message)
        yield from writer.beside(writer.symbols.arrow, words, case.status, "    ")
        if reason.check is not None:
            yield from writer.wrapped(writer.in_short(reason.message), "      ")
        if reason.place is not None:
            yield writer.painted(f"      at {visible(str(reason.place))}", "dim")
            if sources is not None and reason.check is None:
                yield from _authored(reason.place, sources, writer)
        if sources is not None:
            response = response_of(case, reason.turn)
            part = highlight(reason.finding, response)
            is_shown |= response is None or part is not None or _quotes_whole(reason, response)
            if part is not None and reason.finding is not None:
                yield from _marked(part, *_MARKED[reason.finding.kind], writer)
    if len(every) > _MOST_REASONS:
        yield f"    {writer.symbols.arrow} and {len(every) - _MOST_REASONS} more"
    if answers and sources is not None and not is_shown:
        response = response_of(case, every[0].turn if every else None)
        yield from () if response is None else _beginning(response, writer)


def _quotes_whole(reason: Reason, response: str) -> bool:
    return len(response) <= _LONGEST_QUOTED and reason.message.endswith(f"but got '{visible(response)}'")


def _authored(place: Place, sources: SourceLines, writer: Writer) -> Iterator[str]:
    line = sources.line(place)
    if line is not None and line.strip():
        number = f"      {place.line} | "
        yield f"{number}{writer.shortened(line.strip(), writer.width - len(number))}"


def _marked(part: Highlight, label: str, color: Color, writer: Writer) -> Iterator[str]:
    """The part of the response that a reason is about, and a line that marks it."""
    room = min(writer.width - len(_RESPONSE_MARGIN) - 2 * len(writer.symbols.ellipsis), _WIDEST_PART)
    before, marked, after = _excerpt(part, room, writer.symbols.ellipsis)
    carets = "^" * max(cells(marked), 1)
    yield f"{_RESPONSE_MARGIN}{before}{writer.painted(marked, color)}{after}"
    indent = " " * (len(_RESPONSE_MARGIN) + cells(before))
    labelled = f"{carets} {label}"
    fits = len(indent) + len(labelled) <= writer.width
    yield f"{indent}{writer.painted(labelled if fits else carets, color)}"


def _excerpt(part: Highlight, room: int, ellipsis: str) -> tuple[str, str, str]:
    """The marked stretch in as much of its text as has room, with what precedes and follows it."""
    whole, before = part.text[part.start : part.end], part.text[: part.start]
    marked = shortened(whole, room, ellipsis)
    left = room - cells(marked)
    after = part.text[part.end :] if marked == whole else ""
    behind = max(left // 2, left - cells(before[-left:] if left else ""))
    shown_after = shortened(after[: behind + 1], behind, ellipsis)
    shown_before = shortened(before[::-1], left - cells(shown_after), "")[::-1]
    return f"{ellipsis if shown_before != before else ''}{shown_before}", marked, shown_after


def _beginning(response: str, writer: Writer) -> Iterator[str]:
    room = writer.width - len(_RESPONSE_MARGIN)
    rest = visible(response[: _MOST_RESPONSE_LINES * room + 1]) or "(empty)"
    margin = _RESPONSE_MARGIN
    for _ in range(_MOST_RESPONSE_LINES - 1):
        line = shortened(rest, room, "")
        yield f"{margin}{line}"
        rest = rest[len(line) :]
        if not rest:
            return
        margin = " " * len(margin)
    yield f"{margin}{writer.shortened(rest, room)}"


def _whole_response(case: CaseResult) -> Iterator[str]:
    """The whole response, line by line as the agent wrote it; of a conversation each turn."""
    response = transcript(case)
    if response is None:
        return
    first, *others = response.splitlines() or ["(empty)"]
    if not others:
        yield f"{_RESPONSE_MARGIN}{visible(first)}"
        return
    yield _RESPONSE_MARGIN.rstrip()
    for line in (first, *others):
        yield f"        {visible(line)}".rstrip()


def _assertions(case: CaseResult, writer: Writer, sources: SourceLines) -> Iterator[str]:
    """Every assertion that was reached: its place and its line; its pointer, as `checks/0`, if that is not known."""
    named: set[tuple[str, Outcome]] = set()
    for assertion in case.assertions:
        status = _STATUS_OF_OUTCOME[assertion.outcome]
        mark = writer.by_status(writer.mark(status), status)
        check = sources.check_of(case, assertion)
        if check is None:
            yield f"    {mark} {visible(assertion.at.removeprefix('/expect').removeprefix('/'))}"
        elif (check.line, assertion.outcome) not in named:
            named.add((check.line, assertion.outcome))
            shown = "" if check.place is None else f"{writer.painted(visible(str(check.place)), 'dim')}  "
            room = writer.width - len("    ✓ ") - (0 if check.place is None else cells(str(check.place)) + 2)
            yield f"    {mark} {shown}{writer.shortened(check.line, room)}"
