"""Every predicate on every subject: read as it is written, and evaluated as the reference says; or refused by name."""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from random import Random
from types import ModuleType
from typing import Any

import msgspec
import pytest

from evalc import extras
from evalc.check import tree
from evalc.check.forms import check_of, record_of
from evalc.check.predicates import PREDICATES
from evalc.grammar.read_check import read_check
from evalc.model.answer import Question, ToolCall, Usage, WrittenFile
from evalc.model.case import Case, Expect, Input
from evalc.model.result import JudgedScore
from evalc.runtime.checks import Beside, Evidence, Verdict, View
from evalc.runtime.checks.evaluate import evaluate
from tests.check import drawn
from tests.check.drawn import Line
from tests.check.reference import ENGLISH, GERMAN, NOTHING, Answer, Outcome, ToolCalled
from tests.check.reference import PREDICATES as PREDICATES_OF_VALUES

LINES = 12
"""How many lines are drawn of each pair."""
ANSWERS = 3
"""How many answers are drawn for each line."""

Make = Callable[[Random], Line]
CLAUSES = drawn.OF_VALUES | drawn.OF_MEASURES


def pair(subject: str, predicate: str) -> Make:
    def make(draw: Random) -> Line:
        clause = CLAUSES[predicate](draw)
        is_denied = draw.randrange(4) == 0 and not clause.is_contracts
        line, expected = drawn.OF_VALUE[subject](draw, clause)
        return drawn.denied(line, expected) if is_denied else (line, expected)

    return make


PAIRS: dict[str, Make] = {
    **{
        f"{subject}: {predicate}": pair(subject, predicate)
        for subject in drawn.OF_VALUE
        for predicate, clause in CLAUSES.items()
        if clause(Random(0)).in_part or subject not in drawn.HAS_PARTS
    },
    **{f"names: {predicate}": make for predicate, make in drawn.OF_NAMES.items()},
    **{f"run: {name}": make for name, make in drawn.OF_RUN.items()},
    "how often": drawn.how_often,
    "calls: fails": drawn.fails,
    "compositions": drawn.composed,
}

# --- from the reference's answers to what evalc looks at --------------------------------------------------------------


def evidence_of(answer: Answer) -> Evidence:
    calls = tuple(
        ToolCall(
            name=call.tool,
            params=call.arguments,
            success=call.error is None,
            result=msgspec.UNSET if call.result is NOTHING else call.result,
            error=msgspec.UNSET if call.error is None else call.error,
        )
        for call in answer.calls
    )
    used, made = answer.tokens or (None, None)
    return Evidence(
        response=answer.response,
        tool_calls=calls,
        duration_ms=answer.milliseconds,
        usage=Usage(input_tokens=used, output_tokens=made, cost_usd=answer.dollars),
        case=Case(id="a", description="a", input=Input(message=answer.message), expect=Expect()),
        turns=tuple(map(evidence_of, answer.turns)),
        written=tuple(
            WrittenFile(path=path, size=len(text.encode()), text=text) for path, text in answer.files.items()
        ),
        judge=Judge(),
    )


def outcome_of(verdict: Verdict) -> Outcome | str:
    """Return what a verdict is in the words of the reference; what ended in error is no outcome."""
    match verdict.outcome:
        case "error":
            return f"error: {verdict.message}"
        case "passed" if verdict.verifies:
            return Outcome.HOLDS
        case "failed":
            return Outcome.FAILS if verdict.asked else Outcome.CANNOT
        case _:
            return Outcome.UNVERIFIED


def parsed(line: str) -> tree.Check:
    """The check of a line, which has a record."""
    read = read_check(line)
    assert read.node is not None, (line, [fault.finding.fields for fault in read.faults])
    check = read.node.check
    assert check_of(record_of(check)) == check
    return check


class Judge:
    async def score(self, question: Question, text: str | None = None) -> JudgedScore:
        return JudgedScore(score=question.max_score / 2 if "a" in (text or "") else 0, max_score=question.max_score)


def share(answer: Any, *args: str) -> float:
    return sum(arg in answer.text for arg in args) / len(args)


def has_all(answer: Any, *args: str) -> bool:
    return all(arg in answer.text for arg in args)


PACKAGED: dict[str, Any] = {"share": share, "has_all": has_all}


