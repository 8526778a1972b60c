"""Decides what a case counts as: skipped, repeated until K of N attempts pass, or expected to fail."""

from __future__ import annotations

from collections.abc import Callable, Container, Coroutine, Iterable, Sequence
from math import isfinite
from typing import Any, Final

import msgspec

from evalc.base.terminal import counted
from evalc.compare.totals import DECIMALS, weighted_mean
from evalc.model.case import Case
from evalc.model.result import PASSING, AttemptResult, CaseDetails, CaseResult, CriterionResult, SkippedCase, Status
from evalc.model.suite import LocatedCase
from evalc.runtime.run.case import agent_broke, sum_of_known
from evalc.runtime.run.score import unscored
from evalc.runtime.store.journal import CaseRun, JournaledCases, RecordedAnswer

_LADDER: Final[tuple[Status, ...]] = ("passed", "unverified", "error")
"""The statuses of a repeated case before `failed`, from the best down."""

_Amounts = dict[str, int | float]
Attempting = Callable[[LocatedCase], Coroutine[Any, Any, CaseRun]]
"""Makes one attempt at a case."""


def run_attempts(
    located: LocatedCase, attempt: Attempting, *, until_sure: bool = False
) -> Coroutine[Any, Any, CaseRun]:
    """Run the case as often as it says, one attempt after the other; `until_sure`, until no further one matters."""
    repeat = located.case.repeat
    return attempt(located) if repeat is None else _repeated(located, repeat, attempt, until_sure=until_sure)


async def _repeated(located: LocatedCase, repeat: int, attempt: Attempting, *, until_sure: bool) -> CaseRun:
    case = located.case
    runs: list[CaseRun] = []
    while len(runs) < repeat and not (until_sure and _is_sure(case, runs)):
        runs.append(await attempt(located))
    try:
        return combine(case, runs)
    except Exception as error:  # an answer with impossible numbers
        return agent_broke(located, error)


def _is_sure(case: Case, runs: Sequence[CaseRun]) -> bool:
    """Whether the case ends as it would however the attempts that are left end."""
    statuses, left = [run.result.status for run in runs], (case.repeat or 1) - len(runs)
    best: list[Status] = ["passed"] * left
    worst: list[Status] = ["failed"] * left
    needed = _needed(case)
    return bool(runs) and status_of([*statuses, *best], needed) == status_of([*statuses, *worst], needed)


def _needed(case: Case) -> int:
    return case.repeat or 1 if case.require is None else case.require


def combine(case: Case, runs: Sequence[CaseRun]) -> CaseRun:
    """The result of the case, from one attempt or more."""
    results = [run.result for run in runs]
    needed = _needed(case)
    status = status_of([result.status for result in results], needed)
    number, deciding = next(
        ((number, result) for number, result in enumerate(results, 1) if result.status == status), (1, results[0])
    )
    # As everywhere, a case that ended in error has no score: it would count as measured in the means.
    score, criteria = unscored(case) if status == "error" else (_mean(results), _criteria(results))
    result = msgspec.structs.replace(
        deciding,
        status=status,
        passed=status in PASSING,
        duration_ms=round(sum(result.duration_ms for result in results), 3),
        started_at=results[0].started_at,
        ended_at=results[-1].ended_at,
        assertions_run=sum(result.assertions_run for result in results),
        assertions_skipped=sum(result.assertions_skipped for result in results),
        score=score,
        criteria=criteria,
        error=_error(deciding, number, results, needed),
        flaky=len({result.passed for result in results}) > 1,
        details=_details(deciding.details, results),
        attempts=tuple(map(_attempt, results)),
        not_attempted=(case.repeat or 1) - len(runs) or msgspec.UNSET,
    )
    return CaseRun(
        result,
        tuple(note for run in runs for note in run.notes),
        sum_of_known(run.cost_usd for run in runs),
        sent=runs[0].sent,
        answers=tuple([RecordedAnswer.of(run.result, run.tool_mode) for run in runs]),
        unreachable=all(run.unreachable for run in runs),
    )


def status_of(statuses: Sequence[Status], needed: int) -> Status:
    """The best status that as many attempts as needed reach.

    So a case is `error` where the errors decide: it would have passed, had the attempts not broken.
    """
    reached = 0
    for status in _LADDER:
        reached += statuses.count(status)
        if reached >= needed:
            return status
    return "failed"


