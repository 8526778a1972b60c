"""Translates checks that are written in other tools' words or in code into lines of evalc, whole or not at all.

The line says the same where each compared value has the type of the literal, texts are in the Basic Multilingual Plane
and lists are not empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, final

from evalc.grammar.write_check import NoLine
from evalc.translate.mappings import Mappings
from evalc.translate.names import NOTES
from evalc.translate.trees import written


@final
class Translation(NamedTuple):
    """A line of evalc, and what differs from the original beyond the bounds."""

    line: str
    note: str


def translated(original: str | Mapping[str, Any]) -> Translation | None:
    """The line that says the same as a line or a mapping in other words; None if no line surely does."""
    notes: set[str] = set()
    reader = Mappings(notes)
    try:
        line = written(reader.condition(original) if isinstance(original, str) else reader.mapping(original))
    except (NoLine, RecursionError):
        return None
    return None if line == original else Translation(line, "; ".join(NOTES[each] for each in sorted(notes)))
