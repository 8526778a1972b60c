"""From a suite and the tool registry to the suite that knows the tool it was compiled for (case model, metadata)."""

from __future__ import annotations

import msgspec

from evalc.compiler import ir
from evalc.tools.registry import ToolRegistry


def with_tool_state(suite: ir.Suite, tools: ToolRegistry | None) -> ir.Suite:
    """The suite with what the registry says of its tool, where the author does not say it.

    Later runs of the compiled file compare it with the registry of their time. Of a tool that the registry does not
    have, nothing is said.
    """
    tool = None if tools is None else tools.get(suite.tool)
    if tools is None or tool is None:
        return suite
    return msgspec.structs.replace(
        suite,
        tool_version=tool.version if suite.tool_version is None else suite.tool_version,
        tool_description=tool.description if suite.tool_description is None else suite.tool_description,
        registry_size=tools.size if suite.registry_size is None else suite.registry_size,
    )
