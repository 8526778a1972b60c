"""Counts what became of mutants: by case, by challenger, by check and by criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeVar, final

from evalc.challenge.cure import Cure
from evalc.challenge.mutant import Mutant
from evalc.compiler.spelling import describe
from evalc.model.answer import AgentAnswer
from evalc.model.assertions import assertions
from evalc.model.reports import (
    CaseStrength,
    ChallengerCount,
    CheckStrength,
    CriterionStrength,
    NotChallenged,
    Strength,
    Survivor,
)
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase, Place, Suite

K = TypeVar("K")

_DECIMALS: Final = 12

Outcome = Literal["killed", "survived", "undecided"]


class Survived(NamedTuple):
    """A survivor, with what is needed to write a check against it and to prove that check.

    `cure` is None if no check was found, `goods` are the recorded answers that the case passes.
    """

    located: LocatedCase
    suite: Suite
    mutant: Mutant
    cure: Cure | None
    goods: Sequence[AgentAnswer]


@final
class Tally:
    """What became of the mutants of one case."""

    def __init__(self, located: LocatedCase, suite: Suite) -> None:
        self.located = located
        self.suite = suite
        self.curable: list[Survived] = []
        self._survivors: list[Survivor] = []
        self.undecided = 0
        self.challengers: dict[str, list[int]] = {}
        self.checks: dict[str, list[int]] = {}
        self.criteria: dict[str, list[int]] = {}
        links = {criterion.name: criterion.checks or () for criterion in located.case.criteria or ()}
        self._linked = {
            name: frozenset(pointer for link in checks for pointer in link.at) for name, checks in links.items()
        }

    def add(self, challenger: str, outcome: Outcome, result: CaseResult, failed: frozenset[str]) -> None:
        """AllTallies a mutant: its result, and the assertions that noticed it."""
        if outcome == "undecided":
            self.undecided += 1
            return
        _bump(self.challengers, challenger, outcome == "killed")
        for assertion in result.assertions:
            if assertion.outcome in ("passed", "failed"):
                _bump(self.checks, assertion.at, assertion.at in failed)
        for name, pointers in self._linked.items():
            if pointers:
                _bump(self.criteria, name, not failed.isdisjoint(pointers))

    def survived(self, survivor: Survived) -> None:
        """Keep a mutant that the case passes."""
        mutant, cure = survivor.mutant, survivor.cure
        line = None if cure is None else cure.line
        self._survivors.append(Survivor(challenger=mutant.challenger, difference=mutant.difference, line=line))
        if cure is not None:
            self.curable.append(survivor)

    def result(self) -> CaseStrength:
        """The strength of the case."""
        mutants, killed = _sums(self.challengers)
        case = self.located.case
        return CaseStrength(
            id=case.id,
            suite=self.suite.name,
            tool_name=self.suite.tool_name,
            tier=self.suite.tier,
            mutants=mutants,
            killed=killed,
            strength=_share(killed, mutants),
            undecided=self.undecided,
            allowed=case.allow or {},
            challengers=_counts(self.challengers),
            survivors=tuple(self._survivors),
            place=self.located.places.get(""),
        )


@final
class AllTallies:
    """What became of all mutants."""

    def __init__(self) -> None:
        self.curable: list[Survived] = []
        self._cases: list[CaseStrength] = []
        self._skipped: list[NotChallenged] = []
        self._challengers: dict[str, list[int]] = {}
        self._checks: dict[object, tuple[CheckStrength, list[int]]] = {}
        self._criteria: dict[tuple[Suite, str], list[int]] = {}

    def skip(self, id_: str, reason: str) -> None:
        """AllTallies a case that was not challenged."""
        self._skipped.append(NotChallenged(id=id_, reason=reason))

    def add(self, tally: Tally) -> None:
        """AllTallies a case."""
        self._cases.append(tally.result())
        self.curable += tally.curable
        _merge(self._challengers, tally.challengers)
        suite, case, places = tally.suite, tally.located.case, tally.located.places
        for name, counted in tally.criteria.items():
            _merge(self._criteria, {(suite, name): counted})
        written = {each.at: describe(each.check) for each in assertions(case.expect) if each.at in tally.checks}
        for at, (mutants, killed) in tally.checks.items():
            if at not in written:
                continue
            place: Place | None = places.get(at)
            key = (suite.key, case.id, at) if place is None else (place, written[at])
            record = CheckStrength(id=case.id, at=at, check=written[at], mutants=0, killed=0, place=place)
            counts = self._checks.setdefault(key, (record, [0, 0]))[1]
            counts[0] += mutants
            counts[1] += killed

    def strength(self, run_id: str | None, warnings: tuple[str, ...]) -> Strength:
        """The strength of all cases."""
        mutants, killed = _sums(self._challengers)
        return Strength(
            of=run_id,
            strength=_share(killed, mutants),
            mutants=mutants,
            killed=killed,
            undecided=sum(case.undecided for case in self._cases),
            challengers=_counts(self._challengers),
            cases=tuple(self._cases),
            checks=tuple(
                CheckStrength(id=of.id, at=of.at, check=of.check, mutants=looked_at, killed=noticed, place=of.place)
                for of, (looked_at, noticed) in self._checks.values()
            ),
            criteria=tuple(
                CriterionStrength(
                    suite=suite.name,
                    tool_name=suite.tool_name,
                    tier=suite.tier,
                    name=name,
                    mutants=looked_at,
                    killed=noticed,
                )
                for (suite, name), (looked_at, noticed) in self._criteria.items()
            ),
            not_challenged=tuple(self._skipped),
            warnings=warnings,
        )


def _bump(counts: dict[str, list[int]], name: str, killed: bool) -> None:
    both = counts.setdefault(name, [0, 0])
    both[0] += 1
    both[1] += killed


def _merge(into: dict[K, list[int]], other: Mapping[K, Sequence[int]]) -> None:
    for name, (mutants, killed) in other.items():
        both = into.setdefault(name, [0, 0])
        both[0] += mutants
        both[1] += killed


def _sums(counts: Mapping[str, Sequence[int]]) -> tuple[int, int]:
    return sum(both[0] for both in counts.values()), sum(both[1] for both in counts.values())


def _counts(counts: Mapping[str, Sequence[int]]) -> tuple[ChallengerCount, ...]:
    return tuple(ChallengerCount(name=name, mutants=both[0], killed=both[1]) for name, both in counts.items())


def _share(killed: int, mutants: int) -> float | None:
    return round(killed / mutants, _DECIMALS) if mutants else None
