"""The Markdown report, for job summaries and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from msgspec import UNSET

from evalc.base.terminal import counted, first_of, shortened, visible
from evalc.model.result import PASSING, CaseResult, GateResult, RunSummary, SuiteResult, Summary
from evalc.report.reported import ReportedRun, ReportedSuite
from evalc.report.source_lines import transcript
from evalc.report.words import (
    class_cells,
    failures_allowed,
    gate_line,
    legible,
    missing_lines,
    reasons_in_full,
    rounded,
    selected_line,
)

MOST_BYTES: Final = 1_000_000
"""GitHub refuses the summary of a step that is larger than 1 MiB."""

_ROOM_FOR_CUT: Final = 200
_LONGEST_NAME: Final = 200
_LONGEST_REASON: Final = 2_000
_LONGEST_RESPONSE: Final = 500
_MOST_REASONS: Final = 5
_MOST_ROWS: Final = 200
_MOST_NOTES: Final = 100
_MOST_REGRESSIONS: Final = 20
_MARKUP: Final = re.compile(r"[!#$&()*+:<>@\[\\\]^`{|}~]|(?<=[wW])\.|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""Characters that may begin or end markup, a link or a cell; an underscore within a word does not."""
_BACKTICKS: Final = re.compile("`+")


def render(run: ReportedRun, *, most_bytes: int = MOST_BYTES) -> Iterator[bytes]:
    """The summary in GitHub's Markdown, UTF-8, at most `most_bytes` long; the cases that had no room are counted.

    Whatever an agent said is in fenced blocks, which nothing in it can end; names have markup as character
    references. So neither has links, mentions, HTML or cells of its own.
    """
    room = most_bytes - _ROOM_FOR_CUT
    for block in _overview(run):
        written = _block(block)
        room -= len(written)
        yield written
    left_out = 0
    for failure in map(_block, _failures(run)):
        if left_out or len(failure) > room:
            left_out += 1
            continue
        room -= len(failure)
        yield failure
    if left_out:
        cases = f"{left_out} more case{' is' if left_out == 1 else 's are'}"
        yield f"{cases} not shown: the summary is kept below {most_bytes} bytes.\n".encode()


def _block(text: str) -> bytes:
    return f"{text}\n\n".encode()


def _overview(run: ReportedRun) -> Iterator[str]:
    summary = run.summary
    mark = "❌" if summary.failed or _gates_not_met(run) else "✅"
    score = "" if summary.score is None else f", score {_score(summary.score)}"
    yield f"## {mark} evalc: {summary.passed} of {counted(summary.total_cases, 'case')} passed{score}"
    yield _table(_SUITE_HEADER, (_suite_row(suite, run.name_of(suite.result)) for suite in run.suites))
    criteria = [row for suite in run.suites for row in _criterion_rows(suite, run.name_of(suite.result))]
    if criteria:
        yield _table(_CRITERION_HEADER, criteria)
    classes = [row for suite in run.suites for row in _class_rows(suite, run.name_of(suite.result))]
    if classes:
        yield _table(_CLASS_HEADER, classes)
    notes = list(_notes(run))
    if notes:
        yield "\n".join([*(f"- {note}" for note in notes[:_MOST_NOTES]), *_more(len(notes), _MOST_NOTES)])


_SUITE_HEADER: Final = "| suite | passed | failed | errors | skipped | score | time |\n|---|--:|--:|--:|--:|--:|--:|"
_CRITERION_HEADER: Final = "| suite | criterion | weight | score | cases |\n|---|---|--:|--:|--:|"


_CLASS_HEADER: Final = "| suite | class | recall | precision | F1 |\n|---|---|--:|--:|--:|"


def _table(header: str, rows: Iterable[Sequence[str]]) -> str:
    """The table; its first rows if there are many."""
    remaining = iter(rows)
    shown = [f"| {' | '.join(cells)} |" for cells in islice(remaining, _MOST_ROWS)]
    return "\n".join([header, *shown, *_more(_MOST_ROWS + sum(1 for _ in remaining), _MOST_ROWS, "\n")])


