"""Challenges the cases of suites: has their checks look at faulty answers, and counts what they notice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, Literal, NamedTuple, TypeVar, final

import msgspec

from evalc.check.contract import assertions
from evalc.check.tree import Check, Of, Turn
from evalc.compare.totals import DECIMALS
from evalc.dsl.quoting import as_item
from evalc.extras.challenge.answers import good_replies, last_response, tools_in
from evalc.extras.challenge.mutations import Around, Mutant, broken_agents, mutations, names_in
from evalc.grammar.write_check import LITERALLY, describe, line_of
from evalc.model.answer import AgentAnswer
from evalc.model.case import Case
from evalc.model.reports import (
    CaseStrength,
    ChallengerCount,
    CheckStrength,
    CriterionStrength,
    NotChallenged,
    Strength,
    Survivor,
)
from evalc.model.result import PASSING, CaseResult
from evalc.model.suite import CaseKey, LocatedCase, Place, Suite
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.verdict import View
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.run.case import CaseOptions, evidence_of, result_of
from evalc.runtime.store.journal import CaseRun
from evalc.tools.registry import ToolRegistry

# --- lines that notice a fault ---------------------------------------------------------------------------------------


_MOST_TRIED: Final = 12
_BRACES: Final = "{{"


class Cure(NamedTuple):
    """A check, and the item of a list that says it in YAML."""

    check: Check
    line: str


async def line_that_kills(
    case: Case, mutant: Mutant, goods: Sequence[AgentAnswer], options: CaseOptions
) -> Cure | None:
    """The first cure of the mutant that fails on it and passes all good answers; None if there is none."""
    for check in islice(_candidates(mutant), _MOST_TRIED):
        if await outcome_of(case, check, mutant.answer, options) != "failed":
            continue
        if any([await outcome_of(case, check, good, options) != "passed" for good in goods]):
            continue
        line = line_of(check, LITERALLY, str)
        if line is not None and _BRACES not in line and "\n" not in line:
            return Cure(check, as_item(line))
    return None


def _candidates(mutant: Mutant) -> Iterator[Check]:
    """The cures; in a conversation also as checks of the turn that was changed."""
    turns = len(mutant.answer.turns)
    for check in mutant.cures:
        yield check
        if turns > 1:
            yield Of(Turn(turns), check)


async def outcome_of(case: Case, check: Check, answer: AgentAnswer, options: CaseOptions) -> str:
    """The outcome of a check of the answer."""
    return (await evaluate(check, View.of(evidence_of(case, answer, options)))).outcome


# --- counts ----------------------------------------------------------------------------------------------------------


K = TypeVar("K")


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


class DecidedMutant(NamedTuple):
    """A mutant that a case fails or passes: its fault, the assertions that were asked, those that noticed it."""

    challenger: str
    killed: bool
    asked: Sequence[str]
    noticed: frozenset[str]


@final
class Tally(msgspec.Struct):
    """The mutants of one case, and what became of them."""

    located: LocatedCase
    suite: Suite
    decided: list[DecidedMutant] = []
    survivors: list[Survived] = []
    undecided: int = 0

    def checks(self) -> Iterator[tuple[str, bool]]:
        """The assertion that was asked of each mutant, and whether it noticed it."""
        return ((at, at in mutant.noticed) for mutant in self.decided for at in mutant.asked)

    def criteria(self) -> Iterator[tuple[str, bool]]:
        """The criteria with checks, for each mutant, and whether one of their checks noticed it."""
        for criterion in self.located.case.criteria or ():
            pointers = {pointer for link in criterion.checks or () for pointer in link.at}
            if pointers:
                yield from ((criterion.name, not pointers.isdisjoint(mutant.noticed)) for mutant in self.decided)

    def result(self) -> CaseStrength:
        """The strength of the case."""
        case, mutants, killed = self.located.case, len(self.decided), sum(mutant.killed for mutant in self.decided)
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
            challengers=_challengers([self]),
            survivors=tuple(
                Survivor(
                    challenger=each.mutant.challenger,
                    difference=each.mutant.difference,
                    line=None if each.cure is None else each.cure.line,
                )
                for each in self.survivors
            ),
            place=self.located.places.get(""),
        )


def strength_of(
    tallies: Sequence[Tally], skipped: Sequence[NotChallenged], run_id: str | None, warnings: tuple[str, ...]
) -> Strength:
    """The strength of all cases."""
    cases = tuple(tally.result() for tally in tallies)
    mutants, killed = sum(case.mutants for case in cases), sum(case.killed for case in cases)
    criteria = _counted(((tally.suite, name), noticed) for tally in tallies for name, noticed in tally.criteria())
    return Strength(
        of=run_id,
        strength=_share(killed, mutants),
        mutants=mutants,
        killed=killed,
        undecided=sum(case.undecided for case in cases),
        challengers=_challengers(tallies),
        cases=cases,
        checks=tuple(_checks(tallies)),
        criteria=tuple(
            CriterionStrength(
                suite=suite.name, tool_name=suite.tool_name, tier=suite.tier, name=name, mutants=count, killed=noticed
            )
            for (suite, name), (count, noticed) in criteria.items()
        ),
        not_challenged=tuple(skipped),
        warnings=warnings,
    )


def _checks(tallies: Sequence[Tally]) -> Iterator[CheckStrength]:
    """The strength of each check; the cases that share one in the source share its counts."""
    records: dict[object, CheckStrength] = {}
    seen: list[tuple[object, bool]] = []
    for tally in tallies:
        case, places = tally.located.case, tally.located.places
        asked = {at for at, _ in tally.checks()}
        written = {each.at: describe(each.check) for each in assertions(case.expect) if each.at in asked}
        for at, noticed in tally.checks():
            if at in written:
                place: Place | None = places.get(at)
                key = (tally.suite.key, case.id, at) if place is None else (place, written[at])
                record = CheckStrength(id=case.id, at=at, check=written[at], mutants=0, killed=0, place=place)
                records.setdefault(key, record)
                seen.append((key, noticed))
    for each, (mutants, killed) in _counted(seen).items():
        yield msgspec.structs.replace(records[each], mutants=mutants, killed=killed)


def _challengers(tallies: Sequence[Tally]) -> tuple[ChallengerCount, ...]:
    counts = _counted((mutant.challenger, mutant.killed) for tally in tallies for mutant in tally.decided)
    return tuple(ChallengerCount(name=name, mutants=count, killed=killed) for name, (count, killed) in counts.items())


def _counted(seen: Iterable[tuple[K, bool]]) -> Mapping[K, tuple[int, int]]:
    """How often each is there, and how often it is true."""
    every, true = Counter[K](), Counter[K]()
    for key, is_true in seen:
        every[key] += 1
        true[key] += is_true
    return {key: (count, true[key]) for key, count in every.items()}


def _share(killed: int, mutants: int) -> float | None:
    return round(killed / mutants, DECIMALS) if mutants else None


# --- challenges ------------------------------------------------------------------------------------------------------


_LOOKED_AT: Final = 1_000
"""How many cases of a suite are looked at for what other cases are about."""
_MOST_VALUES: Final = 50

GoodAnswers = Mapping[CaseKey, Sequence[AgentAnswer]]
"""The recorded answers of cases."""


@final
class Challenge(msgspec.Struct, kw_only=True):
    """Settings of a challenge."""

    options: CaseOptions  # how cases are checked
    tools: ToolRegistry | None = None  # the tool registry, if there is one
    run_id: str | None = None  # the run whose answers are changed; None challenges suites by themselves
    # the recorded answers, good or not: those of `run_id`, or of an earlier run whose good answers every line that is
    # written has to pass
    recorded: GoodAnswers = {}
    unusable: Mapping[CaseKey, str] = {}  # why the recorded answers of a case cannot be used
    judges: JudgePool | None = None  # judges for checks that only a judge can decide; None without
    max_cost: float | None = None  # what judging may cost, in US dollars
    spent: float = 0.0


async def challenge(suites: Sequence[Suite], how: Challenge) -> tuple[Strength, tuple[Survived, ...]]:
    """Challenge every case of the suites: their strength, and the survivors that a line would kill."""
    tallies: list[Tally] = []
    skipped: list[NotChallenged] = []
    for suite in suites:
        around = _around(suite, how)
        for located, neighbour in _with_neighbours(suite, how):
            await asyncio.sleep(0)  # the turn of Ctrl-C
            case = located.case
            goods = () if _not_challenged(case) else await _good_answers(suite, case, how)
            unusable = how.unusable.get(CaseKey(suite.key, case.id)) or "no recorded answer passes its checks"
            reason = _not_challenged(case) or (unusable if how.run_id is not None and not goods else None)
            if reason is None:
                beside = around._replace(neighbour=await _answer_of(neighbour, how))
                tallies.append(await _challenged(Tally(located, suite), goods, beside, how))
            else:
                skipped.append(NotChallenged(id=case.id, reason=reason))
    curable = tuple(each for tally in tallies for each in tally.survivors if each.cure is not None)
    warnings = []
    if _judges(how) is not how.judges:
        reached = f"the ceiling of ${how.max_cost:g} is reached"
        warnings.append(f"{reached}: what only a judge can tell is undecided from there on")
    return strength_of(tallies, skipped, how.run_id, tuple(warnings)), curable


async def _challenged(tally: Tally, recorded: Sequence[AgentAnswer], around: Around, how: Challenge) -> Tally:
    """Give the case its mutants, each fault once: of its good answers, else of the guess of one."""
    case = tally.located.case
    to_pass, of_guess = recorded, None
    if how.run_id is None:
        guess = good_replies(case, how.tools)
        of_guess = (await _checked(case, guess, how)).result
        to_pass = (*recorded, guess) if of_guess.status in PASSING else recorded
        mutants = list(broken_agents(case, guess, around))
    else:
        mutants = [mutant for good in recorded for mutant in mutations(case, good, around)]
    allowed = case.allow or {}
    distinct = {(mutant.challenger, mutant.difference): mutant for mutant in reversed(mutants)}
    for mutant in reversed(distinct.values()):
        if mutant.challenger in allowed:
            continue
        run = await _checked(case, mutant.answer, how)
        outcome, failed = _outcome(run.result, mutant, of_guess)
        if outcome == "undecided" and (judges := _judges(how)):
            run = await _checked(case, mutant.answer, how, judges)
            outcome, failed = _outcome(run.result, mutant, of_guess)
        if outcome == "undecided":
            tally.undecided += 1
            continue
        asked = [each.at for each in run.result.assertions if each.outcome in ("passed", "failed")]
        tally.decided.append(DecidedMutant(mutant.challenger, outcome == "killed", asked, failed))
        if outcome == "survived":
            cure = await line_that_kills(case, mutant, to_pass, how.options)
            tally.survivors.append(Survived(tally.located, tally.suite, mutant, cure, recorded))
    return tally


def _judges(how: Challenge) -> JudgePool | None:
    """The judges, as long as they may cost something."""
    return how.judges if how.max_cost is None or how.spent < how.max_cost else None


def _outcome(result: CaseResult, mutant: Mutant, known_good: CaseResult | None) -> tuple[Outcome, frozenset[str]]:
    """The outcome of a mutant, and the assertions that noticed it.

    What fails for the guess of a good answer, too, does not notice anything: a mutant that was made from the guess is
    killed by nothing else, and nobody knows whether it survives.
    """
    failed = frozenset(each.at for each in result.assertions if each.outcome == "failed")
    if known_good is not None and mutant.good is not None and known_good.status not in PASSING:
        failed -= {each.at for each in known_good.assertions if each.outcome != "passed"}
        return ("killed" if failed else "undecided"), failed
    if result.status in PASSING:
        return "survived", frozenset()
    # Without a judge, a criterion that only one can score has no score, which no threshold takes.
    unknown = not failed and (result.status == "error" or result.score is None)
    return ("undecided" if unknown else "killed"), failed


async def _checked(case: Case, answer: AgentAnswer, how: Challenge, judges: JudgePool | None = None) -> CaseRun:
    run = await result_of(LocatedCase(case, {}), answer, how.options, judges)
    how.spent += (run.cost_usd or 0.0) if judges else 0.0
    return run


def _not_challenged(case: Case) -> str | None:
    reasons = {"archived": case.archived, "skipped": case.skip, "expected to fail": case.expected_failure}
    return next((f"{what}: {reason}" for what, reason in reasons.items() if reason is not None), None)


async def _good_answers(suite: Suite, case: Case, how: Challenge) -> Sequence[AgentAnswer]:
    """The recorded answers that the case passes as it is now, each text once."""
    found: dict[str, AgentAnswer] = {}
    for answer in how.recorded.get(CaseKey(suite.key, case.id), ()):
        if answer.response is None:
            continue
        status = (await _checked(case, answer, how)).result.status
        if status == "error" and (judges := _judges(how)):
            status = (await _checked(case, answer, how, judges)).result.status
        if status in PASSING:
            found.setdefault(repr((answer.response.response, answer.response.tool_calls)), answer)
    return tuple(found.values())


async def _answer_of(neighbour: Case | None, how: Challenge) -> tuple[str, AgentAnswer] | None:
    """The guess of what is good for another case, if its checks take it for good."""
    if neighbour is None:
        return None
    guess = good_replies(neighbour, how.tools)
    run = await _checked(neighbour, guess, how)
    return (neighbour.id, guess) if run.result.status in PASSING and last_response(guess).response else None


def _with_neighbours(suite: Suite, how: Challenge) -> Iterator[tuple[LocatedCase, Case | None]]:
    """The cases, each with the previous case that sends something else; the first with the next one."""
    cases = iter(suite.cases)
    first_two = tuple(islice(cases, 2))
    before = first_two[-1].case if first_two else None
    for located in chain(first_two, cases):
        is_other = before is not None and before.input.message != located.case.input.message
        yield located, before if is_other and how.run_id is None else None
        before = located.case


def _around(suite: Suite, how: Challenge) -> Around:
    """Facts about a suite, collected before its cases are challenged."""
    tools: dict[str, None] = {}
    values: dict[str, dict[str, None]] = {}
    names: dict[str, None] = {}
    for case in (located.case for located in islice(suite.cases, _LOOKED_AT)):
        for assertion in assertions(case.expect):
            tools |= dict.fromkeys(tools_in(assertion.check))
        if how.run_id is None:
            continue
        for name, value in (case.input.inputs or {}).items():
            if isinstance(value, str) and len(values.setdefault(name, {})) < _MOST_VALUES:
                values[name][value] = None
        for answer in how.recorded.get(CaseKey(suite.key, case.id), ()):
            if len(names) < _MOST_VALUES:
                names |= dict.fromkeys(names_in(last_response(answer).response))
    return Around(how.tools, tuple(tools), {name: tuple(each) for name, each in values.items()}, tuple(names))
