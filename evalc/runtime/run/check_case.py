"""Evaluates the assertions of a case, and asks a judge about its criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from evalc.base.errors import JudgeError
from evalc.model import checks as c
from evalc.model.assertions import Assertion, asks_judge, assertions, judge
from evalc.model.case import Case
from evalc.model.checks.declaration import type_name
from evalc.model.result import JudgedScore
from evalc.runtime.checks.evaluate import begin
from evalc.runtime.checks.expected import expected_text
from evalc.runtime.checks.judged import as_expected
from evalc.runtime.checks.verdict import Evidence, Verdict, broken
from evalc.runtime.checks.wording import shown
from evalc.runtime.run.score import EXPECTED

if TYPE_CHECKING:
    from evalc.runtime.judges.case_judge import CaseJudge

LONGEST_ERROR: Final = 500


class Checked(NamedTuple):
    """The verdicts on the assertions that were reached and their fields, by pointer; the first error and failure.

    `criteria` are the scores that a judge gave, by name; `judge` is the judge that was asked.
    """

    verdicts: Mapping[str, Verdict]
    fields: Mapping[str, str]
    error: str | None = None
    failure: str | None = None
    criteria: Mapping[str, JudgedScore] = {}
    judge: CaseJudge | None = None


UNCHECKED: Final = Checked({}, {})


async def check_case(case: Case, evidence: Evidence, judge: CaseJudge | None, *, run_all: bool) -> Checked:
    """Evaluate what the case asserts, then have its criteria judged.

    Criteria are judged whether or not the assertions hold: a mean over the answers that pass would flatter.
    """
    checked = await _check(case, evidence, run_all=run_all or bool(case.criteria))
    if judge is None:
        return checked
    checked = checked._replace(judge=judge)
    # With an error the case has no score, so that judging would be for nothing.
    return checked if checked.error else await _judge_criteria(case, checked, judge)


async def _check(case: Case, evidence: Evidence, *, run_all: bool) -> Checked:
    """Evaluate the assertions in the contract's order, up to the first that does not pass unless all must run.

    Assertions that ask a judge come last, and only if no other fails; one with a linked criterion is part of its
    score, and is asked in any case.
    """
    verdicts: dict[str, Verdict] = {}
    fields: dict[str, str] = {}
    error: str | None = None
    failure: str | None = None
    for assertion, asked in _in_order(case):
        if (error or failure) and (not run_all or (asked and not _scores(assertion.at, case, evidence))):
            continue
        try:
            begun = begin(assertion.check, evidence)
            verdict = begun if isinstance(begun, Verdict) else await begun
        except Exception as broke:  # a check that breaks must not take the case with it
            verdict = broken(f"the check broke: {type(broke).__name__}: {said(broke)}")
        verdicts[assertion.at] = verdict
        fields[assertion.at] = assertion.field
        if verdict.outcome == "error":
            error = error or f"{assertion.field}: {verdict.message}"
        elif verdict.outcome == "failed":
            failure = failure or f"{assertion.field}: {verdict.message}"
    if not verdicts and case.expected:
        verdict = (
            expected_text(case.expected, evidence.response) if evidence.judge is None else await as_expected(evidence)
        )
        verdicts[EXPECTED] = verdict
        fields[EXPECTED] = "judge" if verdict.outcome == "error" else "expected"
        error = f"judge: {verdict.message}" if verdict.outcome == "error" else None
        failure = f"expected: {verdict.message}" if verdict.outcome == "failed" else None
    return Checked(verdicts, fields, error, failure)


def _in_order(case: Case) -> Iterator[tuple[Assertion, bool]]:
    """The assertions, and whether they ask a judge: those that do come after the others, the rubric last."""
    asking: list[Assertion] = []
    for assertion in assertions(case.expect):
        if isinstance(assertion.check, _COMPOSED) and asks_judge(assertion.check):
            asking.append(assertion)
        else:
            yield assertion, False
    for index, dimension in enumerate(case.rubric or ()):
        check = judge(dimension)
        asking.append(Assertion(f"/rubric/{index}", type_name(check), check))
    for assertion in asking:
        yield assertion, True


_COMPOSED: Final = (c.Judge, c.AnyOf, c.AllOf, c.Not, c.At, c.InTurn)


def _scores(at: str, case: Case, evidence: Evidence) -> bool:
    """Whether a criterion that can be scored is linked to the assertion."""
    if evidence.judge is None:
        return False
    return any(at in link.at for criterion in case.criteria or () for link in criterion.checks or ())


async def _judge_criteria(case: Case, checked: Checked, judge: CaseJudge) -> Checked:
    """The scores of the criteria that no check is linked to; the first error ends it."""
    scores: dict[str, JudgedScore] = {}
    for criterion in case.criteria or ():
        if criterion.checks:
            continue
        try:
            scores[criterion.name] = await judge.score_criterion(criterion)
        except JudgeError as error:
            return checked._replace(error=f"judge: criterion `{shown(criterion.name)}`: {error}")
    return checked._replace(criteria=scores)


def said(error: BaseException) -> str:
    """The error's text, shortened; nothing if it cannot say it."""
    try:
        return shown(str(error), LONGEST_ERROR)
    except Exception:  # a broken `__str__` is one more mistake of the agent's
        return ""
