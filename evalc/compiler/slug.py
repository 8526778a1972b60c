"""From a text to a slug: what can stand in the names of files and in ids."""

from __future__ import annotations

import re

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")


def is_slug(text: str) -> bool:
    """Whether a text is made of letters, digits, `-`, `_` and `.`, and begins with a letter or digit."""
    return _SLUG.fullmatch(text) is not None


def slug(text: str) -> str:
    """The text as a slug, what a slug cannot hold being dashes; empty when nothing is left."""
    return _OTHER.sub("-", text).strip("-._")
