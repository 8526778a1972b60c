"""The console summary of a suite (contract, Console Summary), with its scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice
from typing import Final, Literal

from evalc.base.terminal import Screen, cells, counted, padded, visible
from evalc.compare.exact import significance_of_all
from evalc.model.result import CaseResult, CriterionSummary, RunSummary, SkippedCase, Status, SuiteResult, Summary
from evalc.model.suite import key_of
from evalc.report.case_lines import (
    Columns,
    SourceContext,
    assertion_lines,
    case_line,
    reason_lines,
    whole_response_lines,
)
from evalc.report.reported import ReportedRun, ReportedSuite, SourceLines
from evalc.report.side_by_side import side_by_side_lines
from evalc.report.words import (
    Writer,
    failures_allowed,
    gate_line,
    label_lines,
    milliseconds,
    missing_suite,
    nothing_ran,
    rounded,
    selected_line,
    significance_line,
    why_skipped,
)

_RULE_WIDTH: Final = 67
_BAR_WIDTH: Final = 20
_MOST_SKIPPED: Final = 10
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
    sources = SourceLines(run.root, run.redact, run.places)
    quiet = detail == "quiet"
    for suite in run.suites:
        if quiet and _all_is_well(suite.result):
            continue
        if run.several_agents:
            yield f"agent {visible(suite.result.agent_endpoint)}"
        yield from suite_lines(suite, screen, detail=detail, sources=sources)
        yield ""
    if not quiet:
        yield from side_by_side_lines(run.suites, screen)
        yield from _of_all_suites(run)
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
    suite: ReportedSuite, screen: Screen, *, detail: Detail = "normal", sources: SourceLines | None = None
) -> Iterator[str]:
    """The summary of one suite, without line ends.

    The detail `quiet` shows only what is not as it should be, `verbose` adds answers and assertions. Without `sources`,
    failed checks have places and no lines.
    """
    writer, result, quiet = Writer(screen), suite.result, detail == "quiet"
    context = None if sources is None else SourceContext(sources, result.timestamp)
    symbols, rule_width = writer.symbols, min(_RULE_WIDTH, writer.width)
    title = f"{symbols.title * 3} {visible(key_of(result).name)} {symbols.dash} {visible(result.tier)} evals "
    yield writer.painted(title + symbols.title * (rule_width - cells(title)), "bold")
    remaining = (case for case in suite.cases if not quiet or case.status not in _UNREMARKABLE)
    measured = list(islice(remaining, _MEASURED_CASES))
    columns = Columns.of(measured, writer.width)
    for case in chain(measured, remaining):
        yield case_line(case, columns, writer)
        yield from reason_lines(case, writer, None if case.passed else context, answers=detail != "verbose")
        if detail == "verbose":
            yield from whole_response_lines(case)
            yield from assertion_lines(case, writer, context)
    if quiet:
        yield from _stopped(result, writer)
        yield from _listed("MISSING", result.went or (), result.baseline_run_id, writer)
        yield from _gates(result, writer, quiet=True)
        return
    yield symbols.rule * rule_width
    yield f"  {_totals(result.summary)}"
    if repeats := repeats_line(result.summary):
        yield f"  {repeats}"
    yield from (f"  {line}" for line in label_lines(result.summary))
    if result.selected:
        yield f"  {selected_line(result.selected, result.summary.total_cases)}"
    yield from _scores(result.summary, result.judges or (), writer)
    yield from _skipped(suite.skipped, result.summary.skipped, writer)
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
            yield writer.by_status(f"  {writer.mark(status)} {gate_line(gate)}", status)
    note = failures_allowed(of)
    if note is not None:
        yield writer.warning(note)


def _stopped(result: SuiteResult, writer: Writer) -> Iterator[str]:
    if result.stopped:
        yield writer.warning(f"the run stopped: {result.stopped}", "red")


def _totals(summary: Summary | RunSummary) -> str:
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


def _skipped(cases: Iterable[SkippedCase], count: int, writer: Writer) -> Iterator[str]:
    """The cases that were not run, and why: the first of them."""
    if not count:
        return
    yield writer.painted(f"  SKIPPED ({count})", "yellow")
    for case in islice(cases, _MOST_SKIPPED):
        yield f"    - {writer.in_short(f'{case.id}  {why_skipped(case)}')}"
    if count > _MOST_SKIPPED:
        yield f"    and {count - _MOST_SKIPPED} more"


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
    full = 0 if score is None else math.floor(min(max(score, 0), 1) * _BAR_WIDTH + 1e-9)
    return writer.symbols.full * full + writer.symbols.empty * (_BAR_WIDTH - full)


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
        yield f"  {significance_line(result.significance)}"


def _listed(heading: str, ids: Sequence[str], baseline: str | None, writer: Writer) -> Iterator[str]:
    """Cases that are not those of the baseline: the first of them."""
    if not ids:
        return
    yield writer.painted(f"  {heading} ({len(ids)}) since {visible(baseline or '')}", "yellow")
    yield from (f"    - {visible(identity)}" for identity in ids[:_MOST_SKIPPED])
    if len(ids) > _MOST_SKIPPED:
        yield f"    and {len(ids) - _MOST_SKIPPED} more"


# --- all suites ------------------------------------------------------------------------------------------------------


def _of_all_suites(run: ReportedRun) -> Iterator[str]:
    """The significance over all suites, if there are several that were compared."""
    found = [result.significance for result in run.results if result.significance]
    whole = significance_of_all(found)
    if len(found) > 1 and whole.verdict != "unchanged":
        yield f"all suites: {significance_line(whole)}"


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
    totals = f"{counted(summary.suites, 'suite')} | {_totals(summary)}"
    yield writer.painted(f"run {visible(run.run_id)} | {totals}", "bold")
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
        yield writer.by_status(f"  {writer.mark('failed')} {visible(words)}", "failed")
    nothing = nothing_ran(summary)
    if not quiet:
        yield from (writer.warning(warning) for warning in run.warnings if warning != nothing)
        if run.folder:
            yield f"  results in {visible(run.folder)}"
    if nothing is not None:
        yield writer.warning(nothing)  # last, for readers who skip the rest
