"""Slugs: what is allowed in the names of files, in ids and as the name of what a judge scores."""

from __future__ import annotations

import re
from typing import Final

_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST_DIMENSION: Final = 40
_OTHER: Final = re.compile(r"[^A-Za-z0-9._-]+")


def is_slug(text: str) -> bool:
    """Whether a text is made of letters, digits, `-`, `_` and `.`, and begins with a letter or digit."""
    return _SLUG.fullmatch(text) is not None


def slug(text: str) -> str:
    """The text as a slug, what a slug cannot hold being dashes; empty if nothing is left."""
    return _OTHER.sub("-", text).strip("-._")


def dimension_of(question: str) -> str:
    """A name for what a judge scores, from the words of the question."""
    name = slug(question.lower())
    if len(name) > _LONGEST_DIMENSION:
        name = name[:_LONGEST_DIMENSION].rpartition("-")[0] or name[:_LONGEST_DIMENSION]
    return name or "judge"
