"""Tool registries in JSON, in all their forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalc.model.json import short_hash
from evalc.tools import Tool
from tests.tools.reading import read

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
        PLAIN,
        {"tools": [MCP]},
        {"tools": {"t": NAMELESS}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
        {"t": NAMELESS},
        {"t": OPENAI},
    ],
)
def test_every_form_is_read(document: Any, tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.json": json.dumps(document)})
    tool = found.tools["t"]
    assert (tool.name, tool.description, tool.parameters) == ("t", "Does.", SCHEMA)
    assert tool.version in (None, "1.2.3")
    assert (found.problems, found.tools.complete, found.tools.size) == ([], True, 1)


def test_a_registry_is_a_mapping_in_the_file_s_order(tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.json": '\ufeff[{"name": "b"},\n {"name": "a", "description": null, "version": 2}]'})
    registry = found.tools
    assert (list(registry), len(registry), "c" in registry) == (["b", "a"], 2, False)
    tool = registry["a"]
    assert tool.place is not None
    assert (tool, tool.place.line) == (Tool(name="a", version="2", place=tool.place), 2)
    assert tool.description_hash == short_hash("")


def test_a_mapping_of_parameters_is_the_schema_of_their_object(tmp_path: Path) -> None:
    shape = {"type": {"type": "string"}, "n": {"type": "number"}}
    tool = read(tmp_path, {"tools.json": json.dumps([{"name": "t", "schema": shape}])}).tools["t"]
    assert tool.parameters == {"type": "object", "properties": shape}


@pytest.mark.parametrize("document", [[], {}, {"tools": []}])
def test_a_registry_may_be_empty(document: Any, tmp_path: Path) -> None:
    assert len(read(tmp_path, {"tools.json": json.dumps(document)}).tools) == 0


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            {"result": {"tools": [MCP], "nextCursor": "x"}},
            "tools.json:1:98 EV663 the rest of the tools cannot be read: this is one page of several",
        ),
        (
            [{"type": "web_search"}],
            "tools.json:1:2 EV663 this tool cannot be read: a tool of the type `web_search` is the provider's own",
        ),
    ],
)
def test_unreadable_tools_leave_the_registry_incomplete(document: Any, problem: str, tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.json": json.dumps(document)})
    assert (found.problems, found.tools.complete, found.tools.size) == ([problem], False, None)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("", "tools.json:1:1 EV127 the text is empty"),
        ("1", "tools.json:1:1 EV660 `"),
        ('{"a": 1}', "tools.json:1:1 EV660 `"),
        ("[1]", "tools.json:1:2 EV661 a tool is to be an object, not a number"),
        ('{"result": {"tools": [\n {}]}}', "tools.json:2:2 EV661 the `name` of a tool is to be a text, not nothing"),
        ('[{"name": " "}]', "tools.json:1:11 EV661 the `name` of a tool is to be a text, not an empty text"),
        ('[{"name": "a",\n "description": []}]', "tools.json:2:17 EV661 the `description` of a tool is to be a text"),
        (
            '[{"name": "a", "version": true}]',
            "tools.json:1:27 EV661 the `version` of a tool is to be a text, not a truth",
        ),
        (
            '[{"name": "a", "parameters": 1}]',
            "tools.json:1:30 EV661 the schema of a tool's parameters is to be an object",
        ),
        ('[{"name": "a"},\n{"name": "a"}]', "tools.json:2:10 EV662 the tool `a` is defined a second time (first at "),
        ('{"a": {}, "b": {"name": "a"}}', "tools.json:1:25 EV662 the tool `a` is defined a second time (first at "),
        ('[{"name": "a", "name": "b"}]', "tools.json:1:16 EV"),
    ],
)
def test_all_else_is_refused_at_its_place(data: str, problem: str, tmp_path: Path) -> None:
    (only,) = read(tmp_path, {"tools.json": data}).problems
    assert only.startswith(problem)


@pytest.mark.parametrize("data", [b"\xff", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b"\0"])
def test_hostile_bytes_are_refused(data: bytes, tmp_path: Path) -> None:
    found = read(tmp_path, {"tools.json": data})
    assert found.registry is None or not found.registry
    assert found.problems


def test_a_registry_that_a_flag_names_has_to_be_there(tmp_path: Path) -> None:
    assert read(tmp_path, {}, "gone.json").problems[0].startswith("gone.json:1:1 EV600")
    absent = read(tmp_path, {}, "gone.ts", required=False)
    assert absent.registry is None
    assert absent.problems[0].startswith("gone.ts:1:1 EV665")
