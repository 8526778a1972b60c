"""From a number that somebody wrote to whether it can be what it is meant as, and to how messages show it."""

from __future__ import annotations

from typing import Final

_LIGHTEST: Final = 1e-9
_HEAVIEST: Final = 1e9
_MOST_DIGITS: Final = 30

WEIGHTS: Final = "0, or from 0.000000001 to 1,000,000,000"
"""The weights that there are, in words: sums of them neither overflow nor vanish."""


def is_weight(number: float) -> bool:
    """Whether a number can be a weight."""
    return number == 0 or _LIGHTEST <= number <= _HEAVIEST


def shown_number(number: float) -> str:
    """The number as messages have it; of an integer of many digits how many."""
    if isinstance(number, int) and abs(number) >= 10**_MOST_DIGITS:
        return f"an integer of about {int(number.bit_length() * 0.30103) + 1} digits"
    return f"{number}" if isinstance(number, int) else f"{number:g}"
