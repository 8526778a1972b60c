"""Failures by their reasons, in the console and in Markdown; cases that passed are counted where there are many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalc.base.terminal import Screen
from evalc.model.result import AssertionResult, CaseResult
from evalc.report.console import summary_lines
from evalc.report.groups import FailureGroup, failure_groups, pattern_of
from evalc.report.outputs import render
from tests.report.results import case, suite
from tests.report.runs import reported


def failing(identity: str, line: str, message: str) -> CaseResult:
    broken = AssertionResult(at="/expect/checks/0", outcome="failed", field="contains", line=line, message=message)
    return case(identity, status="failed", error=f"contains: {message}", assertions=(broken,))


def groups_of(*cases: CaseResult) -> tuple[FailureGroup, ...]:
    return failure_groups(reported(suite(*cases)))


def test_no_case_is_read_again_where_few_failed() -> None:
    run = reported(suite(case("fine"), failing("a", "json", "no")))
    unread = replace(run.suites[0], cases=iter(lambda: pytest.fail("a case is read"), None))
    assert failure_groups(replace(run, suites=(unread,))) == ()


def test_values_and_numbers_make_no_other_reason() -> None:
    rows = [failing(f"a{n}", f'contains "it\'s {n}"', f"expected 'City {n}', found {n}.5") for n in range(4)]
    same = [failing(f"b{n}", "no tool errors", "expected no failing call") for n in range(3)]
    assert groups_of(case("fine"), *same, *rows) == (
        ("contains …", "expected …, found …", 4, ("a0", "a1", "a2"), ()),
        ("no tool errors", "expected no failing call", 3, ("b0", "b1", "b2"), ()),
    )


@pytest.mark.parametrize("count", [5, 6])
def test_few_failures_and_failures_that_all_differ_have_no_groups(count: int) -> None:
    alike = [failing(f"a{n}", "valid json", "expected JSON") for n in range(count)]
    assert bool(groups_of(*alike)) == (count > 5)
    assert groups_of(*[failing(f"a{n}", f"check {'x' * n}(1)", "no") for n in range(count)]) == ()


@given(st.text())
def test_a_pattern_has_no_pattern_of_its_own(reason: str) -> None:
    assert pattern_of(pattern_of(reason)) == pattern_of(reason)


def many() -> tuple[CaseResult, ...]:
    failed = tuple(failing(f"w/f{n}", f'contains "{n}"', f"expected '{n}' in response") for n in range(6))
    return (*(case(f"w/p{n}") for n in range(40)), *failed)


def test_the_console_groups_failures_and_counts_what_passed() -> None:
    run = replace(reported(suite(*many())), exit_code=1)
    lines = list(summary_lines(run, Screen(width=100)))
    assert "  ✓ 40 cases passed; -v lists them" in lines
    assert not any("w/p1" in line for line in lines)
    at = lines.index("  REASONS (1 reason of 6 failures)")
    assert lines[at + 1 : at + 3] == ["    6  contains …: expected … in response", "       w/f0, w/f1, w/f2 and 3 more"]
    assert lines[-1] == "✗ failed: 6 of 46 cases failed"
    whole = list(summary_lines(run, Screen(width=100), detail="verbose"))
    assert sum("w/p" in line for line in whole) == 40


def test_a_run_that_passed_says_so_last() -> None:
    run = replace(reported(suite(case("a"), case("b"))), exit_code=0)
    assert list(summary_lines(run, Screen()))[-1] == "✓ passed: 2 of 2 cases"


def test_markdown_has_the_groups_before_the_failures() -> None:
    text = b"".join(render("markdown", reported(suite(*many())))).decode()
    table = (
        "### 6 failures for 1 reason\n\n| failures | reason | at | cases |\n|--:|---|---|---|\n"
        "| 6 | `contains …`: expected … in response |  | `w/f0`, `w/f1`, `w/f2` and 3 more |"
    )
    assert table in text
    assert text.index(table) < text.index("### Cases that did not pass")
