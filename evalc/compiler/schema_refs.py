"""From a JSON Schema to its first `$ref` that leads out of it, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

_DATA: Final = frozenset(("const", "enum", "default", "examples"))
"""The keywords whose values are data, in which `$ref` is a key like any other."""
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


def reference_flaw(schema: Any) -> tuple[str, str] | None:
    """What is wrong with a reference, and the pointer to it; None where each leads somewhere within the schema.

    Raises:
        RecursionError: the schema is nested too deep to be looked through.
    """
    references = list(_references(schema, ""))
    for pointer, reference in references:
        if not reference.startswith("#"):
            return f"refers to `{reference}`, which is outside of it", pointer
    if any("$id" in node for _, node in _schemas(schema, "")):
        return None  # what a reference counts from is another base, by rules of their own
    anchors = {node[key] for _, node in _schemas(schema, "") for key in _ANCHORS if isinstance(node.get(key), str)}
    for pointer, reference in references:
        name = unquote(reference[1:])
        if name not in anchors and not _leads_somewhere(schema, name):
            return f"refers to `{reference}`, which is not there", pointer
    return None


def _references(schema: Any, at: str) -> Iterator[tuple[str, str]]:
    for pointer, node in _schemas(schema, at):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield f"{pointer}/$ref", reference


def _schemas(value: Any, at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a schema that is not data, with its pointer, in the order of the text."""
    if isinstance(value, dict):
        yield at, value
        for key, inner in value.items():
            if key not in _DATA:
                yield from _schemas(inner, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _schemas(inner, f"{at}/{index}")


def _leads_somewhere(schema: Any, pointer: str) -> bool:
    if pointer and not pointer.startswith("/"):
        return False
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict) and key in schema:
            schema = schema[key]
        elif isinstance(schema, list) and key.isdecimal() and int(key) < len(schema):
            schema = schema[int(key)]
        else:
            return False
    return True
