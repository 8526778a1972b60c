"""Finds the check that notices a fault and passes every good answer, as the line that an author would write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from evalc.challenge.mutant import Mutant
from evalc.dsl.quoting import as_item
from evalc.importers.check_line import LITERALLY, line_of
from evalc.model import checks as c
from evalc.model.answer import AgentAnswer
from evalc.model.case import Case
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.run.run_case import CaseOptions, evidence_of

_MOST_TRIED: Final = 12
_BRACES: Final = "{{"


class Cure(NamedTuple):
    """A check, and the item of a list that says it in YAML."""

    check: c.Check
    line: str


async def line_that_kills(
    case: Case, mutant: Mutant, goods: Sequence[AgentAnswer], options: CaseOptions
) -> Cure | None:
    """The first cure of the mutant that fails on it and passes all good answers; None if there is none."""
    for check in islice(_candidates(mutant), _MOST_TRIED):
        if not await kills(case, check, mutant.answer, options):
            continue
        if not all([await passes(case, check, good, options) for good in goods]):
            continue
        line = line_of(check, LITERALLY, str)
        if line is not None and _BRACES not in line and "\n" not in line:
            return Cure(check, as_item(line))
    return None


def _candidates(mutant: Mutant) -> Iterator[c.Check]:
    """The cures; in a conversation also as checks of the turn that was changed."""
    turns = len(mutant.answer.turns)
    for check in mutant.cures:
        yield check
        if turns > 1:
            yield c.InTurn(turn=turns, check=check)


async def kills(case: Case, check: c.Check, answer: AgentAnswer, options: CaseOptions) -> bool:
    """Whether the check fails on the answer."""
    return await _outcome(case, check, answer, options) == "failed"


async def passes(case: Case, check: c.Check, answer: AgentAnswer, options: CaseOptions) -> bool:
    """Whether the check holds for the answer."""
    return await _outcome(case, check, answer, options) == "passed"


async def _outcome(case: Case, check: c.Check, answer: AgentAnswer, options: CaseOptions) -> str:
    return (await evaluate(check, evidence_of(case, answer, options))).outcome
