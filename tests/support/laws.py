"""How often laws are tried."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

BRIEF: Final = 10
"""The examples of a law where it is not tried at length: `--hypothesis-profile=brief`."""


def examples(count: int) -> int:
    """So many, or as many as a brief look takes."""
    return min(count, BRIEF) if settings.get_current_profile_name() == "brief" else count
