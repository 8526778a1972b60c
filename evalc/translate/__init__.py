"""Translates checks that are written in other tools' words or in code into lines of evalc, whole or not at all.

The line says the same where each compared value has the type of the literal, texts are in the Basic Multilingual Plane
and lists are not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final


@final
class Translation(NamedTuple):
    """A line of evalc, and what differs from the original beyond the bounds."""

    line: str
    note: str


def translated(text: str) -> Translation | None:
    """The line that says the same as a line in other words; None if no line surely does."""
    return _translation(text, lambda words: words.condition(text))


def translated_mapping(pairs: Mapping[str, Any]) -> Translation | None:
    """The line that says the same as a mapping in other words; None if no line surely does."""
    from evalc.translate.mappings import read_mapping  # noqa: PLC0415

    return _translation("", lambda words: read_mapping(words, pairs))


def _translation(original: str, meant: Callable[[Any], Any]) -> Translation | None:
    # For start-up: only if a check is wrong.
    from evalc.grammar.write_check import NoLine  # noqa: PLC0415
    from evalc.translate.names import NOTES  # noqa: PLC0415
    from evalc.translate.trees import written  # noqa: PLC0415
    from evalc.translate.words import Words  # noqa: PLC0415

    notes: set[str] = set()
    try:
        line = written(meant(Words(notes)))
    except (NoLine, RecursionError):
        return None
    return None if line == original else Translation(line, "; ".join(NOTES[each] for each in sorted(notes)))
