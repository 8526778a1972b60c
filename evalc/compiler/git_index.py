"""Reads which files a git repository tracks, from its index: a check starts no process, and so does not ask git."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, final

from evalc.base.files import read_limited

_LARGEST: Final = 256_000_000
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
            index = read_limited(_git_folder(top) / "index", _LARGEST)
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
