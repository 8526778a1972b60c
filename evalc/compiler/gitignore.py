"""Reads `.gitignore` files and the index of a repository, and decides which paths git ignores and tracks.

No process is started, so git is not asked. Each path is matched by itself, byte by byte, as git does. The search leaves
out what is in an ignored folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, final

from evalc.base.files import read_limited

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
            index = read_limited(_git_folder(top) / "index", _LARGEST_INDEX)
        except (OSError, ValueError):
            return cls(top)
        for hash_size in _HASHES:
            try:
                return cls(top, _names(index, hash_size))
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
_NEVER: Final = re.compile(r"(?!)")
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
        return _NEVER
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
