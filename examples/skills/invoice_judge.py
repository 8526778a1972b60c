"""Stands in for a judge."""

from collections.abc import Mapping
from typing import Any


def judge(query: Mapping[str, Any]) -> tuple[int, str]:
    """Score what only a reader could: here whether the word is there."""
    return int("overdue" in query["response"]), "looks for the word"
