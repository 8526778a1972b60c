"""Finds the project of a working folder: its root and its configuration file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from evalc.regular import read_limited

NAMES = ("evalc.toml", "evalc.config.json", "pyproject.toml")
"""The files that may configure evalc, in the order in which one folder's are preferred."""


_LARGEST = 16_000_000


class Project(NamedTuple):
    """A project's root, and its configuration file if it has one."""

    root: Path
    file: Path | None


def find_project(start: Path) -> Project:
    """The nearest folder upwards from `start` with a configuration or `.git`; without one, `start` itself."""
    for folder in (start, *start.parents):
        for name in NAMES:
            file = folder / name
            if file.is_file() and (name != "pyproject.toml" or _mentions_evalc(file)):
                return Project(folder, file)
        if (folder / ".git").exists():
            return Project(folder, None)
    return Project(start, None)


def _mentions_evalc(pyproject: Path) -> bool:
    """Whether a pyproject.toml seems to have a table for evalc; it is parsed only then."""
    try:
        return b"tool.evalc" in read_limited(pyproject, _LARGEST)
    except OSError:
        return False


def below_working_folder(path: Path) -> Path:
    """The path as the working folder sees it, where it lies below."""
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path
