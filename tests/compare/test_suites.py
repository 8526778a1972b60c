"""Comparing the cases of two runs: who is paired, what changed, and by how much."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from evalc.compare.suites import compare_runs
from evalc.model.reports import ComparedSuite
from evalc.model.result import ChangedCase, Medians, SuiteComparison


def case(number: int, *, passed: bool = True, **more: Any) -> dict[str, Any]:
    return {"id": f"c{number}", "passed": passed, "status": "passed" if passed else "failed", **more}


def suite(*cases: dict[str, Any], tool: str = "t", weights: dict[str, float] | None = None) -> ComparedSuite:
    criteria = [{"name": name, "weight": weight} for name, weight in (weights or {}).items()]
    written = {"toolName": tool, "tier": "golden", "cases": cases, "summary": {"criteria": criteria}}
    return msgspec.convert(written, ComparedSuite)


def compared(before: ComparedSuite, after: ComparedSuite) -> SuiteComparison:
    (found,) = compare_runs([before], [after], names=("a", "b")).suites
    return found


def scores(**criteria: float | None) -> list[dict[str, Any]]:
    return [{"name": name, "score": score} for name, score in criteria.items()]


def test_changes_of_each_case() -> None:
    before = suite(
        case(1),
        case(2, passed=False, error="x"),
        case(3, passed=False, error="was"),
        case(4, passed=False, error="y"),
        case(5),
    )
    after = suite(
        case(1, passed=False, error="z"),
        case(2),
        case(3, passed=False, error="is"),
        case(4, passed=False, error="y"),
        case(6),
    )
    found = compared(before, after)
    assert found.regressions == (ChangedCase(id="c1", before=None, after="z"),)
    assert found.new_passes == (ChangedCase(id="c2", before="x", after=None),)
    assert found.still_failing == (ChangedCase(id="c3", before="was", after="is"),)
    assert (found.came, found.went) == (("c6",), ("c5",))
    assert (found.before_run_id, found.after_run_id) == ("a", "b")
    assert found.score is None
    assert found.pass_share is None


def test_a_case_of_which_nothing_is_verified_any_more_is_a_regression_and_no_new_pass() -> None:
    nothing = {"status": "unverified"}
    before = suite(case(1), case(2, passed=False, error="x"), case(3) | nothing)
    after = suite(case(1) | nothing, case(2) | nothing, case(3) | nothing)
    found = compared(before, after)
    assert found.regressions == (ChangedCase(id="c1", before=None, after="nothing of it is verified any more"),)
    assert found.new_passes == ()
    assert (found.significance.pairs, found.significance.verdict) == (1, "unchanged")


def test_cases_that_one_run_did_not_run_are_neither_gone_nor_new() -> None:
    written = {"toolName": "t", "tier": "golden", "cases": [case(1)], "skipped": [{"id": "c2"}, {"id": "new"}]}
    after = msgspec.convert(written, ComparedSuite)
    comparison = compare_runs([suite(case(1), case(2), case(3))], [after], names=("a", "b"))
    assert comparison.suites[0].went == ("c3",)
    assert comparison.missing == ("c3",)
    assert comparison.warnings == ("t (golden): the later run did not run these cases, so they are not compared: c2",)
    back = compare_runs([after], [suite(case(1), case(2), case(3))], names=("a", "b"))
    assert back.suites[0].came == ("c3",)
    assert back.warnings == ("t (golden): the earlier run did not run these cases, so they are not compared: c2",)
    decided = msgspec.structs.replace(after, decided=True)
    (warning,) = compare_runs([suite(case(1), case(2))], [decided], names=("a", "b")).warnings
    assert "not compared" not in warning


def test_an_error_is_left_out_and_counted_but_is_a_regression_as_the_contract_has_it() -> None:
    broken = case(1, passed=False, error="agent: gone") | {"status": "error"}
    found = compared(suite(case(1), case(2)), suite(broken, case(2)))
    assert (found.significance.pairs, found.significance.errors, found.significance.verdict) == (1, 1, "unchanged")
    assert [each.id for each in found.regressions] == ["c1"]
    assert (found.after.passed, found.after.of, found.after.errors) == (1, 1, 1)


def test_nothing_but_errors_has_no_rate() -> None:
    broken = case(1, passed=False) | {"status": "error"}
    found = compared(suite(broken), suite(broken))
    assert (found.before.rate, found.before.low, found.after.of) == (None, None, 0)
    assert found.latency_ms == Medians(before=None, after=None, cases=0)


@pytest.mark.parametrize(("worse", "better", "verdict"), [(12, 0, "worse"), (0, 12, "better"), (5, 6, "inconclusive")])
def test_a_planted_change_and_noise_in_two_hundred_cases(worse: int, better: int, verdict: str) -> None:
    before = suite(
        *(
            case(n, passed=not worse <= n < worse + better, criteria=scores(k=float(n >= worse + better or n < worse)))
            for n in range(200)
        ),
        weights={"k": 1},
    )
    after = suite(
        *(case(n, passed=n >= worse, criteria=scores(k=float(n >= worse))) for n in range(200)), weights={"k": 1}
    )
    found = compared(before, after)
    assert found.significance.verdict == verdict
    assert found.score is not None
    assert found.score.verdict == verdict
    assert found.score.difference == pytest.approx((better - worse) / 200)
    assert len(found.regressions) == worse


def test_the_score_is_the_weighted_mean_of_the_means_of_criteria() -> None:
    before = suite(
        case(1, criteria=scores(a=0.5, b=None)), case(2, criteria=scores(a=0.5, b=1.0)), weights={"a": 3, "b": 1}
    )
    after = suite(
        case(1, criteria=scores(a=1.0, b=0.5)), case(2, criteria=scores(a=0.5, b=0.5)), weights={"a": 3, "b": 1}
    )
    found = compared(before, after)
    assert found.score is not None
    # `b` has a score in both runs only in the second case.
    assert found.score.before == pytest.approx((3 * 0.5 + 1 * 1.0) / 4)
    assert found.score.after == pytest.approx((3 * 0.75 + 1 * 0.5) / 4)
    assert found.score.difference == pytest.approx(found.score.after - found.score.before)
    assert [(each.name, each.before, each.after, each.cases) for each in found.criteria] == [
        ("a", 0.5, 0.75, 2),
        ("b", 1.0, 0.5, 1),
    ]


def test_the_interval_of_a_score_is_that_of_drawing_cases_anew() -> None:
    """The contributions stand for computing the whole score again over each draw of cases."""
    draw = random.Random(5)
    rows = [
        (
            draw.choice((0.0, 0.5, 1.0)),
            draw.choice((0.2, 0.5, 1.0)),
            draw.choice((None, 0.0, 1.0)),
            draw.choice((0.0, 0.5, 1.0)),
        )
        for _ in range(80)
    ]
    weights = {"a": 2.0, "b": 1.0}
    before = suite(*(case(n, criteria=scores(a=row[0], b=row[2])) for n, row in enumerate(rows)), weights=weights)
    after = suite(*(case(n, criteria=scores(a=row[1], b=row[3])) for n, row in enumerate(rows)), weights=weights)
    found = compared(before, after).score
    assert found is not None

    def difference(drawn: list[tuple[float, float, float | None, float]]) -> float:
        a = sum(row[1] - row[0] for row in drawn) / len(drawn)
        both = [row[3] - row[2] for row in drawn if row[2] is not None]
        return (2 * a + sum(both) / len(both)) / 3

    anew = sorted(difference(draw.choices(rows, k=len(rows))) for _ in range(2000))
    assert found.difference == pytest.approx(difference(rows))
    assert found.low == pytest.approx(anew[50], abs=0.02)
    assert found.high == pytest.approx(anew[-51], abs=0.02)


def test_weights_of_nothing_give_no_score() -> None:
    one = suite(case(1, criteria=scores(a=1.0)), weights={"a": 0})
    found = compared(one, one)
    assert found.score is None
    assert [each.verdict for each in found.criteria] == ["unchanged"]


def test_a_repeated_case_counts_by_the_share_of_its_attempts() -> None:
    def attempts(passed: int, of: int) -> list[dict[str, str]]:
        return [{"status": "passed" if n < passed else "failed"} for n in range(of)] + [{"status": "error"}]

    before = suite(*(case(n, attempts=attempts(9, 10)) for n in range(8)), case(9))
    after = suite(*(case(n, attempts=attempts(6, 10)) for n in range(8)), case(9))
    found = compared(before, after)
    assert found.significance.verdict == "unchanged"
    assert found.pass_share is not None
    assert found.pass_share.before == pytest.approx((8 * 0.9 + 1) / 9)
    assert found.pass_share.verdict == "worse"
    assert compared(after, before).pass_share is not None


def test_where_a_failure_is_expected_the_verdict_counts() -> None:
    expected = case(1, attempts=[{"status": "failed"}]) | {"status": "expected-failure"}
    found = compared(suite(expected), suite(expected))
    assert found.pass_share is not None
    assert found.pass_share.before == 1


def test_medians_are_over_what_both_runs_have() -> None:
    before = suite(
        case(1, durationMs=100, details={"usage": {"costUsd": 0.1}}), case(2, durationMs=300), case(3, durationMs=9)
    )
    after = suite(
        case(1, durationMs=200, details={"usage": {"costUsd": 0.3}}), case(2, durationMs=600), case(3, durationMs=None)
    )
    found = compared(before, after)
    assert found.latency_ms == Medians(before=200, after=400, cases=2)
    assert found.cost_usd == Medians(before=0.1, after=0.3, cases=1)


def test_small_suites_that_show_nothing_alone_are_judged_together() -> None:
    def run(passed: bool) -> list[ComparedSuite]:
        return [suite(*(case(n, passed=passed or n > 0) for n in range(3)), tool=f"t{t}") for t in range(6)]

    found = compare_runs(run(True), run(False), names=("a", "b"))
    assert {each.significance.verdict for each in found.suites} == {"inconclusive"}
    whole = found.significance
    assert (whole.pairs, whole.regressed, whole.newly_passed, whole.verdict) == (18, 6, 0, "worse")
    assert whole.p_value == pytest.approx(2 / 2**6)
    (alone,) = compare_runs(run(True)[:1], run(False)[:1], names=("a", "b")).suites
    assert compare_runs(run(True)[:1], run(False)[:1], names=("a", "b")).significance == alone.significance


def test_no_measure_of_attempts_is_compared_where_a_run_ended_them_early() -> None:
    def repeated(number: int, passed: int, attempts: int, left_out: int) -> dict[str, Any]:
        statuses = [{"status": "passed" if n < passed else "failed"} for n in range(attempts)]
        return case(number) | {"attempts": statuses, "notAttempted": left_out}

    whole = suite(*(repeated(n, 3, 10, 0) for n in range(12)))
    cut = suite(*(repeated(n, 2, 2 if n else 10, 0 if n == 0 else 8) for n in range(12)))
    for before, after in ((whole, cut), (cut, whole)):
        run = compare_runs([before], [after], names=("a", "b"))
        (found,) = run.suites
        assert found.pass_share is None
        assert found.latency_ms.cases == found.cost_usd.cases == 0
        (warning,) = run.warnings
        assert "11 repeated cases ended before the last attempt" in warning


def test_suites_of_several_agents_are_paired_by_agent_else_with_the_only_one() -> None:
    def of(agent: str, passed: bool) -> ComparedSuite:
        return msgspec.structs.replace(suite(case(1, passed=passed)), agent_endpoint=agent)

    def shown(before: list[ComparedSuite], after: list[ComparedSuite]) -> dict[object, int]:
        found = compare_runs(before, after, names=("a", "b"))
        return {each.agent_endpoint: len(each.new_passes) for each in found.suites}

    both = [of("x", False), of("y", True)]
    assert shown(both, [of("y", True), of("x", True)]) == {"y": 0, "x": 1}
    assert shown([of("z", False)], [of("x", True), of("y", False)]) == {"x": 1, "y": 0}
    assert shown([of("z", False)], [of("x", True)]) == {msgspec.UNSET: 1}
    found = compare_runs(both, [of("y", True)], names=("a", "b"))
    assert ([each.agent_endpoint for each in found.suites], found.only_before) == (["y"], ("t (golden, x)",))
    assert shown(both, [of("z", True)]) == {}


def test_suites_are_paired_by_tool_and_tier_and_the_first_of_two_counts() -> None:
    first, again = suite(case(1)), suite(case(1, passed=False))
    found = compare_runs([first, again, suite(tool="old")], [first, suite(tool="new")], names=("a", "b"))
    assert [(each.tool_name, each.significance.verdict) for each in found.suites] == [("t", "unchanged")]
    assert (found.only_before, found.only_after) == (("old (golden)",), ("new (golden)",))
    assert found.warnings == ("the run `a` has more than one result of the suite `t (golden)`: the first is compared",)
