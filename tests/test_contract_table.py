"""`specs/contract.md`: each of its tests exists, and no section of the contract is without a row."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conformance.documents import documents

ROOT = Path(__file__).parents[1]
SECTIONS = (
    "Overview",
    "Input Contracts",
    "1. Eval File Format",
    "Eval Case Fields",
    "2. Agent Endpoint",
    "3. Seed Manifest",
    "4. Snapshot Data",
    "Template Token Resolution",
    "Path Syntax",
    "Resolution Algorithm",
    "Token Locations",
    "Missing Path Behavior",
    "Staleness Checks",
    "Description Hash Check",
    "Registry Size Check",
    "Tool Version Check",
    "Assertion Execution",
    "1. toolsCalled / toolsAcceptable",
    "2. toolParams",
    "3. noToolErrors",
    "4. responseNonEmpty",
    "4. responseContains",
    "5. responseContainsAny",
    "6. responseNotContains",
    "7. responseMatches",
    "8. maxLatencyMs",
    "9. maxTokens",
    "Output Format",
    "EvalSuiteResult",
    "Console Summary",
    "Baseline Diffing",
    "Runner Configuration",
)
"""The headings of the contract, in its order."""
ONLY_HEADINGS = frozenset({"Input Contracts", "Template Token Resolution", "Staleness Checks", "Output Format"})
"""Those under which nothing is said but in their own sections."""


class Row(NamedTuple):
    """A sentence of the contract, the names of its tests and what comes of it."""

    section: str
    sentence: str
    tests: tuple[str, ...]
    result: str


def rows() -> Iterator[Row]:
    section = ""
    for line in (ROOT / "specs" / "contract.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("##"):
            section = line.lstrip("# ")
        elif line.startswith("| ") and line != "| sentence | test | result |":
            sentence, tests, result = (cell.strip() for cell in line.strip("|").split(" | "))
            yield Row(section, sentence, tuple(re.findall(r"`([^`]+)`", tests)), result)


ROWS = tuple(rows())


def test_the_sections_are_the_contract_s() -> None:
    page = (ROOT / "specs" / "contract.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^##+ (.*)$", page, re.MULTILINE)) == SECTIONS
    assert {row.section for row in ROWS} == set(SECTIONS) - ONLY_HEADINGS


def test_every_sentence_has_a_test_and_a_result() -> None:
    assert [row for row in ROWS if not row.tests or not row.result.startswith(("holds", "decided"))] == []
    assert len({(row.section, row.sentence) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in row.tests}))
def test_the_test_exists(name: str) -> None:
    if "::" in name:
        path, _, function = name.partition("::")
        assert function in _functions(ROOT / path)
    else:
        assert any(fnmatchcase(identity, name) for identity in _conformance_cases())


@cache
def _functions(path: Path) -> frozenset[str]:
    """The tests of a file by name; those that pytest makes of them by parameters bear it too."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def _conformance_cases() -> tuple[str, ...]:
    return tuple(f"{document.name}/{entry['name']}" for document in documents() for entry in document.cases)
