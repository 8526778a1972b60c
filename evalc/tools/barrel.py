"""Reads tools from a TypeScript or JavaScript barrel file. Nothing of it is run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, final

from msgspec.structs import replace

from evalc.base.source import Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.tools import Tool, ToolRegistry
from evalc.tools.definitions import COMPUTED, SCHEMA_KEYS, take_definition
from evalc.tools.expressions import DEEPEST, Evaluator, object_schema
from evalc.tools.modules import Items, ModuleLoader, ModulePlace, NotData, Record, Unread, Value

MOST_VALUES: Final = 500_000
"""How many values the definitions of one registry may expand to: names can multiply them."""


def read_barrel(path: Path, name: str, *, root: Path, problems: Diagnostics) -> ToolRegistry | None:
    """The tools that a module exports, in the order of its exports.

    Modules outside of `root` are not opened. What is wrong, and what cannot be read, is reported.

    Returns:
        The registry; None if the module itself cannot be read or exports nothing that could be a tool.
    """
    loader = ModuleLoader(root, problems)
    module = loader.open(path, name)
    if module is None:
        return None
    collector = _Collector(problems)
    for exported, value in Evaluator(loader).exports(module):
        collector.take(value, exported if exported != "default" else None)
    registry = collector.registry(complete=loader.complete)
    if not registry and registry.complete:
        problems.add(module.script.source, Span(0, 0), Finding("EV660", path=name))
        return None
    return registry


@final
class _Collector:
    """Finds the tools among the values that are exported."""

    def __init__(self, problems: Diagnostics) -> None:
        self._problems = problems
        self._tools: dict[str, Tool] = {}
        self._taken: set[int] = set()
        self._kept: list[Record | Items] = []
        self._complete = True
        self._values = 0

    def registry(self, *, complete: bool) -> ToolRegistry:
        return ToolRegistry(tools=self._tools, complete=complete and self._complete)

    def take(self, value: Value, key: str | None, depth: int = 0) -> None:
        """Take the tools that a value is or holds. `key` names, in a mapping, those that have no name of their own."""
        if isinstance(value, Unread):
            self._leave_out(f"the export `{key}`" if key and depth == 0 else "this", value)
        if not isinstance(value, Record | Items) or id(value) in self._taken or depth > DEEPEST:
            return
        self._taken.add(id(value))
        self._kept.append(value)  # so that no other value gets its id
        if isinstance(value, Items):
            self._complete &= value.complete
            for item in value.items:
                self.take(item, None, depth + 1)
            return
        definition = _unwrapped(value)
        in_mapping = key if depth else None
        if _is_definition(definition, in_mapping):
            self._define(definition, in_mapping)
        elif not definition.is_schema:
            if not definition.complete:
                self._leave_out("some of this", Unread("what it spreads is not known", definition.at))
            for name, member in definition.members.items():
                self.take(member, name, depth + 1)

    def _define(self, record: Record, key: str | None) -> None:
        data = {
            name: self._plain(_as_schema(name, member), name)
            for name, member in record.members.items()
            if name in _READ
        }
        if not record.complete:
            for name in ("name", "description", "version"):
                data.setdefault(name, COMPUTED)

        def at(pointer: str) -> ModulePlace:
            return record.places.get(pointer.lstrip("#/").split("/")[0], record.at)

        self._complete &= take_definition(self._tools, data, key, at, self._problems)

    def _plain(self, value: Value, what: str) -> Any:
        """A value as JSON has it, `COMPUTED` for what cannot be read."""
        self._values += 1
        if self._values > MOST_VALUES:
            if self._values == MOST_VALUES + 1 and isinstance(value, Record):
                self._problems.add(*value.at, Finding("EV666", what=f"{MOST_VALUES:,} values"))
            return COMPUTED
        match value:
            case Unread():
                self._problems.add(*value.at, Finding("EV663", what=f"the `{what}` of a tool", why=value.why))
                return COMPUTED
            case Record(complete=False):
                why = "what it spreads is not known"
                self._problems.add(*value.at, Finding("EV663", what=f"the `{what}` of a tool", why=why))
                return COMPUTED
            case Record():
                return self._plain_object(value, what)
            case Items():
                items = [self._plain(item, what) for item in value.items]
                return items if value.complete and COMPUTED not in items else COMPUTED
            case NotData():
                return COMPUTED
            case _:
                return value

    def _plain_object(self, record: Record, what: str) -> Any:
        """Of an object, what can be read; a property whose schema cannot be read may hold anything."""
        members = {name: self._plain(member, what) for name, member in record.members.items()}
        properties = record.members.get("properties")
        if members.get("properties") is COMPUTED and properties is not COMPUTED:
            return COMPUTED
        if isinstance(members.get("properties"), dict) and isinstance(properties, Record):
            members["properties"] = {name: members["properties"].get(name, {}) for name in properties.members}
        return {name: member for name, member in members.items() if member is not COMPUTED}

    def _leave_out(self, what: str, value: Unread) -> None:
        self._complete = False
        self._problems.add(*value.at, Finding("EV663", what=what, why=value.why))


_READ: Final = frozenset({"name", "description", "version", *SCHEMA_KEYS})


def _unwrapped(record: Record) -> Record:
    """A definition without the envelope of the OpenAI API."""
    inner = record.members.get("function")
    return inner if record.members.get("type") == "function" and isinstance(inner, Record) else record


def _is_definition(record: Record, key: str | None) -> bool:
    """Whether an object is a tool's definition: described, and named by itself or by its key in a mapping.

    An object with parameters, or an object that was passed to a function that makes tools, is a tool without a name.
    """
    members: Mapping[str, Value] = record.members
    has_schema = any(name in members for name in SCHEMA_KEYS)
    if "name" in members:
        return ("description" in members or has_schema) and not isinstance(members["name"], Record | Items | NotData)
    if record.made_by_call:
        return True
    return (has_schema or (key is not None and "description" in members)) and not all(
        isinstance(member, Record) for member in members.values()
    )


def _as_schema(key: str, value: Value) -> Value:
    """A mapping of parameters to zod schemas as the schema of the object that it describes."""
    if key in SCHEMA_KEYS and isinstance(value, Record) and not value.is_schema and value.members:
        parts = value.members.values()
        if all(isinstance(part, Record) and part.is_schema for part in parts):
            return replace(object_schema(value, value.at), complete=value.complete)
    return value
