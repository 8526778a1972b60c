"""Reads regular files within a limit and writes them whole or not at all, through no link out of the project."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Self

from evalc.opening import open_file
from evalc.project import link_out


class TooLarge(OSError):
    """More bytes than the limit; `strerror` says so."""

    @classmethod
    def of(cls, path: Path, limit: int) -> Self:
        """More than so many bytes."""
        size = f"{limit // 1_000_000} MB" if limit >= 1_000_000 else f"{limit} bytes"
        return cls(errno.EFBIG, f"it is larger than {size}", str(path))


class LeadsOut(OSError):
    """A path on which a link leads out of the project that the link lies in; `strerror` says so."""

    def __init__(self, path: Path, link: Path) -> None:
        super().__init__(errno.EACCES, "a link on the way to it leads out of the project", str(path))
        self.link = link


def refuse_link_out(path: Path) -> None:
    """Refuse a path on which a link leads out of the project that the link lies in.

    The author of the project may have put the link there. What lies elsewhere is read and written only where a user
    names it by a path that goes through no such link.

    Raises:
        LeadsOut: there is such a link.
        ValueError: the path is invalid.
    """
    link = link_out(path)
    if link is not None:
        raise LeadsOut(path, link)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where they do not exist.

    Raises:
        OSError: it cannot be made.
        LeadsOut: a link on the way to it leads out of the project.
    """
    refuse_link_out(path)
    path.mkdir(parents=True, exist_ok=True)


def read_limited(path: Path, limit: int) -> bytes:
    """The bytes of a regular file that has at most so many.

    Raises:
        OSError: it cannot be read.
        TooLarge: it has more.
        NotRegular: it is not a regular file.
        ValueError: the path is invalid.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise TooLarge.of(path, limit)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLarge.of(path, limit)
    return data


def read_beginning(path: Path, size: int) -> bytes:
    """How a regular file begins: at most so many bytes.

    Raises:
        OSError: it cannot be read.
        NotRegular: it is not a regular file.
        ValueError: the path is invalid.
    """
    with open_regular(path) as file:
        return file.read(size)


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading; the caller closes it.

    Raises:
        OSError: it cannot be opened.
        LeadsOut: a link on the way to it leads out of the project.
        NotRegular: it is not a regular file.
        ValueError: the path is invalid.
    """
    refuse_link_out(path)
    return open_file(path)


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Put `data` into the file at `path`: afterwards it holds all of it, or what it held before.

    A symbolic link is followed and its target replaced. An existing file keeps its permissions.

    Raises:
        OSError: the file cannot be written, or is not a regular file; nothing is left behind.
        LeadsOut: a link on the way to it leads out of the project.
    """
    refuse_link_out(path)
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    temporary = target.with_name(f".evalc-{os.urandom(8).hex()}.tmp")
    # Created with the mode that the umask gives to any new file.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines((data,) if isinstance(data, bytes) else data)
            file.flush()
            if mode is not None:
                temporary.chmod(mode)
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int | None:
    """The permissions of an existing file; None if there is none."""
    try:
        status = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):  # only a loop is still a link once all links are followed
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(target))
    return stat.S_IMODE(status.st_mode)


def _sync_folder(folder: Path) -> None:
    """Make the renaming last, where the system can open folders."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
