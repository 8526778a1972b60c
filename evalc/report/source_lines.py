"""From places in eval files to the lines that stand there, as far as these may be shown and are those of the run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, final

from evalc.model.suite import Place

_LONGEST_LINE: Final = 300
_LARGEST_FILE: Final = 16_000_000
_KINDS: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".md"})


class Authored(NamedTuple):
    """The lines of an eval file, and when it was last written, in seconds since 1970."""

    lines: list[str]
    written: float


@final
class SourceLines:
    """Reads each file once, when the first of its lines is asked for; which may be read, `read_authored` says.

    Args:
        root: the folder that the names in places start from.
        redact: strikes secrets out of a line.
    """

    def __init__(self, root: Path, redact: Callable[[str], str] = str) -> None:
        self._root = root.resolve()
        self._redact = redact
        self._read: dict[str, Authored | None] = {}

    def line(self, place: Place, began: str) -> str | None:
        """The line of the place; None where it is not there, or the file is newer than the run.

        Args:
            place: where something was authored.
            began: when the run began, in ISO 8601.
        """
        if place.file not in self._read:
            self._read[place.file] = read_authored(self._root, place.file)
        authored = self._read[place.file]
        if authored is None or authored.written > seconds_of(began) or not 1 <= place.line <= len(authored.lines):
            return None
        return quoted(authored.lines[place.line - 1], self._redact)


def read_authored(root: Path, name: str) -> Authored | None:
    """The eval file of that name; None where there is none that can be read.

    A result file may come from anyone and name any file: only eval files within the folder `root` are read.
    """
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or path.suffix.lower() not in _KINDS or not path.is_file():
            return None
        status = path.stat()
        if status.st_size > _LARGEST_FILE:
            return None
        return Authored(path.read_text(encoding="utf-8-sig").split("\n"), status.st_mtime)
    except (OSError, ValueError):  # not there any more, not UTF-8, a name that no file can have
        return None


def quoted(line: str, redact: Callable[[str], str]) -> str:
    """A line as reports quote it: without its end, without secrets, at most 300 characters of it."""
    return redact(line.rstrip("\r")[:_LONGEST_LINE])


def seconds_of(timestamp: str) -> float:
    """The time in seconds since 1970; that of the beginning where it is none, so that any file counts as newer."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0
