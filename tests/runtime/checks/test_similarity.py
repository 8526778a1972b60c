"""`similar`: the similarity of two texts by edit distance, without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of
from evalc.runtime.checks import similarity as s
from tests.runtime.checks.conftest import Ask

HAND_COMPUTED = [
    ("", "", 1.0),
    ("", "abc", 0.0),
    ("abc", "xyz", 0.0),
    ("kitten", "sitting", 4 / 7),
    ("flaw", "lawn", 0.5),
    ("0123456789", "01234567xx", 0.8),
    ("Abc", "abc", 2 / 3),
    ("\ud800a", "a", 0.5),
]


@pytest.mark.parametrize(("one", "other", "expected"), HAND_COMPUTED)
def test_by_hand(one: str, other: str, expected: float) -> None:
    assert s.similarity(one, other) == expected
    assert s.similarity(other, one) == expected


def distance(one: str, other: str) -> int:
    """Wagner and Fischer's table, row by row."""
    row = list(range(len(other) + 1))
    for i, mine in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, its in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (mine != its))
    return row[-1]


letters = st.text("abä漢", max_size=12)


@given(one=letters, other=letters)
def test_it_is_levenshtein_over_the_longer_text(one: str, other: str) -> None:
    longer = max(len(one), len(other))
    assert s.similarity(one, other) == ((longer - distance(one, other)) / longer if longer else 1.0)


@pytest.mark.parametrize("kept", range(1, 20))
def test_a_threshold_is_met_to_the_last_bit(ask: Ask, kept: int) -> None:
    check = check_of({"type": "similar", "value": "a" * 20, "threshold": float(f"{kept * 0.05:.2f}")})
    assert ask(check, "a" * kept + "b" * (20 - kept)).outcome == "passed"
    assert ask(check, "a" * (kept - 1) + "b" * (21 - kept)).outcome == "failed"


def test_a_failure_says_how_similar_it_is(ask: Ask) -> None:
    verdict = ask(check_of({"type": "similar", "value": "kitten", "threshold": 0.6}), "sitting")
    assert verdict.outcome == "failed"
    assert verdict.message == "expected response to be at least 0.6 similar to 'kitten' but it is 0.5714: 'sitting'"
    assert verdict.score == 0.0


def test_a_shown_similarity_is_never_rounded_up_to_the_threshold(ask: Ask) -> None:
    verdict = ask(check_of({"type": "similar", "value": "a" * 20000, "threshold": 0.9}), "a" * 17_999 + "b" * 2_001)
    assert "but it is 0.8999:" in (verdict.message or "")


def test_composed_and_decomposed_are_the_same(ask: Ask) -> None:
    assert (
        ask(check_of({"type": "similar", "value": "déjà vu", "threshold": 1}), "de\u0301ja\u0300 vu").outcome
        == "passed"
    )
    assert (
        ask(
            check_of({"type": "similar", "value": "한국어", "threshold": 1}),
            "\u1112\u1161\u11ab\u1100\u116e\u11a8\uc5b4",
        ).outcome
        == "passed"
    )


def test_tokens_are_filled(ask: Ask) -> None:
    assert (
        ask(check_of({"type": "similar", "value": "I am {{seed:name}}"}), "I am Anne", seed={"name": "Anna"}).outcome
        == "passed"
    )
    verdict = ask(check_of({"type": "similar", "value": "I am {{seed:nobody}}"}), "I am Anne", seed={})
    assert (verdict.outcome, verdict.skipped_tokens) == ("skipped", ("{{seed:nobody}}",))


class TestHugeTexts:
    def test_equal_ones_pass(self, ask: Ask) -> None:
        assert ask(check_of({"type": "similar", "value": "x" * 1000000}), "x" * 1_000_000).outcome == "passed"

    def test_lengths_too_different_need_no_comparison(self, ask: Ask) -> None:
        verdict = ask(check_of({"type": "similar", "value": "a" * 1000}), "b" * 10_000_000)
        assert verdict.outcome == "failed"
        assert "their lengths differ too much, 1000 and 10000000 characters" in (verdict.message or "")

    def test_others_are_an_error(self, ask: Ask) -> None:
        verdict = ask(check_of({"type": "similar", "value": "ab" * 500000}), "ba" * 500_001)
        assert verdict.outcome == "error"
        assert verdict.message == "the texts are too long to compare, 1000000 and 1000002 characters"

    def test_a_run_of_combining_marks_is_an_error(self, ask: Ask) -> None:
        verdict = ask(check_of({"type": "similar", "value": "a", "threshold": 0}), "a" + "\u0301\u0327" * 500_000)
        assert verdict.outcome == "error"
        assert verdict.message == "cannot compare a text with more than 30 combining marks in a row"
