"""What becomes of cases that are skipped or expected to fail."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from evalc.model.case import Case
from evalc.model.result import CaseResult, SkippedCase
from evalc.runtime.store.journaled import JournaledCases


def skipped_case(case: Case, otherwise: str | None = None) -> SkippedCase | None:
    """The record of a case that is not to be sent; None for one that is. What is archived is retired for good.

    `otherwise` is why none of its suite is sent that says nothing of itself.
    """
    archived = case.archived is not None
    reason = case.archived if archived else otherwise if case.skip is None else case.skip
    if reason is None:
        return None
    return SkippedCase(id=case.id, description=case.description, reason=reason, archived=archived)


def why_no_rubrics(numbers: Iterable[int], cases: JournaledCases) -> str | None:
    """Why the suites of rubrics are not run: a case of the other suites, given by their numbers, did not pass."""
    failed = sum(not entry.passed for number in numbers for entry in cases.entries(number))
    if not failed:
        return None
    counted = "1 case of the other tiers" if failed == 1 else f"{failed} cases of the other tiers"
    return f"the rubric tier is not run: {counted} did not pass"


def as_expected(case: Case, result: CaseResult) -> CaseResult:
    """The result, turned round where a failure is expected. What broke or was not verified is neither."""
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
