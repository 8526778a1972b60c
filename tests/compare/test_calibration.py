"""How far a judge agrees with people: hand-computed tables, and statsmodels' kappa on generated ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from evalc.compare.means import LabelledAnswer, Unjudged, calibration_of, kappa_of


def pairs(*values: tuple[int, int], top: int = 5) -> list[LabelledAnswer]:
    return [
        LabelledAnswer(line=line, case=str(line), label=label, score=score, max_score=top)
        for line, (label, score) in enumerate(values, 2)
    ]


def test_a_table_by_hand() -> None:
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: agreement 0.7, by chance 0.5, kappa 0.4."""
    table = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    found = calibration_of(("j",), pairs(*table, top=1))
    assert found.accuracy == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.weighted_kappa == pytest.approx(0.4), "of two steps both are the same"
    assert [(each.label, each.score, each.count) for each in found.confusion] == [
        (0, 0, 15), (0, 1, 10), (1, 0, 5), (1, 1, 20),
    ]  # fmt: skip
    assert len(found.disagreements) == 15


def test_near_misses_weigh_less() -> None:
    near = calibration_of(("j",), pairs((0, 1), (2, 2), (5, 4), (3, 3)))
    far = calibration_of(("j",), pairs((0, 5), (2, 2), (5, 0), (3, 3)))
    assert near.accuracy == far.accuracy == 0.5
    assert near.weighted_kappa == pytest.approx(8 / 9)
    assert far.weighted_kappa is not None
    assert far.weighted_kappa < 0


def test_the_furthest_apart_come_first() -> None:
    found = calibration_of(("j",), pairs((4, 5), (0, 5), (3, 3)))
    assert [pair.line for pair in found.disagreements] == [3, 2]


def test_kappa_is_unknown_where_chance_agrees_always() -> None:
    found = calibration_of(("j",), pairs((1, 1), (1, 1)))
    assert (found.accuracy, found.kappa, found.weighted_kappa) == (1.0, None, None)
    nothing = calibration_of(("j",), (), [Unjudged(line=2, case="a", error="down")])
    assert (nothing.answers, nothing.accuracy, nothing.kappa) == (0, None, None)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_it_is_the_kappa_of_statsmodels(values: list[tuple[int, int]]) -> None:
    counts: Counter[tuple[float, float]] = Counter(values)
    table = np.zeros((5, 5))
    for label, score in values:
        table[label, score] += 1
    for squared, weights in ((False, None), (True, "fc")):
        ours = kappa_of(counts, squared=squared)
        if ours is not None:
            theirs = cohens_kappa(table, wt=weights, return_results=False)
            assert ours == pytest.approx(float(theirs), abs=1e-9)
