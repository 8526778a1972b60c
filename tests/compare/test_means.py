"""The corrected mean and the length bias, held against numpy, scipy and a simulation."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalc.compare.means import corrected_mean, length_bias


def test_the_corrected_mean_covers_the_truth_as_often_as_stated() -> None:
    """A judge that is too kind: its own mean is far off, the corrected one is not."""
    draw = np.random.default_rng(8)
    truth, runs, covered = 0.6, 2_000, 0
    for _ in range(runs):
        labels = draw.random(400) < truth
        scores = np.where(labels, draw.random(400) < 0.95, draw.random(400) < 0.35)
        found = corrected_mean(labels[:100].tolist(), scores[:100].tolist(), scores[100:].tolist())
        assert found is not None
        covered += found.low <= truth <= found.high
    assert covered / runs == pytest.approx(0.95, abs=0.02)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40),
    st.lists(st.floats(0, 1), min_size=1),
)
def test_the_corrected_mean_is_what_it_says(pairs: list[tuple[float, float]], unlabelled: list[float]) -> None:
    labels, scores = np.array(pairs).T
    found = corrected_mean(labels.tolist(), scores.tolist(), unlabelled)
    assert found is not None
    assert found.value == pytest.approx(float(np.clip(np.mean(unlabelled) + np.mean(labels - scores), 0, 1)), abs=1e-9)
    assert found.low >= 0
    assert found.high <= 1


def test_too_few_labels_correct_nothing() -> None:
    assert corrected_mean([1], [1], [0.5]) is None
    assert corrected_mean([1, 0], [1, 1], []) is None


def test_the_length_bias_is_pearsons_r() -> None:
    draw = np.random.default_rng(2)
    lengths = draw.integers(10, 500, 60)
    excess = lengths / 500 + draw.normal(0, 0.3, 60)
    found = length_bias(excess.tolist(), lengths.tolist())
    expected = stats.pearsonr(excess, lengths)
    low, high = expected.confidence_interval(0.95)
    assert found is not None
    assert msgspec.structs.astuple(found) == pytest.approx((expected.statistic, low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("excess", "lengths"), [([0.1] * 20, list(range(20))), ([0.0, 1.0] * 10, [5] * 20), ([0, 1], [1, 2])]
)
def test_where_nothing_varies_there_is_no_bias(excess: list[float], lengths: list[int]) -> None:
    assert length_bias(excess, lengths) is None


def test_a_perfect_line() -> None:
    found = length_bias([float(number) for number in range(12)], list(range(12)))
    assert found is not None
    assert msgspec.structs.astuple(found) == pytest.approx((1, 1, 1))
