"""From the paths that a user names to the files that may hold evals: files, folders, globs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import msgspec

from evalc.dsl.kinds import is_eval_name
from evalc.errors import UsageError
from evalc.project import find_project

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".yaml", ".yml", ".json")
_NEVER = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})


class Found(NamedTuple):
    """A file, and whether it has to be an eval file: the user named it, or its own name says so (`x.eval.yaml`)."""

    path: Path
    named: bool

    @classmethod
    def by_search(cls, path: Path) -> Found:
        """A file that a search came upon."""
        return cls(path, named=is_eval_name(path.name))


@final
class Finder(msgspec.Struct, frozen=True, kw_only=True):
    """Searches folders as the project wants it.

    Attributes:
        exclude: patterns of files and folders to leave out, as in a `.gitignore`.
        output_folders: folders that evalc writes to.
    """

    exclude: tuple[str, ...] = ()
    output_folders: tuple[Path, ...] = ()

    def expand(self, paths: Iterable[str | Path]) -> Iterator[Found]:
        """The files of all paths, each once, in the order of the paths; a folder's files in the order of names.

        Raises:
            UsageError: a path is empty, as where a variable of a script is not set.
        """
        seen: set[str] = set()
        for path in paths:
            if path == "":
                raise UsageError("an empty text names no eval files; the working folder is `.`")
            for found in self._expand(Path(path)):
                real = _real(found.path)
                if real not in seen:
                    seen.add(real)
                    yield found

    def _expand(self, path: Path) -> Iterator[Found]:
        if _is_folder(path):
            yield from map(Found.by_search, self.search(path, SUFFIXES))
        elif glob.has_magic(str(path)) and not os.path.lexists(path):
            matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - keeps the form that was written
            if not matches:
                yield Found(path, named=True)
            for match in map(Path, matches):
                if match.is_dir():
                    yield from map(Found.by_search, self.search(match, SUFFIXES))
                else:
                    yield Found.by_search(match)
        else:
            yield Found(path, named=True)

    def search(self, folder: Path, suffixes: Sequence[str]) -> Iterator[Path]:
        """The files below a folder with one of the suffixes, less what is ignored."""
        yield from self._walk(folder, tuple(suffixes), self._ignored_from_above(folder))

    def _walk(self, folder: Path, suffixes: tuple[str, ...], rules: tuple[_Rules, ...]) -> Iterator[Path]:
        rules = (*rules, *_rules_of(folder))
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            path = folder / entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if self._is_left_out(path, entry.name, rules, is_folder=is_folder):
                continue
            if is_folder:
                yield from self._walk(path, suffixes, rules)
            elif entry.name.endswith(suffixes):
                yield path

    def _is_left_out(self, path: Path, name: str, rules: tuple[_Rules, ...], *, is_folder: bool) -> bool:
        if is_folder and (name in _NEVER or path.resolve() in self._outputs()):
            return True
        return any(rule.leave_out(path, is_folder=is_folder) for rule in rules)

    def _outputs(self) -> set[Path]:
        return {folder.resolve() for folder in self.output_folders}

    def _ignored_from_above(self, folder: Path) -> tuple[_Rules, ...]:
        """The rules of the project's root down to the folder's parent, and the configuration's."""
        root = project_root(folder)
        above = [parent for parent in folder.resolve().parents if parent.is_relative_to(root)]
        rules = tuple(rule for parent in reversed(above) for rule in _rules_of(parent))
        if not self.exclude:
            return rules
        return (*rules, _Rules(root, _spec(self.exclude)))


def _is_folder(path: Path) -> bool:
    """Whether it is one; what cannot be looked at is none, and reading it says why."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # it holds NUL
        return str(path)


@final
class _Rules:
    """The patterns of one `.gitignore`, and the folder that they count from."""

    def __init__(self, folder: Path, spec: GitIgnoreSpec) -> None:
        self._folder = folder.resolve()
        self._spec = spec

    def leave_out(self, path: Path, *, is_folder: bool) -> bool:
        absolute = path.parent.resolve() / path.name
        if not absolute.is_relative_to(self._folder):
            return False
        relative = absolute.relative_to(self._folder).as_posix()
        # What of a name is not UTF-8 no pattern can name either.
        legible = relative.encode(errors="replace").decode()
        return self._spec.match_file(legible + "/" if is_folder else legible)


def _rules_of(folder: Path) -> tuple[_Rules, ...]:
    try:
        text = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return (_Rules(folder, _spec(text.splitlines())),)


def _spec(patterns: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - only a search of folders needs it

    return GitIgnoreSpec.from_lines(patterns)


def shown(path: Path) -> str:
    """A path as messages name it: counted from the working folder where it lies below."""
    working = Path.cwd()
    return str(path.relative_to(working) if path.is_absolute() and path.is_relative_to(working) else path)


def is_below(path: Path, root: Path) -> bool:
    """Whether a path, its links followed, lies below a root; a path that cannot exist lies nowhere."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        return False


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
