"""Finds the files that may hold evals, given files, folders and globs.

What git ignores is left out, unless git tracks it. No process is started to ask git: `.gitignore` files and the index
are read, and each path is matched by itself, byte by byte, as git does.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import below_working_folder, exclusion, link_out, project_root, read_limited
from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.dsl.document_kind import is_eval_name, names_an_eval
from evalc.dsl.sources import ReportIn

_LARGEST_INDEX: Final = 256_000_000
_LARGEST_POINTER: Final = 10_000
_STAT: Final = 40
"""The bytes of an entry before its hash."""
_HASHES: Final = (20, 32)
_EXTENDED: Final = 0x4000


@final
class Tracked:
    """The files that a repository tracks, and the folders that hold any."""

    def __init__(self, top: Path, names: Iterable[bytes] = ()) -> None:
        self._top = top
        self._paths: set[bytes] = set()
        for name in names:
            path = name.rstrip(b"/")
            while path and path not in self._paths:
                self._paths.add(path)
                path = path.rpartition(b"/")[0]

    @classmethod
    def around(cls, folder: Path) -> Tracked:
        """The files of the repository around a folder, given by its real path; none if its index is unreadable."""
        top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
        if top is None:
            return cls(folder)
        try:
            indexes = _indexes(_git_folder(top))
        except (OSError, ValueError):
            return cls(top)
        for hash_size in _HASHES:
            try:
                return cls(top, itertools.chain(*(_names(index, hash_size) for index in indexes)))
            except (IndexError, ValueError):  # of another hash, or damaged
                continue
        return cls(top)

    def has(self, path: Path) -> bool:
        """Whether it tracks a file, or one below a folder."""
        if not path.is_relative_to(self._top):
            return False
        return os.fsencode(path.relative_to(self._top)).replace(os.fsencode(os.sep), b"/") in self._paths


def _git_folder(top: Path) -> Path:
    """The folder with the index; a worktree's `.git` is a file that names it."""
    git = top / ".git"
    if git.is_dir():
        return git
    pointer = os.fsdecode(read_limited(git, _LARGEST_POINTER)).removeprefix("gitdir:").strip()
    return top / pointer


def _indexes(git: Path) -> list[bytes]:
    """The index, and where it is split, its shared part, which it names by a hash."""
    index = read_limited(git / "index", _LARGEST_INDEX)
    shared = [each for each in git.glob("sharedindex.*") if bytes.fromhex(each.suffix[1:]) in index]
    return [index, *(read_limited(each, _LARGEST_INDEX) for each in shared)]


