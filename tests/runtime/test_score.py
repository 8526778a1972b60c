"""Scores, against tables worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.compare.totals import SuiteScore, weighted_mean
from evalc.model.case import Case, CheckLink, Criterion, Input
from evalc.model.result import CriterionResult, JudgedScore, ScoredBy
from evalc.runtime.checks import PASSED, Verdict, failed, skipped
from evalc.runtime.run.score import below, score_case, score_run

NO = failed("no")
SKIP = skipped(("{{seed:x}}",))


def case(*criteria: Criterion, unlinked: tuple[CheckLink, ...] | None = None) -> Case:
    return Case(id="s/c", description="d", input=Input(message="m"), criteria=criteria or None, unlinked=unlinked)


def linked(name: str, weight: float, *links: CheckLink) -> Criterion:
    return Criterion(name=name, weight=weight, checks=links or None)


def at(*pointers: str, weight: float = 1) -> CheckLink:
    return CheckLink(at=pointers, weight=weight)


def test_linked_checks_score_by_their_weights() -> None:
    criterion = linked("c", 1, at("/a", weight=3), at("/b", weight=1))
    score, (result,) = score_case(case(criterion), {"/a": PASSED, "/b": NO})
    assert (score, result.score, result.scored_by) == (0.75, 0.75, "linked")


def test_the_pointers_of_a_link_pass_together() -> None:
    criterion = linked("c", 1, at("/low", "/high"), at("/b"))
    assert score_case(case(criterion), {"/low": PASSED, "/high": NO, "/b": PASSED}).score == 0.5
    assert score_case(case(criterion), {"/low": PASSED, "/high": SKIP, "/b": PASSED}).score == 1.0


def test_a_link_that_was_skipped_whole_leaves_the_share() -> None:
    criterion = linked("c", 1, at("/a", weight=9), at("/b"))
    assert score_case(case(criterion), {"/a": SKIP, "/b": PASSED}).score == 1.0


def test_a_criterion_whose_links_were_all_skipped_is_unscored() -> None:
    result = score_case(case(linked("c", 1, at("/a"))), {"/a": SKIP, "/b": NO})
    assert (result.score, result.criteria[0].score, result.criteria[0].scored_by) == (None, None, None)


def test_criteria_without_links_take_the_unlinked_checks() -> None:
    score, (one, other) = score_case(case(linked("one", 0.3, at("/a")), linked("other", 0.7)), _two_of_three())
    assert (one.score, one.scored_by) == (0.0, "linked")
    assert other.score == pytest.approx(2 / 3)
    assert other.scored_by == "unlinked"
    assert score == pytest.approx(0.7 * 2 / 3)


def _two_of_three() -> dict[str, Verdict]:
    return {"/a": NO, "/b": PASSED, "/c": PASSED, "/d": NO}


def test_the_two_bounds_of_a_check_count_once() -> None:
    verdicts = {"/expect/responseNonEmpty": PASSED, "/expect/minLength": PASSED, "/expect/maxLength": NO}
    assert score_case(case(linked("c", 1)), verdicts).score == 0.5


def test_bounds_that_a_criterion_links_apart_count_apart() -> None:
    verdicts = {"/expect/minLength": NO, "/expect/maxLength": PASSED, "/expect/responseNonEmpty": PASSED}
    score = score_case(case(linked("low", 1, at("/expect/minLength")), linked("rest", 1)), verdicts)
    assert [criterion.score for criterion in score.criteria] == [0.0, 1.0]


def test_unlinked_checks_have_the_case_s_weights() -> None:
    weights = (at("/a", "/b", weight=3),)
    assert score_case(case(linked("c", 1), unlinked=weights), {"/a": PASSED, "/b": PASSED, "/c": NO}).score == 0.75


def test_a_judge_scores_what_no_check_is_linked_to() -> None:
    said = {name: JudgedScore(score=3, max_score=4, reason="r") for name in ("judged", "linked")}
    criteria = (linked("judged", 1), linked("linked", 1, at("/a")), linked("left", 2))
    score, results = score_case(case(*criteria), {"/a": NO, "/b": PASSED}, said)
    assert [(result.name, result.score, result.scored_by) for result in results] == [
        ("judged", 0.75, "judge"),
        ("linked", 0.0, "linked"),
        ("left", 1.0, "unlinked"),
    ]
    assert results[0].judged == said["judged"]
    assert score == pytest.approx(2.75 / 4)


def test_a_suite_names_what_scored_its_criteria_and_how_much_of_the_weight() -> None:
    suite = SuiteScore([linked("tone", 0.25), linked("never", 0.5)])
    assert suite.scored_weight() == 0
    ways: tuple[tuple[ScoredBy | None, float | None], ...] = (
        ("judge", 1.0),
        (None, None),
        ("linked", 0.0),
        ("linked", 0.5),
    )
    for scored_by, score in ways:
        suite.add([CriterionResult(name="tone", weight=0.25, score=score, scored_by=scored_by)])
    tone, never = suite.summaries()
    assert (tone.score, tone.cases, tone.of, tone.scored_by) == (0.5, 3, 4, ("judge", "linked"))
    assert (never.score, never.cases, never.of, never.scored_by) == (None, 0, 0, ())
    assert suite.scored_weight() == pytest.approx(1 / 3)
    assert SuiteScore([]).scored_weight() is None


def test_a_check_of_two_criteria_scores_both() -> None:
    score = score_case(case(linked("x", 1, at("/a")), linked("y", 1, at("/a"))), {"/a": PASSED})
    assert [criterion.score for criterion in score.criteria] == [1.0, 1.0]


def test_unscored_criteria_leave_the_average() -> None:
    score = score_case(case(linked("x", 0.2, at("/a")), linked("y", 0.8, at("/gone"))), {"/a": PASSED})
    assert score.score == 1.0


def test_expected_has_its_share_as_score() -> None:
    share = Verdict(outcome="passed", score=2 / 3)
    assert score_case(case(), {"/expected": share}).score == 2 / 3
    assert score_case(case(linked("c", 1)), {"/expected": share}).score == pytest.approx(2 / 3)
    assert score_case(case(), {"/expect/minLength": PASSED}).score is None


def test_sums_of_tenths_compare_as_they_read() -> None:
    criteria = (linked("x", 0.1, at("/a")), linked("y", 0.2, at("/a")), linked("z", 0.7, at("/b")))
    score = score_case(case(*criteria), {"/a": PASSED, "/b": NO}).score
    assert score == 0.3
    assert below(score, 0.3) is None


def test_thresholds_say_why() -> None:
    assert below(0.75, 0.8) == "threshold: score 0.75 is below 0.8"
    assert below(0.8, 0.8) is None
    assert below(None, None) is None
    assert below(None, 0.8) == "threshold: nothing was scored, and 0.8 is needed"


def result(name: str, score: float | None) -> CriterionResult:
    return CriterionResult(name=name, weight=1, score=score, scored_by=None if score is None else "linked")


def test_a_suite_s_score_is_the_formula_over_the_criteria_s_means() -> None:
    suite = SuiteScore(
        [Criterion(name="x", weight=0.3), Criterion(name="y", weight=0.5), Criterion(name="z", weight=2)]
    )
    suite.add([result("x", 1.0), result("y", 0.5), result("z", None)])
    suite.add([result("x", 0.0), result("y", None), result("z", None)])
    suite.add([result("x", None), result("y", None), result("z", None)])
    x, y, z = suite.summaries()
    assert [(s.score, s.cases, s.of) for s in (x, y, z)] == [(0.5, 2, 3), (0.5, 1, 3), (None, 0, 3)]
    assert suite.score() == 0.5
    assert suite.scored_weight() == round(0.8 / 2.8, 12)


def test_a_suite_without_criteria_has_no_score() -> None:
    suite = SuiteScore(None)
    assert (suite.score(), suite.scored_weight(), suite.summaries()) == (None, None, ())


def test_a_run_s_score_is_the_mean_of_its_suites() -> None:
    assert score_run([0.5, None, 1.0]) == 0.75
    assert score_run([None]) is None


def test_weights_of_zero_score_nothing() -> None:
    assert weighted_mean([(0, 1.0), (0, 0.0)]) is None


@given(st.lists(st.tuples(st.floats(0.001, 100), st.floats(0, 1)), min_size=1))
def test_a_weighted_mean_lies_between_its_parts(parts: list[tuple[float, float]]) -> None:
    mean = weighted_mean(parts)
    assert mean is not None
    scores = [score for _, score in parts]
    assert min(scores) - 1e-9 <= mean <= max(scores) + 1e-9


def test_a_mean_has_twelve_decimals() -> None:
    assert weighted_mean([(1, 2 / 3)]) == 0.666666666667
