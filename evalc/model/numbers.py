"""Numbers that authors write: their ranges, times with their units, and how messages show a number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
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


_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,99}(?:\.[0-9]{0,99})?|\.[0-9]{1,99})(?:[eE][+-]?[0-9]{1,3})?")


def whole_in(text: str) -> int | None:
    """The whole number that a text is; None if it is none as people write them, in the digits 0 to 9 and no spaces.

    Python's `int` takes more: `1_0`, digits of other scripts, and spaces around the number.
    """
    return int(text) if _WHOLE.fullmatch(text) else None


def number_in(text: str) -> int | float | None:
    """The number that a text is, written likewise; None if it is none, or is not finite."""
    if (whole := whole_in(text)) is not None:
        return whole
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


_MOST_DECIMALS: Final = 12


def rounded(value: float, limit: float = 1.0, *, digits: int = 2) -> str:
    """The value with two digits, so that 0.8667 reads 0.87.

    It has more where two would read as 0 and the value is above it, or as if the value were on the other side of the
    limit.
    """
    for decimals in range(digits, _MOST_DECIMALS + 1):
        scale = 10**decimals
        shown = math.floor(value * scale + 0.5 + _NOISE) / scale
        if (value >= limit) == (shown >= limit) and (value > 0) == (shown > 0):
            return f"{shown + 0.0:.{decimals}f}"
    return f"{value!r}"


def outward(low: float, high: float, *, digits: int = 2) -> tuple[str, str]:
    """The ends of an interval, so rounded that it is not narrower than it is."""
    scale = 10**digits
    down, up = math.floor(low * scale + _NOISE) / scale, math.ceil(high * scale - _NOISE) / scale
    return f"{down + 0.0:.{digits}f}", f"{up + 0.0:.{digits}f}"


def percent(share: float) -> str:
    """The share in per cent, with one digit unless it is a 0."""
    return f"{rounded(100 * share, 100, digits=1).removesuffix('.0')} %"


_NOISE: Final = 1e-9
"""The most that sums of binary fractions are off by."""


MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000}
"""The milliseconds of each unit."""

_DURATION: Final = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?(?:e[+-]?[0-9]{1,2})?)\s*(ms|s|m)\s*")
DURATION_SCHEMA: Final = {"type": "string", "pattern": rf"^(?=[^e]*[1-9])(?:{_DURATION.pattern})(?!\n)$"}
DURATION_WORDS: Final = "a time with its unit, such as `30s`, `500ms` or `2m`"


def milliseconds_of(text: str) -> int | float | None:
    """The milliseconds of a time such as `30s`; None if the text is something else."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return None
    milliseconds = float(Decimal(parts[1]) * MILLISECONDS[parts[2]])
    return int(milliseconds) if milliseconds.is_integer() else milliseconds
