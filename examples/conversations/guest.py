"""A guest who books a room: somebody who plays the user of guest.eval.yaml, without a model.

    evalc run conversations --agent python:conversations.desk:Desk \\
        --user python:conversations.guest:play

A player is given the goal, the facts and what was said so far as JSON, and answers with JSON, as a model does for
`--user openai:MODEL`.
"""

from __future__ import annotations

import json
from typing import Any


def play(exhibit: str) -> str:
    """What the guest says next."""
    user = json.loads(exhibit)
    facts, answered = user["facts"], user["messages"][-1]["content"] if user["messages"] else ""
    if "Booked" in answered:
        return said(user, "", done=True)
    if "Which city" in answered:
        return said(user, f"{facts['city']}, please.", "city")
    if "How many nights" in answered:
        return said(user, f"For {facts['nights']} nights.", "nights")
    return said(user, "I would like a room.")


def said(user: dict[str, Any], say: str, *facts: str, done: bool = False) -> str:
    """An answer of the agreed form."""
    return json.dumps({"goal": user["goal"], "say": say, "facts": facts, "done": done})
