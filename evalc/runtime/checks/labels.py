"""Reads the class that a response gives, as the check of its label reads it."""

from __future__ import annotations

from evalc.ecma.text import class_name, trim
from evalc.model.case import Label
from evalc.model.result import LabelResult
from evalc.runtime.checks.json_checks import place_of
from evalc.runtime.checks.verdict import Evidence, Verdict


def label_result(label: Label, response: str | None) -> LabelResult:
    """The expected class and the given one, which are equal if and only if the label's check passes.

    A response gives no class if it did not come in time, is blank, or has nothing or null at the label's place. Only
    the label `null` accepts null.
    """
    expected = class_name(label.expected, label.path)
    place = None if response is None else _place(label.path, Evidence(response=response))
    if place is None:
        return LabelResult(expected=expected, predicted=None)
    given = class_name(place.response, label.path)
    names_one = given == expected or (trim(given) != "" and place.place is not None)
    return LabelResult(expected=expected, predicted=given if names_one else None)


def _place(path: str | None, whole: Evidence) -> Evidence | None:
    """The place of a response that a label is about; None if it is not there."""
    place = whole if path is None else place_of(path, whole)
    return None if isinstance(place, Verdict) else place
