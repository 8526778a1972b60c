"""Reads one definition of a tool, in any of the known forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final

from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.raised import misspelt_keywords
from evalc.tools import Tool, ToolPlace

SCHEMA_KEYS: Final = ("inputSchema", "input_schema", "parameters", "schema")
"""The keys of the parameters' schema: MCP's, Anthropic's, OpenAI's, tool-forge's."""


_KEYWORDS: Final = frozenset(
    {"properties", "$ref", "$schema", "anyOf", "oneOf", "allOf", "not", "additionalProperties"}
)
"""Keys that only a JSON Schema has; `type` may be the name of a parameter too."""


class Computed(Enum):
    """The type of `COMPUTED`."""

    COMPUTED = "computed"


COMPUTED: Final = Computed.COMPUTED
"""Stands for a value that only a run could know, which is reported where it was found."""


Refuse = Callable[[str, Finding], None]
"""Reports a finding about a key of the definition; an empty key means the definition itself."""


def unwrapped(data: Any) -> tuple[Any, str]:
    """A definition without the envelope `{"type": "function", "function": {...}}`, and the key that led into it."""
    if isinstance(data, Mapping) and data.get("type") == "function" and isinstance(data.get("function"), Mapping):
        return data["function"], "function"
    return data, ""


def _read_definition(data: Mapping[str, Any], name: str | None, place: ToolPlace, refuse: Refuse) -> Tool | None:
    """The tool; None if its name is missing or a key has the wrong type, which is reported.

    `name` is that of the definition's key in a mapping, for definitions that have none of their own.
    """
    own = data.get("name", name)
    description = data.get("description")
    version = data.get("version")
    key = next((key for key in SCHEMA_KEYS if data.get(key) is not None), "")
    schema = data.get(key) if key else None
    if own is COMPUTED:
        return None
    faults = (
        ("name", "the `name` of a tool", "a text", own, isinstance(own, str) and own.strip() != ""),
        ("description", "the `description` of a tool", "a text", description, _is(description, str)),
        ("version", "the `version` of a tool", "a text", version, _is(version, str | int | float)),
        (key, "the schema of a tool's parameters", "an object", schema, _is(schema, Mapping)),
    )
    wrong = [fault for fault in faults if not fault[-1]]
    for where, what, expected, found, _ in wrong:
        refuse(where if where in data else "", Finding("EV661", what=what, expected=expected, found=named(found)))
    if wrong:
        return None
    return Tool(
        name=own or "",
        description=None if description is COMPUTED else description or "",
        version=str(version) if isinstance(version, str | int | float) else None,
        parameters=_of_shape(schema) if isinstance(schema, Mapping) else None,
        place=place,
    )


At = Callable[[str], tuple[Source, Span]]
"""The place of a JSON pointer from a definition; with a leading `#`, that of its key."""


def take_definition(
    tools: dict[str, Tool], data: Mapping[str, Any], key: str | None, at: At, problems: Diagnostics
) -> bool:
    """Put a definition among the tools; what is wrong with it is reported. False if it is none.

    `key` is that of the definition in a mapping, for definitions that have no name of their own.
    """
    source, span = at("")
    place = ToolPlace(source.name, source.position(span.start).line)
    tool = _read_definition(data, key, place, lambda where, finding: problems.add(*at(where and f"/{where}"), finding))
    if tool is None:
        return False
    for pointer, misspelt in _misspelt_in(tool, data):
        problems.add(*at(f"#{pointer}"), misspelt)
    first = tools.setdefault(tool.name, tool)
    if first is not tool:
        shown = f"{first.place.file}:{first.place.line}" if first.place else ""
        problems.add(*at("/name" if "name" in data else "#"), Finding("EV662", name=tool.name, first=shown))
    return True


def _misspelt_in(tool: Tool, data: Mapping[str, Any]) -> Iterator[tuple[str, Finding]]:
    """The misspelt keywords in the schema of a tool's parameters, each with its pointer from the definition."""
    key = next((key for key in SCHEMA_KEYS if data.get(key) is not None), "")
    is_whole = tool.parameters is data.get(key)
    for pointer, finding in misspelt_keywords(tool.parameters):
        yield f"/{key}{pointer if is_whole else pointer.removeprefix('/properties')}", finding


def _is(value: Any, type_: Any) -> bool:
    return value is None or value is COMPUTED or (isinstance(value, type_) and not isinstance(value, bool))


def _of_shape(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A JSON Schema as it is; of a mapping of parameters to their schemas, the schema of the object they make."""
    is_shape = schema and _KEYWORDS.isdisjoint(schema) and all(isinstance(part, Mapping) for part in schema.values())
    return {"type": "object", "properties": dict(schema)} if is_shape else schema


def named(value: Any) -> str:
    """The type of a JSON value in words."""
    if isinstance(value, str):
        return "a text" if value.strip() else "an empty text"
    if isinstance(value, Mapping):
        return "an object"
    return {list: "a list", bool: "a truth value", type(None): "nothing"}.get(type(value), "a number")
