"""Tables that set a run's agents, or the prompt variants of a suite, side by side, and the lines of `evalc diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final, NamedTuple, final

from msgspec import UNSET

from evalc.base.terminal import Color, Screen, cells, counted, first_of, padded, visible
from evalc.model.numbers import outward, percent, rounded
from evalc.model.result import (
    CaseResult,
    ChangedCase,
    Difference,
    Medians,
    Rate,
    RunComparison,
    Status,
    SuiteComparison,
    Verdict,
)
from evalc.model.suite import key_of
from evalc.report.groups import FailureGroups, group_lines
from evalc.report.reported import ReportedSuite
from evalc.report.words import (
    Writer,
    difference_words,
    milliseconds,
    p_words,
    significance_line,
)

MOST_ALIKE: Final = 12
"""A table of more rows leaves out those that are alike in every column."""

MOST_ROWS: Final = 40
"""The rows that a table has at most."""

_WIDEST_COLUMN: Final = 24
_NARROWEST_NAMES: Final = 12
_GAP: Final = "  "


def side_by_side_lines(suites: Sequence[ReportedSuite], screen: Screen) -> Iterator[str]:
    """The tables of a run, without line ends: cases by variants for suites with several, and cases by agents."""
    writer = Writer(screen)
    agents = tuple(dict.fromkeys(suite.result.agent_endpoint for suite in suites))
    for suite in suites:
        result = suite.result
        agent = result.agent_endpoint if len(agents) > 1 else None
        title = f"prompt variants of {key_of(result).title(agent)}"
        yield from _table(title, _of_variants(suite.cases), writer)
    if len(agents) > 1:
        yield from _table(f"{len(agents)} agents side by side", _of_agents(suites, agents), writer)


@final
class _Column:
    def __init__(self) -> None:
        self._passed = 0
        self._total = 0
        self._criteria: dict[tuple[str, str, float], tuple[int, float]] = {}

    def add(self, suite: str, case: CaseResult) -> None:
        """Count a case of a suite."""
        self._total += 1
        self._passed += case.passed
        for criterion in case.criteria:
            if criterion.score is not None:
                key = (suite, criterion.name, criterion.weight)
                count, total = self._criteria.get(key, (0, 0.0))
                self._criteria[key] = (count + 1, total + criterion.score)

    @property
    def pass_rate(self) -> str:
        """Such as `3/4`."""
        return f"{self._passed}/{self._total}"

    @property
    def score(self) -> float | None:
        """The mean of the suites' scores, each the weighted mean of its criteria's; None if nothing was scored."""
        suites: dict[str, tuple[float, float]] = {}
        for (suite, _, weight), (count, total) in self._criteria.items():
            weights, scores = suites.get(suite, (0.0, 0.0))
            suites[suite] = (weights + weight, scores + weight * total / count)
        means = [scores / weights for weights, scores in suites.values() if weights > 0]
        return round(sum(means) / len(means), 12) if means else None


class _Row(NamedTuple):
    """A case, and its status in each column; None if it has none there."""

    name: str
    statuses: tuple[Status | None, ...]

    @property
    def alike(self) -> bool:
        """Whether it ended alike in every column."""
        return len(set(self.statuses)) == 1


@final
class _Rows:
    """The rows of a table, as many of them as may be shown."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.columns = [_Column() for _ in names]
        self.different: list[_Row] = []
        self.all: list[_Row] | None = []
        """Every row in order; None if there are too many."""
        self.count = 0
        self.alike = 0

    def add(self, suite: str, cases: Iterable[tuple[str, int, CaseResult]]) -> None:
        """Add the cases of a suite, each with the names of its row and the number of its column."""
        waiting: dict[str, list[Status | None]] = {}
        for name, column, case in cases:
            self.columns[column].add(suite, case)
            statuses = waiting.setdefault(name, [None] * len(self.columns))
            statuses[column] = case.status
            if None not in statuses:
                self._add(_Row(name, tuple(waiting.pop(name))))
        for name, statuses in waiting.items():
            self._add(_Row(name, tuple(statuses)))

    def _add(self, row: _Row) -> None:
        self.count += 1
        self.alike += row.alike
        if self.all is not None:
            self.all = [*self.all, row] if self.count <= MOST_ALIKE else None
        if not row.alike and len(self.different) < MOST_ROWS:
            self.different.append(row)

    @property
    def shown(self) -> Sequence[_Row]:
        """All where they are few, else those that differ, the first of them."""
        return self.different if self.all is None else self.all


def _of_agents(suites: Sequence[ReportedSuite], agents: Sequence[str]) -> _Rows:
    """The cases of all suites by agent."""
    rows = _Rows(agents)
    by_suite: dict[str, dict[str, ReportedSuite]] = {}
    for suite in suites:
        title = key_of(suite.result).title()
        by_suite.setdefault(title, {})[suite.result.agent_endpoint] = suite
    for title, by_agent in by_suite.items():
        columns = [by_agent[agent].cases if agent in by_agent else () for agent in agents]
        # A case of each agent in turn: they mostly come in the same order, so that few have to wait for each other.
        turns = chain.from_iterable(map(enumerate, zip_longest(*columns)))
        rows.add(title, ((case.id, column, case) for column, case in turns if case is not None))
    return rows


