"""The parts that the examples share: a tool, and a script that stands for a model, so that they need no key."""

from __future__ import annotations

import re
from typing import Any

PRICES = {"Paris": 120, "Oslo": 95}


def book(city: str, nights: int) -> dict[str, Any]:
    """Book a room.

    Args:
        city: The city of the hotel.
        nights: The number of nights.
    """
    if city not in PRICES:
        raise ValueError(f"there are no rooms in {city}")
    return {"city": city, "nights": nights, "total": PRICES[city] * nights}


def reply(said: list[str], result: str | None) -> str | dict[str, Any]:
    """Answer with a text, or with the arguments of a call of `book`.

    Args:
        said: what the user said so far.
        result: what the tool gave back since then.
    """
    if result is not None:
        total = re.search(r"total\D+(\d+)", result)
        return f"Booked for {total[1]} euros." if total else f"Sorry: {result}"
    city = re.search(r"Paris|Oslo|Atlantis", " ".join(said))
    nights = re.search(r"(\d+) nights", " ".join(said))
    if city is None:
        return "Which city would you like to stay in?"
    return {"city": city[0], "nights": int(nights[1])} if nights else "How many nights?"
