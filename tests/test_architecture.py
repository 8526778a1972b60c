"""ARCHITECTURE.md: its table has every room, and its lines are those that the import contracts hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NO_ROOMS = {"__init__.py", "__main__.py", "py.typed", "__pycache__/"}


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def contract() -> dict[str, list[str]]:
    """The import contract of the layers."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (each for each in config["tool"]["importlinter"]["contracts"] if each.get("containers") == ["evalc"])
    return layers  # type: ignore[no-any-return]


def test_the_table_has_every_room_and_none_that_is_gone() -> None:
    first_cells = re.findall(r"^\| (`.*?) \|", section("The rooms"), re.MULTILINE)
    listed = [name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)]
    there = {path.name + "/" * path.is_dir() for path in (ROOT / "evalc").iterdir()} - NO_ROOMS
    assert sorted(listed) == sorted(there)


def test_the_lines_are_the_contract_s() -> None:
    (lines,) = re.findall(r"```text\n(.*?)```", section("Imports point down"), re.DOTALL)
    drawn = [sorted(line.split(", ")) for line in lines.splitlines()]
    assert drawn == [sorted(layer.split(" | ")) for layer in contract()["layers"]]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {name[0] for each in wanted if (name := re.match(r"[\w.-]+", each))}
    rows = re.findall(r"^\| ([^|]+) \|", section("Dependencies"), re.MULTILINE)
    listed = {name for row in rows for name in re.split(r",? extra |, | ", row)}
    assert names <= listed
