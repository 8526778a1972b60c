"""Makes the findings that several rooms report: unknown keys, numbers out of range, advice about JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.diagnostics import Finding
from evalc.diagnostics.near import nearest, nearest_of
from evalc.model.json import pointer_step
from evalc.model.json_schema import CHECKED, KEYWORDS, OF_OPENAPI, dialect_of, schemas_within
from evalc.model.numbers import Range, shown_number

_MOST_KEYS: Final = 12
"""Of a longer table of keys, a message names the nearest."""
_KNOWN: Final = frozenset((*KEYWORDS, *OF_OPENAPI))
_MOST_LETTERS_APART: Final = 3
"""A key that is longer than a keyword by more letters is a name of its own: `enumDescriptions`, `formatMinimum`."""

_BESIDE: Final = {
    "then": "if",
    "else": "if",
    "minContains": "contains",
    "maxContains": "contains",
    "exclusiveMinimum": "minimum",
    "exclusiveMaximum": "maximum",
}
"""The keywords that some drafts read only together with another."""


def unknown_key(key: str, what: str, known: tuple[str, ...], *, meant: str = "", belongs: str = "") -> Finding:
    """The finding for a key that is not known.

    `meant` is the key that other tools call so, if there is one; `belongs` says where the key, or what is meant by it,
    would be right.
    """
    near = nearest_of(key, known, 3) if len(known) > _MOST_KEYS else ()
    one, several = (near[0], ()) if len(near) == 1 else ("", near)
    return Finding("EV201", key=key, what=what, known=known, meant=meant, belongs=belongs, one=one, near=several)


def outside(what: str, number: float | None, range_: Range) -> Finding | None:
    """The finding for a number that its field does not take; None if it takes it, or has none."""
    if number is None or range_.takes(number):
        return None
    shown = shown_number(number)
    rounded = not isinstance(number, int) and range_.takes(float(shown))
    return Finding("EV303", what=what, value=f"{number}" if rounded else shown, allowed=range_.words)


def misspelt_keywords(schema: object) -> Iterator[tuple[str, Finding]]:
    """The keys that are nearly keywords, each with the JSON pointer of its value."""
    for pointer, part in schemas_within(schema):
        for key in part:
            if key in _KNOWN or key.startswith("x-"):
                continue
            near = nearest(key, KEYWORDS)
            if near is not None and near not in part and abs(len(near) - len(key)) <= _MOST_LETTERS_APART:
                yield f"{pointer}/{pointer_step(key)}", Finding("EV158", keyword=key, meant=near)


def idle_parts(schema: object) -> Iterator[tuple[str, Finding]]:
    """Keywords without effect in a check's schema, each with its JSON pointer: idle keywords and unknown formats."""
    yield from misspelt_keywords(schema)
    yield from _idle_keywords(schema)
    for pointer, part in schemas_within(schema):
        name = part.get("format")
        if isinstance(name, str) and name not in CHECKED:
            yield f"{pointer}/format", Finding("EV159", name=name, checked=tuple(CHECKED))


def _idle_keywords(schema: object) -> Iterator[tuple[str, Finding]]:
    """The keywords that check nothing where they stand: of another draft, beside a `$ref` that hides them, or alone."""
    from jsonschema import Draft3Validator, Draft201909Validator, Draft202012Validator  # noqa: PLC0415 - for start-up

    dialect = dialect_of(schema)
    number = dialect.__name__.removeprefix("Draft").removesuffix("Validator")
    draft = f"in JSON Schema {number[:4]}-{number[4:]}" if len(number) > 1 else f"in draft {number} of JSON Schema"
    known = {*dialect.VALIDATORS, *(key for key, other in _BESIDE.items() if other in dialect.VALIDATORS)}
    if "dependentRequired" not in known:
        known -= {"minContains", "maxContains"}
    if dialect is Draft3Validator:
        known.add("required")
    drafts = (Draft3Validator, Draft201909Validator, Draft202012Validator)
    checking = {*_BESIDE, *(key for each in drafts for key in each.VALIDATORS)}
    for pointer, part in schemas_within(schema):
        hides = "$ref" in part and "dependentRequired" not in known
        for key in part:
            where = ""
            if key == "$schema" and dialect_of({**part}) is not dialect:
                where = "within a schema: only the one at its top counts"
            elif key in checking and key not in known:
                where = draft
            elif key in checking and hides and key != "$ref":
                where = f"beside `$ref` {draft}"
            elif _BESIDE.get(key, key) not in part and key not in dialect.VALIDATORS:
                where = f"without `{_BESIDE[key]}` beside it"
            if where:
                yield f"{pointer}/{pointer_step(key)}", Finding("EV695", keyword=key, where=where)
