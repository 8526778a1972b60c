"""From the entries of the history to the course of each suite: its pass rate, score and criteria, run by run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evalc.history.index import Index
from evalc.model.history import HistoryEntry, Trend, TrendPoint


def trends_in(output_dir: Path) -> tuple[Trend, ...]:
    """The course of every suite that has results in the output folder, for reports that plot it."""
    with Index.followed(output_dir) as index:
        return trends_of(index.entries())


def trends_of(entries: Iterable[HistoryEntry]) -> tuple[Trend, ...]:
    """The course of each suite, the suites in the order in which the entries, newest first, name them.

    Runs of a part of the cases are left out: what they passed is no measure of the suite.
    """
    by_suite: dict[tuple[str, str], list[HistoryEntry]] = {}
    for entry in entries:
        if not entry.partial:
            by_suite.setdefault((entry.tool_name, entry.tier), []).append(entry)
    return tuple(_trend(tool, tier, runs[::-1]) for (tool, tier), runs in by_suite.items())


def _trend(tool_name: str, tier: str, runs: Iterable[HistoryEntry]) -> Trend:
    runs = list(runs)
    return Trend(
        tool_name=tool_name,
        tier=tier,
        criteria=tuple(dict.fromkeys(name for run in runs for name in run.criteria)),
        points=tuple(map(_point, runs)),
    )


def _point(entry: HistoryEntry) -> TrendPoint:
    return TrendPoint(
        run=entry.run,
        timestamp=entry.timestamp,
        pass_rate=entry.passed / entry.total_cases if entry.total_cases else None,
        score=entry.score,
        criteria=entry.criteria,
    )
