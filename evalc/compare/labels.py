"""How well cases were classified: the confusion of labels, and precision, recall and F1 of each class."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import final

from evalc.compare.exact import wilson
from evalc.model.result import ClassSummary, ConfusedClasses, LabelSummary, RateEstimate

_DECIMALS = 12


@final
class Classified:
    """Counts the cases by the class that they should have been given and the one that they were."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str | None]] = Counter()

    def add(self, expected: str, predicted: str | None) -> None:
        """Count a case; `predicted` is None where its answer has no label."""
        self._counts[expected, predicted] += 1

    def summary(self) -> LabelSummary | None:
        """What the counts say; None of no cases."""
        if not self._counts:
            return None
        names = sorted({expected for expected, _ in self._counts} | {given for _, given in self._counts if given})
        classes = tuple(map(self._class, names))
        right = sum(count for (expected, given), count in self._counts.items() if expected == given)
        return LabelSummary(
            cases=self._counts.total(),
            accuracy=_estimate(right, self._counts.total()),
            macro_f1=round(fmean(each.f1 for each in classes), _DECIMALS),
            classes=classes,
            confusion=tuple(
                ConfusedClasses(expected=expected, predicted=given, cases=count)
                for (expected, given), count in sorted(self._counts.items(), key=_in_order)
            ),
        )

    def _class(self, name: str) -> ClassSummary:
        right = self._counts[name, name]
        expected = sum(count for (label, _), count in self._counts.items() if label == name)
        given = sum(count for (_, label), count in self._counts.items() if label == name)
        return ClassSummary(
            name=name,
            recall=_estimate(right, expected),
            precision=_estimate(right, given),
            f1=round(2 * right / (expected + given), _DECIMALS),
        )


def _in_order(counted: tuple[tuple[str, str | None], int]) -> tuple[str, bool, str]:
    (expected, given), _ = counted
    return expected, given is None, given or ""


def _estimate(right: int, of: int) -> RateEstimate:
    interval = wilson(right, of)
    if interval is None:
        return RateEstimate(value=None, low=None, high=None, of=0)
    low, high = (round(bound, _DECIMALS) for bound in interval)
    return RateEstimate(value=round(right / of, _DECIMALS), low=low, high=high, of=of)
