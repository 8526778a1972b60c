"""Finds the project of a folder: its root, its configuration file, and the links that lead out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evalc.opening import open_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAMES = ("evalc.toml", "evalc.config.json", "pyproject.toml")
"""The files that may configure evalc, in the order in which one folder's are preferred."""


_LARGEST = 16_000_000
_HEAD_OF_BASELINE = 40
"""In bytes; a byte order mark may come before it."""


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
        with open_file(pyproject) as file:
            return b"tool.evalc" in file.read(_LARGEST)
    except OSError:
        return False


def is_accepted_baseline(file: Path) -> bool:
    """Whether a file is what `evalc accept` writes, whatever a merge made of it, rather than evals or a result."""
    try:
        if link_out(file) is not None:
            return False
        with open_file(file) as opened:
            return b'"baseline"' in opened.read(_HEAD_OF_BASELINE)
    except (OSError, ValueError):
        return False


def below_working_folder(path: Path) -> Path:
    """The path as the working folder sees it, where it lies below."""
    working = Path.cwd()
    return path.relative_to(working) if path.is_absolute() and path.is_relative_to(working) else path


def is_below(path: Path, root: Path) -> bool:
    """Whether a path, its links followed, lies below a root; a path that cannot exist lies nowhere."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        return False


def exclusion(patterns: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of `exclude`; those that are invalid, such as a `!` alone, match nothing, as for git."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - for start-up: only a search of folders needs it

    return GitIgnoreSpec.from_lines(filter(_is_pattern, patterns))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - as above

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def project_root(path: Path) -> Path:
    """The root of the project that a file or folder belongs to: what a suite may open lies below it."""
    folder = path.resolve()
    if not folder.is_dir():
        folder = folder.parent
    project = find_project(folder)
    working = Path.cwd()
    if project.root == folder and project.file is None and folder.is_relative_to(working):
        return working  # no project at all: the working folder is one
    return project.root


# --- links -----------------------------------------------------------------------------------------------------------

_MOST_LINKS: Final = 40
"""On the way to one file; as many as Linux follows."""


class Link(NamedTuple):
    """A symbolic link, by a path without links on the way to it, and where it leads in the end."""

    path: Path
    target: Path


def links_to(path: Path) -> Iterator[Link]:
    """The links on the way to a path, in the order in which the system follows them.

    Raises:
        ValueError: the path is invalid.
    """
    absolute = Path.cwd() / path
    here, pending = absolute.anchor, [*reversed(absolute.parts[1:])]
    followed = 0
    while pending and followed < _MOST_LINKS:
        part = pending.pop()
        if part == os.pardir:
            here = os.path.dirname(here)  # noqa: PTH120 - called for each part of each path
            continue
        there = os.path.join(here, part)  # noqa: PTH118 - as above
        try:
            is_link = stat.S_ISLNK(os.lstat(there).st_mode)
        except OSError:  # what cannot be looked at cannot be opened
            return
        if not is_link:
            here = there
            continue
        followed += 1
        yield Link(Path(there), Path(os.path.realpath(there)))
        led = Path(here) / os.readlink(there)  # noqa: PTH115 - as above
        here = led.anchor
        pending += reversed(led.parts[1:])


def link_out(path: Path) -> Path | None:
    """The first link on the way to a path that leads out of the project it lies in; None if there is none.

    Raises:
        ValueError: the path is invalid.
    """
    for link in links_to(path):
        project = find_project(link.path.parent)
        if _is_project(project):
            root = project.root
        elif link.path.is_relative_to(Path.cwd()) and not _is_root(link.target):
            root = Path.cwd()
        else:  # as `/tmp` may be a link, or the folder of a project
            continue
        if not link.target.is_relative_to(root):
            return link.path
    return None


def _is_project(project: Project) -> bool:
    return project.file is not None or (project.root / ".git").exists()


def _is_root(folder: Path) -> bool:
    project = find_project(folder)
    return project.root == folder and _is_project(project)
