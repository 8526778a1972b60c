"""Scores as every report shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.model.numbers import outward, percent, rounded


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
        (1 - 1e-15, "0.999999999999999"),
        (0.004, "0.004"),
    ],
)
def test_a_score_is_rounded_and_only_a_full_one_reads_as_full(score: float, shown: str) -> None:
    assert rounded(score) == shown


@pytest.mark.parametrize(
    ("score", "limit", "shown"),
    [(0.8999, 0.9, "0.8999"), (0.9, 0.9, "0.90"), (0.5, 0.9, "0.50"), (0.9049, 0.9048, "0.905")],
)
def test_a_number_is_shown_on_its_own_side_of_a_limit(score: float, limit: float, shown: str) -> None:
    assert rounded(score, limit) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.9, "90 %"), (0.945, "94.5 %"), (1.0, "100 %"), (0.9996, "99.96 %"), (0.0, "0 %"), (0.0002, "0.02 %")],
)
def test_only_all_reads_as_all_and_only_nothing_as_nothing(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((0.9994, 1.0), ("0.99", "1.00")),
        ((0.0, 0.0006), ("0.00", "0.01")),
        ((0.1, 0.29), ("0.10", "0.29")),
        ((0.1 + 0.2, 0.7 + 0.1), ("0.30", "0.80")),
        ((-0.0151, -0.001), ("-0.02", "0.00")),
    ],
)
def test_the_ends_of_an_interval_are_rounded_outward(interval: tuple[float, float], shown: tuple[str, str]) -> None:
    assert outward(*interval) == shown


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 4))
def test_a_shown_interval_is_never_narrower(one: float, other: float, digits: int) -> None:
    low, high = sorted((one, other))
    shown = [float(end) for end in outward(low, high, digits=digits)]
    assert shown[0] <= low + 1e-9
    assert shown[1] >= high - 1e-9
    assert shown[1] - shown[0] <= high - low + 2 * 10**-digits + 1e-9
