"""SECURITY.md: every promise in its table names a test, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ") and "`tests/" in line]
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_the_page_begins_with_the_threat_model_and_has_a_table() -> None:
    assert PAGE.startswith("# Security\n\n## Threat model\n")
    assert len(ROWS) >= 30
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:60])
def test_every_promise_names_its_test(row: list[str]) -> None:
    assert len(row) == 3
    assert row[1].strip()
    named = NAMED.findall(row[2])
    assert named
    for file, test in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assigned = {
            node.targets[0].id
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        assert not test or test in defined | assigned, f"{file} has no {test}"
