"""Failures by their reasons: seventy cases that fail for seven reasons are seven groups."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from evalc.model.result import CaseResult
from evalc.report.words import main_reason

_VALUES: Final = re.compile(r"""(?<!\w)(?:'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<![\w.])-?\d+(?:[.,]\d+)*""")
"""Matches quoted values and numbers, in which the reasons of one group may differ."""
_FEW: Final = 5
"""The failures that need no groups."""
_LONGEST: Final = 400
_MOST_GROUPS: Final = 1_000


class FailureGroup(NamedTuple):
    """Cases that did not pass for the same reason, in the order in which they were found."""

    reason: str
    """The check and the reason of the first case if all have the same, else with `…` for what differs."""
    cases: int
    first: str
    """The id of the first case."""


def failure_groups(cases: Iterable[CaseResult]) -> tuple[FailureGroup, ...]:
    """The cases that did not pass by their main reasons, the largest group first; at most 1,000 groups.

    None if that makes nothing shorter: there are few cases, or each has a reason of its own.
    """
    found: dict[str, FailureGroup] = {}
    for case in cases:
        reason = None if case.passed else main_reason(case)
        if reason is None:
            continue
        words = reason.words[:_LONGEST]
        key = pattern_of(words)
        group = found.get(key)
        if group is not None:
            found[key] = group._replace(reason=words if words == group.reason else key, cases=group.cases + 1)
        elif len(found) < _MOST_GROUPS:
            found[key] = FailureGroup(words, 1, case.id)
    failures = sum(group.cases for group in found.values())
    if failures <= _FEW or len(found) == failures:
        return ()
    return tuple(sorted(found.values(), key=lambda group: -group.cases))


def pattern_of(reason: str) -> str:
    """The reason without its quoted values and numbers."""
    return _VALUES.sub("…", reason)
