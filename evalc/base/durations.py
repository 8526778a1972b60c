"""Reads times with their units, as suites, configurations and flags have them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000}
"""The milliseconds of each unit."""

_DURATION: Final = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?(?:e[+-]?[0-9]{1,2})?)\s*(ms|s|m)\s*")
SCHEMA: Final = {"type": "string", "pattern": rf"^(?=[^e]*[1-9])(?:{_DURATION.pattern})(?!\n)$"}
EXPECTED: Final = "a time with its unit, such as `30s`, `500ms` or `2m`"


def milliseconds_of(text: str) -> int | float | None:
    """The milliseconds of a time such as `30s`; None if the text is something else."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return None
    milliseconds = float(Decimal(parts[1]) * MILLISECONDS[parts[2]])
    return int(milliseconds) if milliseconds.is_integer() else milliseconds
