"""Failures by their reasons: seventy cases that fail for seven reasons are seven groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from evalc.base.terminal import counted
from evalc.report.reported import ReportedRun
from evalc.report.words import Writer, main_reason

_VALUES: Final = re.compile(r"""(?<!\w)(?:'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<![\w.])-?\d+(?:[.,]\d+)*""")
"""Matches quoted values and numbers, in which the reasons of one group may differ."""
_FEW: Final = 5
"""The failures that need no groups."""
_LONGEST: Final = 400
_MOST_GROUPS: Final = 1_000
_MOST_SHOWN: Final = 10
_MOST_IDS: Final = 3


class FailureGroup(NamedTuple):
    """Cases that did not pass for the same reason, in the order in which they were found."""

    reason: str
    """The check and the reason of the first case if all have the same, else with `…` for what differs."""
    cases: int
    ids: tuple[str, ...]
    """The ids of the first cases, three at most."""


def failure_groups(run: ReportedRun) -> tuple[FailureGroup, ...]:
    """The cases that did not pass by their main reasons, the largest group first; few failures are not read."""
    if run.summary.failed <= _FEW:
        return ()
    failed = (case for suite in run.suites for case in suite.cases if not case.passed)
    reasons = ((case.id, main_reason(case)) for case in failed)
    return grouped((identity, reason.words) for identity, reason in reasons if reason is not None)


def grouped(failures: Iterable[tuple[str, str]]) -> tuple[FailureGroup, ...]:
    """Cases by their reasons, each an id and a reason; the largest group first, at most 1,000.

    None if that makes nothing shorter: there are few cases, or each has a reason of its own.
    """
    found: dict[str, FailureGroup] = {}
    count = 0
    for identity, reason in failures:
        count += 1
        words = reason[:_LONGEST]
        key = pattern_of(words)
        group = found.get(key)
        if group is not None:
            ids = group.ids if len(group.ids) == _MOST_IDS else (*group.ids, identity)
            found[key] = FailureGroup(words if words == group.reason else key, group.cases + 1, ids)
        elif len(found) < _MOST_GROUPS:
            found[key] = FailureGroup(words, 1, (identity,))
    if count <= _FEW or len(found) == count:
        return ()
    return tuple(sorted(found.values(), key=lambda group: -group.cases))


def group_lines(groups: Sequence[FailureGroup], writer: Writer) -> Iterator[str]:
    """The largest groups for a screen, each with its first cases below."""
    width = len(str(groups[0].cases)) if groups else 0
    room = writer.width - len("    ") - width - len("  ")
    for group in groups[:_MOST_SHOWN]:
        yield f"    {group.cases:>{width}}  {writer.shortened(group.reason, room)}"
        more = f" and {group.cases - len(group.ids)} more" if group.cases > len(group.ids) else ""
        yield writer.painted(f"    {'':{width}}  {writer.shortened(', '.join(group.ids) + more, room)}", "dim")
    if len(groups) > _MOST_SHOWN:
        yield f"    and {counted(len(groups) - _MOST_SHOWN, 'more reason')}"


def pattern_of(reason: str) -> str:
    """The reason without its quoted values and numbers."""
    return _VALUES.sub("…", reason)
