"""The contract's fields of an eval file as a JSON Schema, written from the documents and open to additions."""

from __future__ import annotations

from typing import Any, Final

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_TEXTS: Final[dict[str, Any]] = {"type": "array", "items": _TEXT}
_GROUPS: Final[dict[str, Any]] = {"type": "array", "items": _TEXTS}
_LIMIT: Final[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0}

_PARAM: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["tool", "paramName", "assertion"],
    "properties": {
        "tool": _TEXT,
        "paramName": _TEXT,
        "assertion": {"enum": ["equals", "contains", "oneOf", "exists", "notExists", "matches"]},
        "value": {"anyOf": [_TEXT, _TEXTS]},
    },
}
_EXPECT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "toolsCalled": _TEXTS,
        "toolsAcceptable": _GROUPS,
        "toolsNotCalled": _TEXTS,
        "toolParams": {"type": "array", "items": _PARAM},
        "noToolErrors": {"type": "boolean"},
        "responseNonEmpty": {"type": "boolean"},
        "responseContains": _TEXTS,
        "responseContainsAny": _GROUPS,
        "responseNotContains": _TEXTS,
        "responseMatches": _TEXTS,
        "maxLatencyMs": _LIMIT,
        "maxTokens": _LIMIT,
    },
}
_DIMENSION: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["dimension", "criteria"],
    "properties": {"dimension": _TEXT, "maxScore": {"type": "number"}, "criteria": _TEXT},
}
_CASE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["id", "description", "input"],
    "anyOf": [{"required": ["expect"]}, {"required": ["rubric"]}],
    "properties": {
        "id": _TEXT,
        "description": _TEXT,
        "difficulty": {"enum": ["straightforward", "ambiguous", "edge", "regression"]},
        "createdAt": _TEXT,
        "bugRef": _TEXT,
        "input": {"type": "object", "required": ["message"], "properties": {"message": _TEXT}},
        "stubs": {"type": "object"},
        "maxTurns": {"type": "integer", "minimum": 1},
        "expect": _EXPECT,
        "referenceData": {"type": "object"},
        "rubric": {"type": "array", "items": _DIMENSION},
    },
}
CONTRACT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["metadata", "cases"],
    "properties": {
        "metadata": {
            "type": "object",
            "required": ["toolName", "tier"],
            "properties": {
                "toolName": _TEXT,
                "tier": {"enum": ["golden", "labeled", "regression", "rubric"]},
                "toolVersion": _TEXT,
                "descriptionHash": {"type": "string", "pattern": "^[0-9a-f]{12}$"},
                "registrySize": {"type": "integer"},
            },
        },
        "cases": {"type": "array", "items": _CASE},
    },
}
