"""Building blocks of the JSON Schemas.

They describe data as YAML reads it. A key without a value, which is null there, counts as absent; if a text is
wanted, a number and the like is taken as it was written. So most shapes take more types than the one they are named
after, which always comes first: it is what editors insert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalc.dsl.reasons import NO_REASONS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Null, said so that no editor offers it as a value.
_ABSENT: Schema = {"not": {"type": ["string", "number", "boolean", "object", "array"]}}


def text() -> Schema:
    """A text, or what is taken as one."""
    return {"type": ["string", "number", "boolean", "null"]}


def filled() -> Schema:
    """A text with something in it; absent where it is null."""
    return {"type": ["string", "number", "boolean", "null"], "pattern": r"\S"}


def required_text() -> Schema:
    """A text with something in it that has to be there."""
    return {"type": ["string", "number", "boolean"], "pattern": r"\S"}


def reason() -> Schema:
    """Why something is so. What says no counts as absent; what says neither why nor no is not a reason."""
    words = "|".join(
        "".join(f"[{letter.upper()}{letter}]" if letter.isalpha() else letter for letter in word)
        for word in (*NO_REASONS, "n/a", "<na>")
    )
    texts = {"type": "string", "pattern": rf"^\s*({words}|[A-Za-z]|[1-9][0-9]*|-)\s*$"}
    return {**text(), "not": any_of({"const": True}, {"type": "number", "not": {"const": 0}}, texts)}


def number(**limits: float) -> Schema:
    """A number."""
    return {"type": ["number", "null"], **limits}


def whole(**limits: int) -> Schema:
    """A whole number."""
    return {"type": ["integer", "null"], **limits}


def flag() -> Schema:
    """True or false."""
    return {"type": ["boolean", "null"]}


def choice(values: Iterable[str]) -> Schema:
    """One of a few texts."""
    return any_of({"enum": [*values]}, _ABSENT)


def anything() -> Schema:
    """A value that evalc does not look into."""
    return {}


def free_mapping() -> Schema:
    """A mapping whose keys are the author's own."""
    return {"type": ["object", "null"]}


def list_of(item: Schema, **limits: int) -> Schema:
    """A list; absent where it is null."""
    return {"type": ["array", "null"], "items": item, **limits}


def filled_list_of(item: Schema) -> Schema:
    """A list with at least one item, which has to be there."""
    return {"type": "array", "items": item, "minItems": 1}


def ref(name: str) -> Schema:
    """What a definition of the same schema says."""
    return {"$ref": f"#/$defs/{name}"}


def any_of(*alternatives: Schema) -> Schema:
    """At least one of several shapes."""
    return {"anyOf": list(alternatives)}


def mapping(
    properties: Mapping[str, Schema], *, title: str, required: Sequence[str] = (), description: str = ""
) -> Schema:
    """A mapping that has these keys and no others, but for `x-anything`."""
    schema: Schema = {"title": title}
    if description:
        schema["description"] = description
    schema |= {"type": "object", "properties": dict(properties), "patternProperties": {"^x-": {}}}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}
