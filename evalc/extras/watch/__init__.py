"""Waits for files to be saved; after each save it checks them, and runs the cases that have changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from queue import Empty, Queue
from threading import Barrier, Event, Thread
from typing import Final, NamedTuple, final

import msgspec
from watchfiles import Change, DefaultFilter, watch

from evalc.base import collector_off
from evalc.base.errors import EvalcError, UsageError
from evalc.base.files import temporary_home
from evalc.base.terminal import Screen, cells, cut_in_middle, padded, visible
from evalc.compiler.compiled import Compilation, CompiledSuite
from evalc.config import Settings
from evalc.ecma.modules import with_imports
from evalc.model.case import Case
from evalc.model.json import short_hash, to_json
from evalc.model.numbers import rounded
from evalc.model.result import CaseResult, Status
from evalc.model.suite import CaseKey, key_of
from evalc.report.words import Writer, main_reason
from evalc.runtime.run.again_load import load_run
from evalc.runtime.store.runs import LATEST, find_results
from evalc.setup.compile import checked
from evalc.setup.selection import id_in_pattern

_LEAST_ROWS: Final = 5
_WIDEST_NAME: Final = 56


class _Row(NamedTuple):
    """A case, how it ended when it was last run, and whether it says something else now."""

    key: CaseKey
    result: CaseResult
    is_old: bool


class _Digest(NamedTuple):
    """The content of a case: the hash that its result has, too, and how often it is run."""

    hash: str
    repeat: int | None = None
    require: int | None = None


@final
class Board:
    """The cases of the watched files."""

    def __init__(self) -> None:
        self._digests: dict[CaseKey, _Digest] = {}
        self._running: dict[CaseKey, _Digest] = {}
        self._results: dict[CaseKey, tuple[CaseResult, _Digest | None]] = {}

    def look(self, suites: Iterable[CompiledSuite]) -> None:
        """Take over the cases that would be run now."""
        running = ((suite.key, case) for suite in suites for case in suite.cases() if case.running)
        self._digests = {CaseKey(suite, case.id): _digest_of(case) for suite, case in running}

    def outdate(self) -> None:
        """Take no result, and no run under way, for that of the cases as they are now."""
        self._running = {}
        self._results = {key: (result, None) for key, (result, _) in self._results.items()}

    @property
    def to_run(self) -> tuple[CaseKey, ...]:
        """The cases that have no result of what they say now, and are not being run."""
        return tuple(
            key
            for key, digest in self._digests.items()
            if digest not in (self._running.get(key), self._results.get(key, (None, None))[1])
        )

    def begin(self, keys: Iterable[CaseKey]) -> None:
        """A run of these cases begins."""
        self._running = {key: self._digests[key] for key in keys}

    def end(self, results: Mapping[CaseKey, CaseResult]) -> None:
        """Take over how the cases of the run ended, with what they said when it read them, which may be neither."""
        for key, result in results.items():
            meant = self._running.get(key)
            ran = meant if meant is not None and meant.hash == result.case_hash else None
            if key in self._digests:
                self._results[key] = (result, ran)
        self._running = {}

    @property
    def known(self) -> tuple[CaseKey, ...]:
        """Every case, in source order."""
        return tuple(self._digests)

    def lines(self, screen: Screen, height: int) -> Iterator[str]:
        """The cases that ran, those first that did not pass, in at most so many lines, and the counts below them."""
        known = ((key, digest, self._results.get(key)) for key, digest in self._digests.items())
        ran = [_Row(key, found[0], found[1] != digest) for key, digest, found in known if found is not None]
        ran.sort(key=lambda row: 1 if row.is_old else 2 if row.result.passed else 0)
        writer, most = Writer(screen), max(height - 2, _LEAST_ROWS)
        rows = [list(_line(row, writer)) for row in ran[:most]]
        if sum(len(lines) for lines, row in zip(rows, ran, strict=False) if not row.result.passed) > most:
            width = max(cells(_named(row, writer)) for row in ran[:most] if row.is_old or not row.result.passed)
            rows = [list(_line(row, writer, width)) for row in ran[:most]]
        while sum(map(len, rows)) > most:
            rows.pop()
        yield from chain.from_iterable(rows)
        if len(ran) > len(rows):
            yield f"  and {len(ran) - len(rows)} more"
        passed = sum(row.result.passed for row in ran)
        counts = ((passed, "passed"), (len(ran) - passed, "did not pass"), (len(self.known) - len(ran), "not run yet"))
        said = ", ".join(f"{count} {how}" for count, how in counts if count) or "no cases"
        status: Status = "passed" if passed == len(ran) else "failed"
        yield f"{writer.by_status(writer.mark(status), status)} {said}" if ran else said


def _digest_of(case: Case) -> _Digest:
    once = case if case.repeat is None else msgspec.structs.replace(case, repeat=None, require=None)
    return _Digest(short_hash(to_json(once)), case.repeat, case.require)


def _named(row: _Row, writer: Writer) -> str:
    """The case, and its score."""
    score = "" if row.result.score is None else f"  {rounded(row.result.score)}"
    room = min(writer.width - len("  ✓ "), _WIDEST_NAME) - len(score)
    return cut_in_middle(visible(row.key.id), room, writer.symbols.ellipsis) + score


def _line(row: _Row, writer: Writer, width: int | None = None) -> Iterator[str]:
    """The case, and below it why it did not pass; with a `width` of names, beside it what there is room for."""
    result, reason = row.result, None if row.result.passed else main_reason(row.result)
    mark = writer.by_status(writer.mark(result.status), result.status)
    said = "changed since" if row.is_old else "" if reason is None else reason.in_short(writer.symbols.ellipsis)
    line = _named(row, writer)
    is_below = said and not row.is_old and width is None
    if said and not is_below:
        line = writer.shortened(f"{padded(line, width or 0)}  {said}", writer.width - len("  ✓ "))
    yield f"  {mark} {line}"
    if is_below:
        yield from writer.wrapped(said, "      ")


_LONGEST_FILTER: Final = 100_000
"""The characters that a choice of cases may take on a command line; of more cases, all are run."""


@contextmanager
def _run_of(
    paths: Sequence[str], chosen: Sequence[CaseKey] | None, flags: Sequence[str]
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A process that runs the chosen cases of the paths, or all, and the folder of its results, until the block ends.

    Its progress, and why it cannot run, go to this process's standard error. It hears no Ctrl-C: nothing of the run is
    kept that could be resumed.
    """
    with tempfile.TemporaryDirectory(dir=temporary_home(), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        command = [sys.executable, "-P", "-B", "-m", "evalc", "run", *paths, *flags, "-q", "--output-dir", name]
        ids = "|".join(id_in_pattern(key.id) for key in chosen or ())
        command += ["--filter", f"/^(?:{ids})$/"] if chosen is not None and len(ids) < _LONGEST_FILTER else []
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, start_new_session=True)  # noqa: S603 - ourselves
        try:
            yield process, folder
        finally:
            if process.poll() is None:
                shutil.rmtree(folder, ignore_errors=True)  # so that it does not say how it could be resumed
                process.terminate()
                try:
                    process.wait(_ENDS_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _results_in(folder: Path) -> dict[CaseKey, CaseResult]:
    """How the cases ended, of several agents with the first whose answer did not pass; none if there was no run."""
    try:
        run = load_run(find_results(LATEST, folder))[0]
    except (EvalcError, OSError):
        return {}
    results: dict[CaseKey, CaseResult] = {}
    for suite in run.suites:
        for case in suite.cases:
            key = CaseKey(key_of(suite.result), case.id)
            if key not in results or results[key].passed:
                results[key] = case
    return results


_ENDS_SECONDS: Final = 10
_LOOKS_SECONDS: Final = 0.1
_DEBOUNCE_MS: Final = 200
_HEARS_OF_THE_END_MS: Final = 200
_SUFFIXES: Final = frozenset(
    {".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".toml", ".lock"}
    | {f".{kind}{script}" for kind in ("", "c", "m") for script in ("js", "ts", "jsx", "tsx")}
)


class Seen(NamedTuple):
    """State of the files at one look."""

    compilation: Compilation | None  # the suites and problems; None if the configuration cannot be read
    refusal: str = ""  # why they could not be looked at
    is_sound: bool = False  # whether there is no error, so that the board shows them
    to_run: tuple[CaseKey, ...] = ()  # the cases that are to be run


@final
class Watcher:
    """The files that are watched, and what is known of their cases.

    With changes of the configuration, the seed manifest, the tools, the project's own checks, and of the files and
    folders `others`, such as the agent's code, every case is run again.

    Raises:
        SourceError: the configuration has errors at the beginning.
    """

    def __init__(self, paths: Sequence[str], settings: Callable[[], Settings], others: Sequence[str]) -> None:
        self._paths = paths
        self._read_settings = settings
        self.settings = settings()
        self._also = others
        self._files: frozenset[str] = frozenset()
        self._given: tuple[str, ...] = ()  # what agents are given copies of: files, and folders such as skills
        self._heard: _Heard = Queue()
        self._next: Seen | None = None
        self.board = Board()

    @property
    def _others(self) -> tuple[str, ...]:
        checks = with_imports(self.settings.checks, self.settings.root)
        return tuple(os.path.realpath(str(each)) for each in (*self._also, *checks))

    def look(self, saved: Set[str] = frozenset()) -> Seen:
        """Check the files; which cases are to be run follows from what they say, and from what was saved."""
        before = self._decisive
        try:
            self.settings = self._read_settings()
            with collector_off():
                found = checked(self.settings.looked_at(self._paths), self.settings)
        except EvalcError as error:
            return Seen(None, str(error))
        if any(_is_in(os.path.realpath(name), (*before, *self._decisive, *self._given)) for name in saved):
            self.board.outdate()
        if any(problem.severity == "error" for problem in found.problems):
            return Seen(found)
        self._files = frozenset(
            os.path.realpath(name) for suite in found.suites for name in (suite.ir.source.name, *suite.ir.files)
        )
        given = {copied.path for suite in found.suites for copied in suite.copied()}
        given.update(map(str, self.settings.skills))
        self._given = tuple(os.path.realpath(self.settings.root / path) for path in sorted(given))
        self.board.look(found.suites)
        return Seen(found, is_sound=True, to_run=self.board.to_run)

    @property
    def _decisive(self) -> tuple[str, ...]:
        """The files and folders that every case depends on."""
        settings = self.settings
        own = (settings.root / "evalc.toml", settings.file, settings.tools, settings.seed_file)
        return (*self._others, *(os.path.realpath(str(path)) for path in own if path is not None))

    def run(self, chosen: Sequence[CaseKey], flags: Sequence[str]) -> bool:
        """Run cases, and take over how they ended; False if none ran, or if what they say has changed before the end.

        Why none ran, the run has said.
        """
        paths = [str(path) for path in self.settings.looked_at(self._paths)]
        self.board.begin(chosen)
        every = len(chosen) == len(self.board.known)
        with _run_of(paths, None if every else chosen, flags) as (process, folder):
            was_saved = False
            while process.poll() is None:
                saved = self._saved(_LOOKS_SECONDS)
                if saved is None:
                    continue
                was_saved = True
                seen = self.look(saved)
                if seen.to_run or not seen.is_sound:
                    self.board.end({})
                    self._next = seen._replace(to_run=self.board.to_run if seen.is_sound else ())
                    return False
            results = _results_in(folder)
        self.board.end(results)
        if was_saved and self.board.to_run:  # it has read what was saved in between, and is there no more
            self._next = self.look()
        return bool(results)

    def looks(self) -> Iterator[Seen]:
        """A look at the beginning, and after each save, until an interrupt.

        Raises:
            UsageError: the system cannot watch so many folders.
        """
        self.look()  # which files there are decides what is watched
        while True:
            places = self._places()
            outputs = [os.path.realpath(path) for path in self.settings.written_paths]
            with _watched(places, _Relevant(outputs, self._is_part, self._is_given)) as self._heard:
                yield self.look()  # what was saved before is seen, and what is saved from now on is heard
                while self._places() == places:
                    seen, self._next = self._next, None
                    yield seen or self.look(self._saved(None) or frozenset())

    def _saved(self, seconds: float | None) -> Set[str] | None:
        """The names of the files of the next save; None if there is none for so long."""
        try:
            saved = self._heard.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(saved, OSError | RuntimeError):
            raise UsageError(f"the folders cannot be watched: {saved}") from saved
        if isinstance(saved, Exception):
            raise saved
        return saved

    def _is_part(self, path: str) -> bool:
        """Whether evals are made of a file, or the user named it."""
        return path in self._files or _is_in(path, self._decisive)

    def _is_given(self, path: str) -> bool:
        """Whether agents are given a copy of a file, or of a folder that it is in."""
        return _is_in(path, self._given)

    def _places(self) -> _Places:
        """The folders to watch: of what is named, and of the files that the suites were last made of."""
        settings = self.settings
        named = [os.path.realpath(str(path)) for path in (*settings.looked_at(self._paths), *self._others)]
        files = {*self._decisive, *self._files, *self._given}
        deep = {_folder(path) for path in (*named, *self._given) if not Path(path).is_file()}
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


_Heard = Queue[Set[str] | Exception]
"""The names of the files of each save, or why no more will be heard of."""


@contextmanager
def _watched(places: _Places, relevant: _Relevant) -> Iterator[_Heard]:
    """Watch folders in threads, since the library watches either whole trees or single folders.

    When the block begins, all of them are watched.
    """
    heard: _Heard = Queue()
    stop = Event()
    both = [(folders, deep) for folders, deep in ((places.deep, True), (places.flat, False)) if folders]
    begun = Barrier(len(both) + 1)

    def listen(folders: Sequence[str], recursive: bool) -> None:
        is_watched = False
        try:
            for found in watch(
                *folders,
                watch_filter=relevant,
                debounce=_DEBOUNCE_MS,
                rust_timeout=_HEARS_OF_THE_END_MS,
                yield_on_timeout=True,  # the first time says that the folders are watched
                stop_event=stop,
                recursive=recursive,
            ):
                if found:
                    heard.put({name for _, name in found})
                if not is_watched:
                    is_watched = True
                    begun.wait()
        except Exception as error:  # raised in whoever waits
            heard.put(error)
            if not is_watched:
                begun.wait()

    threads = [Thread(target=listen, args=each, daemon=True) for each in both]
    for thread in threads:
        thread.start()
    try:
        begun.wait()
        yield heard
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@final
class _Relevant(DefaultFilter):
    """The files that may matter: those that evals are made of, and what the user names; not what evalc writes."""

    def __init__(
        self, leave_out: Sequence[str], is_part: Callable[[str], bool], is_given: Callable[[str], bool]
    ) -> None:
        super().__init__(ignore_paths=list(leave_out))
        self._is_part, self._is_given = is_part, is_given

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change matters."""
        if self._is_part(path):
            return True
        suffix = Path(path).suffix.lower()
        is_folder = not suffix and change is not Change.modified  # which may be there no more
        return super().__call__(change, path) and (suffix in _SUFFIXES or is_folder or self._is_given(path))


def _is_in(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders, or lies below one."""
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _folder(path: str) -> str:
    """The nearest folder that is there: of a glob, the one before its first sign."""
    folder = Path(path)
    while not folder.is_dir():
        folder = folder.parent
    return str(folder)
