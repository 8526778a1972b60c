"""The tools of an agent by name, whatever form they were written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, final

import msgspec

from evalc.model.json import short_hash


class ToolPlace(NamedTuple):
    """Where a tool is defined: a file as messages name it, and a line from 1."""

    file: str
    line: int


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is now."""

    name: str
    # empty if there is none; None if it is computed at run time, so that nobody can read it
    description: str | None = ""
    version: str | None = None  # None if there is none, or if it cannot be read
    # the JSON Schema of its parameters; None if there is none, or if it cannot be read
    parameters: Mapping[str, Any] | None = None
    place: ToolPlace | None = None  # where it is defined

    @property
    def description_hash(self) -> str | None:
        """The contract's `sha256(description)[0:12]`; None if the description cannot be read."""
        return None if self.description is None else short_hash(self.description)


@final
class ToolRegistry(Mapping[str, Tool]):
    """The tools of an agent, by name, in the order they were written.

    They may not be `complete`: a barrel file may export what can only be known by running it.
    """

    def __init__(self, *, tools: Mapping[str, Tool], complete: bool = True) -> None:
        self._tools = tools
        self.complete = complete

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def size(self) -> int | None:
        """The contract's `registrySize`; None if not all tools could be read."""
        return len(self) if self.complete else None


def offered(tool: Tool, schema_key: str) -> dict[str, Any]:
    """The tool under the keys that all APIs share; one without a description has none, rather than an empty one."""
    described = {"description": tool.description} if tool.description else {}
    # of an object, whose properties are listed even if there are none
    schema = {"type": "object", "properties": {}, **(tool.parameters or {})}
    return {"name": tool.name, **described, schema_key: schema}