def _error(deciding: CaseResult, number: int, results: Sequence[CaseResult], needed: int) -> str | msgspec.UnsetType:
    """How many attempts passed of how many needed, and why one did not."""
    if deciding.error is msgspec.UNSET:
        return msgspec.UNSET
    passed = sum(result.passed for result in results)
    return f"repeat: {passed} of {len(results)} attempts passed, {needed} needed; attempt {number}: {deciding.error}"


def _attempt(result: CaseResult) -> AttemptResult:
    return AttemptResult(
        status=result.status,
        duration_ms=result.duration_ms,
        score=result.score,
        error=result.why or msgspec.UNSET,
        response=result.details.response,
    )


def _mean(results: Iterable[CaseResult | CriterionResult]) -> float | None:
    return weighted_mean((1, result.score) for result in results)


def _criteria(results: Sequence[CaseResult]) -> tuple[CriterionResult, ...]:
    """Each criterion's mean over the attempts that scored it."""
    return tuple(map(_criterion, zip(*(result.criteria for result in results), strict=True)))


def _criterion(scores: Sequence[CriterionResult]) -> CriterionResult:
    scored_by = next((score.scored_by for score in scores if score.scored_by is not None), None)
    # What a judge said of one attempt says nothing of the mean.
    judged = scores[0].judged if len(scores) == 1 else msgspec.UNSET
    return msgspec.structs.replace(scores[0], score=_mean(scores), scored_by=scored_by, judged=judged)


def _details(deciding: CaseDetails, results: Sequence[CaseResult]) -> CaseDetails:
    """The details of one attempt, with what all of them met and used."""
    tokens = dict.fromkeys(token for result in results for token in result.details.skipped_tokens)
    return msgspec.structs.replace(
        deciding,
        skipped_tokens=tuple(tokens),
        usage=_sums(result.details.usage for result in results),
        judge_usage=_sums(result.details.judge_usage for result in results),
    )


def _sums(usages: Iterable[_Amounts | msgspec.UnsetType]) -> _Amounts | msgspec.UnsetType:
    """The usage of all attempts; unset if none states it."""
    sums: _Amounts = {}
    for usage in usages:
        if usage is not msgspec.UNSET:
            for name, value in usage.items():
                sums[name] = round(sums.get(name, 0) + value, DECIMALS)
    return {name: total for name, total in sums.items() if isfinite(total)} or msgspec.UNSET


# --- cases that are skipped or expected to fail ----------------------------------------------------------------------


def skipped_case(case: Case, otherwise: str | None = None) -> SkippedCase | None:
    """The record of a case that is not sent; None for a case that is. Archived cases are retired for good.

    `otherwise` is why none of its suite is sent that says nothing of itself.
    """
    archived = case.archived is not None
    reason = case.archived if archived else otherwise if case.skip is None else case.skip
    if reason is None:
        return None
    stopped = True if case.skip is None and not archived else msgspec.UNSET
    return SkippedCase(id=case.id, description=case.description, reason=reason, archived=archived, stopped=stopped)


def why_no_rubrics(numbers: Iterable[int], cases: JournaledCases, gated: Container[int]) -> str | None:
    """Why the suites of rubrics are not run: a case of the other suites, given by their numbers, fails the run.

    Of the suites that are `gated` gates decide, and not each case; but an error fails any run.
    """
    failed = sum(
        entry.status == "error" if number in gated else not entry.passed
        for number in numbers
        for entry in cases.entries(number)
    )
    if not failed:
        return None
    return f"the rubric tier is not run: {counted(failed, 'case')} of the other tiers did not pass"


def as_expected(case: Case, result: CaseResult) -> CaseResult:
    """The result, turned round if a failure is expected. What broke or was not verified is neither."""
    why = case.expected_failure
    if why is None:
        return result
    result = msgspec.structs.replace(result, expected_failure=why)
    match result.status:
        case "failed":
            return msgspec.structs.replace(result, status="expected-failure", passed=True)
        case "passed":
            error = f"expectedFailure: passed, but a failure was expected: {why}"
            return msgspec.structs.replace(result, status="unexpected-pass", passed=False, error=error)
        case _:
            return result
