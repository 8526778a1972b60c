"""Routes tickets by their words: an agent that classifies, and is wrong now and then.

evalc run intents --agent python:intents.router:route
"""

from __future__ import annotations

import json

WORDS = {
    "refund": ("money", "charged", "return", "pay", "refund", "difference"),
    "delivery": ("parcel", "send", "tracking", "courier", "address", "post"),
    "account": ("password", "account", "email", "login"),
}


def route(ticket: str) -> str:
    """The team as JSON, and how sure that is: the share of the telling words that speak for it."""
    counts = {team: sum(word in ticket.lower() for word in words) for team, words in WORDS.items()}
    team = max(counts, key=lambda name: counts[name])
    total = sum(counts.values())
    return json.dumps({"team": team, "confidence": counts[team] / total if total else 0.0})