def _more(count: int, shown: int, before: str = "") -> Iterator[str]:
    if count > shown:
        yield f"{before}- and {count - shown} more"


def _suite_row(suite: ReportedSuite, name: str) -> Sequence[str]:
    counts = suite.result.summary
    return (
        _name(name),
        f"{counts.passed}/{counts.total_cases}",
        f"{counts.failed - counts.errors}",
        f"{counts.errors}",
        f"{counts.skipped}",
        _score(counts.score),
        f"{counts.total_duration_ms / 1000:.1f} s",
    )


def _criterion_rows(suite: ReportedSuite, name: str) -> Iterator[Sequence[str]]:
    for criterion in suite.result.summary.criteria:
        of = f"{criterion.cases} of {criterion.of}"
        yield _name(name), _name(criterion.name), f"{criterion.weight:g}", _score(criterion.score), of


def _class_rows(suite: ReportedSuite, name: str) -> Iterator[Sequence[str]]:
    labels = suite.result.summary.labels
    for each in () if labels is UNSET else labels.classes:
        yield _name(name), _name(each.name), *class_cells(each)


def _notes(run: ReportedRun) -> Iterator[str]:
    if run.selected is not None:
        yield _name(selected_line(run.selected, run.summary.total_cases))
    yield from _gates(run.gates, run.summary)
    for words in run.below:
        yield f"**not met**: {_name(words)}"
    for suite in run.suites:
        yield from _suite_notes(suite.result, _name(run.name_of(suite.result)))
    yield from map(_name, missing_lines(run))
    for warning in run.warnings:
        yield f"warning: {_name(warning)}"


def _suite_notes(result: SuiteResult, suite: str) -> Iterator[str]:
    yield from (f"{suite}: {note}" for note in _gates(result.gates or (), result.summary))
    if result.stopped:
        yield f"{suite}: the run stopped: {_name(result.stopped)}"
    if result.regressions:
        yield f"{suite}: regressions: {first_of(result.regressions, _MOST_REGRESSIONS, _name)}"
    for warning in (*result.staleness_warnings, *result.warnings):
        yield f"{suite}: warning: {_name(warning)}"


def _gates_not_met(run: ReportedRun) -> bool:
    gates = chain(run.gates, *(suite.result.gates or () for suite in run.suites))
    return bool(run.below) or not all(gate.passed for gate in gates)


def _gates(gates: Sequence[GateResult], summary: Summary | RunSummary) -> Iterator[str]:
    for gate in gates:
        yield f"{'met' if gate.passed else '**not met**'}: {_name(gate_line(gate))}"
    uncounted = failures_allowed(gates, summary)
    if uncounted is not None:
        yield f"**{uncounted}**"


def _failures(run: ReportedRun) -> Iterator[str]:
    heading: str | None = "### Cases that did not pass"
    for suite in run.suites:
        name = run.name_of(suite.result)
        for case in suite.cases:
            if case.status in PASSING:
                continue
            block = _failure(case, name)
            yield block if heading is None else f"{heading}\n\n{block}"
            heading = None


def _failure(case: CaseResult, suite: str) -> str:
    title = f"**{_name(case.id)}** in {_name(suite)}: {case.status}"
    text = reasons_in_full(case, most=_MOST_REASONS, longest=_LONGEST_REASON)
    response, head = transcript(case), "response: " if case.details.turns is UNSET else ""
    said = "" if response is None else f"\n{head}{legible(response, _LONGEST_RESPONSE) or '(empty)'}"
    return f"{title}\n\n{_fenced(text + said)}"


def _fenced(text: str) -> str:
    """The text in a block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _name(text: str) -> str:
    """The text on one line, markup as character references, which are not markup; an invisible space follows an `@`.

    Mentions are looked for in what has been rendered, where a reference is the character again.
    """
    named = _MARKUP.sub(lambda found: f"&#{ord(found[0])};", shortened(visible(text), _LONGEST_NAME))
    return named.replace("&#64;", "&#64;&#8203;")


def _score(score: float | None) -> str:
    return "" if score is None else rounded(score)
