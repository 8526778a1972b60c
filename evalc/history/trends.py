"""Follows each suite from run to run: its pass rate, score and criteria."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from evalc.history.index import Index
from evalc.model.reports import HistoryEntry, Trend, TrendPoint
from evalc.model.result import SuiteResult
from evalc.model.suite import SuiteKey, key_of


def trends_beside(suites: Iterable[SuiteResult], output_dir: Path) -> tuple[Trend, ...]:
    """The courses of these suites, as far as they have two runs in the output folder, for a report that plots them.

    A report never fails by that: there are no trends if the history cannot be read.
    """
    suites = tuple(suites)
    try:
        with Index.followed(output_dir) as index:
            agents = {(index.suite_of(suite), suite.agent_endpoint) for suite in suites}
            names = dict.fromkeys(str(key) for key, _ in agents)
            trends = trends_of(chain.from_iterable(map(index.entries, names)))
    except (sqlite3.Error, OSError):
        return ()
    wanted = agents | {(key, None) for key, _ in agents}
    there = (trend for trend in trends if len(trend.points) > 1)
    return tuple(trend for trend in there if (key_of(trend), trend.agent_endpoint) in wanted)


def trends_of(entries: Iterable[HistoryEntry]) -> tuple[Trend, ...]:
    """The course of each suite, the suites in the order in which the entries, newest first, name them.

    Runs of a part of the cases are left out: their pass rate is not that of the suite. A suite that several agents
    have run has a course for each of them: they are as different as suites are.
    """
    by_suite: dict[SuiteKey, list[HistoryEntry]] = {}
    for entry in entries:
        if not entry.partial:
            by_suite.setdefault(key_of(entry), []).append(entry)
    return tuple(trend for runs in by_suite.values() for trend in _trends(runs))


def _trends(entries: Sequence[HistoryEntry]) -> Iterator[Trend]:
    """Those of one suite."""
    by_agent: dict[str, list[HistoryEntry]] = {}
    for entry in entries:
        by_agent.setdefault(entry.agent_endpoint, []).append(entry)
    for runs in by_agent.values():
        yield _trend(runs, runs[0].agent_endpoint if len(by_agent) > 1 else None)


def _trend(newest_first: Sequence[HistoryEntry], agent: str | None) -> Trend:
    runs = newest_first[::-1]
    return Trend(
        suite=runs[0].suite,
        tool_name=runs[0].tool_name,
        tier=runs[0].tier,
        agent_endpoint=agent,
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
