"""Finds what a valid JSON Schema asks for in vain: misspelt keywords, and formats that nothing checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.diagnostics.catalogue.values import MisspeltKeyword, UncheckedFormat
from evalc.diagnostics.near import nearest
from evalc.model.json import pointer_step
from evalc.model.json_schema import KEYWORDS, OF_OPENAPI, schemas_within

_KNOWN: Final = frozenset((*KEYWORDS, *OF_OPENAPI))
_MOST_LETTERS_APART: Final = 3
"""A key that is longer than a keyword by more letters is a name of its own: `enumDescriptions`, `formatMinimum`."""


def misspelt_keywords(schema: object) -> Iterator[tuple[str, MisspeltKeyword]]:
    """The keys that are nearly keywords, each with the JSON pointer of its value."""
    for pointer, part in schemas_within(schema):
        for key in part:
            if key in _KNOWN or key.startswith("x-"):
                continue
            near = nearest(key, KEYWORDS)
            if near is not None and near not in part and abs(len(near) - len(key)) <= _MOST_LETTERS_APART:
                yield f"{pointer}/{pointer_step(key)}", MisspeltKeyword(keyword=key, meant=near)


def unchecked_formats(schema: object) -> Iterator[tuple[str, UncheckedFormat]]:
    """The formats that are not checked, each with the JSON pointer of its name."""
    from evalc.model.json_schema import CHECKED  # noqa: PLC0415 - for start-up: compiles patterns

    for pointer, part in schemas_within(schema):
        name = part.get("format")
        if isinstance(name, str) and name not in CHECKED:
            yield f"{pointer}/format", UncheckedFormat(name=name)
