"""Why a case did not simply pass, and where that was authored: the same in every report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import UNSET

from evalc.model.result import CaseResult, TextFinding
from evalc.model.suite import Place
from evalc.report.legible import in_short, legible
from evalc.terminal import visible


class Reason(NamedTuple):
    """Why a case did not simply pass, and where that was authored; `message` may quote the agent at any length.

    `at` is the JSON pointer of the assertion that says so, `finding` what it found in the response, `turn` the turn of
    a conversation that it is about; None of what no single assertion says.
    """

    message: str
    place: Place | None
    at: str | None = None
    finding: TextFinding | None = None
    turn: int | None = None

    def in_short(self, ellipsis: str = "…") -> str:
        """The message on one line of at most 400 columns, with nothing in it that a terminal would obey."""
        return in_short(self.message, ellipsis)


def reasons(case: CaseResult) -> Iterator[Reason]:
    """The case's error, placed where its assertion was authored; then every other assertion that did not hold."""
    broken = [assertion for assertion in case.assertions if assertion.outcome in ("failed", "error")]
    case_place = None if case.place is UNSET else case.place
    if case.status == "expected-failure":
        yield Reason(f"a failure is expected: {case.expected_failure}", case_place)
        return
    if case.status == "unverified":
        yield Reason(f"nothing was checked, {_why_unverified(case)}", case_place)
    elif case.error is not UNSET:
        told = next((assertion for assertion in broken if assertion.at == case.error_at), None)
        if told is None:
            yield Reason(case.error, case_place)
        else:
            yield Reason(case.error, told.place or case_place, told.at, told.finding, told.turn)
            broken.remove(told)
    for assertion in broken:
        message = f"{assertion.field}: {assertion.message}"
        yield Reason(message, assertion.place, assertion.at, assertion.finding, assertion.turn)


def main_reason(case: CaseResult) -> Reason | None:
    """The first of the reasons; None for a case that simply passed."""
    return next(reasons(case), None)


def place_of(case: CaseResult) -> Place | None:
    """Where a report points to: where the main reason was authored, else where the case was."""
    reason = main_reason(case)
    return reason.place if reason is not None else case.place or None


def reasons_in_full(case: CaseResult, *, most: int, longest: int) -> str:
    """The reasons in lines of their own, at most `longest` characters of each, with their places; `most` of them."""
    told = reasons(case)
    lines: list[str] = []
    for reason in islice(told, most):
        lines.append(legible(reason.message, longest))
        lines += [] if reason.place is None else [f"  at {visible(str(reason.place))}"]
    more = sum(1 for _ in told)
    return "\n".join([*lines, *([f"and {more} more"] if more else [])])


def timed_out(case: CaseResult) -> bool:
    """Whether the case failed because no answer came in time."""
    return case.timed_out is True


def _why_unverified(case: CaseResult) -> str:
    if case.details.skipped_tokens:
        return f"no value for {', '.join(case.details.skipped_tokens)}"
    return "no assertion applies to what the agent did"
