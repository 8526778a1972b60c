"""Run ids: UUIDs of version 7, which sort as the runs began."""

from __future__ import annotations

import os
import re
import time
import uuid
from pathlib import Path
from typing import Final

_RANDOM_BITS: Final = 74
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_END_OF_TIME: Final = 250_000_000_000
"""The year 9892, in seconds since 1970."""


def new_run_id(output_dir: Path | None = None) -> str:
    """An id for a run that begins now (RFC 9562, 5.7), and behind those that are in the output folder already.

    A run that was made while the clock was ahead is not the latest until real time has caught up: what begins later
    sorts later.
    """
    milliseconds = max(time.time_ns() // 1_000_000, _last_in(output_dir) + 1)
    noise = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | (noise >> 62) << 64 | 0b10 << 62 | noise & (1 << 62) - 1))


def _last_in(output_dir: Path | None) -> int:
    """The latest time in the ids of a folder's runs, in milliseconds since 1970, as far as a calendar has it."""
    try:
        names = [] if output_dir is None else [folder.name for folder in output_dir.iterdir()]
    except OSError:  # it is not there yet, or cannot be read, which is told where it is written to
        return 0
    # Ids sort as their times do, so that only the last that is one needs to be read.
    for name in sorted(names, reverse=True):
        if _ID.fullmatch(name) and (began := began_at(name)) is not None and began < _END_OF_TIME:
            return round(began * 1000)
    return 0


def began_at(run_id: str) -> float | None:
    """The time in the id, in seconds since 1970; None where it is no UUID of version 7."""
    try:
        parsed = uuid.UUID(run_id)
    except ValueError:
        return None
    return (parsed.int >> 80) / 1000 if parsed.version == 7 else None
