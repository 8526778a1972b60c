"""Finds the files that may hold evals, given files, folders and globs."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import below_working_folder, exclusion, link_out, project_root
from evalc.base.source import Source, Span
from evalc.compiler.gitignore import GitIgnore, Tracked
from evalc.diagnostics.problem import Finding
from evalc.dsl.document_kind import is_eval_name, names_an_eval
from evalc.dsl.sources import ReportIn

SUFFIXES: Final = (".yaml", ".yml", ".json")
_NEVER: Final = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})


class Found(NamedTuple):
    """A file that may hold evals.

    `named` says that it has to be an eval file: the user named it, or its own name says so (`x.eval.yaml`). Where the
    user named its folder, it has at least to be `legible`: it may be of another kind, but not broken.
    """

    path: Path
    named: bool
    legible: bool = True


@final
class Finder(msgspec.Struct, frozen=True, kw_only=True):
    """Searches folders as the project wants it."""

    exclude: tuple[str, ...] = ()  # patterns of files and folders to leave out, as in a `.gitignore`
    outputs: tuple[Path, ...] = ()  # folders and files that evalc writes

    def expand(self, paths: Iterable[str | Path], report: ReportIn | None = None) -> Iterator[Found]:
        """The files of all paths, each once, in the order of the paths; a folder's files in the order of names.

        Folders that cannot be searched are reported, if there is a `report`.

        Raises:
            UsageError: a path is empty, as where a variable of a script is not set.
        """
        seen: set[str] = set()
        for path in paths:
            if path == "":
                raise UsageError("an empty text names no eval files; the working folder is `.`")
            for found in self._expand(Path(path), report):
                real = _real(found.path)
                if real not in seen:
                    seen.add(real)
                    yield found

    def _expand(self, path: Path, report: ReportIn | None) -> Iterator[Found]:
        if is_folder(path):
            yield from self._named_folder(path, report)
        elif glob.has_magic(str(path)) and not os.path.lexists(path):
            matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - keeps the form that was written
            if not matches:
                yield Found(path, named=True)
            for match in map(Path, matches):
                if match.is_dir():
                    yield from self._named_folder(match, report)
                else:
                    yield Found(match, named=is_eval_name(match.name))
        else:
            yield Found(path, named=True)

    def _named_folder(self, folder: Path, report: ReportIn | None) -> Iterator[Found]:
        link = link_out(folder)
        if link is None:
            legible = folder.resolve() != Path.cwd()  # which is searched without being named, too
            for path in self.search(folder, SUFFIXES, report):
                yield Found(path, is_eval_name(path.name), legible)
        elif report is not None:
            finding = Finding("EV618", path=shown(folder), link="" if link == folder else shown(link))
            report(Source(shown(folder), ""), Span(0, 0), finding)

    def search(self, folder: Path, suffixes: Sequence[str], report: ReportIn | None = None) -> Iterator[Path]:
        """The files below a folder with one of the suffixes, in small letters or capitals, without ignored files."""
        yield from _Search(self, tuple(suffixes), report, project_root(folder)).walk(folder)


@final
class _Search:
    """One search below a folder. Links to folders are followed, as pytest follows them, but not out of the project."""

    def __init__(self, finder: Finder, suffixes: tuple[str, ...], report: ReportIn | None, root: Path) -> None:
        self._finder = finder
        self._suffixes = suffixes
        self._report = report
        self._root = root
        self._searched: set[Path] = set()
        self._outputs = {each.resolve() for each in finder.outputs}
        self._excluded = exclusion(finder.exclude) if finder.exclude else None
        self._tracked: Tracked | None = None

    def walk(self, folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
        """The files below a folder; `above` are the folders that led here, their links followed."""
        yield from self._walk(folder, above, *self._ignoring_above(folder.resolve()))

    def _ignoring_above(self, folder: Path) -> tuple[tuple[GitIgnore, ...], bool]:
        """The `.gitignore` files between the project's root and a folder, and whether they ignore the folder."""
        way = [each for each in reversed((folder, *folder.parents)) if each.is_relative_to(self._root)]
        ignoring: tuple[GitIgnore, ...] = ()
        ignored = False
        for parent, inner in itertools.pairwise(way):
            ignoring = _with_those_of(parent, ignoring)
            ignored = ignored or _is_ignored(inner, ignoring, is_folder=True)
        return ignoring, ignored

    def _walk(
        self, folder: Path, above: frozenset[Path], ignoring: tuple[GitIgnore, ...], is_ignored: bool
    ) -> Iterator[Path]:
        real = folder.resolve()
        if real in self._searched:
            if real in above:
                self._add(folder, Finding("EV616", path=shown(folder)))
            return
        self._searched.add(real)
        ignoring = _with_those_of(real, ignoring)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self._add(folder, Finding("EV602", path=shown(folder), reason=(error.strerror or "unknown error").lower()))
            return
        for entry in entries:
            path = folder / entry.name
            inner = is_folder(entry)
            if self._leaves_out(path, real / entry.name, is_folder=inner):
                continue
            # To git a link is a file, whatever it leads to.
            is_own_folder = inner and not entry.is_symlink()
            ignored = is_ignored or _is_ignored(real / entry.name, ignoring, is_folder=is_own_folder)
            if ignored and not self._is_tracked(real / entry.name):
                continue
            if not (inner or entry.name.lower().endswith(self._suffixes)):
                continue
            if entry.is_symlink() and not Path(_real(path)).is_relative_to(self._root):
                self._add(path, self._leads_out(path, has_to_be_eval=not inner and names_an_eval(entry.name)))
            elif not inner:
                yield path
            elif is_own_folder:
                yield from self._walk(path, above | {real}, ignoring, ignored)
            else:
                yield from self.walk(path, above | {real})

    def _leaves_out(self, path: Path, real: Path, *, is_folder: bool) -> bool:
        """Whether a file or folder is left out, whatever git says."""
        if (is_folder and path.name in _NEVER) or (path.resolve() if is_folder else real) in self._outputs:
            return True
        if self._excluded is None or not real.is_relative_to(self._root):
            return False
        # What of a name is not UTF-8 no pattern can name either.
        legible = real.relative_to(self._root).as_posix().encode(errors="replace").decode()
        return self._excluded.match_file(legible + "/" if is_folder else legible)

    def _is_tracked(self, path: Path) -> bool:
        if self._tracked is None:  # a search in which nothing is ignored need not know
            self._tracked = Tracked.around(self._root)
        return self._tracked.has(path)

    def _leads_out(self, link: Path, *, has_to_be_eval: bool) -> Finding:
        if has_to_be_eval:
            return Finding("EV618", path=shown(link))
        return Finding("EV617", path=shown(link), root=str(self._root))

    def _add(self, path: Path, finding: Finding) -> None:
        if self._report is not None:
            self._report(Source(shown(path), ""), Span(0, 0), finding)


def is_folder(path: Path | os.DirEntry[str]) -> bool:
    """Whether it is a folder; what cannot be looked at is not, and reading it says why."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # it holds NUL
        return str(path)


def _with_those_of(folder: Path, ignoring: tuple[GitIgnore, ...]) -> tuple[GitIgnore, ...]:
    """The files above a folder and its own, the nearest first."""
    own = GitIgnore.of(folder)
    return ignoring if own is None else (own, *ignoring)


def _is_ignored(path: Path, ignoring: tuple[GitIgnore, ...], *, is_folder: bool) -> bool:
    """Whether git ignores a path that it does not track, by the nearest file that has a line about it."""
    decided = (each.decides(path, is_folder=is_folder) for each in ignoring)
    return next((each for each in decided if each is not None), False)


def shown(path: Path) -> str:
    """A path as messages name it: from the working folder where it lies below."""
    return str(below_working_folder(path))
