"""Reads a tool registry from the files of a project, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from evalc.diagnostics import Diagnostics
from evalc.tools import ToolRegistry
from evalc.tools.load import RegistryFile, load_tools


class Read(NamedTuple):
    """A registry, and each problem as `file:line:column code message`, the folder left out."""

    registry: ToolRegistry | None
    problems: list[str]

    @property
    def tools(self) -> ToolRegistry:
        assert self.registry is not None, self.problems
        return self.registry


def read(folder: Path, files: Mapping[str, str | bytes], name: str | None = None, *, required: bool = True) -> Read:
    """Write the files, and read the named file, else the first."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    problems = Diagnostics()
    file = RegistryFile(folder / (name or next(iter(files))), folder, required)
    registry = load_tools(file, problems)
    shown = [
        f"{Path(problem.source.name).name}:{problem.start.line}:{problem.start.column} {problem.code} "
        f"{problem.finding.message()}"
        for problem in problems
    ]
    return Read(registry, shown)
