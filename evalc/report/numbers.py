"""From numbers to the words for them, which are the same in every report."""

from __future__ import annotations

import math


def counted(count: int, noun: str, plural: str = "s") -> str:
    """The count with its noun; `plural` is what the noun of any other count but 1 ends with."""
    return f"{count} {noun}{'' if count == 1 else plural}"


def rounded(score: float) -> str:
    """Two digits, rounded down: only a full score reads 1.00."""
    return f"{math.floor(score * 100 + 1e-9) / 100:.2f}"


def milliseconds(duration: float) -> str:
    """A time in whole milliseconds, as the contract's summary has it."""
    return f"{duration:.0f}ms"
