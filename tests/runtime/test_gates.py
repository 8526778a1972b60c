"""Gates, to the last case and millisecond, and the end of a run before its last case."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.model.case import Gates
from evalc.model.result import CaseDetails, CaseResult, GateResult
from evalc.runtime.run.gates import Limits, Measured, StopPolicy, durations_of, judge_gates, percentile
from evalc.runtime.store.journal import Entry


def measured(
    passed: int = 0,
    total: int = 0,
    *,
    score: float | None = None,
    durations: Sequence[float] = (),
    scores: Sequence[float] = (),
    regressions: int = 0,
    new_passes: int | None = None,
) -> Measured:
    return Measured(
        passed=passed,
        total=total,
        score=score,
        durations=lambda: durations,
        scores=lambda: scores,
        regressions=regressions,
        new_passes=new_passes,
    )


def verdict(gates: Gates, of: Measured) -> bool:
    (result,) = judge_gates(gates, of)
    return result.passed


def test_without_gates_there_is_no_verdict() -> None:
    assert judge_gates(None, measured(1, 1)) == ()
    assert judge_gates(Gates(), measured(1, 1)) == ()
    assert judge_gates(Gates(fail_on_regression=False), measured(1, 1)) == ()


@pytest.mark.parametrize(
    ("passed", "total", "least", "met"),
    [
        (9, 10, 0.9, True),
        (89, 100, 0.9, False),
        (7, 10, 0.7, True),
        (1, 3, 0.3333, True),
        (1, 3, 0.33333334, False),
        (0, 5, 0, True),
        (5, 5, 1, True),
        (4, 5, 1, False),
        (29, 100, 0.29, True),
        (57, 100, 0.57, True),
    ],
)
def test_the_pass_rate_is_compared_as_it_is_written(passed: int, total: int, least: float, met: bool) -> None:
    assert verdict(Gates(min_pass_rate=least), measured(passed, total)) is met


@given(st.integers(1, 500), st.data(), st.decimals(0, 1, places=6))
def test_a_pass_rate_is_met_where_the_fractions_say_so(total: int, data: st.DataObject, least: object) -> None:
    passed = data.draw(st.integers(0, total))
    met = Fraction(passed, total) >= Fraction(str(least))
    assert verdict(Gates(min_pass_rate=float(str(least))), measured(passed, total)) is met


@pytest.mark.parametrize(
    "gates",
    [Gates(min_pass_rate=0), Gates(min_score=0), Gates(max_p95_ms=1e9), Gates(fail_on_regression=True)],
    ids=["rate", "score", "p95", "regression"],
)
def test_over_no_cases_no_gate_is_met(gates: Gates) -> None:
    (result,) = judge_gates(gates, measured())
    assert (result.value, result.passed) == (None, False)


def test_all_gates_in_their_order() -> None:
    gates = Gates(fail_on_regression=True, max_p95_ms=10, min_score=0.3, min_pass_rate=0.5)
    of = measured(1, 2, score=0.3, durations=[10.0, 9], regressions=1)
    assert judge_gates(gates, of) == (
        GateResult(gate="minPassRate", limit=0.5, value=0.5, passed=True),
        GateResult(gate="minScore", limit=0.3, value=0.3, passed=True),
        GateResult(gate="maxP95Ms", limit=10, value=10.0, passed=True),
        GateResult(gate="failOnRegression", limit=0, value=1, passed=False),
    )


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (10, 10), (19, 19), (20, 19), (21, 20), (100, 95), (101, 96)])
def test_the_percentile_is_the_nearest_rank(count: int, rank: int) -> None:
    assert percentile([float(number) for number in range(1, count + 1)]) == rank


def test_times_are_those_of_attempts_and_none_of_errors() -> None:
    results = (
        b'{"status": "passed", "durationMs": 5}',
        b'{"status": "error", "durationMs": 1}',
        (
            b'{"status": "failed", "durationMs": 30, "attempts":'
            b' [{"status": "passed", "durationMs": 10}, {"status": "failed", "durationMs": 20}]}'
        ),
    )
    assert list(durations_of(entries_of(results))) == [5, 10, 20]


def test_an_attempt_that_timed_out_took_longer_than_any_limit() -> None:
    results = (
        b'{"status": "failed", "durationMs": 9, "timedOut": true}',
        b'{"status": "expected-failure", "durationMs": 9, "timedOut": true}',
        (
            b'{"status": "failed", "durationMs": 30, "timedOut": true, "attempts": ['
            b'{"status": "failed", "durationMs": 9, "response": null},'
            b'{"status": "failed", "durationMs": 8, "response": "late"}]}'
        ),
    )
    durations = list(durations_of(entries_of(results)))
    assert durations == [inf, inf, inf, 8]
    (gate,) = judge_gates(Gates(max_p95_ms=1e9), measured(1, 4, durations=durations))
    assert (gate.value, gate.passed) == (None, False)
    (gate,) = judge_gates(Gates(max_p95_ms=1e9, confidence=0.9), measured(1, 4, durations=durations * 9))
    assert (gate.verdict, gate.passed) == ("fails", False)


def entries_of(results: Sequence[bytes]) -> list[Entry]:
    return [Entry(suite=0, case=number, result=msgspec.Raw(result)) for number, result in enumerate(results)]


def test_limits_that_are_no_numbers_never_reach_a_verdict() -> None:
    for limit in (nan, inf):
        with pytest.raises(ValueError, match="Invalid literal"):
            judge_gates(Gates(min_score=limit), measured(1, 1, score=1))


@pytest.mark.parametrize(
    ("passed", "total", "verdict", "more"),
    [(29, 29, "holds", None), (28, 28, "undecided", 1), (50, 60, "undecided", 15), (0, 2, "fails", None)],
)
def test_a_gate_with_a_confidence_holds_fails_or_is_undecided(
    passed: int, total: int, verdict: str, more: int | None
) -> None:
    (gate,) = judge_gates(Gates(min_pass_rate=0.9, confidence=0.95), measured(passed, total))
    assert (gate.verdict, gate.passed) == (verdict, verdict == "holds")
    assert (None if gate.more_cases is msgspec.UNSET else gate.more_cases) == more
    assert gate.confidence == 0.95


def test_where_the_rate_is_the_limit_no_number_of_cases_decides() -> None:
    (gate,) = judge_gates(Gates(min_pass_rate=0.9, confidence=0.95), measured(9, 10))
    assert (gate.verdict, gate.more_cases) == ("undecided", None)


def test_a_gate_on_time_with_a_confidence() -> None:
    gates = Gates(max_p95_ms=100, confidence=0.95)
    (few,) = judge_gates(gates, measured(1, 1, durations=[10] * 58))
    (many,) = judge_gates(gates, measured(1, 1, durations=[10] * 59))
    (slow,) = judge_gates(gates, measured(1, 1, durations=[10, 200, 200]))
    assert (few.verdict, many.verdict, slow.verdict) == ("undecided", "holds", "fails")


def test_a_gate_on_the_score_with_a_confidence() -> None:
    gates = Gates(min_score=0.5, confidence=0.95)
    (good,) = judge_gates(gates, measured(1, 1, score=0.9, scores=[0.9] * 40))
    (bad,) = judge_gates(gates, measured(1, 1, score=0.1, scores=[0.1] * 40))
    (few,) = judge_gates(gates, measured(1, 1, score=0.9, scores=[0.9] * 3))
    (none,) = judge_gates(gates, measured(1, 1))
    assert (good.verdict, bad.verdict, few.verdict) == ("holds", "fails", "undecided")
    assert not none.passed


def test_regressions_fail_the_gate_only_where_they_are_shown() -> None:
    gates = Gates(fail_on_regression=True, confidence=0.95)
    found = {
        flips: judge_gates(gates, measured(9, 10, regressions=flips[0], new_passes=flips[1]))[0]
        for flips in ((0, 0), (4, 0), (5, 0), (20, 19))
    }
    assert [gate.verdict for gate in found.values()] == ["holds", "undecided", "fails", "undecided"]
    assert [gate.passed for gate in found.values()] == [True, True, False, True]
    (without,) = judge_gates(gates, measured(9, 10, regressions=1))
    assert (without.verdict, without.passed) == ("fails", False)


def test_no_cases_meet_no_gate_however_sure() -> None:
    gates = Gates(min_pass_rate=0, min_score=0, max_p95_ms=1, fail_on_regression=True, confidence=0.9)
    assert [gate.passed for gate in judge_gates(gates, measured())] == [False] * 4


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
