"""Generates definitions for records of the model, with a description at every key."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from evalc.check.shapes import RECORDS, Check
from evalc.dsl.kinds import Schema, ref
from evalc.schema.record_words import SENTENCES

TYPE: Final = "What is checked."
_LIMITS: Mapping[str, Schema] = {
    "threshold": {"minimum": 0, "maximum": 1},
    "minPassRate": {"minimum": 0, "maximum": 1},
    "maxP95Ms": {"exclusiveMinimum": 0},
    "macroF1": {"minimum": 0, "maximum": 1},
    "confidence": {"exclusiveMinimum": 0.5, "exclusiveMaximum": 1},
    "maxTurns": {"minimum": 1},
    "weight": {"minimum": 0},
}
"""Limits of numbers beyond their types, by key."""


def definitions(*records: Any) -> dict[str, Schema]:
    """The definitions of the records, and of all that they hold, by name."""
    components = _components(*records)
    if "Expect" in components:
        components |= _components(Check)
    defined = {name: _adapted(component, SENTENCES.get(name, {})) for name, component in components.items()}
    if "Expect" in defined:
        defined["Expect"]["properties"]["checks"]["items"] = ref("Check")
    return {**defined, **_vocabulary(components)}


def _components(*types: Any) -> dict[str, Schema]:
    return msgspec.json.schema_components(types, ref_template="#/$defs/{name}")[1]


def _adapted(component: Schema, sentences: Mapping[str, str]) -> Schema:
    """A record's schema as msgspec has it, in fewer words and with a sentence at each key."""
    properties = {
        key: _described(value, sentences.get(key, TYPE if key == "type" else "")) | _LIMITS.get(key, {})
        for key, value in component.get("properties", {}).items()
    }
    summary = inspect.cleandoc(component.get("description", "")).partition("\n\n")[0]
    adapted = component | {
        "description": " ".join(summary.split()),
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    record = RECORDS.get(component["properties"].get("type", {}).get("enum", [""])[0])
    alternatives = getattr(record, "asks_one_of", ())
    return adapted | ({"anyOf": [{"required": [key]} for key in alternatives]} if alternatives else {})


def _described(schema: Schema, sentence: str) -> Schema:
    """A key's schema with the sentence that a check declares with its field."""
    declared = {key: value for key, value in schema.items() if key != "description"}
    return {"description": sentence or schema.get("description", ""), **_simple(declared)}


def _simple(schema: Any) -> Any:
    """The schema without defaults that say nothing, and with `anyOf` only where `type` would not do."""
    if isinstance(schema, list):
        return [_simple(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "discriminator" in schema:
        return ref("Check")
    simple = {key: _simple(value) for key, value in schema.items() if not (key == "default" and not value)}
    alternatives = simple.get("anyOf", ())
    if alternatives and all("$ref" not in each for each in alternatives):
        return _merged(alternatives)
    return simple


def _merged(alternatives: Sequence[Schema]) -> Schema:
    """One schema for alternatives that are of different types, so that their keywords do not meet."""
    types = [each["type"] for each in alternatives if "type" in each]
    if "number" in types and "integer" in types:
        types.remove("integer")
    choices = [choice for each in alternatives for choice in each.get("enum", ())]
    if choices and len(types) > types.count("null"):
        return {"anyOf": [*alternatives]}
    if choices:
        return {"enum": [*choices, *([None] if "null" in types else [])]}
    rest = {key: value for each in alternatives for key, value in each.items() if key != "type"}
    return {"type": types, **rest}


def _vocabulary(components: Mapping[str, Schema]) -> dict[str, Schema]:
    """The checks, distinguished by their `type`: a definition of its own where any record holds them."""
    tags = {type_: record.__name__ for type_, record in RECORDS.items() if record.__name__ in components}
    if not tags:
        return {}
    chosen = [{"if": {"properties": {"type": {"const": tag}}}, "then": ref(name)} for tag, name in tags.items()]
    return {
        "Check": {
            "title": "Check",
            "description": "A check of evalc's own, or a composition.",
            "type": "object",
            "properties": {"type": {"description": TYPE, "enum": [*tags]}},
            "required": ["type"],
            "allOf": chosen,
        }
    }
