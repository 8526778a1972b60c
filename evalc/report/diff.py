"""The lines of `evalc diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from evalc.base.terminal import Color, Screen, cells, counted, first_of, padded, painted, shortened, visible
from evalc.model.result import ChangedCase, Difference, Medians, Rate, RunComparison, SuiteComparison, Verdict
from evalc.model.suite import key_of
from evalc.report.legible import in_short
from evalc.report.words import Symbols, difference_words, milliseconds, significance_line, symbols_of

_MOST_NAMED = 10

_COLORS: dict[Verdict, Color] = {"worse": "red", "better": "green", "inconclusive": "yellow", "unchanged": "dim"}


def diff_lines(comparison: RunComparison, screen: Screen) -> Iterator[str]:
    """The comparison, without line ends."""
    symbols = symbols_of(screen)
    for suite in comparison.suites:
        yield from _suite(suite, symbols, screen)
        yield ""
    runs = f"{visible(comparison.before)} {symbols.arrow} {visible(comparison.after)}"
    totals = (
        counted(len(comparison.suites), "suite"),
        counted(comparison.regressions, "regression"),
        counted(comparison.new_passes, "new pass", "es"),
    )
    yield painted(f"{runs} | {' | '.join(totals)}", "bold", on=screen.color)
    if len(comparison.suites) > 1:
        whole = comparison.significance
        yield painted(f"  all suites: {significance_line(whole)}", _COLORS[whole.verdict], on=screen.color)
    for run, suites in ((comparison.before, comparison.only_before), (comparison.after, comparison.only_after)):
        if suites:
            yield f"  only in {visible(run)}: {_named(suites)}"
    if comparison.missing:
        yield painted(f"  missing in {visible(comparison.after)}: {_named(comparison.missing)}", "red", on=screen.color)
    for warning in comparison.warnings:
        yield painted(f"  {symbols.warning} {visible(warning)}", "yellow", on=screen.color)


def _suite(suite: SuiteComparison, symbols: Symbols, screen: Screen) -> Iterator[str]:
    runs = f"{visible(suite.before_run_id)} {symbols.arrow} {visible(suite.after_run_id)}"
    title = visible(key_of(suite).title(suite.agent_endpoint or None))
    yield painted(f"{symbols.title * 3} {title}  {runs}", "bold", on=screen.color)
    found = suite.significance
    yield painted(f"  {significance_line(found)}", _COLORS[found.verdict], on=screen.color)
    yield from _table(suite, symbols, screen)
    yield from _cases("REGRESSIONS", suite.regressions, "red", symbols, screen)
    yield from _cases("NEW PASSES", suite.new_passes, "green", symbols, screen)
    yield from _cases("STILL FAILING, FOR ANOTHER REASON", suite.still_failing, "yellow", symbols, screen)
    for heading, ids in (("came", suite.came), ("went", suite.went)):
        if ids:
            yield f"  {counted(len(ids), 'case')} {heading}: {_named(ids)}"


def _table(suite: SuiteComparison, symbols: Symbols, screen: Screen) -> Iterator[str]:
    """A line a measure: then, now, and what is to be said of the difference."""
    counts = f"{_counts(suite.before)} {symbols.arrow} {_counts(suite.after)}"
    rows = [("pass rate", _percent(suite.before), _percent(suite.after), counts)]
    rows += [_difference(name, found) for name, found in _differences(suite)]
    rows += [
        _medians("latency, median", suite.latency_ms, milliseconds),
        _medians("cost, median", suite.cost_usd, lambda value: f"${value:.4g}"),
    ]
    there = [row for row in rows if row[1] or row[2]]
    names = [shortened(visible(name), screen.width // 3, symbols.ellipsis) for name, *_ in there]
    widths = max(map(cells, names)), max(len(row[1]) for row in there), max(len(row[2]) for row in there)
    for name, (_, before, after, words) in zip(names, there, strict=True):
        line = f"  {padded(name, widths[0])}  {before:<{widths[1]}} {symbols.arrow} {after:<{widths[2]}}  {words}"
        yield line.rstrip()


def _differences(suite: SuiteComparison) -> Iterator[tuple[str, Difference]]:
    if suite.pass_share is not None:
        yield "passing attempts", suite.pass_share
    if suite.score is not None:
        yield "score", suite.score
    for criterion in suite.criteria:
        yield f"  {criterion.name}", criterion


def _difference(name: str, found: Difference) -> tuple[str, str, str, str]:
    return name, f"{found.before:.3f}", f"{found.after:.3f}", difference_words(found)


def _medians(name: str, found: Medians, form: Callable[[float], str]) -> tuple[str, str, str, str]:
    if found.before is None or found.after is None:
        return name, "", "", ""
    return name, form(found.before), form(found.after), ""


def _percent(rate: Rate) -> str:
    return "none" if rate.rate is None else f"{100 * rate.rate:.1f} %"


def _counts(rate: Rate) -> str:
    """`183/200 (95 % interval 86.8 to 94.6 %)`, the interval of the rate, and how many more ended in error."""
    errors = f", {counted(rate.errors, 'error')}" if rate.errors else ""
    interval = (
        ""
        if rate.low is None or rate.high is None
        else f" (95 % interval {100 * rate.low:.1f} to {100 * rate.high:.1f} %)"
    )
    return f"{rate.passed}/{rate.of}{interval}{errors}"


def _cases(heading: str, cases: Sequence[ChangedCase], color: Color, symbols: Symbols, screen: Screen) -> Iterator[str]:
    if not cases:
        return
    yield painted(f"  {heading} ({len(cases)})", color, on=screen.color)
    for case in cases:
        yield f"    {visible(case.id)}"
        if case.after is None:
            continue
        if case.before is not None:
            yield f"      was: {in_short(case.before, symbols.ellipsis)}"
        yield f"      {symbols.arrow} {in_short(case.after, symbols.ellipsis)}"


def _named(names: Sequence[str]) -> str:
    return first_of(names, _MOST_NAMED, visible)
