"""The published schemas: fresh, valid, with a sentence at every key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evalc.schema.published import SCHEMAS, file_name, schema_text
from tests.schema.corpus import ROOT

NAMES = sorted(SCHEMAS)


@pytest.mark.parametrize("name", NAMES)
def test_the_published_file_is_fresh(name: str) -> None:
    published = ROOT / "specs" / "schema" / file_name(name)
    assert published.read_bytes() == schema_text(name), "run `evalc schema -o specs/schema`"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_schema_of_the_2020_12_dialect(name: str) -> None:
    schema = json.loads(schema_text(name))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_leads_somewhere_and_every_definition_is_used(name: str) -> None:
    schema = SCHEMAS[name]()
    defined = {f"#/$defs/{key}" for key in schema.get("$defs", {})}
    used = {value for each in _schemas(schema) if isinstance(value := each.get("$ref"), str)}
    asked_for_by_name = {"#/$defs/RunResult"} if name == "result" else set()
    assert used | asked_for_by_name == defined


@pytest.mark.parametrize("name", NAMES)
def test_every_key_has_a_sentence(name: str) -> None:
    """A key that the checker learns needs its sentence in its declaration, or in `evalc.schema.records`."""
    schema = SCHEMAS[name]()
    without = {
        f"{each.get('title', '?')}: {key}"
        for each in _schemas(schema)
        if each.get("type") is not None and "additionalProperties" in each
        for key, value in each.get("properties", {}).items()
        if not value.get("description", "").endswith(".")
    }
    assert without == set()


def test_every_type_of_check_has_a_sentence() -> None:
    (choice,) = [SCHEMAS["language"]()["$defs"]["checkMapping"]["properties"]["type"]]
    sentences = dict(zip(choice["enum"], choice["enumDescriptions"], strict=True))
    assert [type_ for type_, sentence in sentences.items() if not sentence.endswith(".")] == []


@pytest.mark.parametrize("name", ["language", "case"])
def test_the_examples_of_each_key_are_valid(name: str) -> None:
    schema = SCHEMAS[name]()
    wrong = [
        (each, example)
        for each in _schemas(schema)
        for example in each.get("examples", ())
        if list(Draft202012Validator({**each, "$defs": schema["$defs"]}).iter_errors(example))
    ]
    assert wrong == []


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all that it holds; the names of keys are no schemas."""
    if isinstance(schema, list):
        for item in schema:
            yield from _schemas(item)
    elif isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key in {"properties", "patternProperties", "$defs"}:
                for inner in value.values():
                    yield from _schemas(inner)
            elif key not in {"examples", "enum", "const", "default"}:
                yield from _schemas(value)
