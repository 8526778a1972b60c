"""Suggests the name that a misspelt one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def or_rather(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or an empty text if no known name is near."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.7) if len(name) <= 80 else []
    return f"; did you mean `{near[0]}`?" if near and near[0] != name else ""
