"""Reports in Markdown: the summary of a job, and the comment on a pull request or merge request.

What an agent said is in fenced blocks, which nothing in it can end; names have markup as character references. So
neither has links, mentions, HTML or cells of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import ceil
from typing import Final, NamedTuple, final

from msgspec import UNSET

from evalc.base.terminal import counted, first_of, shortened, visible
from evalc.compare.totals import significance_of_all
from evalc.model.numbers import rounded
from evalc.model.result import CaseResult, Significance, SuiteComparison, SuiteResult
from evalc.model.suite import Place, key_of
from evalc.report import ReportedRun, said_in, transcript
from evalc.report.groups import FailureGroup, failure_groups
from evalc.report.side_by_side import differences
from evalc.report.words import (
    class_cells,
    difference_words,
    failures_allowed,
    gate_line,
    legible,
    milliseconds,
    missing_lines,
    more_cases,
    place_of,
    rate_words,
    reasons_in_full,
    selected_line,
    significance_line,
    verdict,
)

MOST_BYTES: Final = 1_000_000
"""GitHub refuses the summary of a step that is larger than 1 MiB, and GitLab a comment of more characters."""

COMMENT_BYTES: Final = 65_000
"""GitHub refuses a comment of more than 65,536 characters."""

COMMENT: Final = "<!-- evalc: pr-comment"
"""The beginning of a comment, which is not shown."""

_ROOM_FOR_CUT: Final = 200
_LONGEST_NAME: Final = 200
_LONGEST_MESSAGE: Final = 2_000
_LONGEST_RESPONSE: Final = 500
_MOST_IN_FULL: Final = 5
_MOST_ROWS: Final = 200
_MOST_REGRESSIONS: Final = 20
_MOST_REPEATS: Final = 20
_ROOM_FOR_FOLD: Final = 60
_MARKUP: Final = re.compile(
    r'[!#$&()*+:<>@\[\\\]^`{|}~]|%(?=[\w"])|(?<=[gG][hH])-(?=\d)|(?<=[wW])\.|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])'
)
"""Characters that may begin or end markup, a link or a cell; an underscore within a word does not."""
_REFERS: Final = re.compile(r'@|:(?=//)|[!#$&-](?=\d)|[%~](?=[\w"])')
"""Of these, those that begin a mention, a link or the number of an issue also as references."""
_ENDS_CODE: Final = re.compile(r"[`|\\]")
_BACKTICKS: Final = re.compile("`+")
_LINE_OF_A_SLASH: Final = re.compile("^(?=/)", re.MULTILINE)
_SUITES: Final = "| suite | passed | failed | errors | skipped | score | time |\n|---|--:|--:|--:|--:|--:|--:|"
_CRITERIA: Final = "| suite | criterion | weight | score | cases |\n|---|---|--:|--:|--:|"
_GROUPS: Final = "| failures | reason | at | cases |\n|--:|---|---|---|"
_CLASSES: Final = "| suite | class | recall | precision | F1 |\n|---|---|--:|--:|--:|"
_SLICES: Final = "| suite | tag | passed | pass rate (95 % interval) |\n|---|---|--:|--:|"


def markdown(run: ReportedRun, *, most_bytes: int = MOST_BYTES) -> Iterator[bytes]:
    """The summary in GitHub's Markdown, UTF-8, at most `most_bytes` long; the rows and cases without room are counted.

    Cases are read one at a time.
    """
    page = _Page(most_bytes)
    groups = failure_groups(run)
    yield from page.blocks(chain(_beginning(run), _groups(groups, run), _tables(run), _notes(run), _regressions(run)))
    yield from page.cases("### Cases that did not pass\n\n", run.not_passed(), run)


def comment(
    run: ReportedRun, *, marker: str = f"{COMMENT} -->", ending: str = "", most_bytes: int = COMMENT_BYTES
) -> Iterator[bytes]:
    """The summary as a comment: what may be long is folded, and of each group of failures one case is shown.

    The `marker` is its first line, which is hidden; the `ending` is Markdown and says what was run where.
    """
    page = _Page(most_bytes, taken=len(f"{marker}\n{ending}\n".encode()))
    groups = failure_groups(run)
    yield f"{marker}\n".encode()
    yield from page.blocks(chain(_beginning(run), _groups(groups, run), _notes(run)))
    yield from page.folded("Regressions", lambda: page.blocks(_regressions(run)))
    yield from page.folded("Suites", lambda: page.blocks(_tables(run)))
    failed = _one_of_each(groups, run.not_passed()) if groups else run.not_passed()
    title = "A case of each reason" if groups else "Cases that did not pass"
    yield from page.folded(title, lambda: page.cases("", failed, run))
    yield f"{ending}\n".encode() if ending else b""


# --- pages of a limited length ---------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """A table or a list: what is above its rows, and the rows, of which the last are left out."""

    head: str
    rows: Sequence[str]


@final
class _Page:
    """Writes blocks as long as there is room for them."""

    def __init__(self, most_bytes: int, *, taken: int = 0) -> None:
        self._most = most_bytes
        self._left = most_bytes - taken - _ROOM_FOR_CUT

    def blocks(self, blocks: Iterable[_Rows]) -> Iterator[bytes]:
        """The blocks, each with as many of its rows as there is room for, and how many more there are."""
        for head, rows in blocks:
            room = self._left - len(f"{head}\n\n".encode()) - _ROOM_FOR_CUT
            shown = 0
            for row in rows[:_MOST_ROWS]:
                room -= len(row.encode()) + 1
                if room < 0:
                    break
                shown += 1
            if shown or not rows:
                more = [f"\n- and {len(rows) - shown} more"] if shown < len(rows) else []
                yield from self._written("\n".join([*filter(None, [head]), *rows[:shown], *more]))

    def cases(self, title: str, cases: Iterable[_Case], run: ReportedRun) -> Iterator[bytes]:
        """The title with the cases for which there is room, and how many more there are."""
        shown = left_out = 0
        for suite, case in cases:
            written = [] if left_out else [*self._written(f"{'' if shown else title}{_failure(case, suite, run)}")]
            shown += bool(written)
            left_out += not written
            yield from written
        if left_out:
            more = f"{left_out} more case{' is' if left_out == 1 else 's are'} not shown"
            yield f"{more}: the report is kept below {self._most} bytes.\n\n".encode()

    def folded(self, title: str, blocks: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
        """The blocks within what a reader opens; nothing if there are none."""
        self._left -= len(title) + _ROOM_FOR_FOLD
        inner = blocks()
        for first in inner:
            yield f"<details><summary>{title}</summary>\n\n".encode()
            yield first
            yield from inner
            yield b"</details>\n\n"

    def _written(self, text: str) -> Iterator[bytes]:
        """The text as a block, if there is room for it."""
        written = f"{text}\n\n".encode()
        if len(written) <= self._left:
            self._left -= len(written)
            yield written


# --- what is in them -------------------------------------------------------------------------------------------------

_Case = tuple[SuiteResult, CaseResult]


def _one_of_each(groups: Sequence[FailureGroup], cases: Iterable[_Case]) -> Iterator[_Case]:
    """The first case of each group."""
    unseen = {group.ids[0] for group in groups}
    for suite, case in cases:
        if case.id in unseen:
            unseen.remove(case.id)
            yield suite, case
        if not unseen:
            return


def _beginning(run: ReportedRun) -> Iterator[_Rows]:
    """The verdict with what it costs, the gates, the changes since the baseline, and what would settle them."""
    summary = run.summary
    is_met = not run.below and all(gate.passed for gate in run.all_gates)
    good = is_met and not summary.failed if run.exit_code is None else not run.exit_code
    score = "" if summary.score is None else f", score {rounded(summary.score)}"
    passed = f"{summary.passed} of {counted(summary.total_cases, 'case')} passed{score}"
    yield _Rows(f"## {'✅' if good else '❌'} evalc: {passed}", ())
    decided = "" if run.exit_code is None else f"**{in_markdown(': '.join(verdict(run)))}**"
    if said := "; ".join(filter(None, (decided, _cost(run)))):
        yield _Rows(said, ())
    if gates := [f"- {gate}" for gate in _all_gates(run)]:
        yield _Rows("", gates)
    if changes := list(_changes(run)):
        yield _table("| since the baseline | now | change |\n|---|--:|---|", changes)
    if deciding := [f"- {words}" for words in _deciding(run)]:
        yield _Rows("**What would decide:**\n", deciding)


def _table(header: str, rows: Iterable[Sequence[str]]) -> _Rows:
    return _Rows(header, [f"| {' | '.join(cells)} |" for cells in rows])


def _cost(run: ReportedRun) -> str:
    """The cost in US dollars, as far as it is known."""
    costs = [result.summary.estimated_cost_usd for result in run.results]
    known = [cost for cost in costs if cost is not UNSET]
    judges = sum(result.summary.judge_cost_usd or 0 for result in run.results)
    of_judges = f", of which judges ${judges:.4g}" if judges else ""
    return in_markdown(f"cost ${sum(known):.4g}{of_judges}") if known else ""


def _all_gates(run: ReportedRun) -> Iterator[str]:
    yield from _gates(run)
    for words in run.below:
        yield f"**not met**: {in_markdown(words)}"
    for result in run.results:
        yield from (f"{in_markdown(run.name_of(result))}: {note}" for note in _gates(result))


def _gates(of: SuiteResult | ReportedRun) -> Iterator[str]:
    for gate in of.gates or ():
        yield f"{'met' if gate.passed else '**not met**'}: {in_markdown(gate_line(gate))}"
    uncounted = failures_allowed(of)
    if uncounted is not None:
        yield f"**{uncounted}**"


def _changes(run: ReportedRun) -> Iterator[Sequence[str]]:
    """A row for each measure that can be compared with the baseline: how it is now, and how sure the change is."""
    compared = [(result, result.significance) for result in run.results if result.significance]
    if len(compared) > 1:
        whole = significance_of_all(found for _, found in compared)
        yield "**all suites**", f"{run.summary.passed}/{run.summary.total_cases} passed", _change(whole)
    for result, found in compared:
        title = in_markdown(run.title_of(result))
        yield title, f"{result.summary.passed}/{result.summary.total_cases} passed", _change(found)
        for comparison in run.comparisons:
            if key_of(comparison) == key_of(result) and comparison.agent_endpoint in (UNSET, result.agent_endpoint):
                yield from _measures(comparison)


def _change(found: Significance) -> str:
    """By how many points the pass rate of the cases of both runs has changed, and whether that may be chance."""
    points = 100 * (found.newly_passed - found.regressed) / max(found.pairs, 1)
    by = "" if found.verdict == "unchanged" else f"**{points:+.1f} points**, "
    return f"{by}{_whole(significance_line(found))}"


def _measures(suite: SuiteComparison) -> Iterator[Sequence[str]]:
    """The means and medians of the suite that have changed; the only criterion of a suite is its score."""
    for name, found in differences(suite):
        if found.verdict == "unchanged" or suite.criteria == (found,):
            continue
        yield f"· {in_markdown(name.strip())}", rounded(found.after, digits=3), _whole(difference_words(found))
    for name, medians, shown in (
        ("latency, median", suite.latency_ms, milliseconds),
        ("cost of a case, median", suite.cost_usd, "${:.4g}".format),
    ):
        if medians.before is None or medians.after is None:
            continue
        before, after = shown(medians.before), shown(medians.after)
        if after != before:
            yield f"· {name}", in_markdown(after), in_markdown(f"was {before}")


def _deciding(run: ReportedRun) -> Iterator[str]:
    """How many cases or repeats would settle each verdict that is unsure."""
    found = significance_of_all(result.significance for result in run.results if result.significance)
    if found.verdict == "inconclusive":
        yield f"the change since the baseline: {more_cases(found.more_cases)}{_repeats(run, found)}"
    for gate in run.all_gates:
        if gate.verdict == "undecided" and isinstance(gate.more_cases, int):
            yield f"{in_markdown(gate_line(gate).partition(':')[0])}: {more_cases(gate.more_cases)}"


def _repeats(run: ReportedRun, found: Significance) -> str:
    """The attempts at each case that are as many as so many more cases; nothing if they are too many."""
    if found.more_cases is None:
        return ""
    now = max((each.k for result in run.results for each in result.summary.repeats or ()), default=1)
    times = now * ceil((found.pairs + found.more_cases) / found.pairs)
    return f", or at least `--repeat {times}` here and in the baseline" if times <= _MOST_REPEATS else ""


def _groups(groups: Sequence[FailureGroup], run: ReportedRun) -> Iterator[_Rows]:
    """The failures by their reasons, with the lines that they are about."""
    if not groups:
        return
    failures = counted(sum(group.cases for group in groups), "failure")
    yield _Rows(f"### {failures} for {counted(len(groups), 'reason')}", ())
    rows = []
    for group in groups:
        more = f" and {group.cases - len(group.ids)} more" if group.cases > len(group.ids) else ""
        at = ", ".join(_at(place, run) for place in group.places)
        check = "" if group.check is None else f"{_code(group.check)}: "
        reason = f"{check}{in_markdown(group.message)}"
        rows.append((str(group.cases), reason, at, ", ".join(map(_code, group.ids)) + more))
    yield _table(_GROUPS, rows)


def _at(place: Place, run: ReportedRun) -> str:
    """The line of the place, which leads to it where its address is known."""
    url, line = run.address(place), _code(f"{place.file}:{place.line}")
    return line if url is None else f"[{line}]({url})"


def _tables(run: ReportedRun) -> Iterator[_Rows]:
    """The suites with their criteria, classes and tags."""
    named = [(in_markdown(run.name_of(result)), result) for result in run.results]
    yield _table(_SUITES, (_suite_row(name, result) for name, result in named))
    for header, rows_of in ((_CRITERIA, _criterion_rows), (_CLASSES, _class_rows), (_SLICES, _slice_rows)):
        if rows := [row for name, result in named for row in rows_of(name, result)]:
            yield _table(header, rows)


def _suite_row(name: str, result: SuiteResult) -> Sequence[str]:
    counts = result.summary
    passed, failed = f"{counts.passed}/{counts.total_cases}", f"{counts.failed - counts.errors}"
    time = f"{counts.total_duration_ms / 1000:.1f} s"
    return name, passed, failed, f"{counts.errors}", f"{counts.skipped}", _score(counts.score), time


def _criterion_rows(name: str, result: SuiteResult) -> Iterator[Sequence[str]]:
    for each in result.summary.criteria:
        yield name, in_markdown(each.name), f"{each.weight:g}", _score(each.score), f"{each.cases} of {each.of}"


def _class_rows(name: str, result: SuiteResult) -> Iterator[Sequence[str]]:
    for each in result.summary.labels.classes if result.summary.labels else ():
        yield name, in_markdown(each.name), *class_cells(each)


def _slice_rows(name: str, result: SuiteResult) -> Iterator[Sequence[str]]:
    for each in result.summary.slices or ():
        yield name, in_markdown(each.tag), f"{each.passed}/{each.of}", rate_words(each)


def _notes(run: ReportedRun) -> Iterator[_Rows]:
    """The choice of cases, the baseline, and warnings: a list, if there are any."""
    if notes := [f"- {note}" for note in _remarks(run)]:
        yield _Rows("", notes)


def _regressions(run: ReportedRun) -> Iterator[_Rows]:
    """The cases that fail and passed in the baseline, by name."""
    rows = [
        f"- {in_markdown(run.name_of(result))}: regressions: {first_of(result.regressions, _MOST_REGRESSIONS, _code)}"
        for result in run.results
        if result.regressions
    ]
    if rows:
        yield _Rows("", rows)


def _remarks(run: ReportedRun) -> Iterator[str]:
    if run.selected is not None:
        yield in_markdown(selected_line(run.selected, run.summary.total_cases))
    if baselines := [*dict.fromkeys(filter(None, (result.baseline_run_id for result in run.results)))]:
        yield f"the baseline is {first_of(baselines, _MOST_REGRESSIONS, _code)}"
    for result in run.results:
        suite = in_markdown(run.name_of(result))
        if result.stopped:
            yield f"{suite}: the run stopped: {in_markdown(result.stopped)}"
        for warning in (*result.staleness_warnings, *result.warnings):
            yield f"{suite}: warning: {in_markdown(warning)}"
    yield from map(in_markdown, missing_lines(run))
    for warning in run.warnings:
        yield f"warning: {in_markdown(warning)}"


def _failure(case: CaseResult, suite: SuiteResult, run: ReportedRun) -> str:
    """The case's reasons and what it answered, in a block whose fence is longer than any run of backticks in it.

    No line of it begins with a slash, which GitLab might take for a command.
    """
    text = reasons_in_full(case, most=_MOST_IN_FULL, longest=_LONGEST_MESSAGE)
    response, head = transcript(case), "" if any(said_in(case)) else "response: "
    if response is not None:
        text += f"\n{head}{legible(response, _LONGEST_RESPONSE) or '(empty)'}"
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    place = place_of(case)
    at = "" if place is None or run.address(place) is None else f", at {_at(place, run)}"
    title = f"**{case.status}** {_code(case.id)} in {in_markdown(run.name_of(suite))}{at}"
    return f"{title}\n\n{fence}text\n{_LINE_OF_A_SLASH.sub(' ', text)}\n{fence}"


def in_markdown(text: str) -> str:
    """The start of the text on one line, for a name or a cell; see `_whole`."""
    return _whole(shortened(visible(text), _LONGEST_NAME))


def _code(text: str) -> str:
    """A name or a line that readers copy, as code; with a sign that could end the code or its cell, see `_whole`."""
    shown = shortened(visible(text), _LONGEST_NAME)
    return f"`{shown}`" if shown.strip() and not _ENDS_CODE.search(shown) else _whole(shown)


def _whole(text: str) -> str:
    """The text on one line, markup as character references, which are not markup.

    Mentions, links and numbers of issues are looked for in what has been rendered, where a reference is the character
    again: an invisible space comes between.
    """
    return _MARKUP.sub(_reference, visible(text))


def _reference(found: re.Match[str]) -> str:
    refers = _REFERS.match(found.string, found.start())
    return f"&#{ord(found[0])};{'&#8203;' if refers else ''}"


def _score(score: float | None) -> str:
    return "" if score is None else rounded(score)
