"""Numbers, and choices of cases, in words that are the same in every report."""

from __future__ import annotations

import math
from typing import Final

from evalc.model.suite import Selected

_MOST_DIGITS: Final = 12


def counted(count: int, noun: str, plural: str = "s") -> str:
    """The count with its noun; `plural` is what the noun of any other count but 1 ends with."""
    return f"{count} {noun}{'' if count == 1 else plural}"


def rounded(score: float, limit: float = 1.0) -> str:
    """Two digits, so that 0.8667 reads 0.87; more where two would read as the limit and the score is below it."""
    for digits in range(2, _MOST_DIGITS):
        scale = 10**digits
        value = math.floor(score * scale + 0.5 + 1e-9) / scale
        if score >= limit or value < limit:
            return f"{value:.{digits}f}"
    return f"{score:g}"


def milliseconds(duration: float) -> str:
    """A time in whole milliseconds, as the contract's summary has it."""
    return f"{duration:.0f}ms"


def selected_line(selected: Selected | None, total: int) -> str:
    """`2 of 40 cases selected`; where all of them are, how many."""
    if selected is None:
        return counted(total, "case")
    return f"{selected.cases} of {counted(selected.of, 'case')} selected"
