"""The table of `evalc history`, and a line for the course of each suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from evalc.base.terminal import Screen, cells, counted, padded, painted, shortened, visible
from evalc.model.reports import History, HistoryEntry, Trend
from evalc.model.suite import key_of
from evalc.report.words import rounded, symbols_of

_BARS = "▁▂▃▄▅▆▇█"
_DIGITS = "0123456789"
_LONGEST_LINE = 40
_SHORTEST_ID = 8
_LONGEST_CELL = 36
_HEADINGS = ("began (UTC)", "run", "suite", "agent", "passed", "score", "cost")


def history_lines(history: History, screen: Screen, *, names: Mapping[str, str]) -> Iterator[str]:
    """The table and the courses, without line ends; `names` are what the runs are called, as `short_names` has it."""
    rows = [_HEADINGS, *(_row(entry, names, screen) for entry in history.entries)]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield painted(line, "bold", on=screen.color and number == 0)
    for trend in history.trends:
        if len(trend.points) > 1:
            yield ""
            yield from _trend(trend, screen)


def short_names(runs: Sequence[str]) -> Mapping[str, str]:
    """For each run the beginning of its name that no other has, at least eight characters."""
    ordered = sorted(set(runs))
    shared = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):
        common = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
        shared[one], shared[other] = max(shared[one], common), common
    return {run: run[: max(_SHORTEST_ID, common + 1)] for run, common in shared.items()}


def _row(entry: HistoryEntry, names: Mapping[str, str], screen: Screen) -> tuple[str, ...]:
    ellipsis = symbols_of(screen).ellipsis
    notes = [counted(entry.errors, "error")] if entry.errors else []
    notes += ["part of the cases"] if entry.partial else []
    notes += ["rescored"] if entry.rescored else []
    shown = f" ({', '.join(notes)})" if notes else ""
    texts = (names.get(entry.run, entry.run), key_of(entry).title(), entry.agent_endpoint)
    return (
        entry.timestamp[:16].replace("T", " "),
        *(shortened(visible(text), _LONGEST_CELL, ellipsis) for text in texts),
        f"{entry.passed}/{entry.total_cases}{shown}",
        "" if entry.score is None else rounded(entry.score),
        "" if entry.estimated_cost_usd is None else f"${entry.estimated_cost_usd:.4g}",
    )


def _trend(trend: Trend, screen: Screen) -> Iterator[str]:
    """The newest runs of the suite, from left to right; the scale is from 0 to 1."""
    points = trend.points[-_LONGEST_LINE:]
    courses = [("passed", [point.pass_rate for point in points]), ("score", [point.score for point in points])]
    courses += [(name, [point.criteria.get(name) for point in points]) for name in trend.criteria]
    shown = [(visible(name), values) for name, values in courses if any(value is not None for value in values)]
    width = max((cells(name) for name, _ in shown), default=0)
    runs = (
        f"the last {len(points)} of {len(trend.points)} runs"
        if len(points) < len(trend.points)
        else f"{len(points)} runs"
    )
    yield painted(f"{visible(key_of(trend).title(trend.agent_endpoint))}, {runs}", "bold", on=screen.color)
    for name, values in shown:
        last = next(value for value in reversed(values) if value is not None)
        yield f"  {padded(name, width)}  {sparkline(values, screen)}  {rounded(last)}"


def sparkline(values: Sequence[float | None], screen: Screen) -> str:
    """A character a value, from 0 to 1; a blank for none. On an ASCII screen, tenths."""
    steps = _BARS if screen.unicode else _DIGITS
    return "".join(
        " " if value is None else steps[min(int(min(max(value, 0), 1) * len(steps)), len(steps) - 1)]
        for value in values
    )
