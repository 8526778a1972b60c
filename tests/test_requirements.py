"""requirements/: every requirement of pyproject.toml is locked, in a version that it allows and with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "requirements").iterdir())}
REQUIRED = {"runtime": PROJECT["project"]["dependencies"], **PROJECT["dependency-groups"]}


def versions(lock: str) -> dict[str, str]:
    """The locked version of each package."""
    found = re.findall(r"^([\w.-]+)==([^ ;\\]+)", LOCKS[lock], re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def test_each_purpose_has_one_lock() -> None:
    assert set(LOCKS) == set(REQUIRED)


@pytest.mark.parametrize(("lock", "required"), [(lock, required) for lock in REQUIRED for required in REQUIRED[lock]])
def test_a_requirement_is_locked(lock: str, required: str) -> None:
    requirement = Requirement(required)
    version = (versions("runtime") | versions(lock)).get(canonicalize_name(requirement.name))
    assert version is not None, "run `make requirements`"
    assert requirement.specifier.contains(version, prereleases=True), f"{version}: run `make requirements`"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_version_has_hashes_and_no_address(lock: str) -> None:
    entries = re.split(r"\n(?=[\w.-]+==)", LOCKS[lock])[1:]
    assert len(entries) == len(versions(lock))
    assert all(entry.count("--hash=sha256:") for entry in entries)
    assert not re.search(r"https?:|file:|--(?:index|find|extra)", LOCKS[lock])


@pytest.mark.parametrize("lock", sorted(set(REQUIRED) - {"runtime"}))
def test_packages_of_the_runtime_are_locked_once(lock: str) -> None:
    assert not versions(lock).keys() & versions("runtime").keys()
