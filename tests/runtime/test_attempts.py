"""K of N: one result from the attempts at a case."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalc.model.case import Case, Criterion, Input
from evalc.model.result import PASSING, AssertionResult, CaseDetails, CaseResult, CriterionResult, Status
from evalc.model.suite import LocatedCase
from evalc.runtime.checks import Note
from evalc.runtime.run.attempts import combine, run_attempts, status_of
from evalc.runtime.store.journal import CaseRun

STATUSES: dict[str, Status] = {"p": "passed", "f": "failed", "e": "error", "u": "unverified"}
MEASURED = st.sampled_from(sorted(STATUSES.values()))


def case(**fields: Any) -> Case:
    return Case(id="s/c", description="d", input=Input(message="m"), **fields)


def attempt(status: Status, number: int = 1, *, scores: Sequence[float | None] = (), **fields: Any) -> CaseRun:
    """An attempt whose numbers are powers of its place, so that their sums are all different."""
    result = CaseResult(
        id="s/c",
        description="d",
        passed=status in PASSING,
        status=status,
        duration_ms=10**number,
        assertions_run=number,
        assertions_skipped=1,
        score=scores[0] if scores else None,
        criteria=tuple(
            CriterionResult(name=f"c{n}", weight=1, score=score, scored_by=None if score is None else "linked")
            for n, score in enumerate(scores)
        ),
        error=f"why {number}" if status in ("failed", "error") else msgspec.UNSET,
        details=CaseDetails(response=f"answer {number}", skipped_tokens=("{{seed:x}}", f"{{{{seed:{number}}}}}")),
        assertions=(AssertionResult(at=f"/expect/checks/{number}", outcome="passed"),),
    )
    return CaseRun(msgspec.structs.replace(result, **fields), (Note("fact", str(number)),), None)


def combined(letters: str, require: int | None = None) -> CaseResult:
    runs = [attempt(STATUSES[letter], number) for number, letter in enumerate(letters, 1)]
    return combine(case(repeat=len(runs), require=require), runs).result


@pytest.mark.parametrize(
    ("letters", "require", "status", "flaky"),
    [
        ("ppp", None, "passed", False),
        ("ppf", None, "failed", True),
        ("ppf", 2, "passed", True),
        ("pff", 2, "failed", True),
        ("ppe", 2, "passed", True),
        ("pfe", 2, "error", True),
        ("ffe", 2, "failed", False),
        ("pee", None, "error", True),
        ("fee", None, "failed", False),
        ("eee", 1, "error", False),
        ("uuu", None, "unverified", False),
        ("puu", None, "unverified", False),
        ("puu", 1, "passed", False),
        ("uuf", 2, "unverified", True),
        ("uue", None, "error", True),
        ("p", None, "passed", False),
        ("f", 1, "failed", False),
    ],
)
def test_how_a_repeated_case_ends(letters: str, require: int | None, status: Status, flaky: bool) -> None:
    result = combined(letters, require)
    assert (result.status, result.flaky, result.passed) == (status, flaky, status in PASSING)


@given(st.lists(MEASURED, min_size=1, max_size=12), st.data())
def test_the_law_of_k_of_n(statuses: list[Status], data: st.DataObject) -> None:
    needed = data.draw(st.integers(1, len(statuses)))
    status = status_of(statuses, needed)
    assert (status == "passed") == (statuses.count("passed") >= needed)
    assert (status in PASSING) == (sum(each in PASSING for each in statuses) >= needed)
    # Failures decide where even broken attempts that had passed would not have been enough.
    assert (status == "failed") == (statuses.count("failed") > len(statuses) - needed)
    assert status in statuses
    assert status == status_of(data.draw(st.permutations(statuses)), needed)
    assert _rank(status_of([*statuses, "passed"], needed)) <= _rank(status)
    assert _rank(status_of(statuses, max(needed - 1, 1))) <= _rank(status)


def _rank(status: Status) -> int:
    return ["passed", "unverified", "error", "failed"].index(status)


def test_sums_means_and_the_deciding_attempt() -> None:
    runs = [
        attempt("passed", 1, scores=(1.0, None)),
        attempt("failed", 2, scores=(0.5, 0.25)),
        attempt("error", 3, scores=(None, None)),
        attempt("failed", 4, scores=(0.0, 0.75)),
    ]
    done = combine(case(repeat=4, require=3, criteria=(Criterion(name="c0"), Criterion(name="c1"))), runs)
    result = done.result
    assert (result.duration_ms, result.assertions_run, result.assertions_skipped) == (11110, 10, 4)
    assert result.score == 0.5
    assert [(each.name, each.score, each.scored_by) for each in result.criteria] == [
        ("c0", 0.5, "linked"), ("c1", 0.5, "linked"),
    ]  # fmt: skip
    assert result.error == "repeat: 1 of 4 attempts passed, 3 needed; attempt 2: why 2"
    assert result.details.response == "answer 2"
    assert result.assertions[0].at == "/expect/checks/2"
    assert result.details.skipped_tokens == ("{{seed:x}}", *(f"{{{{seed:{n}}}}}" for n in range(1, 5)))
    assert [note.effect for note in done.notes] == ["1", "2", "3", "4"]
    assert result.attempts is not msgspec.UNSET
    assert [(each.status, each.duration_ms, each.response) for each in result.attempts] == [
        ("passed", 10, "answer 1"), ("failed", 100, "answer 2"), ("error", 1000, "answer 3"),
        ("failed", 10000, "answer 4"),
    ]  # fmt: skip
    assert [each.error for each in result.attempts] == [msgspec.UNSET, "why 2", "why 3", "why 4"]


def test_an_error_has_no_score_though_attempts_have() -> None:
    criteria = (Criterion(name="c0"),)
    runs = [attempt("passed", 1, scores=(1.0,)), attempt("error", 2, scores=(None,))]
    result = combine(case(repeat=2, criteria=criteria), runs).result
    assert (result.status, result.score) == ("error", None)
    assert [each.score for each in result.criteria] == [None]
    assert result.error == "repeat: 1 of 2 attempts passed, 2 needed; attempt 2: why 2"


def test_a_case_that_passes_has_no_error_whatever_some_attempts_had() -> None:
    assert combined("pf", 1).error is msgspec.UNSET


def test_usage_and_costs_are_summed_where_they_are_known() -> None:
    used = [CaseDetails(usage={"inputTokens": 3, "costUsd": 0.1}), CaseDetails(), CaseDetails(usage={"costUsd": 0.2})]
    runs = [attempt("passed", details=details) for details in used]
    runs = [replace(runs[0], cost_usd=0.1), runs[1], replace(runs[2], cost_usd=0.2)]
    done = combine(case(repeat=3), runs)
    assert done.result.details.usage == {"inputTokens": 3, "costUsd": 0.3}
    assert done.cost_usd == pytest.approx(0.3)
    assert combine(case(repeat=1), [attempt("passed")]).cost_usd is None


def run(each: Case, runs: Sequence[CaseRun]) -> tuple[CaseResult, int]:
    left = iter(runs)

    async def next_attempt(_located: LocatedCase) -> CaseRun:
        return next(left)

    done = asyncio.run(run_attempts(LocatedCase(each, {}), next_attempt))
    return done.result, len(runs) - len(list(left))


def test_as_many_attempts_are_made_as_the_case_says() -> None:
    runs = [attempt("passed", number) for number in range(1, 6)]
    plain, made = run(case(), runs)
    assert (plain, made) == (runs[0].result, 1)
    assert plain.attempts is plain.flaky is msgspec.UNSET
    repeated, made = run(case(repeat=3, require=1), runs)
    assert repeated.attempts is not msgspec.UNSET
    assert (len(repeated.attempts), made) == (3, 3)


def test_reported_usage_may_be_no_number() -> None:
    details = CaseDetails(usage={"costUsd": "much"})  # type: ignore[dict-item]
    result, _ = run(case(repeat=2), [attempt("passed", details=details)] * 2)
    assert result.status == "error"
