"""Decides which suites a run should have had: those of the files that it looked at, unless flags deselected them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any, Final, Self, final

import msgspec

from evalc.runtime.run.select import Wanted

_EVERYTHING: Final = "."


@final
class Scope(msgspec.Struct, frozen=True):
    """The part of a project that a run looked at.

    Attributes:
        paths: the files, folders and globs that were named, from the project's folder; none for the whole project.
        tiers: the tiers that were run; none if it was all of them.
    """

    paths: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Self | None:
        """The scope of a run, by what its journal keeps of its flags.

        None where that does not say which suites there should have been: flags selected some cases, or the run is not
        one of `evalc run`.
        """
        try:
            paths = msgspec.convert(flags.get("looked_at"), tuple[str, ...])
            wanted = msgspec.convert(flags.get("wanted") or {}, Wanted)
        except msgspec.ValidationError:
            return None
        if flags.get("prompt_id") is not None or wanted.selects_cases or wanted.changed_since is not None:
            return None
        return cls(paths, wanted.tiers)

    def has(self, file: str | None, tier: str) -> bool:
        """Whether a suite of the tier in the file, which may be gone, is one of those that it looked at."""
        if self.tiers and tier not in self.tiers:
            return False
        if not self.paths:
            return True
        return file is not None and any(_leads_to(path, file) for path in self.paths)


def selects_cases(flags: Mapping[str, Any]) -> bool:
    """Whether flags of a run, as its journal keeps them, selected cases within a suite."""
    try:
        return msgspec.convert(flags.get("wanted") or {}, Wanted).selects_cases
    except msgspec.ValidationError:
        return True


def scope_paths(named: Iterable[str], root: Path, *, whole: bool) -> tuple[str, ...]:
    """The paths as a scope has them; `whole` says that nothing narrows them down to a part of the project."""
    paths = tuple(dict.fromkeys(in_project(path, root) for path in named))
    return () if whole or _EVERYTHING in paths else paths


def in_project(path: str, root: Path) -> str:
    """A path from the working folder, as one from the project's folder; links on the way to the project are followed.

    Links within the project stay as they are, since its files are found by them.
    """
    project = os.path.realpath(root)
    whole = PurePath(os.path.abspath(path))  # noqa: PTH100 - a path with links in it, of a file that may be gone
    try:
        for folder in (*reversed(whole.parents), whole):
            if (entry := PurePath(os.path.realpath(folder))).is_relative_to(project):
                return (entry.relative_to(project) / whole.relative_to(folder)).as_posix()
        return PurePath(os.path.relpath(whole, project)).as_posix()
    except ValueError:  # it holds NUL, or is on another drive
        return path


def _leads_to(path: str, file: str) -> bool:
    """Whether a file, a folder or a glob is the file or has it below it."""
    return file == path or file.startswith(f"{path}/") or _matches(path.split("/"), file.split("/"))


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a glob matches the path or a folder above it."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_matches(pattern[1:], parts[skipped:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])
