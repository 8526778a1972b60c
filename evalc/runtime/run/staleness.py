"""Warns if a suite was compiled for another tool registry (contract, Staleness Checks)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from evalc.model.case import Metadata
from evalc.model.result import ResultMetadata
from evalc.model.suite import Suite
from evalc.tools.registry import Tool, ToolRegistry

GROWTH: Final = 1.5
"""How much a registry may grow before labeled evals are doubted."""

_MAJOR: Final = re.compile(r"[vV]?(\d+)")


class Staleness(NamedTuple):
    """What was found: whether the description is another than the evals were written for, and the warnings."""

    stale: bool
    warnings: tuple[str, ...]


def check_staleness(metadata: Metadata | None, registry: ToolRegistry | None) -> Staleness:
    """The contract's three checks; without metadata or registry there is nothing to compare."""
    if metadata is None or registry is None:
        return Staleness(False, ())
    tool = registry.get(metadata.tool_name)
    description = _description_warning(metadata, tool) if tool else None
    warnings = (
        description,
        _growth_warning(metadata, len(registry)),
        _version_warning(metadata, tool) if tool else None,
    )
    return Staleness(description is not None, tuple(filter(None, warnings)))


def not_compared(metadata: Metadata | None, registry: ToolRegistry | None) -> str | None:
    """Why an eval file that says what it was written for could not be compared as a whole; None where it could."""
    if metadata is None or registry is None or (metadata.description_hash or metadata.tool_version) is None:
        return None
    tool = registry.get(metadata.tool_name)
    if tool is None:
        return f"tool `{metadata.tool_name}` is not in the registry, so its description was not compared"
    if metadata.description_hash is not None and tool.description is None:
        return f"the description of `{metadata.tool_name}` in the registry cannot be read, so it was not compared"
    return None


def state_at_run(suite: Suite, registry: ToolRegistry | None) -> ResultMetadata:
    """The tool as it is now, for the result; null where no registry knows."""
    tool = registry.get(suite.tool_name) if registry is not None else None
    return ResultMetadata(
        tool_version=tool.version if tool else None,
        description_hash=tool.description_hash if tool else None,
        registry_size=registry.size if registry is not None else None,
        eval_file_hash=suite.file_hash,
    )


def _description_warning(metadata: Metadata, tool: Tool) -> str | None:
    current = tool.description_hash
    if metadata.description_hash is None or current is None or current == metadata.description_hash:
        return None
    return (
        f"Evals for {metadata.tool_name} generated against description hash {metadata.description_hash}, "
        f"current is {current}. Results may not reflect current routing contract."
    )


def _growth_warning(metadata: Metadata, size: int) -> str | None:
    if metadata.registry_size is None or size <= metadata.registry_size * GROWTH:
        return None
    return (
        f"Registry has grown from {metadata.registry_size} to {size} tools. "
        "Labeled evals may have under-specified toolsAcceptable sets."
    )


def _version_warning(metadata: Metadata, tool: Tool) -> str | None:
    if metadata.tool_version is None or tool.version is None:
        return None
    if _major(metadata.tool_version) == _major(tool.version):
        return None
    return (
        f"Tool {metadata.tool_name} is version {tool.version}, evals were generated for {metadata.tool_version}. "
        "Schema may have changed."
    )


def _major(version: str) -> str:
    number = _MAJOR.match(version.strip())
    return number[1].lstrip("0") if number else version.strip()
