"""Cases that declare themselves skipped, archived or known to fail."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from evalc.model.case import Case, Input
from evalc.model.result import CaseDetails, CaseResult, SkippedCase, Status
from evalc.runtime.run.attempts import as_expected, skipped_case


def case(**fields: Any) -> Case:
    return Case(id="s/c", description="d", input=Input(message="m"), **fields)


def result(status: Status) -> CaseResult:
    return CaseResult(
        id="s/c",
        description="d",
        passed=status in ("passed", "unverified"),
        status=status,
        duration_ms=1,
        assertions_run=1,
        assertions_skipped=0,
        score=0.5,
        error="why" if status in ("failed", "error") else msgspec.UNSET,
        details=CaseDetails(),
    )


@pytest.mark.parametrize(
    ("declared", "reason", "archived"),
    [
        ({"skip": "slow"}, "slow", False),
        ({"archived": "gone"}, "gone", True),
        ({"archived": "gone", "skip": "slow"}, "gone", True),
        ({"skip": ""}, "", False),
    ],
)
def test_a_case_that_is_not_sent(declared: dict[str, str], reason: str, archived: bool) -> None:
    assert skipped_case(case(**declared)) == SkippedCase(id="s/c", description="d", reason=reason, archived=archived)


def test_any_other_case_is_sent() -> None:
    assert skipped_case(case(expected_failure="why", repeat=2)) is None


@pytest.mark.parametrize(
    ("measured", "status", "passed", "error"),
    [
        ("failed", "expected-failure", True, "why"),
        ("passed", "unexpected-pass", False, "expectedFailure: passed, but a failure was expected: known"),
        ("error", "error", False, "why"),
        ("unverified", "unverified", True, msgspec.UNSET),
    ],
)
def test_a_failure_that_is_expected(measured: Status, status: Status, passed: bool, error: Any) -> None:
    turned = as_expected(case(expected_failure="known"), result(measured))
    assert (turned.status, turned.passed, turned.error) == (status, passed, error)
    assert (turned.expected_failure, turned.score) == ("known", 0.5)


def test_nothing_is_turned_round_where_no_failure_is_expected() -> None:
    measured = result("failed")
    assert as_expected(case(), measured) is measured
