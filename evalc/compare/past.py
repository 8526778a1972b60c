"""The part of an EvalSuiteResult that a comparison needs, of any runner: evalc's own keys may be missing."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from evalc.model.result import PASSING, Status

Measure = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
"""A number as results hold them; one whose square would be no number any more makes the file no result."""


class _Past(msgspec.Struct, frozen=True, rename="camel"):
    pass


class PastCriterion(_Past, frozen=True):
    """A criterion's score in a case."""

    name: str
    score: Measure | None = None


class _Usage(_Past, frozen=True):
    cost_usd: Measure | None = None


class _Details(_Past, frozen=True):
    usage: _Usage | None = None


class _Attempt(_Past, frozen=True):
    status: Status


class ComparedCase(_Past, frozen=True):
    """A case of a run."""

    id: str
    passed: bool
    status: str | None = None
    error: str | None = None
    duration_ms: Measure | None = None
    criteria: tuple[PastCriterion, ...] = ()
    attempts: tuple[_Attempt, ...] = ()
    not_attempted: int = 0
    details: _Details | None = None

    @property
    def cost_usd(self) -> float | None:
        """The cost of the answer, if known."""
        usage = self.details.usage if self.details else None
        return usage.cost_usd if usage else None

    @property
    def broken(self) -> bool:
        """Whether the agent or a check broke, so that nothing is known of the case."""
        return self.status == "error"

    @property
    def pass_share(self) -> float:
        """The share of the attempts that passed, of those that did not end in error; of a single one 1 or 0.

        Where a failure was expected, an attempt that passed is not good news: there the verdict counts alone.
        """
        measured = [attempt.status for attempt in self.attempts if attempt.status != "error"]
        if not measured or self.status in ("expected-failure", "unexpected-pass"):
            return float(self.passed)
        return sum(status in PASSING for status in measured) / len(measured)


class Pair(NamedTuple):
    """A case in two runs."""

    before: ComparedCase
    after: ComparedCase

    @property
    def cut_short(self) -> bool:
        """Whether attempts were left out in either, so that the share that passed depends on when it was decided."""
        return bool(self.before.not_attempted or self.after.not_attempted)

    @property
    def broken(self) -> bool:
        """Whether it ended in error in either, so that the two cannot be compared."""
        return self.before.broken or self.after.broken


class WeightedCriterion(_Past, frozen=True):
    """A criterion of a suite."""

    name: str
    weight: Measure


class _Summary(_Past, frozen=True):
    criteria: tuple[WeightedCriterion, ...] = ()


class _Skipped(_Past, frozen=True):
    id: str


class ComparedSuite(_Past, frozen=True):
    """A suite of a run."""

    tool_name: str
    tier: str
    cases: tuple[ComparedCase, ...]
    suite: str | None = None
    run_id: str | None = None
    agent_endpoint: str | None = None
    decided: bool = False
    selected: object = None
    skipped: tuple[_Skipped, ...] = ()
    summary: _Summary = _Summary()
