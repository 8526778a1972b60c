"""Decides which suites a run should have had: those of the files that it looked at, unless flags deselected them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePath
from typing import Annotated, Any, Final, Self, final

import msgspec

from evalc.base.files import MOST_LINKS, exclusion

_EVERYTHING: Final = "."

OWN_ALONE: Final = ("",)
"""The configurations that found a suite, if that is the project's own alone."""


@final
class Place(msgspec.Struct, frozen=True):
    """Where a suite was found."""

    # its file, by the path that a search met first, from the project's folder; None if it is unknown
    file: str | None = None
    also: tuple[str, ...] = ()  # the other paths of the file, where links within the project lead to it
    # the configurations that find it when nothing is named, or did so once, each as `Configured.file`
    configs: tuple[str, ...] = OWN_ALONE

    @property
    def names(self) -> tuple[str, ...]:
        """All paths of the file that are known."""
        return () if self.file is None else (self.file, *self.also)


@final
class Configured(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a configuration that decides which suites a run finds, as the journal keeps it."""

    file: str = ""  # the configuration's file, from the project's folder; empty for the project's own, named or not
    # the files, folders and globs that are run if none are named; none for the whole project
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()  # the patterns of what a search leaves out

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Self:
        """The configuration of a run, by what its journal keeps of its flags.

        Raises:
            ValidationError: that is something else.
        """
        return msgspec.convert(flags.get("configured") or {}, cls)

    def finds(self, place: Place) -> bool:
        """Whether a run that names nothing finds the file of a suite, if it is there."""
        return not self.excludes(place) and _covers(self.paths, place)

    def excludes(self, place: Place) -> bool:
        """Whether a search leaves out the file of a suite."""
        return bool(self.exclude) and any(map(_exclusion(self.exclude).match_file, place.names))


_exclusion = cache(exclusion)


@final
class Scope(msgspec.Struct, frozen=True):
    """The part of a project that a run looked at."""

    # the files, folders and globs that were named, from the project's folder; none for all that its configuration knows
    paths: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()  # the tiers that were run; none if it was all of them
    configured: Configured = Configured()  # its configuration

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Self | None:
        """The scope of a run, by what its journal keeps of its flags.

        None where that does not say which suites there should have been: flags selected some cases, or the run is not
        one of `evalc run`.
        """
        try:
            paths = msgspec.convert(flags.get("looked_at"), tuple[str, ...])
            selection = msgspec.convert(flags.get("wanted") or {}, CaseFilter)
            configured = Configured.of(flags)
        except msgspec.ValidationError:
            return None
        if flags.get("prompt_id") is not None or selection.selects_cases or selection.changed_since is not None:
            return None
        return cls(paths, selection.tiers, configured)

    @property
    def asked(self) -> tuple[object, ...]:
        """The command line, whatever its configuration knew then: equal for runs that should have the same."""
        return self.paths, self.tiers, self.configured.file

    def has(self, place: Place, tier: str) -> bool:
        """Whether a suite of the tier at the place, which may be gone, is one of those that it should have found.

        What its configuration found once should be found again, though `paths` or `exclude` hide it by now. What only
        another configuration found has to be where this one looks.
        """
        if self.tiers and tier not in self.tiers:
            return False
        was_found = self.configured.file in place.configs
        if not was_found and self.configured.excludes(place):
            return False
        return _covers(self.paths or (() if was_found else self.configured.paths), place)


def _covers(paths: Sequence[str], place: Place) -> bool:
    return not paths or any(_leads_to(path, name) for path in paths for name in place.names)


def is_narrowed(flags: Mapping[str, Any]) -> bool:
    """Whether flags of a run, as its journal keeps them, selected cases or suites."""
    selected = _selected(flags)
    return selected is None or selected.shard is not None or any(selected.words())


def selects_cases(flags: Mapping[str, Any]) -> bool:
    """Whether flags of a run, as its journal keeps them, selected cases within a suite."""
    selected = _selected(flags)
    return selected is None or selected.selects_cases


def _selected(flags: Mapping[str, Any]) -> CaseFilter | None:
    """The cases that the flags select; None where the journal has it otherwise than this version."""
    try:
        return msgspec.convert(flags.get("wanted") or {}, CaseFilter)
    except msgspec.ValidationError:
        return None


def scope_paths(named: Iterable[str], root: Path, *, whole: bool) -> tuple[str, ...]:
    """The paths as a scope has them; `whole` says that nothing narrows them down to a part of the project."""
    paths = tuple(dict.fromkeys(name for path in named for name in names_in_project(path, root)))
    return () if whole or _EVERYTHING in paths else paths


def names_in_project(path: str, root: Path) -> tuple[str, ...]:
    """A path from the working folder as those from the project's folder that it has, the links followed one by one.

    The first is that of `in_project`; each next one has a link fewer. What lies outside of the project has no others.
    """
    project = os.path.realpath(root)
    names = [in_project(path, root)]
    while len(names) <= MOST_LINKS and (name := _with_link_followed(names[-1], project)) is not None:
        names.append(name)
    return tuple(dict.fromkeys(names))


def _with_link_followed(name: str, project: str) -> str | None:
    """A path from the project's folder with its first link followed; None if it has none, or a link that leads out."""
    path = PurePath(name)
    if os.pardir in path.parts:
        return None
    for folder in (*reversed(path.parents), path):
        there = PurePath(project, folder)
        if os.path.islink(there):  # noqa: PTH114 - it may hold NUL
            led = PurePath(os.path.realpath(there), path.relative_to(folder))
            return led.relative_to(project).as_posix() if led.is_relative_to(project) else None
    return None


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


MOST_SHARDS: Final = 10_000


@final
class Shard(msgspec.Struct, frozen=True, array_like=True):
    """One of `of` parts of the cases; the first has the number 1."""

    number: Annotated[int, msgspec.Meta(ge=1)]
    of: Annotated[int, msgspec.Meta(ge=1, le=MOST_SHARDS)]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class CaseFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The selection of cases by a command line, as the journal keeps it."""

    cases: tuple[str, ...] = ()  # `PATH::CASE`, the case by its id, its name, or a glob of them; or the id alone
    keywords: str | None = None  # an expression of words that ids, names of suites, tools and tags contain
    tags: tuple[str, ...] = ()  # tags one of which a case must have; with `!` in front, tags it must not have
    ids: tuple[str, ...] = ()  # globs, or a regular expression between slashes, one of which an id must match
    tiers: tuple[str, ...] = ()  # the tiers that are run
    failed_from: str | None = None  # the run whose failed cases are run
    # run all cases of these suites if none of them failed in that run, or if it does not have the suite
    else_all: bool = False
    none_failed: bool = False  # that run has no failed case of these suites, so it deselects nothing
    changed_since: str | None = None  # the commit since which a suite's files have changed
    repeat: Annotated[int, msgspec.Meta(ge=1)] | None = None  # how often each case is run
    shard: Shard | None = None  # the part of the chosen cases that is run
    # the run by whose durations the cases are spread over the shards; by their ids where it is None
    durations_of: str | None = None

    @property
    def selects_cases(self) -> bool:
        """Whether it selects cases within a suite."""
        by_failures = self.failed_from is not None and not self.none_failed
        return bool(self.cases or self.tags or self.ids or by_failures or self.keywords is not None or self.shard)

    def words(self) -> tuple[str, ...]:
        """The flags that narrow the choice down, as a user writes them."""
        said = (
            *self.cases,
            *(f"-k {self.keywords}" for _ in range(self.keywords is not None)),
            *(f"--tag {tag}" for tag in self.tags),
            *(f"--filter {pattern}" for pattern in self.ids),
            *(f"--tier {tier}" for tier in self.tiers),
            f"--last-failed={self.failed_from}" if self.failed_from and not self.none_failed else "",
            f"--changed-since {self.changed_since}" if self.changed_since else "",
            f"--shard {self.shard}" if self.shard else "",
        )
        return tuple(filter(None, said))
