"""Tables that set a run's agents, or the prompt variants of a suite, side by side, and the lines of `evalc diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Final, NamedTuple, final

from msgspec import UNSET

from evalc.base.terminal import Color, Screen, cells, counted, first_of, padded, visible
from evalc.compare.totals import LEVEL, mcnemar_p
from evalc.model.numbers import outward, percent, rounded
from evalc.model.result import (
    PASSING,
    CaseResult,
    ChangedCase,
    Difference,
    Medians,
    Rate,
    RunComparison,
    Significance,
    Status,
    SuiteComparison,
    Verdict,
)
from evalc.model.suite import key_of
from evalc.report import ReportedSuite
from evalc.report.groups import FailureGroups, group_lines
from evalc.report.words import Cell, Writer, interval_words, milliseconds, p_words, to_settle

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
    def passed_alone(self) -> int | None:
        """The column that passed where the only other one did not; None if neither or both did."""
        first, *others = [None if each is None else each in PASSING for each in self.statuses]
        return None if len(others) != 1 or None in (first, *others) or first is others[0] else int(not first)

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
        self.alone: Counter[int] = Counter()

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
        if (column := row.passed_alone) is not None:
            self.alone[column] += 1
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
    if rows.alone:
        p_value = mcnemar_p(*(rows.alone[column] for column in (0, 1)))
        ways = ", ".join(f"by {name} alone: {rows.alone[column]}" for column, name in enumerate(names))
        verdict = "may be chance" if p_value > LEVEL else "more than chance"
        yield from writer.wrapped(f"passed {ways}; {verdict} (McNemar's exact test, {p_words(p_value)})", _GAP)
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

_VERDICTS: Final[Mapping[Verdict, tuple[str, Color]]] = {
    "worse": ("worse", "red"),
    "better": ("better", "green"),
    "inconclusive": ("may be chance", "yellow"),
    "unchanged": ("unchanged", "dim"),
}
_NO_NAMES: Final[Mapping[str, str]] = {}


def diff_lines(
    comparison: RunComparison, screen: Screen, *, called: Mapping[str, str] = _NO_NAMES, verbose: bool = False
) -> Iterator[str]:
    """The comparison, without line ends: a table of the suites, then the cases that changed.

    `called` are the names by which commands take runs, by their ids; if it is `verbose`, the ids are shown, and all
    that was measured.
    """
    writer = Writer(screen)
    before = _run_words(comparison.before, comparison.before_agents, called, verbose=verbose)
    after = _run_words(comparison.after, comparison.after_agents, called, verbose=verbose)
    title = writer.wrapped(f"{before} {writer.symbols.arrow} {after}", hanging="  ")
    yield from (writer.painted(line, "bold") for line in title)
    yield ""
    rows = [row for suite in comparison.suites for row in _suite_rows(suite, writer.symbols.arrow, verbose=verbose)]
    if len(comparison.suites) > 1:
        name = f"all {len(comparison.suites)} suites"
        rows.append((name, "", _VERDICTS[comparison.significance.verdict], _changes(comparison.significance)))
    yield from writer.table([("suite", f"before {writer.symbols.arrow} after", "verdict", "changed"), *rows])
    yield from _cases("got worse", [each.regressions for each in comparison.suites], "failed", writer)
    yield from _cases("newly pass", [each.new_passes for each in comparison.suites], "passed", writer)
    still = [each.still_failing for each in comparison.suites]
    yield from _cases("still fail, for another reason", still, "unverified", writer)
    yield from _inventory(comparison, writer)


def _run_words(run: str, agents: Sequence[str], called: Mapping[str, str], *, verbose: bool) -> str:
    name = called.get(run, run)
    name = f"{name}, {run}" if verbose and name != run else name
    return f"{name} ({', '.join(agents)})" if agents else name


def _suite_rows(suite: SuiteComparison, arrow: str, *, verbose: bool) -> Iterator[tuple[Cell, ...]]:
    """A row for the verdicts of the suite, and those of its tags and measures that changed for certain, or all."""
    found = suite.significance
    passed = f"{_percent(suite.before)} {arrow} {_percent(suite.after)}"
    name = key_of(suite).short(suite.agent_endpoint or None)
    yield name, passed, _VERDICTS[found.verdict], _changes(found)
    if verbose:
        yield "  passed", "", "", f"{_counts(suite.before)} {arrow} {_counts(suite.after)}"
    shown = ("worse", "better", *(("inconclusive",) if verbose else ()))
    slices = sorted(suite.slices, key=lambda each: (each.verdict == "inconclusive", each.p_value))
    for each in [each for each in slices if each.verdict in shown][:_MOST_SLICES]:
        words = "" if each.verdict == "inconclusive" else f"{p_words(each.p_value)} for all tags together"
        rates = f"{_percent(each.before)} {arrow} {_percent(each.after)}"
        yield f"  tag {each.tag}", rates, _VERDICTS[each.verdict], words
    for name, measured in differences(suite):
        if verbose or measured.verdict in shown:
            means = f"{rounded(measured.before)} {arrow} {rounded(measured.after)}"
            yield f"  {name}", means, _VERDICTS[measured.verdict], _interval(measured)
    if verbose:
        yield from _medians("latency, median", suite.latency_ms, milliseconds, arrow)
        yield from _medians("cost, median", suite.cost_usd, lambda value: f"${value:.4g}", arrow)


def _changes(found: Significance) -> str:
    """How many cases changed which way, how likely that is by chance, and what would decide."""
    if found.verdict == "unchanged":
        return ""
    left_out = f"; {counted(found.errors, 'error')} left out" if found.errors else ""
    changed = f"{found.regressed} worse, {found.newly_passed} better of {found.pairs}"
    return f"{changed}, {p_words(found.p_value)}{left_out}{to_settle(found)}"


def _interval(found: Difference) -> str:
    """The difference with its interval, without the verdict, which has a column of its own."""
    return "" if found.verdict == "unchanged" else f"{interval_words(found)}{to_settle(found)}"


def differences(suite: SuiteComparison) -> Iterator[tuple[str, Difference]]:
    """The means of the suite that both runs have, by name; those of its criteria are indented."""
    if suite.pass_share is not None:
        yield "passing attempts", suite.pass_share
    if suite.score is not None:
        yield "score", suite.score
    for criterion in suite.criteria:
        yield f"  {criterion.name}", criterion


def _medians(
    name: str, found: Medians, form: Callable[[float], str], arrow: str
) -> Iterator[tuple[str, str, str, str]]:
    if found.before is not None and found.after is not None:
        yield f"  {name}", f"{form(found.before)} {arrow} {form(found.after)}", "", ""


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


def _cases(verb: str, by_suite: Sequence[Sequence[ChangedCase]], status: Status, writer: Writer) -> Iterator[str]:
    """The cases of all suites that changed: by their reasons if that is shorter, else the first of them."""
    cases = list(chain.from_iterable(by_suite))
    if not cases:
        return
    yield ""
    verb = verb if len(cases) > 1 else verb.replace("newly pass", "newly passes").replace("still fail", "still fails")
    yield f"{writer.by_status(writer.mark(status), status)} {counted(len(cases), 'case')} {verb}"
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
            yield from writer.wrapped(writer.in_short(case.before), "      was: ")
        yield from writer.wrapped(writer.in_short(case.after), f"      {writer.symbols.arrow} ")
    if len(cases) > _MOST_CASES:
        yield f"    and {len(cases) - _MOST_CASES} more; --json has all"


def _inventory(comparison: RunComparison, writer: Writer) -> Iterator[str]:
    """The cases and suites that only one of the runs has, and warnings."""
    lines = []
    for suite in comparison.suites:
        title = key_of(suite).short(suite.agent_endpoint or None)
        lines += [f"new in {title}: {first_of(suite.came, _MOST_NAMED)}"] if suite.came else []
        lines += [f"gone from {title}: {first_of(suite.went, _MOST_NAMED)}"] if suite.went else []
    for when, suites in (("before", comparison.only_before), ("after", comparison.only_after)):
        lines += [f"suites that only the run {when} has: {first_of(suites, _MOST_NAMED)}"] if suites else []
    if lines or comparison.missing or comparison.warnings:
        yield ""
    for line in lines:
        yield from writer.wrapped(line, hanging="  ")
    if comparison.missing:
        named = f"missing: {first_of(comparison.missing, _MOST_NAMED)}"
        yield from writer.beside(writer.mark("failed"), named, "failed", margin="")
    for warning in comparison.warnings:
        yield from writer.wrapped(f"{writer.symbols.warning} {warning}", hanging="  ")
