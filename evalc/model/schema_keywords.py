"""The keywords of JSON Schema in all its drafts, and the schemas within a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalc.model.paths import pointer_step

_SCHEMAS: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAPS: Final = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
_OTHERS: Final = (
    *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref"),
    *("$schema", "$vocabulary", "const", "contentEncoding", "contentMediaType", "default", "dependentRequired"),
    *("deprecated", "description", "disallow", "divisibleBy", "enum", "examples", "exclusiveMaximum"),
    *("exclusiveMinimum", "extends", "format", "id", "maxContains", "maxItems", "maxLength", "maxProperties"),
    *("maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern"),
    *("readOnly", "required", "title", "type", "uniqueItems", "writeOnly"),
)
KEYWORDS: Final = (*dict.fromkeys((*_SCHEMAS, *_LISTS, *_MAPS, *_OTHERS)),)
"""The keywords of drafts 3 to 2020-12."""
OF_OPENAPI: Final = ("discriminator", "example", "externalDocs", "nullable", "xml")
"""What OpenAPI adds to them."""


def schemas_within(schema: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schema itself and all schemas in it that are objects, each with its JSON pointer."""
    pending: list[tuple[str, object]] = [("", schema)]
    while pending:
        pointer, part = pending.pop()
        if not isinstance(part, Mapping):
            continue
        yield pointer, part
        inner: list[tuple[str, object]] = [(f"{pointer}/{key}", part[key]) for key in _SCHEMAS if key in part]
        for key in _LISTS:
            if isinstance(items := part.get(key), list):
                inner += [(f"{pointer}/{key}/{index}", item) for index, item in enumerate(items)]
        for key in _MAPS:
            if isinstance(named := part.get(key), Mapping):
                inner += [(f"{pointer}/{key}/{pointer_step(name)}", item) for name, item in named.items()]
        pending += reversed(inner)
