"""When a run sends no more."""

from __future__ import annotations

import msgspec

from evalc.model.result import CaseDetails, CaseResult
from evalc.runtime.run.gates import Limits, StopPolicy
from evalc.runtime.store.journal import Entry


def result(*, passed: bool = True) -> CaseResult:
    return CaseResult(
        id="s/c",
        description="d",
        passed=passed,
        status="passed" if passed else "failed",
        duration_ms=1,
        assertions_run=1,
        assertions_skipped=0,
        score=None,
        details=CaseDetails(),
    )


def runs(brake: StopPolicy, *costs: float | None) -> int:
    """How many cases of these costs are let go, one after the other."""
    count = 0
    for cost in costs:
        if not brake.lets_go():
            break
        brake.finished(result(), cost)
        count += 1
    return count


def test_without_limits_everything_goes() -> None:
    brake = StopPolicy(Limits())
    assert not brake.held
    assert runs(brake, *[1e9] * 5) == 5
    assert brake.warning() is None


def test_a_ceiling_is_met_to_the_cent() -> None:
    # In doubles three times 0.1 is more than 0.3.
    assert runs(StopPolicy(Limits(max_cost=0.3)), *[0.1] * 9) == 3
    assert runs(StopPolicy(Limits(max_cost=0.29)), *[0.1] * 9) == 2


def test_the_next_case_is_taken_to_cost_as_much_as_the_dearest() -> None:
    brake = StopPolicy(Limits(max_cost=1))
    assert runs(brake, 0.4, 0.3, 0.1) == 2
    assert brake.reason == "the ceiling of $1: $0.7 is spent, and a case has cost up to $0.4"


def test_cases_under_way_count_as_the_dearest() -> None:
    brake = StopPolicy(Limits(max_cost=1))
    brake.lets_go()
    brake.finished(result(), 0.3)
    assert [brake.lets_go() for _ in range(3)] == [True, True, False]


def test_a_cost_that_is_not_known_is_warned_of() -> None:
    brake = StopPolicy(Limits(max_cost=0.3))
    assert runs(brake, None, 0.1, None) == 3
    assert brake.warning() == "the ceiling of $0.3 cannot see what 2 cases cost: that is not known"


def test_the_limit_of_failures_stops_the_run() -> None:
    brake = StopPolicy(Limits(max_fail=2))
    for passed in (False, True, False):
        assert brake.lets_go()
        brake.finished(result(passed=passed), None)
    assert not brake.lets_go()
    assert brake.reason == "2 cases did not pass"
    assert brake.warning() is None


def test_costs_before_a_resume_count() -> None:
    brake = StopPolicy(Limits(max_cost=1, max_fail=9))
    line = Entry(suite=0, case=0, result=msgspec.Raw(b'{"passed": false, "status": "failed"}'), cost_usd=0.6)
    brake.recall([line])
    assert not brake.lets_go()
