"""What `evalc plan` says before a run: what so many cases can show, and what they cost."""

from __future__ import annotations

from typing import Literal

import msgspec


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class NoisePlan(_Record, frozen=True, kw_only=True):
    """The noise that a plan assumes: how verdicts vary between runs though nothing has changed, and how that is known.

    `passes` is the share of the cases that pass, `flips` the share whose verdict differs between two runs. `source` is
    `attempts` for those at the cases of one run, `runs` for the verdicts of earlier ones, `assumed` where neither
    tells; `of` is how many attempts, or pairs of verdicts, it was seen in.
    """

    source: Literal["attempts", "runs", "assumed"]
    passes: float
    flips: float
    of: int


class Option(_Record, frozen=True, kw_only=True):
    """What so many cases can show at the plan's confidence, and what they cost.

    `changed` is how many verdicts have to get worse, and none better, to show a regression; null if that is more
    than there are cases. `smallest` is that as a share of the cases. `likely` is how far the pass rate has to fall for
    that to be shown four times in five, given the suite's noise; null if no fall is. `costUsd` is null if no earlier
    run tells.
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
    suite: str
    tier: str
    cases: int
    attempts: int
    gate: GatePlan | None
    noise: NoisePlan
    options: tuple[Option, ...]


class Plan(_Record, frozen=True, kw_only=True):
    """All suites, at one confidence. `costsOf` is the run that the costs are taken from; null if there is none."""

    confidence: int | float
    costs_of: str | None
    suites: tuple[SuitePlan, ...]
