"""Reads the sources that users name, and reports what is wrong with a file as a problem of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

from evalc.base.files import (
    LeadsOut,
    NotRegular,
    TooLarge,
    is_link,
    open_regular,
    read_beginning,
    read_limited,
    refuse_link_out,
)
from evalc.base.source import Source, Span
from evalc.diagnostics import Finding

YAML_LIMIT: Final = 32_000_000
"""The largest YAML file that is read by default, in bytes."""

ReportIn = Callable[[Source, Span, Finding], None]
"""Reports a finding with its source, as `Diagnostics.add` does."""

_BOM: Final = b"\xef\xbb\xbf"
_FOREIGN_BOMS: Final = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


_unsaved: ContextVar[Mapping[str, str]] = ContextVar("_unsaved", default=MappingProxyType({}))


@contextmanager
def unsaved(texts: Mapping[str, str]) -> Iterator[None]:
    """Read these texts in place of the files on disk, by their real paths, as an editor holds them."""
    token = _unsaved.set(texts)
    try:
        yield
    finally:
        _unsaved.reset(token)


def read_source(path: Path, report: ReportIn, *, name: str | None = None, limit: int = YAML_LIMIT) -> Source | None:
    """The text of a file, None if there is none to continue with; what is wrong is reported.

    `name` is what the file is called in messages, by default its path. After a byte that is not UTF-8 the text is
    given with replacement characters, so that the rest of the file can be checked.
    """
    shown = name if name is not None else str(path)
    try:
        if texts := _unsaved.get():
            refuse_link_out(path)
            if (text := texts.get(os.path.realpath(path))) is not None:
                return Source(shown, text)
        data = read_limited(path, limit)
    except (OSError, ValueError) as error:
        report(Source(shown, ""), Span(0, 0), _explained(error, shown, limit))
        return None
    return decode(shown, data, report)


def decode(name: str, data: bytes, report: ReportIn) -> Source | None:
    """The text of bytes that came from `name`, under the same rules as a file's."""
    for mark, encoding in _FOREIGN_BOMS:
        if data.startswith(mark):
            report(Source(name, ""), Span(0, 0), Finding("EV606", encoding=encoding))
            return None
    data = data.removeprefix(_BOM)
    if (at := data.find(b"\0")) >= 0:
        offset = len(data[:at].decode(errors="replace"))
        report(Source(name, data.decode(errors="replace")), Span(offset, offset + 1), Finding("EV607"))
        return None
    try:
        return Source(name, data.decode())
    except UnicodeDecodeError as error:
        source = Source(name, data.decode(errors="replace"))
        offset = len(data[: error.start].decode())
        report(source, Span(offset, offset + 1), Finding("EV605", byte=data[error.start]))
        return source


def open_lines(path: Path, report: ReportIn, *, name: str) -> BinaryIO | None:
    """A file to be read line by line, None if it cannot be opened, which is reported; the caller closes it."""
    try:
        return open_regular(path)
    except (OSError, ValueError) as error:
        report(Source(name, ""), Span(0, 0), _explained(error, name, 0))
        return None


def beginning_of(path: Path, size: int = 65_536) -> str:
    """How a file begins that cannot be read as a source: in UTF-8 but for a byte order mark; empty if at all."""
    try:
        data = read_beginning(path, size)
    except (OSError, ValueError):
        return ""
    encoding = next((encoding for mark, encoding in _FOREIGN_BOMS if data.startswith(mark)), "UTF-8")
    return data.decode(encoding, errors="replace").replace("\0", "")


def _explained(error: OSError | ValueError, name: str, limit: int) -> Finding:
    match error:
        case TooLarge():
            return Finding("EV604", path=name, limit=f"{limit / 1_000_000:g} MB")
        case LeadsOut():
            link = os.path.relpath(error.link)
            return Finding("EV618", path=name, link="" if link == name else link)
        case NotRegular():
            return Finding("EV601", path=name, kind=error.kind)
        case FileNotFoundError() | NotADirectoryError() | ValueError():  # a path with a NUL is not a path
            return Finding("EV600", path=name, link=is_link(Path(getattr(error, "filename", None) or ".")))
        case OSError(errno=errno.ELOOP):
            return Finding("EV603", path=name)
        case _:
            return Finding("EV602", path=name, reason=(error.strerror or "unknown error").lower())
