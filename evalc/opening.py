"""Opens regular files alone, and never waits for them."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

# On a named pipe a plain open would wait for a writer; Windows knows neither flag of the first, and needs the second.
_OPEN_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class NotRegular(OSError):
    """Something that is not a regular file, of a `kind` such as "a named pipe"; `strerror` says so."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(errno.EINVAL, f"it is {kind}", str(path))
        self.kind = kind


def open_file(path: Path) -> BinaryIO:
    """A regular file, open for reading; the caller closes it.

    Raises:
        OSError: it cannot be opened.
        NotRegular: it is not a regular file.
        ValueError: the path is invalid.
    """
    # Looked at before it is opened, since opening some devices acts on them, and again after the open, since by then
    # the path may name something else.
    _require_regular(path, path.stat())
    file = os.fdopen(os.open(path, _OPEN_FLAGS), "rb")
    try:
        _require_regular(path, os.fstat(file.fileno()))
    except OSError:
        file.close()
        raise
    return file


def _require_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular(path, _kind(status.st_mode))


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
