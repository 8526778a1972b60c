"""Waits for files to be saved; after each save it checks them, and runs the cases that have changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path
from typing import Final, NamedTuple, final

from watchfiles import Change, DefaultFilter, watch

from evalc import api
from evalc.compiler.compiled import Compilation
from evalc.config.settings import Settings
from evalc.errors import EvalcError
from evalc.setup.collector import collector_off
from evalc.watch.board import Board
from evalc.watch.cases import CaseKey, changed, fingerprints
from evalc.watch.child import run_cases

_DEBOUNCE_MS: Final = 200
_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".toml", ".ts", ".js", ".lock"})


class Seen(NamedTuple):
    """What a look at the files has found.

    Attributes:
        compilation: the suites and problems; None where the configuration cannot be read.
        refusal: why they could not be looked at.
        to_run: the cases that are to be run.
    """

    compilation: Compilation | None
    refusal: str = ""
    to_run: tuple[CaseKey, ...] = ()


@final
class Watcher:
    """The files that are watched, and what is known of their cases.

    Args:
        paths: eval files and folders.
        settings: gives the settings as they are now.
        others: files and folders with whose changes every case is run again, such as the agent's code.
    """

    def __init__(self, paths: Sequence[str], settings: Callable[[], Settings], others: Sequence[str]) -> None:
        self._paths = paths
        self._settings = settings
        self._others = tuple(os.path.realpath(each) for each in others)
        self._digests: dict[CaseKey, str] | None = None
        self.board = Board()

    def look(self, saved: Set[str] = frozenset()) -> Seen:
        """Check the files; which cases are to be run follows from what was saved since the look before.

        At the first look none is.
        """
        try:
            settings = self._settings()
            with collector_off():
                found = api.check_paths(settings.looked_at(self._paths), settings=settings)
        except EvalcError as error:
            return Seen(None, str(error))
        if any(problem.severity == "error" for problem in found.problems):
            return Seen(found)
        now = fingerprints(found.suites)
        before, self._digests = self._digests, now
        self.board.look(now)
        if any(self._is_other(name) for name in saved):
            return Seen(found, to_run=tuple(now))
        return Seen(found, to_run=() if before is None else tuple(changed(before, now)))

    def run(self, chosen: Sequence[CaseKey], flags: Sequence[str]) -> bool:
        """Run cases, and note how they ended; False where none did, of which the run has said why."""
        settings = self._settings()
        paths = [str(path) for path in settings.looked_at(self._paths)]
        every = self._digests is not None and len(chosen) == len(self._digests)
        results = run_cases(paths, None if every else chosen, flags)
        self.board.note(results)
        return bool(results)

    def saves(self) -> Iterator[Set[str]]:
        """The names of the files of each save, until an interrupt.

        Raises:
            OSError: the system cannot watch so many folders.
        """
        settings = self._settings()
        folders = {_folder(path) for path in (*settings.looked_at(self._paths), settings.root, *self._others)}
        leave_out = tuple(os.path.realpath(folder) for folder in settings.written_folders)
        wanted = _Wanted(leave_out, self._others)
        for found in watch(*_outermost(folders), watch_filter=wanted, debounce=_DEBOUNCE_MS, raise_interrupt=True):
            yield {name for _, name in found}

    def _is_other(self, name: str) -> bool:
        real = os.path.realpath(name)
        return any(real == other or real.startswith(other + os.sep) for other in self._others)


@final
class _Wanted(DefaultFilter):
    """The files that may matter: those that evals are made of, and what the user names; not what evalc writes."""

    def __init__(self, leave_out: Sequence[str], others: Sequence[str]) -> None:
        super().__init__(ignore_paths=list(leave_out))
        self._others = others

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change matters."""
        named = any(path == other or path.startswith(other + os.sep) for other in self._others)
        return super().__call__(change, path) and (named or Path(path).suffix.lower() in _SUFFIXES)


def _folder(path: object) -> str:
    """The folder to watch for a path: an editor that saves may put a new file in the place of the old one."""
    real = os.path.realpath(str(path))
    while not os.path.isdir(real):  # noqa: PTH112 - of a glob, the folder before its first sign
        real = os.path.dirname(real)  # noqa: PTH120
    return real


def _outermost(folders: Set[str]) -> list[str]:
    """The folders without those that lie in another."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(folder == each or folder.startswith(each.rstrip(os.sep) + os.sep) for each in kept):
            kept.append(folder)
    return kept
