"""Challenges the cases of suites: has their checks look at faulty answers, and counts what they notice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, final

from evalc.challenge.broken_agents import Around, broken_agents
from evalc.challenge.cure import line_that_kills
from evalc.challenge.good_answer import good_answer, tools_wanted
from evalc.challenge.mutant import Mutant, last_response, replies
from evalc.challenge.mutations import Others, mutations, names_in
from evalc.challenge.tally import AllTallies, Outcome, Survived, Tally
from evalc.model import checks as c
from evalc.model.answer import AgentAnswer
from evalc.model.assertions import assertions
from evalc.model.case import Case
from evalc.model.reports import Strength
from evalc.model.result import PASSING, CaseResult
from evalc.model.suite import CaseKey, LocatedCase, Suite
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.run.run_case import CaseOptions, CaseRun, result_of
from evalc.tools.registry import ToolRegistry

_LOOKED_AT: Final = 1_000
"""How many cases of a suite are looked at for what other cases are about."""
_MOST_VALUES: Final = 50

GoodAnswers = Mapping[CaseKey, Sequence[AgentAnswer]]
"""The recorded answers of cases."""


@final
@dataclass(kw_only=True)
class Challenge:
    """What cases are challenged with.

    Attributes:
        options: how cases are checked.
        tools: the tool registry, if there is one.
        run_id: the run whose answers are changed; None challenges suites by themselves.
        recorded: the recorded answers, good or not: those of `run_id`, or of an earlier run whose good answers every
            line that is written has to pass.
        unusable: why the recorded answers of a case cannot be used.
        bench: who judges what only a judge can tell; None if nobody does.
        max_cost: what judging may cost, in US dollars.
    """

    options: CaseOptions
    tools: ToolRegistry | None = None
    run_id: str | None = None
    recorded: GoodAnswers = field(default_factory=dict)
    unusable: Mapping[CaseKey, str] = field(default_factory=dict)
    bench: JudgePool | None = None
    max_cost: float | None = None
    spent: float = 0.0


class Challenged(NamedTuple):
    """The strength of suites, and the survivors that a line would kill."""

    strength: Strength
    curable: tuple[Survived, ...]


async def challenge(suites: Sequence[Suite], how: Challenge) -> Challenged:
    """Challenge every case of the suites."""
    count = AllTallies()
    for suite in suites:
        await _challenge_suite(suite, how, count)
    return Challenged(count.strength(how.run_id, _warnings(how)), tuple(count.curable))


async def _challenge_suite(suite: Suite, how: Challenge, count: AllTallies) -> None:
    suite_wide = await _SuiteWide.of(suite, how)
    for located, neighbour in _with_neighbours(suite, how):
        await asyncio.sleep(0)  # the turn of Ctrl-C
        case = located.case
        reason = _not_challenged(case)
        if reason is not None:
            count.skip(case.id, reason)
            continue
        goods = await _good_answers(suite, case, how)
        if how.run_id is not None and not goods:
            key = CaseKey(suite.key, case.id)
            count.skip(case.id, how.unusable.get(key) or "no recorded answer passes its checks")
            continue
        material = await _material(case, goods, suite_wide, neighbour, how)
        count.add(await _challenged(Tally(located, suite), material, how))


class _Material(NamedTuple):
    """What a case is challenged with.

    Attributes:
        mutants: the faulty answers.
        recorded: its recorded answers that it passes.
        to_pass: the good answers that a proposed line has to pass: these, and the guess of one, if it is good.
        guess: what became of the guess that mutants were made from; None if they were made from recorded answers.
    """

    mutants: Sequence[Mutant]
    recorded: Sequence[AgentAnswer]
    to_pass: Sequence[AgentAnswer]
    guess: CaseResult | None


async def _material(
    case: Case, recorded: Sequence[AgentAnswer], suite_wide: _SuiteWide, neighbour: Case | None, how: Challenge
) -> _Material:
    if how.run_id is not None:
        mutants = [mutant for good in recorded for mutant in mutations(case, good, suite_wide.others)]
        return _Material(mutants, recorded, recorded, None)
    guess = replies(case, [good_answer(case, how.tools)] * _turns(case))
    result = (await _checked(case, guess, how)).result
    around = Around(await _answer_of(neighbour, how), how.tools, suite_wide.tools)
    to_pass = (*recorded, guess) if result.status in PASSING else recorded
    return _Material(list(broken_agents(case, guess, around)), recorded, to_pass, result)


async def _challenged(tally: Tally, material: _Material, how: Challenge) -> Tally:
    """Give the case its mutants, each fault once."""
    case = tally.located.case
    allowed = case.allow or {}
    distinct = {(mutant.challenger, mutant.difference): mutant for mutant in reversed(material.mutants)}
    for mutant in reversed(distinct.values()):
        if mutant.challenger in allowed:
            continue
        run = await _checked(case, mutant.answer, how)
        outcome, failed = _outcome(run.result, mutant, material.guess)
        if outcome == "undecided" and how.bench is not None and _may_spend(how):
            run = await _judged(case, mutant.answer, how, how.bench)
            outcome, failed = _outcome(run.result, mutant, material.guess)
        tally.add(mutant.challenger, outcome, run.result, failed)
        if outcome == "survived":
            cure = await line_that_kills(case, mutant, material.to_pass, how.options)
            tally.survived(Survived(tally.located, tally.suite, mutant, cure, material.recorded))
    return tally


def _may_spend(how: Challenge) -> bool:
    return how.max_cost is None or how.spent < how.max_cost


def _warnings(how: Challenge) -> tuple[str, ...]:
    if how.bench is None or _may_spend(how):
        return ()
    return (f"the ceiling of ${how.max_cost:g} is reached: what only a judge can tell is undecided from there on",)


def _outcome(result: CaseResult, mutant: Mutant, known_good: CaseResult | None) -> tuple[Outcome, frozenset[str]]:
    """What became of a mutant, and the assertions that noticed it.

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


