"""From what a case declares of itself, that it be skipped or is known to fail, to what becomes of it."""

from __future__ import annotations

import msgspec

from evalc.model.case import Case
from evalc.model.result import CaseResult, SkippedCase


def skipped_case(case: Case) -> SkippedCase | None:
    """The record of a case that is not to be sent; None for one that is. What is archived is retired for good."""
    reason = case.skip if case.archived is None else case.archived
    if reason is None:
        return None
    archived = case.archived is not None
    return SkippedCase(id=case.id, description=case.description, reason=reason, archived=archived)


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
