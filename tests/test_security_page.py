"""SECURITY.md: every promise in its table names a test, and every test that it names exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages import TESTS, names_in

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ") and "`tests/" in line]


def test_the_page_begins_with_the_threat_model_and_has_a_table() -> None:
    assert PAGE.startswith("# Security\n\n## Threat model\n")
    assert len(ROWS) >= 30
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:60])
def test_every_promise_names_its_test(row: list[str]) -> None:
    assert len(row) == 3
    assert row[1].strip()
    named = TESTS.findall(row[2])
    assert named
    for file, test in named:
        assert not test or test in names_in(ROOT / file), f"{file} has no {test}"