@pytest.fixture(autouse=True)
def stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A detector of languages that knows two texts and is not sure of any other, and checks of a package."""
    detector: Any = ModuleType("evalc.extras.language")
    detector.language_of = {ENGLISH: "English", GERMAN: "German"}.get
    monkeypatch.setitem(vars(extras), "language", detector)
    monkeypatch.setattr(extras, "refuse_missing", lambda _: None)
    monkeypatch.setattr("evalc.base.load_offered", lambda _, name: PACKAGED[name])


async def differences(draws: Iterable[tuple[Line, Answer]]) -> list[str]:
    found = []
    for (line, expected), answer in draws:
        check = parsed(line)
        outcome = expected(answer)
        if outcome is Outcome.OPEN:
            continue
        verdict = await evaluate(check, View.of(evidence_of(answer)))
        if outcome_of(verdict) != outcome:
            found.append(f"{line}\n  expected: {outcome}, found: {outcome_of(verdict)}, {verdict.message}\n  {answer}")
    return found


UNREAD = {"items: numbers_from", "items: quotes_from"}
NOT_READ_YET = pytest.mark.xfail(reason="the grammar knows no sources behind an item", strict=True)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[NOT_READ_YET] * (name in UNREAD)) for name in PAIRS])
def test_a_predicate_of_a_subject_says_what_the_reference_says(name: str) -> None:
    draw = Random(name)
    lines = [PAIRS[name](draw) for _ in range(LINES)]
    draws = [(line, drawn.answer(draw, turns=2)) for line in lines for _ in range(ANSWERS)]
    found = asyncio.run(differences(draws))
    assert not found, "\n\n".join(found[:3])


def test_every_predicate_has_a_strategy() -> None:
    """A new predicate is drawn by `drawn.OF_VALUES` or `drawn.OF_NAMES`, and understood by the reference."""
    assert {*drawn.OF_VALUES, *drawn.OF_NAMES, "fails"} == set(PREDICATES)
    assert set(drawn.OF_VALUES) == set(PREDICATES_OF_VALUES)


def test_every_step_and_every_measure_is_drawn() -> None:
    nodes = [
        node
        for name in PAIRS.keys() - UNREAD
        for line, _ in [PAIRS[name](Random(name))]
        for node in tree.within(parsed(line))
    ]
    steps = {type(node.step) for node in nodes if isinstance(node, tree.Of)}
    assert steps == set(typing.get_args(tree.Step))
    measures = {node.step.of for node in nodes if isinstance(node, tree.Of) and isinstance(node.step, tree.Measure)}
    assert measures | {"tokens"} == set(typing.get_args(tree.Measured))  # `tokens` needs a vocabulary


def test_the_drawn_outcomes_are_of_every_kind() -> None:
    """The draws meet what holds, what does not, what cannot be asked, what says nothing; few are left open."""
    draw = Random(0)
    outcomes = [expected(drawn.answer(draw, turns=2)) for make in PAIRS.values() for _, expected in [make(draw)]]
    assert set(outcomes) == {*Outcome} - {Outcome.ABSENT}  # which is of one of several items or calls
    assert outcomes.count(Outcome.OPEN) < len(outcomes) / 10


# --- pairs that do not fit -------------------------------------------------------------------------------------------

SUBJECTS: dict[str, str] = {
    "latency": "number",
    "cost": "number",
    "tool count": "number",
    "tool errors": "number",
    "total tokens": "number",
    "words": "number",
    "count": "number",
    "tools": "names",
    "any call of book": "call",
    "response": "value",
    "at total": "value",
    "tool book.city": "value",
    "any item of items": "value",
}
"""A line's beginning for each kind of subject."""


NO_PREDICATES_THERE = {"include": "is a word of `contains`", "no_errors": "is a line of its own"}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_predicate_that_cannot_be_asked_of_a_subject_is_refused_by_the_names_of_both(subject: str) -> None:
    """Unless its words mean another predicate there, whose operand is then what is wrong."""
    kind = SUBJECTS[subject]
    words = {row.line.split()[0] for row in PREDICATES.values() if kind in row.on} | (
        {"has"} if kind == "call" else set()
    )
    for name, predicate in PREDICATES.items():
        if kind in predicate.on:
            continue
        line = f"{subject} {predicate.examples[0]}"
        read = read_check(line)
        if read.node is not None:
            nodes = tree.within(read.node.check)
            assert name not in {node.predicate for node in nodes if isinstance(node, tree.Test)}, line
            continue
        finding = read.faults[0].finding
        if words.isdisjoint(predicate.line.split()) and name not in NO_PREDICATES_THERE:
            assert finding.code == "EV160", (line, finding.message())
            assert finding.message().startswith(f"`{subject}` is "), line


# --- lines that compete for calls ------------------------------------------------------------------------------------


def most_that_pass(asks: Sequence[Callable[[ToolCalled], Outcome]], calls: list[ToolCalled]) -> int:
    """How many lines can have a call each that passes them, by trying every way to give the calls out."""
    seats = [*calls, *([None] * len(asks))]
    return max(
        sum(call is not None and ask(call) is Outcome.HOLDS for ask, call in zip(asks, order, strict=True))
        for order in permutations(seats, len(asks))
    )


@pytest.mark.parametrize("seed", range(100))
def test_lines_about_any_call_are_about_different_calls(seed: int) -> None:
    draw = Random(seed)
    lines = [drawn.any_call(draw) for _ in range(draw.choice((2, 3)))]
    arguments = [{"a": draw.choice((1, 5, "a")), "b": draw.choice((2, "5"))} for _ in range(draw.randrange(4))]
    answer = Answer("x", [ToolCalled("book", each, result=1) for each in arguments])
    checks = [parsed(line) for line, _ in lines]

    async def passing() -> int:
        beside, evidence = Beside(checks), evidence_of(answer)
        verdicts = [await evaluate(check, View.of(evidence, beside)) for check in checks]
        return sum(verdict.outcome == "passed" for verdict in verdicts)

    assert asyncio.run(passing()) == most_that_pass([ask for _, ask in lines], answer.calls), (lines, answer)
