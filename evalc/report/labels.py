"""The words about classification: accuracy, each class, and what was confused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET

from evalc.model.result import ClassSummary, RateEstimate, Summary
from evalc.report.numbers import counted, rounded
from evalc.terminal import visible

MOST_CLASSES: Final = 30
_MOST_CONFUSED: Final = 10


def label_lines(summary: Summary) -> Iterator[str]:
    """The lines of a suite whose cases have labels; none of any other."""
    labels = summary.labels
    if labels is UNSET:
        return
    over = counted(labels.cases, "labelled case")
    yield f"accuracy {rate(labels.accuracy)} over {over}, macro F1 {labels.macro_f1:.2f}"
    width = min(40, max(len(visible(each.name)) for each in labels.classes))
    for each in labels.classes[:MOST_CLASSES]:
        recall, precision, f1 = class_cells(each)
        yield f"  {visible(each.name):<{width}}  recall {recall}  precision {precision}  F1 {f1}"
    if len(labels.classes) > MOST_CLASSES:
        yield f"  and {len(labels.classes) - MOST_CLASSES} more classes"
    wrong = sorted((pair for pair in labels.confusion if pair.expected != pair.predicted), key=lambda pair: -pair.cases)
    for pair in wrong[:_MOST_CONFUSED]:
        given = "no label" if pair.predicted is None else visible(pair.predicted)
        yield f"  {visible(pair.expected)} taken for {given}: {counted(pair.cases, 'case')}"
    if len(wrong) > _MOST_CONFUSED:
        yield f"  and {len(wrong) - _MOST_CONFUSED} more pairs"


def class_cells(each: ClassSummary) -> tuple[str, str, str]:
    """A class's recall, precision and F1."""
    return rate(each.recall), rate(each.precision), f"{each.f1:.2f}"


def rate(estimate: RateEstimate) -> str:
    """A share with its interval: `0.90 (0.79 to 0.96)`; a dash where it is of none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{rounded(estimate.value)} ({estimate.low:.2f} to {estimate.high:.2f})"
