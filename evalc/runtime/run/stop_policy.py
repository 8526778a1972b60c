"""Decides when a run sends no more cases: too many failed, or too much was spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from evalc.model.result import CaseResult, SkippedCase
from evalc.model.suite import LocatedCase
from evalc.runtime.run.gates import exact
from evalc.runtime.store.journaled import Entry


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a run stops before its end.

    Attributes:
        max_fail: after so many cases that did not pass; None is no limit.
        max_cost: before a case that would bring the known cost above it, in US dollars; None is no limit.
    """

    max_fail: int | None = None
    max_cost: float | None = None


@final
class StopPolicy:
    """Holds the limits against what has happened. `reason` is why nothing more is sent; None while it goes on.

    What the next case costs is not known before it ends: each is taken to cost as much as the dearest so far, and so
    are those under way.
    """

    def __init__(self, limits: Limits) -> None:
        self.reason: str | None = None
        self.unseen = 0
        self._max_fail = limits.max_fail
        self._max_cost = None if limits.max_cost is None else exact(limits.max_cost)
        self._failed = 0
        self._under_way = 0
        self._spent = Fraction(0)
        self._dearest = Fraction(0)

    @property
    def held(self) -> bool:
        """Whether there is any limit."""
        return self._max_fail is not None or self._max_cost is not None

    def recall(self, entries: Iterable[Entry]) -> None:
        """Count the cases that were done before the run was resumed."""
        for entry in entries:
            self._count(entry.passed, entry.cost_usd)

    def lets_go(self) -> bool:
        """Whether another case may be sent; one that may is under way from now on."""
        if self.reason is None and self._max_cost is not None:
            expected = self._spent + self._dearest * (self._under_way + 1)
            if expected > self._max_cost or self._spent >= self._max_cost:
                self.reason = f"the ceiling of ${_shown(self._max_cost)}: {self._so_far()}"
        self._under_way += self.reason is None
        return self.reason is None

    def finished(self, result: CaseResult, cost_usd: float | None) -> None:
        """A case that was let go has its result."""
        self._under_way -= 1
        if self.held:
            self._count(result.passed, cost_usd)

    def _count(self, passed: bool, cost_usd: float | None) -> None:
        self._failed += not passed
        if cost_usd is None:
            self.unseen += 1
        else:
            self._spent += exact(cost_usd)
            self._dearest = max(self._dearest, exact(cost_usd))
        if self.reason is None and self._max_fail is not None and self._failed >= self._max_fail:
            self.reason = f"{self._failed} case{'' if self._failed == 1 else 's'} did not pass"

    def _so_far(self) -> str:
        return f"${_shown(self._spent)} is spent, and a case has cost up to ${_shown(self._dearest)}"

    def warning(self) -> str | None:
        """What the user should know of a ceiling that could not see every cost."""
        if self._max_cost is None or not self.unseen:
            return None
        cases = "1 case" if self.unseen == 1 else f"{self.unseen} cases"
        return f"the ceiling of ${_shown(self._max_cost)} cannot see what {cases} cost: that is not known"


def not_run(located: LocatedCase, reason: str) -> SkippedCase:
    """The record of a case that the run stopped before."""
    case = located.case
    return SkippedCase(
        id=case.id, description=case.description, reason=f"not run: {reason}", archived=False, stopped=True
    )


def _shown(dollars: Fraction) -> str:
    return f"{float(dollars):.6g}"
