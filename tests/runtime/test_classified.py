"""Classification: the confusion and its measures, held against scikit-learn and statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from statsmodels.stats.proportion import proportion_confint

from evalc.compare.totals import Classified

NAMES = st.sampled_from(["billing", "delivery", "refund", "ütil"])
PAIRS = st.lists(st.tuples(NAMES, NAMES | st.none()), min_size=1, max_size=60)

NO_LABEL = "\0"
"""A substitute for no label, which scikit-learn lacks: it is left out of the classes."""


@given(PAIRS)
def test_the_measures_are_those_of_scikit_learn(pairs: list[tuple[str, str | None]]) -> None:
    classified = Classified()
    for expected, predicted in pairs:
        classified.add(expected, predicted)
    found = classified.summary()
    assert found is not None
    true = [expected for expected, _ in pairs]
    given_ = [NO_LABEL if predicted is None else predicted for _, predicted in pairs]
    names = sorted({*true, *given_} - {NO_LABEL})
    precision, recall, f1, support = precision_recall_fscore_support(true, given_, labels=names, zero_division=0)
    assert [each.name for each in found.classes] == names
    for index, each in enumerate(found.classes):
        assert (each.precision.value or 0.0) == pytest.approx(precision[index])
        assert (each.recall.value or 0.0) == pytest.approx(recall[index])
        assert each.f1 == pytest.approx(f1[index])
        assert each.recall.of == support[index]
    assert found.macro_f1 == pytest.approx(f1.mean())
    assert found.accuracy.value == pytest.approx(accuracy_score(true, given_))
    matrix = confusion_matrix(true, given_, labels=[*names, NO_LABEL])
    counts = {(pair.expected, pair.predicted or NO_LABEL): pair.cases for pair in found.confusion}
    for row, expected in enumerate(names):
        for column, predicted in enumerate([*names, NO_LABEL]):
            assert counts.get((expected, predicted), 0) == matrix[row, column]


@given(PAIRS)
def test_the_intervals_are_wilsons(pairs: list[tuple[str, str | None]]) -> None:
    classified = Classified()
    for expected, predicted in pairs:
        classified.add(expected, predicted)
    found = classified.summary()
    assert found is not None
    for estimate in (found.accuracy, *(each.recall for each in found.classes)):
        if estimate.value is None:
            assert (estimate.of, estimate.low, estimate.high) == (0, None, None)
            continue
        low, high = proportion_confint(round(estimate.value * estimate.of), estimate.of, method="wilson")
        assert estimate.low == pytest.approx(low, abs=1e-9)
        assert estimate.high == pytest.approx(high, abs=1e-9)


def test_the_confusion_is_in_the_order_of_names_and_cases_without_a_label_come_last() -> None:
    classified = Classified()
    for expected, predicted in (("b", "a"), ("a", None), ("a", "b"), ("a", "a")):
        classified.add(expected, predicted)
    found = classified.summary()
    assert found is not None
    assert [(pair.expected, pair.predicted) for pair in found.confusion] == [
        ("a", "a"),
        ("a", "b"),
        ("a", None),
        ("b", "a"),
    ]


def test_of_no_cases_there_is_nothing_to_say() -> None:
    assert Classified().summary() is None


def test_a_class_that_was_never_given_has_no_precision() -> None:
    classified = Classified()
    classified.add("a", None)
    found = classified.summary()
    assert found is not None
    (only,) = found.classes
    assert (only.precision.value, only.recall.value, only.f1) == (None, 0.0, 0.0)
