"""What `evalc plan` says before a run: what so many cases can show, and what they cost."""

from __future__ import annotations

import msgspec


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class Option(_Record, frozen=True, kw_only=True):
    """What so many cases can show at the plan's confidence, and what they cost.

    `changed` is how many verdicts have to get worse, and none better, to show a regression; null if that is more
    than there are cases. `smallest` is that as a share of the cases. `likely` is the share that has to regress for it
    to be shown four times in five; null if no share is. `costUsd` is null if no earlier run tells.
    """

    cases: int
    changed: int | None
    smallest: float | None
    likely: float | None
    cost_usd: float | None


class GatePlan(_Record, frozen=True, kw_only=True):
    """A gate on the pass rate: it holds from so many passes on, and fails up to so many; null if none does."""

    limit: int | float
    confidence: int | float | None
    holds_from: int | None
    fails_to: int | None


class SuitePlan(_Record, frozen=True, kw_only=True):
    """A suite before its run. `attempts` counts the repeats of its cases.

    `options` are the suite as it is, then with two and four times as many cases.
    """

    tool_name: str
    tier: str
    cases: int
    attempts: int
    gate: GatePlan | None
    options: tuple[Option, ...]


class Plan(_Record, frozen=True, kw_only=True):
    """All suites, at one confidence. `costsOf` is the run that the costs are taken from; null if there is none."""

    confidence: int | float
    costs_of: str | None
    suites: tuple[SuitePlan, ...]
