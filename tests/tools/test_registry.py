"""Tool registries in all their forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalc.errors import UsageError
from evalc.tools.registry import ToolDefinition, UnsupportedRegistry, load_registry, parse_registry

SCHEMA = {"type": "object"}
PLAIN = {"name": "t", "description": "Does.", "version": "1.2.3", "parameters": SCHEMA}
MCP = {"name": "t", "description": "Does.", "inputSchema": SCHEMA}
ANTHROPIC = {"name": "t", "description": "Does.", "input_schema": SCHEMA}
OPENAI = {"type": "function", "function": {"name": "t", "description": "Does.", "parameters": SCHEMA}}
NAMELESS = {"description": "Does.", "parameters": SCHEMA}


@pytest.mark.parametrize(
    "document",
    [
        [PLAIN],
        [MCP],
        [ANTHROPIC],
        [OPENAI],
        [{"type": "function", **PLAIN}],
        {"tools": [MCP]},
        {"tools": {"t": NAMELESS}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP], "nextCursor": "x"}},
        {"t": NAMELESS},
    ],
)
def test_every_form_is_read(document: Any) -> None:
    registry = parse_registry(json.dumps(document).encode(), "tools.json")
    tool = registry["t"]
    assert (tool.name, tool.description, tool.parameters) == ("t", "Does.", SCHEMA)
    assert tool.version in (None, "1.2.3")


def test_a_registry_is_a_mapping_in_the_file_s_order(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text('\ufeff[{"name": "b"}, {"name": "a", "description": null, "version": 2}]', encoding="utf-8")
    registry = load_registry(path)
    assert (list(registry), len(registry), "c" in registry) == (["b", "a"], 2, False)
    assert registry["a"] == ToolDefinition(name="a", version="2")


@pytest.mark.parametrize("document", [[], {}, {"tools": []}])
def test_a_registry_may_be_empty(document: Any) -> None:
    assert len(parse_registry(json.dumps(document).encode(), "tools.json")) == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"1", "is neither a list of tools nor a mapping"),
        (b'{"a": 1}', "is neither a list of tools nor a mapping"),
        (b"[1]", r"at \$\[0\] has no tool definition but a number"),
        (b'{"result": {"tools": [{}]}}', r"at \$\.result\.tools\[0\] has no text as `name` but nothing"),
        (b'[{"name": "a", "description": []}]', "has no text as `description` but a list"),
        (b'[{"name": "a"}, {"name": "a"}]', "defines `a` twice"),
    ],
)
def test_all_else_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_registry(data, "tools.json")


def test_scripts_have_an_error_of_their_own(tmp_path: Path) -> None:
    for name in ("tools.exports.ts", "tools.MJS"):
        with pytest.raises(UnsupportedRegistry):
            load_registry(tmp_path / name)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_registry(tmp_path / "gone.json")
