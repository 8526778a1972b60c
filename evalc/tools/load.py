"""Loads the tool registry from a file of any known form, definition by definition."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.read_json import HOLE, JsonPlaces, read_json
from evalc.dsl.sources import read_source
from evalc.model.json import pointer_step
from evalc.tools import Tool, ToolRegistry
from evalc.tools.definitions import named, take_definition, unwrapped
from evalc.tools.modules import ENDINGS

LARGEST: Final = 32_000_000
"""The largest JSON file of tools that is read, in bytes."""


class RegistryFile(NamedTuple):
    """A file with the tools: its path, the folder that its modules stay in, and whether it has to be there."""

    path: Path
    root: Path
    required: bool = True


def load_tools(file: RegistryFile, problems: Diagnostics) -> ToolRegistry | None:
    """The registry in a file; None if there is none to continue with. What is wrong is reported.

    JSON holds a list of definitions, a mapping of names to definitions, or either of them under `tools`, also in the
    envelope of an answer to MCP's `tools/list`; a definition has the form of tool-forge, MCP, or the APIs of OpenAI or
    Anthropic. A TypeScript or JavaScript module exports definitions; it is read, never run, and opens nothing outside
    of the root.
    """
    path, root, required = file
    name = os.path.relpath(path)
    if not required and not path.exists():
        problems.add(Source(name, ""), Span(0, 0), Finding("EV665", path=name))
        return None
    if path.suffix.lower() in ENDINGS:
        from evalc.tools.barrel import read_barrel  # noqa: PLC0415 - for start-up: only if a registry is a module

        return read_barrel(path, name, root=root, problems=problems)
    source = read_source(path, problems.add, name=name, limit=LARGEST)
    return None if source is None else parse_tools(source, problems)


def parse_tools(source: Source, problems: Diagnostics) -> ToolRegistry | None:
    """The registry in a JSON text; None if it is not a registry. What is wrong is reported."""
    data = read_json(source, lambda span, finding: problems.add(source, span, finding))
    return None if data is HOLE else _JsonRegistry(source, problems).read(data)


@final
class _JsonRegistry:
    """The reading of one JSON text; positions are looked up where something is wrong."""

    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self._source = source
        self._problems = problems
        self._places = JsonPlaces(source)
        self._tools: dict[str, Tool] = {}
        self._complete = True

    def read(self, document: Any) -> ToolRegistry | None:
        entries = self._entries(document)
        if entries is None:
            self._problems.add(self._source, Span(0, 0), Finding("EV660", path=self._source.name))
            return None
        for pointer, entry, key in entries:
            self._define(pointer, entry, key)
        return ToolRegistry(tools=self._tools, complete=self._complete)

    def _entries(self, document: Any) -> Iterable[tuple[str, Any, str | None]] | None:
        """Each definition with its pointer, and its key in a mapping of names to definitions."""
        pointer = ""
        for key in ("result", "tools"):
            if isinstance(document, dict) and isinstance(document.get(key), dict | list):
                if document.get("nextCursor"):
                    rest = Finding("EV663", what="the rest of the tools", why="this is one page of several")
                    self._leave_out(f"#{pointer}/nextCursor", rest)
                document, pointer = document[key], f"{pointer}/{key}"
        if isinstance(document, list):
            return ((f"{pointer}/{index}", entry, None) for index, entry in enumerate(document))
        if not isinstance(document, dict):
            return None
        if isinstance(document.get("name"), str):
            return ((pointer, document, None),)
        if not all(isinstance(entry, dict) for entry in document.values()):
            return None
        return ((f"{pointer}/{pointer_step(name)}", entry, name) for name, entry in document.items())

    def _define(self, pointer: str, entry: Any, key: str | None) -> None:
        data, wrapper = unwrapped(entry)
        base = f"{pointer}/{wrapper}" if wrapper else pointer
        if not isinstance(data, Mapping):
            self._leave_out(base, Finding("EV661", what="a tool", expected="an object", found=named(data)))
        elif key is None and "name" not in data and isinstance(data.get("type"), str) and data["type"] != "function":
            why = f"a tool of the type `{data['type']}` is the provider's own"
            self._leave_out(base, Finding("EV663", what="this tool", why=why))
        else:
            self._complete &= take_definition(self._tools, data, key, partial(self._at, base), self._problems)

    def _leave_out(self, pointer: str, finding: Finding) -> None:
        self._complete = False
        self._problems.add(*self._at("", pointer), finding)

    def _at(self, base: str, pointer: str) -> tuple[Source, Span]:
        places = self._places
        is_key = pointer.startswith("#")
        return self._source, places.key(base + pointer[1:]) if is_key else places.value(base + pointer)
