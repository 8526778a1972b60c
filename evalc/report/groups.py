"""Failures by their reasons: seventy cases that fail for seven reasons are seven groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, final

from evalc.base.terminal import counted
from evalc.model.suite import Place
from evalc.report import ReportedRun
from evalc.report.words import Writer, main_reason

_VALUES: Final = re.compile(r"""(?<!\w)(?:'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<![\w.])-?\d+(?:[.,]\d+)*""")
"""Matches quoted values and numbers, in which the reasons of one group may differ."""
_FEW: Final = 5
"""The failures that need no groups."""
_LONGEST: Final = 400
_MOST_GROUPS: Final = 1_000
_MOST_SHOWN: Final = 10
_MOST_IDS: Final = 3
_MOST_PLACES: Final = 3


class FailureGroup(NamedTuple):
    """Cases that did not pass for the same reason, in the order in which they were found."""

    check: str | None
    """The line of the check, None where no check says so. It has `…` for what differs between the cases."""
    message: str
    """Its message, likewise."""
    cases: int
    ids: tuple[str, ...]
    """The ids of the first cases, three at most."""
    places: tuple[Place, ...] = ()
    """The first places in eval files that the reasons are about, three at most."""

    @property
    def reason(self) -> str:
        """The check and the message on one line."""
        return self.message if self.check is None else f"{self.check}: {self.message}"


@final
class FailureGroups:
    """Puts failures together whose reasons differ only in quoted values and numbers; at most 1,000 groups."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str | None, str], int] = {}
        self._found: list[FailureGroup] = []
        self._failures = 0

    def add(self, identity: str, check: str | None, message: str, place: Place | None = None) -> int | None:
        """The number of the group that the failure belongs to, from 0; None where there are too many groups."""
        self._failures += 1
        check, message = check and check[:_LONGEST], message[:_LONGEST]
        pattern = (check and pattern_of(check), pattern_of(message))
        number = self._numbers.get(pattern)
        if number is not None:
            group = self._found[number]
            is_new = place not in group.places and len(group.places) < _MOST_PLACES
            self._found[number] = FailureGroup(
                check=check if check == group.check else pattern[0],
                message=message if message == group.message else pattern[1],
                cases=group.cases + 1,
                ids=group.ids if len(group.ids) == _MOST_IDS else (*group.ids, identity),
                places=(*group.places, place) if place is not None and is_new else group.places,
            )
        elif (number := len(self._found)) < _MOST_GROUPS:
            self._numbers[pattern] = number
            self._found.append(FailureGroup(check, message, 1, (identity,), () if place is None else (place,)))
        else:
            return None
        return number

    @property
    def numbered(self) -> Sequence[FailureGroup]:
        """The groups by their numbers; none if each failure has a reason of its own, which makes nothing shorter."""
        return () if len(self._found) == self._failures else self._found

    def largest(self) -> tuple[FailureGroup, ...]:
        """The groups, the largest first; none if there are few failures."""
        return () if self._failures <= _FEW else tuple(sorted(self.numbered, key=lambda group: -group.cases))


def failure_groups(run: ReportedRun) -> tuple[FailureGroup, ...]:
    """The cases that did not pass by their main reasons, the largest group first; few failures are not read."""
    if run.summary.failed <= _FEW:
        return ()
    groups = FailureGroups()
    for case in (case for suite in run.suites for case in suite.cases if not case.passed):
        if (reason := main_reason(case)) is not None:
            groups.add(case.id, reason.check, reason.message, reason.place)
    return groups.largest()


def group_lines(groups: Sequence[FailureGroup], writer: Writer) -> Iterator[str]:
    """The largest groups for a screen, each with its first cases below."""
    width = len(str(groups[0].cases)) if groups else 0
    for group in groups[:_MOST_SHOWN]:
        yield from writer.wrapped(group.reason, f"    {group.cases:>{width}}  ")
        more = f" and {group.cases - len(group.ids)} more" if group.cases > len(group.ids) else ""
        ids = writer.wrapped(", ".join(group.ids) + more, f"    {'':{width}}  ")
        yield from (writer.painted(line, "dim") for line in ids)
    if len(groups) > _MOST_SHOWN:
        yield f"    and {counted(len(groups) - _MOST_SHOWN, 'more reason')}"


def pattern_of(reason: str) -> str:
    """The reason without its quoted values and numbers."""
    return _VALUES.sub("…", reason)