async def _checked(case: Case, answer: AgentAnswer, how: Challenge) -> CaseRun:
    return await result_of(LocatedCase(case, {}), answer, how.options)


async def _judged(case: Case, answer: AgentAnswer, how: Challenge, bench: JudgePool) -> CaseRun:
    run = await result_of(LocatedCase(case, {}), answer, how.options, bench)
    how.spent += run.cost_usd or 0.0
    return run


def _not_challenged(case: Case) -> str | None:
    if case.archived is not None:
        return f"archived: {case.archived}"
    if case.skip is not None:
        return f"skipped: {case.skip}"
    if case.expected_failure is not None:
        return f"expected to fail: {case.expected_failure}"
    return None


def _turns(case: Case) -> int:
    return 1 if case.input.user is not None else 1 + len(case.input.follow_ups or ())


async def _good_answers(suite: Suite, case: Case, how: Challenge) -> Sequence[AgentAnswer]:
    """The recorded answers that the case passes as it is now, each text once."""
    found: dict[str, AgentAnswer] = {}
    for answer in how.recorded.get(CaseKey(suite.key, case.id), ()):
        if answer.response is None:
            continue
        status = (await _checked(case, answer, how)).result.status
        if status == "error" and how.bench is not None and _may_spend(how):
            status = (await _judged(case, answer, how, how.bench)).result.status
        if status in PASSING:
            found.setdefault(repr((answer.response.response, answer.response.tool_calls)), answer)
    return tuple(found.values())


async def _answer_of(neighbour: Case | None, how: Challenge) -> tuple[str, AgentAnswer] | None:
    """The guess of what is good for another case, if its checks take it for good."""
    if neighbour is None:
        return None
    guess = replies(neighbour, [good_answer(neighbour, how.tools)] * _turns(neighbour))
    run = await _checked(neighbour, guess, how)
    return (neighbour.id, guess) if run.result.status in PASSING and last_response(guess).response else None


def _with_neighbours(suite: Suite, how: Challenge) -> Iterator[tuple[LocatedCase, Case | None]]:
    """The cases, each with the previous case that sends something else; the first with the next one."""
    first: LocatedCase | None = None
    before: Case | None = None
    for located in suite.cases:
        if how.run_id is not None:
            yield located, None
        elif first is None and before is None:
            first, before = located, located.case
        else:
            if first is not None:
                yield first, _unlike(located.case, first.case)
                first = None
            yield located, _unlike(before, located.case)
            before = located.case
    if first is not None:
        yield first, None


def _unlike(other: Case | None, case: Case) -> Case | None:
    return other if other is not None and other.input.message != case.input.message else None


class _SuiteWide(NamedTuple):
    """What is known of a suite before its cases are challenged."""

    tools: tuple[str, ...]
    others: Others

    @classmethod
    async def of(cls, suite: Suite, how: Challenge) -> _SuiteWide:
        tools: dict[str, None] = {}
        values: dict[str, dict[str, None]] = {}
        names: dict[str, None] = {}
        for number, located in enumerate(suite.cases):
            if number == _LOOKED_AT:
                break
            case = located.case
            for assertion in assertions(case.expect):
                tools |= dict.fromkeys(_tools_of(assertion.check))
            if how.run_id is None:
                continue
            for name, value in (case.input.inputs or {}).items():
                if isinstance(value, str) and len(values.setdefault(name, {})) < _MOST_VALUES:
                    values[name][value] = None
            for answer in how.recorded.get(CaseKey(suite.key, case.id), ()):
                if len(names) < _MOST_VALUES:
                    names |= dict.fromkeys(names_in(last_response(answer).response))
        return cls(tuple(tools), Others({name: tuple(each) for name, each in values.items()}, tuple(names)))


def _tools_of(check: c.Check) -> tuple[str, ...]:
    """The tools that a check names."""
    match check:
        case c.ToolsOnly(names=names) | c.ToolsNotCalled(names=names):
            return names
        case c.CallHas(tool=tool):
            return (tool,)
        case _:
            return tools_wanted(check)
