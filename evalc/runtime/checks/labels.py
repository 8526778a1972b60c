"""Reads the class that a response gives, as the check of its label reads it."""

from __future__ import annotations

from evalc.check.tree import At
from evalc.check.values import text_of
from evalc.ecma.text import class_name, trim
from evalc.model.case import Label
from evalc.model.result import LabelResult
from evalc.runtime.checks.subjects import step_to
from evalc.runtime.checks.verdict import Evidence, View


def label_result(label: Label, response: str | None) -> LabelResult:
    """The expected class and the given one, which are equal if and only if the label's check passes.

    A response gives no class if it did not come in time, is blank, or has nothing or null at the label's place. Only
    the label `null` accepts null.
    """
    expected = class_name(label.expected, label.path)
    place = None if response is None else View.of(Evidence(response=response))
    if place is not None and label.path is not None:
        place = step_to(At(label.path), place)
    if place is None or place.fault is not None:
        return LabelResult(expected=expected, predicted=None)
    given = class_name(text_of(place.value), label.path)
    names_one = given == expected or (trim(given) != "" and place.value is not None)
    return LabelResult(expected=expected, predicted=given if names_one else None)
