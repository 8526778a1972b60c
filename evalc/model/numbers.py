"""The ranges of the numbers that authors write, and how messages show a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, final

_LIGHTEST: Final = 1e-9
_HEAVIEST: Final = 1e9
_MOST_DIGITS: Final = 30


@final
class Range(NamedTuple):
    """The numbers that a field takes; `words` says which."""

    words: str
    takes: Callable[[float], bool]


SHARE: Final = Range("between 0 and 1", lambda number: 0 <= number <= 1)
CONFIDENCE: Final = Range("above 0.5 and below 1, as in `95%`", lambda number: 0.5 < number < 1)
COUNT: Final = Range("1 or more", lambda number: number >= 1)
ABOVE_ZERO: Final = Range("above 0", lambda number: number > 0)
WEIGHT: Final = Range(
    "0, or from 0.000000001 to 1,000,000,000", lambda number: number == 0 or _LIGHTEST <= number <= _HEAVIEST
)
"""Sums of weights neither overflow nor vanish."""

RANGES: Final[Mapping[str, Range]] = {
    "threshold": SHARE,
    "max_turns": COUNT,
    "repeat": COUNT,
    "min_pass_rate": SHARE,
    "min_score": SHARE,
    "max_p95_ms": ABOVE_ZERO,
    "confidence": CONFIDENCE,
    "macro_f1": SHARE,
}
"""The range of each number of a suite, of its gates and of a case, by its name in YAML."""


USUAL_CONFIDENCE: Final = 0.95
"""How sure a decision has to be if nobody says."""


def shown_confidence(confidence: float) -> str:
    """A confidence as messages have it: `95 %`."""
    from fractions import Fraction  # noqa: PLC0415 - for start-up: seldom asked for

    return f"{float(100 * Fraction(repr(confidence))):.10g} %"


def shown_number(number: float) -> str:
    """The number as messages have it; of an integer of many digits how many."""
    if isinstance(number, int) and abs(number) >= 10**_MOST_DIGITS:
        return f"an integer of about {int(number.bit_length() * 0.30103) + 1} digits"
    return f"{number}" if isinstance(number, int) else f"{number:g}"
