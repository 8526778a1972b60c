"""From a JSON file of tool definitions, in any of the usual forms, to a registry of tools by name.

Read are: a list of definitions, a mapping of names to definitions, `{"tools": [...]}`, the tools array of the OpenAI
API (`{"type": "function", "function": {...}}`), and an answer to MCP's `tools/list`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.errors import UsageError

_SCRIPTS: Final = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
_SCHEMA_KEYS: Final = ("inputSchema", "input_schema", "parameters", "schema")


class UnsupportedRegistry(UsageError):
    """The registry is in a form that is known, but cannot be read yet."""


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is now. `parameters` is its JSON Schema, empty where none is given."""

    name: str
    description: str = ""
    version: str | None = None
    parameters: Mapping[str, Any] = msgspec.field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRegistry(Mapping[str, ToolDefinition]):
    """The tools of an agent, by name, in the file's order. Its size is what `registrySize` means."""

    tools: Mapping[str, ToolDefinition]

    def __getitem__(self, name: str) -> ToolDefinition:
        return self.tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)


def load_registry(path: Path) -> ToolRegistry:
    """Read a registry file.

    Raises:
        UnsupportedRegistry: it is a TypeScript or JavaScript file.
        UsageError: it cannot be read, or holds no tool definitions.
    """
    if path.suffix.lower() in _SCRIPTS:
        raise UnsupportedRegistry(f"the tool registry `{path}` is a script; only JSON can be read")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"the tool registry `{path}` cannot be read: {error.strerror}") from error
    return parse_registry(data, str(path))


def parse_registry(data: bytes, origin: str) -> ToolRegistry:
    """Read a registry from JSON; `origin` is its name in messages.

    Raises:
        UsageError: it is not JSON, or holds no tool definitions.
    """
    try:
        document = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the tool registry `{origin}` is not JSON: {error}") from error
    tools: dict[str, ToolDefinition] = {}
    for place, entry in _entries(document, origin):
        tool = _definition(entry, f"`{origin}` at {place}")
        if tool.name in tools:
            raise UsageError(f"the tool registry `{origin}` defines `{tool.name}` twice")
        tools[tool.name] = tool
    return ToolRegistry(tools=tools)


def _entries(document: Any, origin: str) -> Iterable[tuple[str, Any]]:
    """Each definition and where it stands; for a mapping of names, with the name put in."""
    place = "$"
    for key in ("result", "tools"):
        if isinstance(document, dict) and isinstance(document.get(key), dict | list):
            document, place = document[key], f"{place}.{key}"
    if isinstance(document, list):
        return [(f"{place}[{index}]", entry) for index, entry in enumerate(document)]
    if isinstance(document, dict) and all(isinstance(entry, dict) for entry in document.values()):
        return [(f"{place}.{name}", {"name": name, **entry}) for name, entry in document.items()]
    raise UsageError(f"the tool registry `{origin}` is neither a list of tools nor a mapping of names to tools")


def _definition(entry: Any, place: str) -> ToolDefinition:
    if not isinstance(entry, dict):
        raise UsageError(f"the tool registry {place} has no tool definition but {_kind(entry)}")
    if entry.get("type") == "function" and isinstance(entry.get("function"), dict):
        entry = entry["function"]
    schema: dict[str, Any] = next((entry[key] for key in _SCHEMA_KEYS if isinstance(entry.get(key), dict)), {})
    version = entry.get("version")
    return ToolDefinition(
        name=_text(entry, "name", place),
        description=_text(entry, "description", place) if entry.get("description") is not None else "",
        version=str(version) if isinstance(version, str | int | float) else None,
        parameters=schema,
    )


def _text(entry: Mapping[str, Any], key: str, place: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise UsageError(f"the tool registry {place} has no text as `{key}` but {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "nothing"}.get(
        type(value), "a number"
    )