def _names(index: bytes, hash_size: int) -> Iterator[bytes]:
    """The paths in an index of version 2, 3 or 4.

    Raises:
        IndexError: it ends too early.
        ValueError: it is not an index, or its hashes are of another size.
    """
    version = int.from_bytes(index[4:8])
    if index[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError
    at, name = 12, b""
    for _ in range(int.from_bytes(index[8:12])):
        begin = at
        at += _STAT + hash_size
        flags = int.from_bytes(index[at : at + 2])
        at += 2 + 2 * bool(flags & _EXTENDED)
        kept = 0
        if version == 4:
            dropped, at = _number(index, at)
            kept = len(name) - dropped
        end = index.index(b"\0", at)
        name = name[:kept] + index[at:end]
        if len(name) != flags & 0xFFF and len(name) < 0xFFF:
            raise ValueError
        yield name
        at = end + 1 if version == 4 else begin + (end - begin + 8) // 8 * 8


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    byte = data[at]
    number = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        number = ((number + 1) << 7) | (byte & 0x7F)
    return number, at + 1


_LARGEST: Final = 1_000_000
_BOM: Final = b"\xef\xbb\xbf"
_ANY_PATH: Final = ".*"
_ANY_FOLDERS: Final = "(?:.*/)?"
_UNMATCHED: Final = re.compile(r"(?!)")
_CLASSES: Final = {
    "alnum": r"[0-9A-Za-z]",
    "alpha": r"[A-Za-z]",
    "blank": r"[ \t]",
    "cntrl": r"[\x00-\x1f\x7f]",
    "digit": r"[0-9]",
    "graph": r"[!-~]",
    "lower": r"[a-z]",
    "print": r"[ -~]",
    "punct": r"[!-/:-@\[-`{-~]",
    "space": r"[ \t-\r]",
    "upper": r"[A-Z]",
    "xdigit": r"[0-9A-Fa-f]",
}
"""The classes of characters that a pattern can name, as the C locale has them."""


class _Pattern(NamedTuple):
    """One line: `undoes` says that it begins with `!`, `whole` that it is about paths and not about names alone."""

    matches: re.Pattern[str]
    undoes: bool
    whole: bool
    folders_only: bool


@final
class GitIgnore:
    """The patterns of one `.gitignore`, and the folder that they count from."""

    def __init__(self, folder: Path, text: bytes) -> None:
        self._folder = folder.resolve()
        lines = text.removeprefix(_BOM).decode("latin-1").split("\n")
        self._patterns = [*filter(None, map(_pattern, lines))][::-1]

    @classmethod
    def of(cls, folder: Path) -> GitIgnore | None:
        """The file of a folder; None if there is none, or it is unreadable: a search finds more then, never less."""
        try:
            return cls(folder, read_limited(folder / ".gitignore", _LARGEST))
        except (OSError, ValueError):
            return None

    def decides(self, path: Path, *, is_folder: bool) -> bool | None:
        """Whether a path, real but for its last part, is ignored; None if no line is about it. The last line wins."""
        if not path.is_relative_to(self._folder):
            return None
        whole = os.fsencode(path.relative_to(self._folder)).decode("latin-1").replace(os.sep, "/")
        name = whole.rpartition("/")[2]
        for pattern in self._patterns:
            if (is_folder or not pattern.folders_only) and pattern.matches.fullmatch(whole if pattern.whole else name):
                return not pattern.undoes
        return None


def _pattern(line: str) -> _Pattern | None:
    text = line.removesuffix("\r")
    while text.endswith(" ") and not _is_escaped(text):
        text = text[:-1]
    undoes = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text or line.startswith("#"):
        return None
    whole = "/" in text
    return _Pattern(_expression(text.removeprefix("/")), undoes, whole, folders_only)


def _is_escaped(text: str) -> bool:
    """Whether the last character has an odd number of backslashes before it."""
    before = text[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _expression(pattern: str) -> re.Pattern[str]:
    """A regular expression of the paths that a pattern matches, in time linear in each name of the path."""
    parts: list[str] = []
    star: int | None = None  # where the last star of this name is among the parts
    try:
        for part in _tokens(pattern):
            if part == "*":
                if star is not None:  # what is between two stars is best found as early as possible
                    parts[star:] = [f"(?>[^/]*?{''.join(parts[star + 1 :])})"]
                star = len(parts)
                parts.append("[^/]*")
                continue
            if part in ("/", _ANY_FOLDERS):
                star = None
            parts.append(part)
    except ValueError:
        return _UNMATCHED
    return re.compile("".join(parts), re.DOTALL)


def _tokens(pattern: str) -> Iterator[str]:
    """The parts of a pattern as expressions; `*` for a single star.

    Raises:
        ValueError: the pattern matches nothing.
    """
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "*":
            end = at + len(pattern[at:]) - len(pattern[at:].lstrip("*"))
            begins_name = at == 0 or pattern[at - 1] == "/"
            if end - at == 1 or not begins_name or pattern[end : end + 1] not in ("", "/"):
                yield "*"
            elif end == len(pattern):
                yield _ANY_PATH
            else:
                yield _ANY_FOLDERS
                end += 1
            at = end
        elif character == "?":
            yield "[^/]"
            at += 1
        elif character == "[":
            expression, at = _class(pattern, at + 1)
            yield expression
        else:
            at += character == "\\"
            if at == len(pattern):
                raise ValueError
            yield re.escape(pattern[at])
            at += 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    """The expression of a class of characters, and where it ends; `at` is after its bracket."""
    negated = pattern[at : at + 1] in ("^", "!") and at < len(pattern)
    at += negated
    taken: set[int] = set()
    first, before = at, None
    while at == first or pattern[at : at + 1] != "]":
        if at >= len(pattern):
            raise ValueError
        end = pattern.find("]", at + 2) if pattern.startswith("[:", at) else -1
        if end - 1 > at + 1 and pattern[end - 1] == ":":
            name = pattern[at + 2 : end - 1]
            if name not in _CLASSES:
                raise ValueError
            taken |= {code for code in range(256) if re.fullmatch(_CLASSES[name], chr(code))}
            at, before = end + 1, None
            continue
        if pattern[at] == "-" and before is not None and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1
            at += pattern[at] == "\\"
            if at == len(pattern):
                raise ValueError
            taken |= set(range(before, ord(pattern[at]) + 1))
            at, before = at + 1, None
            continue
        at += pattern[at] == "\\"
        if at == len(pattern):
            raise ValueError
        before = ord(pattern[at])
        taken.add(before)
        at += 1
    codes = sorted((set(range(256)) - taken if negated else taken) - {ord("/")})
    listed = "".join(f"\\x{code:02x}" for code in codes)
    return f"[{listed}]" if listed else "(?!)", at + 1


SUFFIXES: Final = (".yaml", ".yml", ".json")
_NEVER: Final = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})

