"""Every finding there is, by its code: the explicit list of the catalogue."""

from __future__ import annotations

from types import ModuleType

from evalc.diagnostics.catalogue import (
    config,
    contract,
    files,
    ignores,
    imports,
    locking,
    names,
    statistics,
    syntax_grammar,
    syntax_yaml,
    tools,
    vacuity,
    values,
)
from evalc.diagnostics.problem import Finding

_FAMILIES: tuple[ModuleType, ...] = (
    syntax_yaml,
    syntax_grammar,
    names,
    tools,
    values,
    contract,
    locking,
    vacuity,
    statistics,
    files,
    config,
    ignores,
    imports,
)


def findings() -> dict[str, type[Finding]]:
    """The findings by code, in the order of the codes."""
    found = {
        entry.code: entry
        for family in _FAMILIES
        for entry in vars(family).values()
        if isinstance(entry, type) and issubclass(entry, Finding) and hasattr(entry, "code")
    }
    return dict(sorted(found.items()))
