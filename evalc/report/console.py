"""The console summary of a suite (contract, Console Summary), with its scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal

from msgspec import UNSET

from evalc.base.terminal import Screen, cells, counted, padded, painted, shortened, visible
from evalc.compare.exact import significance_of_all
from evalc.model.result import (
    CaseResult,
    CriterionSummary,
    GateResult,
    RunSummary,
    SkippedCase,
    Status,
    SuiteResult,
    Summary,
)
from evalc.model.suite import Selected, key_of
from evalc.report.case_lines import (
    Columns,
    SourceContext,
    assertion_lines,
    case_line,
    reason_lines,
    response_lines,
    whole_response_lines,
)
from evalc.report.reported import ReportedRun
from evalc.report.side_by_side import side_by_side_lines
from evalc.report.source_lines import SourceLines
from evalc.report.words import (
    COLORS,
    Symbols,
    failures_allowed,
    gate_line,
    in_short,
    label_lines,
    milliseconds,
    missing_suite,
    nothing_ran,
    rounded,
    selected_line,
    significance_line,
    symbols_of,
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


def suite_lines(
    result: SuiteResult,
    screen: Screen,
    *,
    cases: Iterable[CaseResult] | None = None,
    skipped: Iterable[SkippedCase] | None = None,
    detail: Detail = "normal",
    sources: SourceLines | None = None,
) -> Iterator[str]:
    """The summary of one suite, without line ends.

    `cases` and `skipped` are read one at a time, where the result itself does not hold them. The detail `quiet` shows
    only what is not as it should be, `verbose` adds answers and assertions. Without `sources`, failed checks have
    places and no lines.
    """
    symbols = symbols_of(screen)
    context = None if sources is None else SourceContext(sources, result.timestamp)
    title = f"{symbols.title * 3} {visible(key_of(result).name)} {symbols.dash} {visible(result.tier)} evals "
    rule_width = min(_RULE_WIDTH, screen.width)
    yield painted(title + symbols.title * (rule_width - cells(title)), "bold", on=screen.color)
    all_cases = result.cases if cases is None else cases
    remaining = (case for case in all_cases if detail != "quiet" or case.status not in _UNREMARKABLE)
    measured = list(islice(remaining, _MEASURED_CASES))
    columns = Columns.of(measured, screen.width)
    for case in chain(measured, remaining):
        yield case_line(case, columns, symbols, screen)
        yield from reason_lines(case, symbols, screen, None if case.passed else context)
        if detail == "verbose":
            yield from whole_response_lines(case)
            yield from assertion_lines(case, symbols, screen, context)
        elif context is not None and not case.passed:
            yield from response_lines(case, symbols, screen)
    if detail == "quiet":
        yield from _stopped(result, symbols, screen)
        yield from _missing(result, screen)
        yield from _gates(_not_met(result.gates or ()), symbols, screen)
        yield from _failures_allowed(result.gates or (), result.summary, symbols, screen)
        return
    yield symbols.rule * rule_width
    yield f"  {_totals(result.summary)}"
    if repeats := repeats_line(result.summary):
        yield f"  {repeats}"
    yield from (f"  {line}" for line in label_lines(result.summary))
    if result.selected:
        yield f"  {selected_line(result.selected, result.summary.total_cases)}"
    yield from _scores(result.summary, () if result.judges is UNSET else result.judges, symbols, screen)
    yield from _skipped(result.skipped if skipped is None else skipped, result.summary.skipped, symbols, screen)
    yield from _stopped(result, symbols, screen)
    yield from _changes(result, symbols, screen)
    yield from _gates(result.gates or (), symbols, screen)
    yield from _failures_allowed(result.gates or (), result.summary, symbols, screen)
    yield from _warnings((*result.staleness_warnings, *result.warnings), symbols, screen)


def all_is_well(result: SuiteResult) -> bool:
    """Whether `quiet` shows nothing of a suite."""
    summary = result.summary
    unmet = any(not gate.passed for gate in result.gates or ())
    return not (summary.failed or summary.unverified or result.stopped or result.went or unmet)


def run_lines(
    run_id: str,
    folder: Path | None,
    summary: RunSummary,
    screen: Screen,
    *,
    gates: Sequence[str] = (),
    judged: Sequence[GateResult] = (),
    selected: Selected | None = None,
    baselines: Sequence[str] = (),
    warnings: Sequence[str] = (),
    detail: Detail = "normal",
) -> Iterator[str]:
    """The end of the report: the totals of all suites, what decides the run, and where the results are.

    `folder` is None where nothing was run. `gates` are the thresholds that were not met, `judged` the gates of the run
    as a whole; `selected` is None if all cases were chosen. `baselines` are ids of runs, or the path of an accepted
    baseline; `warnings` those that belong to no suite. The detail `quiet` leaves out what decides nothing.
    """
    symbols = symbols_of(screen)
    totals = f"{counted(summary.suites, 'suite')} | {_totals(summary)}"
    yield painted(f"run {visible(run_id)} | {totals}", "bold", on=screen.color)
    quiet = detail == "quiet"
    if selected is not None and not quiet:
        yield f"  {selected_line(selected, summary.total_cases)}"
    if summary.score is not None and not quiet:
        yield f"  score {rounded(summary.score)}"
    for baseline in () if quiet else baselines:
        yield f"  compared with {'the run ' if '/' not in baseline else ''}{visible(baseline)}"
    if summary.regressions:
        yield painted(f"  {counted(summary.regressions, 'regression')}", "red", on=screen.color)
    yield from _gates(_not_met(judged) if quiet else judged, symbols, screen)
    yield from _failures_allowed(judged, summary, symbols, screen)
    for gate in gates:
        yield painted(f"  {symbols.marks['failed']} {visible(gate)}", "red", on=screen.color)
    nothing = nothing_ran(summary)
    if not quiet:
        yield from _warnings([warning for warning in warnings if warning != nothing], symbols, screen)
        if folder is not None:
            yield f"  results in {visible(str(folder))}"
    # Last, for readers who skip the rest.
    yield from _warnings(() if nothing is None else (nothing,), symbols, screen)


def _gates(gates: Iterable[GateResult], symbols: Symbols, screen: Screen) -> Iterator[str]:
    for gate in gates:
        status: Status = "passed" if gate.passed else "failed"
        yield painted(f"  {symbols.marks[status]} {gate_line(gate)}", COLORS[status], on=screen.color)


def _not_met(gates: Iterable[GateResult]) -> Iterator[GateResult]:
    return (gate for gate in gates if not gate.passed)


def _failures_allowed(
    gates: Sequence[GateResult], summary: Summary | RunSummary, symbols: Symbols, screen: Screen
) -> Iterator[str]:
    note = failures_allowed(gates, summary)
    yield from _warnings(() if note is None else (note,), symbols, screen)


def _stopped(result: SuiteResult, symbols: Symbols, screen: Screen) -> Iterator[str]:
    if result.stopped:
        yield painted(f"  {symbols.warning} the run stopped: {visible(result.stopped)}", "red", on=screen.color)


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


def _skipped(cases: Iterable[SkippedCase], count: int, symbols: Symbols, screen: Screen) -> Iterator[str]:
    """The cases that were not run, and why: the first of them."""
    if not count:
        return
    yield painted(f"  SKIPPED ({count})", "yellow", on=screen.color)
    for case in islice(cases, _MOST_SKIPPED):
        why = f"archived: {case.reason}" if case.archived else case.reason
        yield f"    - {in_short(f'{case.id}  {why}', symbols.ellipsis)}"
    if count > _MOST_SKIPPED:
        yield f"    and {count - _MOST_SKIPPED} more"


def _scores(summary: Summary, judges: Sequence[str], symbols: Symbols, screen: Screen) -> Iterator[str]:
    """A line a criterion, with the judges where they scored it, and the suite's score under them."""
    if summary.score is None and not summary.criteria:
        return
    names = [shortened(visible(criterion.name), screen.width // 3, symbols.ellipsis) for criterion in summary.criteria]
    width = max(map(cells, (*names, "score")))
    linked = any("linked" in criterion.scored_by for criterion in summary.criteria)
    for name, criterion in zip(names, summary.criteria, strict=True):
        drawn = _bar(criterion.score, symbols)
        mean = f"{_mean(criterion, summary.errors)}{_by(criterion, judges, linked=linked)}"
        yield f"  {padded(name, width)}  {criterion.weight:<5g} {drawn}  {mean}"
    score = "unscored" if summary.score is None else rounded(summary.score)
    share = summary.scored_weight
    partial = f" over {rounded(share)} of the weight" if share and share < 1 else ""
    total = f"  {padded('score', width)}  {'':5} {_bar(summary.score, symbols)}  {score}{partial}"
    yield painted(total, "bold", on=screen.color)


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


def _bar(score: float | None, symbols: Symbols) -> str:
    full = 0 if score is None else math.floor(min(max(score, 0), 1) * _BAR_WIDTH + 1e-9)
    return symbols.full * full + symbols.empty * (_BAR_WIDTH - full)


def _changes(result: SuiteResult, symbols: Symbols, screen: Screen) -> Iterator[str]:
    """The changes since the baseline (contract, Baseline Diffing)."""
    yield from _changed("REGRESSIONS", result.regressions, "failed", result.baseline_run_id, symbols, screen)
    yield from _changed("NEW PASSES", result.new_passes, "passed", result.baseline_run_id, symbols, screen)
    for heading, ids in (("NEW", result.came), ("CHANGED", result.changed)):
        yield from _listed(heading, ids or (), result.baseline_run_id, screen)
    yield from _missing(result, screen)
    if result.significance and result.significance.verdict != "unchanged":
        yield f"  {significance_line(result.significance)}"


def _missing(result: SuiteResult, screen: Screen) -> Iterator[str]:
    yield from _listed("MISSING", result.went or (), result.baseline_run_id, screen)


def _missing_suites(run: ReportedRun, screen: Screen) -> Iterator[str]:
    """The suites that are gone, and what to do about them and the cases that are gone."""
    yield from _listed("MISSING SUITES", [missing_suite(suite) for suite in run.missing], "the baseline", screen)
    if run.missing or any(suite.result.went for suite in run.suites):
        yield "  if what is missing was removed on purpose, `evalc accept` records that"
        yield ""


def _changed(
    heading: str, ids: tuple[str, ...], status: Status, baseline: str | None, symbols: Symbols, screen: Screen
) -> Iterator[str]:
    if not ids:
        return
    since = f" since {visible(baseline)}" if baseline else ""
    yield painted(f"  {heading} ({len(ids)}){since}", COLORS[status], on=screen.color)
    for identity in ids:
        yield painted(f"    {symbols.marks[status]} {visible(identity)}", COLORS[status], on=screen.color)


def _listed(heading: str, ids: Sequence[str], baseline: str | None, screen: Screen) -> Iterator[str]:
    """Cases that are not those of the baseline: the first of them."""
    if not ids:
        return
    yield painted(f"  {heading} ({len(ids)}) since {visible(baseline or '')}", "yellow", on=screen.color)
    yield from (f"    - {visible(identity)}" for identity in ids[:_MOST_SKIPPED])
    if len(ids) > _MOST_SKIPPED:
        yield f"    and {len(ids) - _MOST_SKIPPED} more"


def _warnings(warnings: Sequence[str], symbols: Symbols, screen: Screen) -> Iterator[str]:
    for warning in warnings:
        yield painted(f"  {symbols.warning} {visible(warning)}", "yellow", on=screen.color)


def repeats_line(summary: Summary) -> str | None:
    """The chances of one attempt and of as many as there were, on a line; None if no case is repeated."""
    if summary.repeats is UNSET or not summary.repeats:
        return None
    once, most = summary.repeats[0], summary.repeats[-1]
    parts = [f"pass@1 {rounded(once.pass_at_k)}"]
    if most.k > 1:
        parts += [f"pass@{most.k} {rounded(most.pass_at_k)}", f"pass^{most.k} {rounded(most.pass_hat_k)}"]
    fewer = "" if most.cases == once.cases else f", {most.k} attempts at {most.cases} of them"
    return f"{' | '.join(parts)} over {counted(once.cases, 'repeated case')}{fewer}"


def slowest_lines(cases: Iterable[CaseResult], count: int) -> Iterator[str]:
    """The `count` slowest cases, the slowest first; of as slow ones, the first."""
    timed = ((case.duration_ms, case.id) for case in cases)
    slowest = nlargest(count, timed, key=lambda each: each[0])
    if slowest:
        yield f"  SLOWEST ({len(slowest)})"
    width = max((len(milliseconds(duration)) for duration, _ in slowest), default=0)
    for duration, identity in slowest:
        yield f"    {milliseconds(duration).rjust(width)}  {visible(identity)}"


def summary_lines(run: ReportedRun, screen: Screen, *, detail: Detail = "normal", slowest: int = 0) -> Iterator[str]:
    """The console summary, without line ends; cases are read one at a time.

    `slowest` is of how many cases the time that they took is listed.
    """
    sources = SourceLines(run.root, run.redact, run.places)
    quiet = detail == "quiet"
    for suite in run.suites:
        if quiet and all_is_well(suite.result):
            continue
        if run.several_agents:
            yield f"agent {visible(suite.result.agent_endpoint)}"
        yield from suite_lines(
            suite.result, screen, cases=suite.cases, skipped=suite.skipped, detail=detail, sources=sources
        )
        yield ""
    if not quiet:
        yield from side_by_side_lines(run.suites, screen)
        yield from _of_all_suites(run)
    if slowest:
        yield from slowest_lines(chain.from_iterable(suite.cases for suite in run.suites), slowest)
    yield from _missing_suites(run, screen)
    yield from run_lines(
        run.run_id,
        Path(run.folder) if run.folder else None,
        run.summary,
        screen,
        gates=run.below,
        judged=run.gates,
        selected=run.selected,
        baselines=tuple(dict.fromkeys(filter(None, (suite.result.baseline_run_id for suite in run.suites)))),
        warnings=run.warnings,
        detail=detail,
    )


def _of_all_suites(run: ReportedRun) -> Iterator[str]:
    """The significance over all suites, if there are several that were compared."""
    found = [suite.result.significance for suite in run.suites if suite.result.significance]
    whole = significance_of_all(found)
    if len(found) > 1 and whole.verdict != "unchanged":
        yield f"all suites: {significance_line(whole)}"


def render(run: ReportedRun) -> Iterator[bytes]:
    """The summary as a file in UTF-8, 120 columns wide and without colours."""
    for line in summary_lines(run, Screen()):
        yield f"{line}\n".encode(errors="backslashreplace")
