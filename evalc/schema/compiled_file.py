"""From the types of the case model to the JSON Schema of a compiled file: an envelope, or a bare array of cases."""

from __future__ import annotations

from evalc.model import case as m
from evalc.schema.record_words import COMPILED_FILE
from evalc.schema.records import definitions
from evalc.schema.shapes import DIALECT, Schema, filled_list_of, mapping, ref


def compiled_file() -> Schema:
    """The schema of what evalc compiles to, and reads like any other eval file."""
    return {
        "$schema": DIALECT,
        "title": "evalc: compiled eval file",
        "description": "An eval file of the eval runner contract, with evalc's own additions.",
        "if": {"type": "array"},
        "then": filled_list_of(ref("Case")),
        "else": ref("Envelope"),
        "$defs": {**definitions((m.Case, m.Metadata), COMPILED_FILE), "Metadata": _metadata(), "Envelope": _envelope()},
    }


def _envelope() -> Schema:
    cases = {"description": "The cases.", **filled_list_of(ref("Case"))}
    metadata = {"description": "What the cases are about.", "anyOf": [ref("Metadata"), {"type": "null"}]}
    return mapping({"metadata": metadata, "cases": cases}, title="Envelope", required=["cases"])


def _metadata() -> Schema:
    """The metadata, in which other generators leave keys of their own, and which the file's name completes."""
    schema = definitions((m.Metadata,), COMPILED_FILE)["Metadata"]
    properties = {key: _or_null(value) for key, value in schema["properties"].items()}
    kept = {key: value for key, value in schema.items() if key not in {"required", "additionalProperties"}}
    return {**kept, "properties": properties}


def _or_null(schema: Schema) -> Schema:
    match schema:
        case {"type": str(type_)}:
            return {**schema, "type": [type_, "null"]}
        case {"enum": list(choices)} if None not in choices:
            return {**schema, "enum": [*choices, None]}
        case _:
            return schema
