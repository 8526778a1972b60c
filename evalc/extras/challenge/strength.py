"""Challenges the cases of suites: has their checks look at faulty answers, and counts what they notice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, Literal, NamedTuple, TypeVar, final

import msgspec

from evalc.base.terminal import counted
from evalc.check.contract import assertions
from evalc.check.predicates import HOLDS
from evalc.check.tree import All, Check, Not, Of, Some, Test, Turn
from evalc.compare.totals import DECIMALS
from evalc.dsl.quoting import as_item
from evalc.extras.challenge.answers import good_replies, last_response, tools_in
from evalc.extras.challenge.mutations import Around, Mutant, broken_agents, mutations, names_in, replies_in
from evalc.grammar.write_check import LITERALLY, describe, line_of
from evalc.model.answer import AgentAnswer, AgentResponse
from evalc.model.case import Case
from evalc.model.reports import (
    CaseStrength,
    ChallengerCount,
    CheckStrength,
    CriterionStrength,
    NotChallenged,
    Strength,
    SuiteStrength,
    Survivor,
    TurnStrength,
)
from evalc.model.result import PASSING, CaseResult
from evalc.model.suite import CaseKey, LocatedCase, Place, Suite, SuiteKey, key_of
from evalc.runtime.checks import View
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.subjects import led_to
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.run.case import CaseOptions, evidence_of, result_of
from evalc.runtime.store.journal import CaseRun
from evalc.tools import ToolRegistry

# --- lines that notice a fault ---------------------------------------------------------------------------------------


_MOST_TRIED: Final = 12
_BRACES: Final = "{{"


class Cure(NamedTuple):
    """A check, and the item of a list that says it in YAML."""

    check: Check
    line: str

    @property
    def fixes_wording(self) -> bool:
        """Whether it asks for words of the answer, which a good answer may lack, and not for a number."""
        check = self.check
        while isinstance(check, Of) and isinstance(check.step, Turn):
            check = check.check
        if not isinstance(check, Test) or check.predicate != "contains":
            return False
        return not any(map(str.isdigit, str(check.operand)))


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
    for check in mutant.cures:
        yield check
        if mutant.turn is not None and len(mutant.answer.turns) > 1:
            yield Of(Turn(mutant.turn), check)


def _subjects(check: Check, view: View) -> Iterator[object]:
    """Everything in an answer that a check looks at."""
    match check:
        case Not(inner):
            yield from _subjects(inner, view)
        case All(checks) | Some(checks):
            for each in checks:
                yield from _subjects(each, view)
        case Of(step, inner):
            found = led_to(step, view)
            views = [found] if isinstance(found, View) else found.views
            yield len(views)
            for each_view in views:
                yield from _subjects(inner, each_view)
        case Test(predicate):
            yield view.value if view.fault is None else view.fault.message
            if predicate not in HOLDS:  # then the value alone does not decide: it may look at the calls
                yield view.evidence.tool_calls


@final
class _LookedAt:
    """The parts of answers that the assertions of a case look at."""

    def __init__(self, case: Case, options: CaseOptions) -> None:
        self._case = case
        self._options = options
        self._of_good: dict[int, Mapping[str, Sequence[object]]] = {}

    def changed(self, good: AgentAnswer, mutant: AgentAnswer) -> set[str]:
        """The assertions for which the answers are not the same."""
        if id(good) not in self._of_good:
            self._of_good[id(good)] = self._parts(good)
        before, after = self._of_good[id(good)], self._parts(mutant)
        return {at for at, parts in before.items() if after[at] != parts}

    def _parts(self, answer: AgentAnswer) -> Mapping[str, Sequence[object]]:
        view = View.of(evidence_of(self._case, answer, self._options))
        return {each.at: [*_subjects(each.check, view)] for each in assertions(self._case.expect)}


async def outcome_of(case: Case, check: Check, answer: AgentAnswer, options: CaseOptions) -> str:
    """The outcome of a check of the answer."""
    return (await evaluate(check, View.of(evidence_of(case, answer, options)))).outcome


# --- counts ----------------------------------------------------------------------------------------------------------


K = TypeVar("K")


Outcome = Literal["killed", "survived", "undecided"]


class Survived(NamedTuple):
    """A survivor, with what is needed to write a check against it and to prove that check.

    `cure` is None if no check was found, `goods` are the recorded answers that the case passes. `proved` says that the
    cure passes them all and can be put into the file.
    """

    located: LocatedCase
    suite: Suite
    mutant: Mutant
    cure: Cure | None
    goods: Sequence[AgentAnswer]
    proved: bool = False

    @property
    def place(self) -> Place | None:
        """The place of the case in the source, which the rows of a table share."""
        return self.located.places.get("")


class DecidedMutant(NamedTuple):
    """A mutant that a case fails or passes.

    `tried` are the assertions that look at what the fault changed, `noticed` those of them that failed.
    """

    challenger: str
    turn: int | None
    killed: bool
    tried: frozenset[str]
    noticed: frozenset[str]


@final
class Tally(msgspec.Struct):
    """The mutants of one case, and what became of them; `recorded` is how many answers of it were recorded."""

    located: LocatedCase
    suite: Suite
    recorded: int = 0
    asked: dict[str, None] = {}
    decided: list[DecidedMutant] = []
    survivors: list[Survived] = []
    undecided: int = 0

    @property
    def place(self) -> object:
        """The place of the case in the source, or the case itself."""
        return self.located.places.get("") or (self.suite.key, self.located.case.id)

    def checks(self) -> Iterator[tuple[str, bool]]:
        """The assertions that each mutant tried, and whether they noticed it."""
        return ((at, at in mutant.noticed) for mutant in self.decided for at in self.asked if at in mutant.tried)

    def criteria(self) -> Iterator[tuple[str, bool]]:
        """The criteria with checks, for each mutant, and whether one of their checks noticed it."""
        for criterion in self.located.case.criteria or ():
            pointers = {pointer for link in criterion.checks or () for pointer in link.at}
            if pointers:
                yield from ((criterion.name, not pointers.isdisjoint(mutant.noticed)) for mutant in self.decided)

    def result(self, *, alone: bool) -> CaseStrength:
        """The strength of the case; `alone` says that no other answer was recorded at its place in the source."""
        case, mutants, killed = self.located.case, len(self.decided), sum(mutant.killed for mutant in self.decided)
        in_turns = ((mutant.turn, mutant.killed) for mutant in self.decided if mutant.turn is not None)
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
                    turn=each.mutant.turn,
                    proved=each.proved,
                    wording=alone and each.proved and each.cure is not None and each.cure.fixes_wording,
                )
                for each in sorted(self.survivors, key=_worth)
            ),
            place=self.located.places.get(""),
            turns=tuple(
                TurnStrength(turn=turn, mutants=count, killed=killed)
                for turn, (count, killed) in sorted(_counted(in_turns).items())
            ),
        )


def _worth(survived: Survived) -> tuple[bool, bool]:
    """The order of survivors: lines that are proved first, and those about words after those about facts."""
    return not survived.proved, survived.cure is None or survived.cure.fixes_wording


def strength_of(
    tallies: Sequence[Tally], skipped: Sequence[NotChallenged], run_id: str | None, warnings: tuple[str, ...]
) -> Strength:
    """The strength of all cases."""
    recorded = Counter[object]()
    for tally in tallies:
        recorded[tally.place] += tally.recorded
    cases = tuple(tally.result(alone=recorded[tally.place] == 1) for tally in tallies)
    mutants, killed = sum(case.mutants for case in cases), sum(case.killed for case in cases)
    criteria = _counted(((tally.suite, name), noticed) for tally in tallies for name, noticed in tally.criteria())
    return Strength(
        of=run_id,
        strength=_share(killed, mutants),
        mutants=mutants,
        killed=killed,
        undecided=sum(case.undecided for case in cases),
        challengers=_challengers(tallies),
        suites=tuple(_suites(cases)),
        cases=cases,
        checks=tuple(_checks(tallies)),
        criteria=tuple(
            CriterionStrength(
                suite=suite.name, tool_name=suite.tool_name, tier=suite.tier, name=name, mutants=count, killed=noticed
            )
            for (suite, name), (count, noticed) in criteria.items()
        ),
        not_challenged=tuple(skipped),
        warnings=(*_of_wordings(cases), *warnings),
    )


def _suites(cases: Sequence[CaseStrength]) -> Iterator[SuiteStrength]:
    by_suite: dict[SuiteKey, list[CaseStrength]] = {}
    for case in cases:
        by_suite.setdefault(key_of(case), []).append(case)
    for of_suite in by_suite.values():
        mutants, killed = sum(case.mutants for case in of_suite), sum(case.killed for case in of_suite)
        yield SuiteStrength(
            tool_name=of_suite[0].tool_name,
            suite=of_suite[0].suite,
            tier=of_suite[0].tier,
            cases=len(of_suite),
            mutants=mutants,
            killed=killed,
            strength=_share(killed, mutants),
        )


def _of_wordings(cases: Sequence[CaseStrength]) -> Iterator[str]:
    """A warning about lines that a good answer in other words would fail."""
    found = {case.place or case.id for case in cases if any(each.wording for each in case.survivors)}
    if found:
        has = "has" if len(found) == 1 else "have"
        yield (
            f"{counted(len(found), 'case')} {has} one recorded answer, and a line that fixes its wording fails a good "
            "answer in other words; `evalc run --repeat 4` records several, which every line then has to pass"
        )


def _checks(tallies: Sequence[Tally]) -> Iterator[CheckStrength]:
    """The strength of each check; the cases that share one in the source share its counts."""
    records: dict[object, CheckStrength] = {}
    seen: list[tuple[object, bool]] = []
    for tally in tallies:
        case, places = tally.located.case, tally.located.places
        keys: dict[str, object] = {}
        for assertion in assertions(case.expect):
            if (at := assertion.at) in tally.asked:
                written, place = describe(assertion.check), places.get(at)
                keys[at] = (tally.suite.key, case.id, at) if place is None else (place, written)
                record = CheckStrength(id=case.id, at=at, check=written, mutants=0, killed=0, place=place)
                records.setdefault(keys[at], record)
        seen += ((keys[at], noticed) for at, noticed in tally.checks() if at in keys)
    counts = _counted(seen)
    for key, record in records.items():
        mutants, killed = counts.get(key, (0, 0))
        yield msgspec.structs.replace(record, mutants=mutants, killed=killed)


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


class Challenged(NamedTuple):
    """The cases that were challenged, those that were not, and warnings."""

    tallies: Sequence[Tally]
    skipped: Sequence[NotChallenged]
    warnings: tuple[str, ...]


async def challenge(suites: Sequence[Suite], how: Challenge) -> Challenged:
    """Challenge every case of the suites."""
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
                beside = around._replace(neighbour=await _response_of(neighbour, how))
                recorded = len(how.recorded.get(CaseKey(suite.key, case.id), ()))
                tallies.append(await _challenged(Tally(located, suite, recorded), goods, beside, how))
            else:
                skipped.append(NotChallenged(id=case.id, reason=reason))
    warnings = []
    if _judges(how) is not how.judges:
        reached = f"the ceiling of ${how.max_cost:g} is reached"
        warnings.append(f"{reached}: what only a judge can tell is undecided from there on")
    return Challenged(tallies, skipped, tuple(warnings))


async def _challenged(tally: Tally, recorded: Sequence[AgentAnswer], around: Around, how: Challenge) -> Tally:
    """Give the case its mutants, each fault once: of its good answers, else of the guess of one."""
    case = tally.located.case
    to_pass, of_guess = recorded, None
    looked_at = _LookedAt(case, how.options)
    if how.run_id is None:
        guess = good_replies(case, how.tools)
        of_guess = (await _checked(case, guess, how)).result
        to_pass = (*recorded, guess) if of_guess.status in PASSING else recorded
        mutants = list(broken_agents(case, guess, around))
    else:
        guess = recorded[0]
        mutants = [mutant for good in recorded for mutant in mutations(case, good, around)]
    allowed = case.allow or {}
    distinct = {(mutant.challenger, mutant.turn, mutant.difference): mutant for mutant in reversed(mutants)}
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
        tally.asked |= dict.fromkeys(asked)
        changed = looked_at.changed(mutant.good or guess, mutant.answer)
        tried = failed | changed.intersection(asked)
        tally.decided.append(DecidedMutant(mutant.challenger, mutant.turn, outcome == "killed", tried, failed))
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


async def _response_of(neighbour: Case | None, how: Challenge) -> tuple[str, AgentResponse] | None:
    """The guess of what is good for another case, if its checks take it for good."""
    if neighbour is None:
        return None
    guess = good_replies(neighbour, how.tools)
    run = await _checked(neighbour, guess, how)
    last = last_response(guess)
    return (neighbour.id, last) if run.result.status in PASSING and last.response else None


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
                names |= dict.fromkeys(name for reply in replies_in(answer) for name in names_in(reply.text))
    return Around(how.tools, tuple(tools), {name: tuple(each) for name, each in values.items()}, tuple(names))