def _of_variants(cases: Iterable[CaseResult]) -> _Rows:
    """The cases of one suite by prompt variant."""
    variants = list(dict.fromkeys(case.variant for case in cases if case.variant is not UNSET))
    rows = _Rows(variants)
    if len(variants) > 1:
        rows.add(
            "",
            (
                (case.id.removesuffix(f"@{case.variant}"), variants.index(case.variant), case)
                for case in cases
                if case.variant is not UNSET
            ),
        )
    return rows


def _table(title: str, rows: _Rows, writer: Writer) -> Iterator[str]:
    """The table, and an empty line; nothing if there is nothing to compare."""
    if len(rows.names) < 2 or not rows.count:
        return
    yield writer.title(visible(title))
    names = [visible(name) for name in rows.names]
    room = writer.width - len(_GAP) - _NARROWEST_NAMES
    if max(map(cells, names)) > _WIDEST_COLUMN or sum(cells(name) + len(_GAP) for name in names) > room:
        # Shortened, agents would look alike: URLs differ at their end.
        for number, name in enumerate(names, 1):
            yield f"{_GAP}{number}  {name}"
        names = [str(number) for number in range(1, len(names) + 1)]
    width = max(cells(text) for text in (*names, *(column.pass_rate for column in rows.columns), "0.00"))
    at_a_time = max(1, room // (width + len(_GAP)))
    for first in range(0, len(names), at_a_time):
        yield from _block(rows, names, slice(first, first + at_a_time), width, writer)
    yield from _left_out(rows)
    yield ""


def _block(rows: _Rows, names: Sequence[str], columns: slice, width: int, writer: Writer) -> Iterator[str]:
    """The columns that the screen has room for: their names, one line per case, the pass rates and the scores."""
    dash = writer.symbols.dash
    room = writer.width - len(_GAP) - len(names[columns]) * (width + len(_GAP))
    titles = [writer.shortened(row.name, room) for row in rows.shown]
    widest = max(map(cells, (*titles, "passed")))

    def line(title: str, texts: Iterable[str]) -> str:
        return f"{_GAP}{padded(title, widest)}{_GAP}{_GAP.join(texts)}".rstrip()

    def mark(status: Status) -> str:
        sign = writer.mark(status)
        return writer.by_status(sign, status) + " " * (width - cells(sign))

    yield line("", (padded(name, width) for name in names[columns]))
    for title, row in zip(titles, rows.shown, strict=True):
        yield line(title, (padded(dash, width) if each is None else mark(each) for each in row.statuses[columns]))
    yield line("passed", (padded(column.pass_rate, width) for column in rows.columns[columns]))
    if any(column.score is not None for column in rows.columns):
        scores = ("" if column.score is None else rounded(column.score) for column in rows.columns[columns])
        yield line("score", (padded(score or dash, width) for score in scores))


def _left_out(rows: _Rows) -> Iterator[str]:
    """The rows that the table leaves out."""
    if len(rows.shown) == rows.count:
        return
    yield f"{_GAP}{rows.alike} of {rows.count} cases end alike in every column"
    more = rows.count - rows.alike - len(rows.shown)
    if more:
        yield f"{_GAP}and {more} more differ"


_MOST_NAMED: Final = 10
_MOST_SLICES: Final = 5
_MOST_CASES: Final = 30

_COLORS: dict[Verdict, Color] = {"worse": "red", "better": "green", "inconclusive": "yellow", "unchanged": "dim"}


def diff_lines(comparison: RunComparison, screen: Screen) -> Iterator[str]:
    """The comparison, without line ends."""
    writer = Writer(screen)
    for suite in comparison.suites:
        yield from _suite(suite, writer)
        yield ""
    runs = f"{visible(comparison.before)} {writer.symbols.arrow} {visible(comparison.after)}"
    totals = (
        counted(len(comparison.suites), "suite"),
        counted(comparison.regressions, "regression"),
        counted(comparison.new_passes, "new pass", "es"),
    )
    yield writer.painted(f"{runs} | {' | '.join(totals)}", "bold")
    if len(comparison.suites) > 1:
        whole = comparison.significance
        yield writer.painted(f"  all suites: {significance_line(whole)}", _COLORS[whole.verdict])
    for run, suites in ((comparison.before, comparison.only_before), (comparison.after, comparison.only_after)):
        if suites:
            yield f"  only in {visible(run)}: {_named(suites)}"
    if comparison.missing:
        yield writer.painted(f"  missing in {visible(comparison.after)}: {_named(comparison.missing)}", "red")
    for warning in comparison.warnings:
        yield writer.warning(warning)


def _suite(suite: SuiteComparison, writer: Writer) -> Iterator[str]:
    runs = f"{visible(suite.before_run_id)} {writer.symbols.arrow} {visible(suite.after_run_id)}"
    title = visible(key_of(suite).title(suite.agent_endpoint or None))
    yield writer.title(f"{title}  {runs}")
    found = suite.significance
    yield writer.painted(f"  {significance_line(found)}", _COLORS[found.verdict])
    yield from _diff_table(suite, writer)
    yield from _cases("REGRESSIONS", suite.regressions, "red", writer)
    yield from _cases("NEW PASSES", suite.new_passes, "green", writer)
    yield from _cases("STILL FAILING, FOR ANOTHER REASON", suite.still_failing, "yellow", writer)
    for heading, ids in (("came", suite.came), ("went", suite.went)):
        if ids:
            yield f"  {counted(len(ids), 'case')} {heading}: {_named(ids)}"


def _diff_table(suite: SuiteComparison, writer: Writer) -> Iterator[str]:
    """A line a measure: then, now, and what is to be said of the difference."""
    counts = f"{_counts(suite.before)} {writer.symbols.arrow} {_counts(suite.after)}"
    rows = [("pass rate", _percent(suite.before), _percent(suite.after), counts)]
    rows += _slice_rows(suite, writer.symbols.arrow)
    rows += [
        (name, rounded(found.before, digits=3), rounded(found.after, digits=3), difference_words(found))
        for name, found in differences(suite)
    ]
    rows += [
        _medians("latency, median", suite.latency_ms, milliseconds),
        _medians("cost, median", suite.cost_usd, lambda value: f"${value:.4g}"),
    ]
    there = [row for row in rows if row[1] or row[2]]
    names = [writer.shortened(name, writer.width // 3) for name, *_ in there]
    widths = max(map(cells, names)), max(len(row[1]) for row in there), max(len(row[2]) for row in there)
    for name, (_, before, after, words) in zip(names, there, strict=True):
        line = (
            f"  {padded(name, widths[0])}  {before:<{widths[1]}} {writer.symbols.arrow} {after:<{widths[2]}}  {words}"
        )
        yield line.rstrip()


def _slice_rows(suite: SuiteComparison, arrow: str) -> Iterator[tuple[str, str, str, str]]:
    """Of the slices whose verdicts changed the first few: those that are certain, then those that changed the most."""
    changed = [each for each in suite.slices if each.verdict != "unchanged"]
    changed.sort(key=lambda each: (each.verdict == "inconclusive", each.p_value))
    for each in changed[:_MOST_SLICES]:
        p_value = "" if each.verdict == "inconclusive" else f", {p_words(each.p_value)} for all tags together"
        words = f"{_counts(each.before)} {arrow} {_counts(each.after)} {each.verdict}{p_value}"
        yield f"  tag {each.tag}", _percent(each.before), _percent(each.after), words


def differences(suite: SuiteComparison) -> Iterator[tuple[str, Difference]]:
    """The means of the suite that both runs have, by name; those of its criteria are indented."""
    if suite.pass_share is not None:
        yield "passing attempts", suite.pass_share
    if suite.score is not None:
        yield "score", suite.score
    for criterion in suite.criteria:
        yield f"  {criterion.name}", criterion


def _medians(name: str, found: Medians, form: Callable[[float], str]) -> tuple[str, str, str, str]:
    if found.before is None or found.after is None:
        return name, "", "", ""
    return name, form(found.before), form(found.after), ""


def _percent(rate: Rate) -> str:
    return "none" if rate.rate is None else percent(rate.rate)


def _counts(rate: Rate) -> str:
    """`183/200 (95 % interval 86.8 to 94.6 %)`, the interval of the rate, and how many more ended in error."""
    errors = f", {counted(rate.errors, 'error')}" if rate.errors else ""
    interval = (
        ""
        if rate.low is None or rate.high is None
        else f" (95 % interval {' to '.join(outward(100 * rate.low, 100 * rate.high, digits=1))} %)"
    )
    return f"{rate.passed}/{rate.of}{interval}{errors}"


def _cases(heading: str, cases: Sequence[ChangedCase], color: Color, writer: Writer) -> Iterator[str]:
    """The cases that changed: by their reasons if that is shorter, else the first of them."""
    if not cases:
        return
    yield writer.painted(f"  {heading} ({len(cases)})", color)
    groups = FailureGroups()
    for case in cases:
        if case.after is not None:
            groups.add(case.id, None, case.after)
    if largest := groups.largest():
        yield from group_lines(largest, writer)
        return
    for case in cases[:_MOST_CASES]:
        yield f"    {visible(case.id)}"
        if case.after is None:
            continue
        if case.before is not None:
            yield f"      was: {writer.in_short(case.before)}"
        yield f"      {writer.symbols.arrow} {writer.in_short(case.after)}"
    if len(cases) > _MOST_CASES:
        yield f"    and {len(cases) - _MOST_CASES} more; --json has all"


def _named(names: Sequence[str]) -> str:
    return first_of(names, _MOST_NAMED, visible)
