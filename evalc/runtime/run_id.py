"""From the time of a run to its id, a UUID of version 7, and back: ids sort as the runs began."""

from __future__ import annotations

import os
import time
import uuid
from typing import Final

_RANDOM_BITS: Final = 74


def new_run_id() -> str:
    """An id for a run that begins now (RFC 9562, 5.7)."""
    milliseconds = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | (noise >> 62) << 64 | 0b10 << 62 | noise & (1 << 62) - 1))


def began_at(run_id: str) -> float | None:
    """The time in the id, in seconds since 1970; None where it is no UUID of version 7."""
    try:
        parsed = uuid.UUID(run_id)
    except ValueError:
        return None
    return (parsed.int >> 80) / 1000 if parsed.version == 7 else None
