"""Writes the coverage of suites, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evalc.base.terminal import counted, visible
from evalc.model.reports import Coverage, Kind, ToolCoverage

_MOST_MISSING: Final = 20
PARTS: Final[Mapping[Kind, str]] = {
    "tools": "tools that a case expects to be called",
    "arguments": "arguments that a case checks",
    "toolPairs": "pairs of tools with similar descriptions that an ambiguous case tells apart",
    "seedValues": "seed values that a check reads",
    "criteria": "criteria that something scores",
    "prompts": "prompts that a case renders and whose outcome it checks",
    "promptBranches": "branches of prompts that a case renders",
}
"""The unit of each kind of part, in words that follow a number."""


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """A table of the tools, what is missing of each kind, and the share of all."""
    if coverage.tools:
        yield "Tools:"
        yield from map(_tool, coverage.tools)
        yield ""
    for part in coverage.parts:
        yield f"{part.covered} of {part.total} {PARTS[part.kind]}"
        for name in part.missing[:_MOST_MISSING]:
            yield f"  not {visible(name)}"
        if len(part.missing) > _MOST_MISSING:
            yield f"  and {len(part.missing) - _MOST_MISSING} more; `--json` lists them all"
    if coverage.coverage is None:
        yield "there is nothing to cover: no tool registry, no seed manifest and no criteria"
    else:
        yield f"coverage {coverage.coverage:.2f}: {coverage.covered} of {coverage.total}"


def _tool(tool: ToolCoverage) -> str:
    parts = [f"{count} {name}" for name, count in tool.tiers.items()]
    difficulties = [f"{count} {name}" for name, count in tool.difficulties.items() if name != "none"]
    checked = [name for name, cases in tool.arguments.items() if cases]
    arguments = f"; checks {', '.join(map(visible, checked))}" if checked else ""
    levels = f"; difficulty: {', '.join(difficulties)}" if difficulties else ""
    by = f" ({', '.join(parts)}{levels})" if parts else ""
    return f"  {visible(tool.name)}: {counted(tool.cases, 'case')}{by}{arguments}"
