"""Waits for files to be saved; after each save it checks them, and runs the cases that have changed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Final, NamedTuple, final

from watchfiles import Change, DefaultFilter, watch

from evalc.base import collector_off
from evalc.base.errors import EvalcError, UsageError
from evalc.base.terminal import Screen, cells, padded, shortened, visible
from evalc.compiler.compiled import Compilation, CompiledSuite
from evalc.config import Settings
from evalc.model.json import short_hash, to_json
from evalc.model.numbers import rounded
from evalc.model.result import CaseResult
from evalc.model.suite import CaseKey, key_of
from evalc.report.words import Writer, main_reason
from evalc.runtime.run.again_load import load_run
from evalc.runtime.store.runs import LATEST, find_results
from evalc.setup.compile import checked
from evalc.setup.selection import id_in_pattern

_LEAST_ROWS: Final = 5
_WIDEST_ID: Final = 50


class _Row(NamedTuple):
    """A case, how it ended when it was last run, and whether it says something else now."""

    key: CaseKey
    result: CaseResult
    is_old: bool


@final
class Board:
    """The cases of the watched files."""

    def __init__(self) -> None:
        self._digests: dict[CaseKey, str] = {}
        self._results: dict[CaseKey, tuple[CaseResult, str]] = {}

    def look(self, suites: Iterable[CompiledSuite]) -> tuple[CaseKey, ...]:
        """Take over the cases that would be run now; those that are new, or say something else than before."""
        before = self._digests
        running = ((suite.key, case) for suite in suites for case in suite.cases() if case.running)
        self._digests = {CaseKey(suite, case.id): short_hash(to_json(case)) for suite, case in running}
        return tuple(key for key, digest in self._digests.items() if before.get(key) != digest)

    def note(self, results: Mapping[CaseKey, CaseResult]) -> None:
        """Take over how cases ended."""
        for key, result in results.items():
            if key in self._digests:
                self._results[key] = (result, self._digests[key])

    @property
    def known(self) -> tuple[CaseKey, ...]:
        """Every case, in source order."""
        return tuple(self._digests)

    def lines(self, screen: Screen, height: int) -> Iterator[str]:
        """The table, no longer than so many lines, and the counts below it."""
        known = ((key, digest, self._results.get(key)) for key, digest in self._digests.items())
        ran = [_Row(key, found[0], found[1] != digest) for key, digest, found in known if found is not None]
        ran.sort(key=lambda row: 1 if row.is_old else 2 if row.result.passed else 0)
        shown = ran[: max(height - 2, _LEAST_ROWS)]
        width = min(max((cells(visible(row.key.id)) for row in shown), default=0), _WIDEST_ID)
        writer = Writer(screen)
        for row in shown:
            yield _line(row, writer, width)
        if len(ran) > len(shown):
            yield f"  and {len(ran) - len(shown)} more"
        passed = sum(row.result.passed for row in ran)
        counts = ((passed, "passed"), (len(ran) - passed, "did not pass"), (len(self.known) - len(ran), "not run yet"))
        yield ", ".join(f"{count} {how}" for count, how in counts if count) or "no cases"


def _line(row: _Row, writer: Writer, width: int) -> str:
    result, reason = row.result, None if row.result.passed else main_reason(row.result)
    mark = writer.painted(writer.mark(result.status), "green" if result.passed else "red")
    score = "" if result.score is None else rounded(result.score)
    said = "changed since" if row.is_old else "" if reason is None else reason.in_short(writer.symbols.ellipsis)
    name = padded(shortened(visible(row.key.id), width), width)
    room = max(writer.width - width - 12, 20)
    return f"  {mark} {name}  {score:<4}  {shortened(said, room)}".rstrip()


_LONGEST_FILTER: Final = 100_000
"""The characters that a choice of cases may take on a command line; of more cases, all are run."""


def run_cases(
    paths: Sequence[str], chosen: Sequence[CaseKey] | None, flags: Sequence[str]
) -> dict[CaseKey, CaseResult]:
    """Run the chosen cases of the paths, or all: how each ended; nothing else is kept of the run.

    Its progress, and why it cannot run, go to this process's standard error. An interrupt ends both.
    """
    with tempfile.TemporaryDirectory(prefix="evalc-watch-") as folder:
        command = [sys.executable, "-P", "-m", "evalc", "run", *paths, *flags, "--output-dir", folder]
        ids = "|".join(id_in_pattern(key.id) for key in chosen or ())
        command += ["--filter", f"/^(?:{ids})$/"] if chosen is not None and len(ids) < _LONGEST_FILTER else []
        nothing = subprocess.DEVNULL
        subprocess.run(command, stdin=nothing, stdout=nothing, check=False)  # noqa: S603 - ourselves
        try:
            run = load_run(find_results(LATEST, Path(folder)))[0]
        except (EvalcError, OSError):
            return {}
        return {CaseKey(key_of(suite.result), case.id): case for suite in run.suites for case in suite.cases}


_DEBOUNCE_MS: Final = 200
_HEARS_OF_THE_END_MS: Final = 200
_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".toml", ".ts", ".js", ".lock"})


class Seen(NamedTuple):
    """State of the files at one look."""

    compilation: Compilation | None  # the suites and problems; None if the configuration cannot be read
    refusal: str = ""  # why they could not be looked at
    to_run: tuple[CaseKey, ...] = ()  # the cases that are to be run


@final
class Watcher:
    """The files that are watched, and what is known of their cases.

    With changes of the project's own checks and of the files and folders `others`, such as the agent's code, every case
    is run again.

    Raises:
        SourceError: the configuration has errors at the beginning.
    """

    def __init__(self, paths: Sequence[str], settings: Callable[[], Settings], others: Sequence[str]) -> None:
        self._paths = paths
        self._read_settings = settings
        self.settings = settings()
        self._also = others
        self._is_first = True
        self._files: frozenset[str] = frozenset()
        self.board = Board()

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(os.path.realpath(str(each)) for each in (*self._also, *self.settings.checks))

    def look(self, saved: Set[str] = frozenset()) -> Seen:
        """Check the files; which cases are to be run follows from what was saved since the look before.

        At the first look none is.
        """
        try:
            self.settings = self._read_settings()
            with collector_off():
                found = checked(self.settings.looked_at(self._paths), self.settings)
        except EvalcError as error:
            return Seen(None, str(error))
        if any(problem.severity == "error" for problem in found.problems):
            return Seen(found)
        self._files = frozenset(name for suite in found.suites for name in (suite.ir.source.name, *suite.ir.files))
        changed = self.board.look(found.suites)
        is_first, self._is_first = self._is_first, False
        if any(_is_in(os.path.realpath(name), self._others) for name in saved):
            return Seen(found, to_run=self.board.known)
        return Seen(found, to_run=() if is_first else changed)

    def run(self, chosen: Sequence[CaseKey], flags: Sequence[str]) -> bool:
        """Run cases, and note how they ended; False if none ran, for which the run has given the reason."""
        paths = [str(path) for path in self.settings.looked_at(self._paths)]
        results = run_cases(paths, None if len(chosen) == len(self.board.known) else chosen, flags)
        self.board.note(results)
        return bool(results)

    def saves(self) -> Iterator[Set[str]]:
        """The names of the files of each save, until an interrupt.

        Raises:
            UsageError: the system cannot watch so many folders.
        """
        while True:
            places = self._places()
            relevant = _Relevant([os.path.realpath(path) for path in self.settings.written_paths], self._others)
            with _watched(places, relevant) as heard:
                while self._places() == places:
                    saved = heard.get()
                    if isinstance(saved, OSError | RuntimeError):
                        raise UsageError(f"the folders cannot be watched: {saved}") from saved
                    if isinstance(saved, Exception):
                        raise saved
                    yield saved

    def _places(self) -> _Places:
        """The folders to watch: of what is named, and of the files that the suites were last made of."""
        settings = self.settings
        named = [os.path.realpath(str(path)) for path in (*settings.looked_at(self._paths), *self._others)]
        beside = (settings.file, settings.tools, settings.seed_file, settings.root / "evalc.toml")
        files = {os.path.realpath(str(path)) for path in (*beside, *self._files) if path is not None}
        deep = {_folder(path) for path in named if not Path(path).is_file()}
        deep |= {_folder(str(settings.prompts))} if settings.prompts is not None else set()
        flat = {_folder(str(Path(path).parent)) for path in (*files, *named) if not Path(path).is_dir()}
        outermost: list[str] = []
        for folder in sorted(deep):
            if not _is_in(folder, outermost):
                outermost.append(folder)
        return _Places(tuple(outermost), tuple(sorted(each for each in flat if not _is_in(each, outermost))))


class _Places(NamedTuple):
    """The folders to watch with all that is in them, and the folders in which only their own files matter."""

    deep: tuple[str, ...]
    flat: tuple[str, ...]


@contextmanager
def _watched(places: _Places, relevant: _Relevant) -> Iterator[Queue[Set[str] | Exception]]:
    """Watch folders in threads, since the library watches either whole trees or single folders."""
    heard: Queue[Set[str] | Exception] = Queue()
    stop = Event()

    def listen(folders: Sequence[str], recursive: bool) -> None:
        try:
            for found in watch(
                *folders,
                watch_filter=relevant,
                debounce=_DEBOUNCE_MS,
                rust_timeout=_HEARS_OF_THE_END_MS,
                stop_event=stop,
                recursive=recursive,
            ):
                heard.put({name for _, name in found})
        except Exception as error:  # raised in whoever waits
            heard.put(error)

    both = ((places.deep, True), (places.flat, False))
    threads = [Thread(target=listen, args=each, daemon=True) for each in both if each[0]]
    for thread in threads:
        thread.start()
    try:
        yield heard
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@final
class _Relevant(DefaultFilter):
    """The files that may matter: those that evals are made of, and what the user names; not what evalc writes."""

    def __init__(self, leave_out: Sequence[str], others: Sequence[str]) -> None:
        super().__init__(ignore_paths=list(leave_out))
        self._others = others

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change matters."""
        return super().__call__(change, path) and (_is_in(path, self._others) or Path(path).suffix.lower() in _SUFFIXES)


def _is_in(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders, or lies below one."""
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _folder(path: str) -> str:
    """The nearest folder that is there: of a glob, the one before its first sign."""
    folder = Path(path)
    while not folder.is_dir():
        folder = folder.parent
    return str(folder)
