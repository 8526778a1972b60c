"""The console summary of a whole run: its suites, the slowest cases, the totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import chain
from pathlib import Path

from evalc.model.result import CaseResult
from evalc.report.console import Detail, all_is_well, run_lines, suite_lines
from evalc.report.numbers import milliseconds
from evalc.report.reported import ReportedRun
from evalc.report.side_by_side import side_by_side_lines
from evalc.report.source_lines import SourceLines
from evalc.terminal import Screen, visible


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

    Args:
        run: the run.
        screen: what the reader's screen can show.
        detail: which cases are told of.
        slowest: of how many cases the time that they took is listed.
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
    if slowest:
        yield from slowest_lines(chain.from_iterable(suite.cases for suite in run.suites), slowest)
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


def render(run: ReportedRun) -> Iterator[bytes]:
    """The summary as a file in UTF-8, 120 columns wide and without colours."""
    for line in summary_lines(run, Screen()):
        yield f"{line}\n".encode(errors="backslashreplace")