_TEMPORARY: Final = (".#", "._")
"""How the names of links begin that Emacs makes beside a file that is not saved, and of files that macOS does."""


class Found(NamedTuple):
    """A file that may hold evals.

    `named` says that it has to be an eval file: the user named it, or its own name says so (`x.eval.yaml`). Where the
    user named its folder, it has at least to be `legible`: it may be of another kind, but not broken.
    """

    path: Path
    named: bool
    legible: bool = True


def _made_in_python(path: str) -> str | None:
    """The words for a path that leads to suites in Python, which no command reads; None for any other."""
    if path.endswith(".py"):
        return "a Python file, which is not run for its suites"
    is_no_file = path.startswith("<") and path.endswith(">") and not os.path.lexists(path)
    return "a suite that was made in Python, in no file" if is_no_file else None


@final
class Finder(msgspec.Struct, frozen=True, kw_only=True):
    """Searches folders as the project wants it."""

    exclude: tuple[str, ...] = ()  # patterns of files and folders to leave out, as in a `.gitignore`
    outputs: tuple[Path, ...] = ()  # folders and files that evalc writes
    named: bool = True  # whether somebody named the files among the paths; else another search found them

    def expand(self, paths: Iterable[str | Path], report: ReportIn | None = None) -> Iterator[Found]:
        """The files of all paths, each once, in the order of the paths; a folder's files in the order of names.

        Folders that cannot be searched are reported, if there is a `report`.

        Raises:
            UsageError: a path is empty, as where a variable of a script is not set, or names suites in Python.
        """
        seen: set[str] = set()
        for path in paths:
            if path == "":
                raise UsageError("an empty text names no eval files; the working folder is `.`")
            if (what := _made_in_python(str(path))) is not None:
                raise UsageError(
                    f"`{path}` is {what}: give its suites to `evalc.check` and `evalc.run` there (`evalc.run(suite, "
                    "resume=ID)` resumes a run), or write eval files of what `suite.to_yaml()` returns, which commands "
                    "run, rescore and merge"
                )
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
            yield Found(path, named=self.named or is_eval_name(path.name), legible=self.named)

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
            if ignored and not self._tracked.has(real / entry.name):
                continue
            if not (inner or entry.name.lower().endswith(self._suffixes)):
                continue
            if entry.is_symlink() and not Path(_real(path)).is_relative_to(self._root):
                has_to_be_eval = not inner and names_an_eval(entry.name)
                left_out = Finding("EV617", path=shown(path), root=str(self._root))
                self._add(path, Finding("EV618", path=shown(path)) if has_to_be_eval else left_out)
            elif not inner:
                yield path
            elif is_own_folder:
                yield from self._walk(path, above | {real}, ignoring, ignored)
            else:
                yield from self.walk(path, above | {real})

    def _leaves_out(self, path: Path, real: Path, *, is_folder: bool) -> bool:
        """Whether a file or folder is left out, whatever git says."""
        if path.name.startswith(_TEMPORARY) or (is_folder and path.name in _NEVER):
            return True
        if (path.resolve() if is_folder else real) in self._outputs:
            return True
        if self._excluded is None or not real.is_relative_to(self._root):
            return False
        # What of a name is not UTF-8 no pattern can name either.
        legible = real.relative_to(self._root).as_posix().encode(errors="replace").decode()
        return self._excluded.match_file(legible + "/" if is_folder else legible)

    @cached_property
    def _tracked(self) -> Tracked:
        return Tracked.around(self._root)  # a search in which nothing is ignored need not know

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
