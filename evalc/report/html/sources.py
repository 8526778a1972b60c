"""From the places that assertions were written at to the lines of the files there, as far as these may be shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.model.suite import Place

_AROUND: Final = 1
_LONGEST_LINE: Final = 300
_LARGEST_FILE: Final = 16_000_000
_KINDS: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".md"})


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of a file by their numbers; whether the file is newer than the run, and may have said something else."""

    changed: bool
    lines: dict[int, str]


@final
class Sources:
    """Collects places, and reads the files when all are known.

    A result file may come from anyone and name any file: only eval files within `root` are read.

    Args:
        root: the folder that the names in places start from.
        redact: strikes secrets out of a line.
    """

    def __init__(self, root: Path, redact: Callable[[str], str]) -> None:
        self._root = root.resolve()
        self._redact = redact
        self._wanted: dict[str, set[int]] = defaultdict(set)
        self._earliest: dict[str, str] = {}

    def want(self, place: Place, timestamp: str) -> None:
        """Ask for the line of the place and those around it; `timestamp` is when the run began, in ISO 8601."""
        self._wanted[place.file].update(range(max(place.line - _AROUND, 1), place.line + _AROUND + 1))
        self._earliest[place.file] = min(timestamp, self._earliest.get(place.file, timestamp))

    def excerpts(self) -> dict[str, Excerpt]:
        """What the files say there; files that cannot be read are left out."""
        read = ((name, self._excerpt(name, wanted)) for name, wanted in sorted(self._wanted.items()))
        return {name: excerpt for name, excerpt in read if excerpt is not None}

    def _excerpt(self, name: str, wanted: set[int]) -> Excerpt | None:
        try:
            path = (self._root / name).resolve()
            if not path.is_relative_to(self._root) or path.suffix not in _KINDS or not path.is_file():
                return None
            status = path.stat()
            if status.st_size > _LARGEST_FILE:
                return None
            lines = path.read_text(encoding="utf-8-sig").split("\n")
        except (OSError, ValueError):  # not there any more, not UTF-8, a name that no file can have
            return None
        changed = status.st_mtime > _seconds(self._earliest[name])
        told = {number: lines[number - 1].rstrip("\r") for number in sorted(wanted) if number <= len(lines)}
        return Excerpt(changed, {number: self._redact(line[:_LONGEST_LINE]) for number, line in told.items()})


def _seconds(timestamp: str) -> float:
    """The time in seconds since 1970; that of the beginning where it is none, so that any file counts as newer."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0
