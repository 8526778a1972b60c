"""From the cases of a run to lines about those that took longest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest

from evalc.model.result import CaseResult
from evalc.report.numbers import milliseconds
from evalc.terminal import visible


def slowest_lines(cases: Iterable[CaseResult], count: int) -> Iterator[str]:
    """The `count` slowest cases, the slowest first; of as slow ones, the first."""
    timed = ((case.duration_ms, case.id) for case in cases)
    slowest = nlargest(count, timed, key=lambda each: each[0])
    if slowest:
        yield f"  SLOWEST ({len(slowest)})"
    width = max((len(milliseconds(duration)) for duration, _ in slowest), default=0)
    for duration, identity in slowest:
        yield f"    {milliseconds(duration).rjust(width)}  {visible(identity)}"
