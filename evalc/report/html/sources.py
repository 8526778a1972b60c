"""From the places that assertions were written at to the lines of the files there, as far as these may be shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.model.suite import Place
from evalc.report.source_lines import quoted, read_authored, seconds_of

_AROUND: Final = 1


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of a file by their numbers; whether the file is newer than the run, and may have said something else."""

    changed: bool
    lines: dict[int, str]


@final
class Sources:
    """Collects places, and reads the files when all are known; which may be read, `read_authored` says.

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
        authored = read_authored(self._root, name)
        if authored is None:
            return None
        there = [number for number in sorted(wanted) if number <= len(authored.lines)]
        return Excerpt(
            changed=authored.written > seconds_of(self._earliest[name]),
            lines={number: quoted(authored.lines[number - 1], self._redact) for number in there},
        )
