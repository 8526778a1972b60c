"""From what a command line says of cases to a choice that does not change any more, and to what choosing needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from pathlib import Path
from typing import Final

import msgspec

from evalc.compiler.compiled import CompiledSuite
from evalc.config import Settings
from evalc.errors import UsageError
from evalc.git import changed_files, commit_of
from evalc.runtime.failures import failures_of
from evalc.runtime.past_runs import find_folder, has_results, steps_back
from evalc.runtime.select import Known, NamedCases, Wanted

SEPARATOR: Final = "::"


def pinned(wanted: Wanted, settings: Settings) -> Wanted:
    """The choice with names in place of what will mean something else tomorrow: the latest run, a branch.

    Raises:
        UsageError: there is no such run or commit.
    """
    run, results = wanted.failed_from, settings.results_folder
    if run is not None and steps_back(run) is not None:
        newest = find_folder(run, results, has_results)
        if newest is None and not wanted.else_all:
            raise UsageError(f"there is no run with results in `{results}`")
        run = None if newest is None else newest.name
    commit = wanted.changed_since
    return msgspec.structs.replace(
        wanted,
        failed_from=run,
        changed_since=None if commit is None else commit_of(commit, settings.root),
    )


def known_of(
    wanted: Wanted, suites: Iterable[CompiledSuite], settings: Settings, files_of: Callable[[str], Set[str]]
) -> Known:
    """What choosing needs to know; `files_of` gives the files of a path, as suites name them.

    Raises:
        UsageError: a run cannot be read, or git does not answer.
    """
    failed = None if wanted.failed_from is None else failures_of(wanted.failed_from, settings.results_folder)
    if failed is not None and wanted.else_all and not any(failed.values()):
        failed = None
    return Known(
        named=tuple(_named(argument, files_of) for argument in wanted.cases),
        failed=failed,
        changed=None if wanted.changed_since is None else _changed(wanted.changed_since, suites, settings),
    )


def _named(argument: str, files_of: Callable[[str], Set[str]]) -> NamedCases:
    path, _, case = argument.partition(SEPARATOR)
    if not case:
        raise UsageError(f"`{argument}` names no case behind `{SEPARATOR}`")
    return NamedCases(argument=argument, files=frozenset(files_of(path)), case=case)


def _changed(commit: str, suites: Iterable[CompiledSuite], settings: Settings) -> frozenset[str]:
    """The names of the sources whose suites have a file among those that have changed."""
    changed = changed_files(commit, settings.root)
    return frozenset(
        suite.ir.source.name
        for suite in suites
        if any(Path(name).resolve() in changed for name in (suite.ir.source.name, *suite.ir.files))
    )
