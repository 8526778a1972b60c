"""What the history says of a suite in a run, as `evalc history --json` prints it, and of its course over the runs."""

from __future__ import annotations

import msgspec


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class HistoryEntry(_Record, frozen=True, kw_only=True):
    """A suite in a run.

    `run` is the name of the run's folder, `began` the seconds since 1970 at which the run did; `criteria` are the mean
    scores by criterion, null if nothing scored it. `partial` says that not all of the suite's cases ran, because
    some were chosen or the run stopped; `rescored` that no agent was asked.
    """

    run: str
    file: str
    run_id: str
    timestamp: str
    began: float
    tool_name: str
    suite: str
    tier: str
    agent_endpoint: str
    total_cases: int
    passed: int
    errors: int
    score: float | None
    estimated_cost_usd: float | None
    total_duration_ms: float | None
    criteria: dict[str, float | None]
    partial: bool
    rescored: bool


class TrendPoint(_Record, frozen=True, kw_only=True):
    """A suite in one of its runs: the share of the cases that passed, and the scores; null if there is none."""

    run: str
    timestamp: str
    pass_rate: float | None
    score: float | None
    criteria: dict[str, float | None]


class Trend(_Record, frozen=True, kw_only=True):
    """The course of a suite, the oldest run first. `criteria` are all that any run scored, in order of appearance.

    `agentEndpoint` is the agent where the suite was run by several, so that each has a course of its own; else null.
    """

    tool_name: str
    suite: str
    tier: str
    agent_endpoint: str | None
    criteria: tuple[str, ...]
    points: tuple[TrendPoint, ...]


class History(_Record, frozen=True, kw_only=True):
    """The newest entries, the newest first, and the courses of their suites over all runs."""

    entries: tuple[HistoryEntry, ...]
    trends: tuple[Trend, ...]
