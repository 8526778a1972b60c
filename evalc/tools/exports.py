"""Finds what a module exports, itself or by `export *`, without evaluating it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

from evalc.tools.modules import Export, Import, Module, ModuleLoader, is_relative


class Exported(NamedTuple):
    """An export, and its module."""

    name: str
    export: Export
    of: Module


@final
class ExportLists:
    """Lists the exports of each module once."""

    def __init__(self, loader: ModuleLoader) -> None:
        self._loader = loader
        self._lists: dict[Module, tuple[Exported, ...]] = {}
        self._by_name: dict[Module, dict[str, Exported]] = {}

    def of(self, module: Module) -> tuple[Exported, ...]:
        """Everything that a module exports, in order."""
        if module not in self._lists:
            self._lists[module] = tuple(self._listed(module))
        return self._lists[module]

    def named(self, name: str, module: Module) -> Exported | None:
        """The first export of a name; None if there is none."""
        if module not in self._by_name:
            self._by_name[module] = {exported.name: exported for exported in reversed(self.of(module))}
        return self._by_name[module].get(name)

    def _listed(self, module: Module) -> Iterator[Exported]:
        seen = {module}
        waiting = [Exported(*item, module) for item in reversed(module.exports.items())]
        while waiting:
            exported = waiting.pop()
            _, export, of = exported
            if not isinstance(export, Import) or export not in of.everything_of or not is_relative(export.path):
                yield exported
            elif (inner := self._loader.imported(of, export)) is not None and inner not in seen:
                seen.add(inner)
                waiting += [Exported(*item, inner) for item in reversed(inner.exports.items()) if item[0] != "default"]
