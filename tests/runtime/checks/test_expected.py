"""The `expected` text, checked by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalc.runtime.checks.judged import expected_text, key_terms


def test_contained_ignoring_case_scores_one() -> None:
    assert expected_text(" Paris ", "it is PARIS.").score == 1.0


def test_the_share_of_key_terms_is_the_score() -> None:
    verdict = expected_text("Should mention type hints, docstring", "Add a docstring and a type.")
    assert key_terms("Should mention type hints, docstring") == ("type", "hints", "docstring")
    assert (verdict.outcome, verdict.score) == ("passed", 2 / 3)


def test_six_tenths_pass_and_less_fails() -> None:
    expected = "alpha bravo charlie delta echoes"
    assert expected_text(expected, "alpha bravo charlie").outcome == "passed"
    verdict = expected_text(expected, "alpha bravo")
    assert (verdict.outcome, verdict.score) == ("failed", 0.4)
    message = "found 2 of 5 key terms in response, expected at least 60%; missing: 'charlie', 'delta', 'echoes'"
    assert verdict.message == message


def test_without_key_terms_only_the_text_itself_will_do() -> None:
    assert expected_text("42", "41").outcome == "failed"
    assert expected_text("42", "41").score == 0.0


@given(st.text(), st.text())
def test_a_score_is_a_share(expected: str, response: str) -> None:
    verdict = expected_text(expected, response)
    assert 0.0 <= verdict.score <= 1.0
    assert (verdict.outcome == "passed") == (verdict.score >= 0.6)
    assert expected_text(expected, response + expected).score == 1.0 or expected != expected.strip()
