"""requirements-dev.txt: every requirement of pyproject.toml is locked, in a version that it allows and with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
LOCKED = {
    canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^ ;\\]+)", LOCK, re.MULTILINE)
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WANTED = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]


@pytest.mark.parametrize("wanted", WANTED)
def test_a_requirement_is_locked(wanted: str) -> None:
    requirement = Requirement(wanted)
    version = LOCKED.get(canonicalize_name(requirement.name))
    assert version is not None, "run `make requirements`"
    assert requirement.specifier.contains(version, prereleases=True), f"{version}: run `make requirements`"


def test_every_version_has_hashes_and_no_address() -> None:
    entries = re.split(r"\n(?=[\w.-]+==)", LOCK)[1:]
    assert len(entries) == len(LOCKED)
    assert all(entry.count("--hash=sha256:") for entry in entries)
    assert not re.search(r"https?:|file:|--(?:index|find|extra)", LOCK)
