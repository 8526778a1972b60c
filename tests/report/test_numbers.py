"""Scores as every report shows them."""

from __future__ import annotations

import pytest

from evalc.report.words import rounded


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (0.8667, "0.87"),
        (0.864, "0.86"),
        (0.865, "0.87"),
        (1 / 3, "0.33"),
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.996, "0.996"),
        (0.99996, "0.99996"),
        (1 - 1e-15, "1"),
    ],
)
def test_a_score_is_rounded_and_only_a_full_one_reads_as_full(score: float, shown: str) -> None:
    assert rounded(score) == shown


@pytest.mark.parametrize(("score", "limit", "shown"), [(0.8999, 0.9, "0.8999"), (0.9, 0.9, "0.90"), (0.5, 0.9, "0.50")])
def test_a_number_that_misses_a_limit_does_not_read_as_the_limit(score: float, limit: float, shown: str) -> None:
    assert rounded(score, limit) == shown
