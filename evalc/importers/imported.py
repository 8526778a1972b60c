"""What an importer gives back: the suite's text and the files it needs; and the names of its cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

_OTHER: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME: Final = 48

NO_COUNTERPART: Final = "it has no counterpart here"
"""Why something is not imported, unless there is more to say."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SideFile:
    """A file that the suite names: its path relative to the suite, and what it holds."""

    path: str
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """An eval file made of another tool's.

    Attributes:
        text: the YAML of the suite.
        side_files: the files that it names, to be written beside it.
        file_name: what to call it if only a folder is known.
        cases: how many cases it holds.
    """

    text: str
    side_files: tuple[SideFile, ...] = ()
    file_name: str
    cases: int

    def write(self, folder: Path) -> Path:
        """Write the suite and its side files into a folder; the path of the suite."""
        for side in self.side_files:
            (folder / side.path).write_text(side.text, encoding="utf-8")
        path = folder / self.file_name
        path.write_text(self.text, encoding="utf-8")
        return path


@final
class Schemas:
    """The JSON Schemas that were within a file, each a file beside the suite."""

    def __init__(self, stem: str) -> None:
        self._stem = stem
        self._paths: dict[str, str] = {}

    def keep(self, schema: object) -> str:
        """The path of the file that a schema is put into; equal schemas share one."""
        text = json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
        return self._paths.setdefault(text, f"{self._stem}.{len(self._paths) + 1}.schema.json")

    def files(self) -> tuple[SideFile, ...]:
        """All of them, in the order in which they were first kept."""
        return tuple(SideFile(path=path, text=text) for text, path in self._paths.items())


@final
class CaseNames:
    """Names for cases, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def make(self, description: str, otherwise: str) -> str:
        """A name made of the words of a description; `otherwise` where that has no letters."""
        name = _name_of(description) or _name_of(otherwise) or "case"
        return self.keep(name)

    def keep(self, name: str) -> str:
        """The name, with a number after it if it is taken."""
        number = 1
        unique = name
        while unique in self._taken:
            number += 1
            unique = f"{name}_{number}"
        self._taken.add(unique)
        return unique


def _name_of(text: str) -> str:
    """`Asks for the weather of a city` is `asks_for_the_weather_of_a_city`; cut between words when it is long."""
    words = _OTHER.sub("_", text.lower()).strip("_")
    if len(words) <= _LONGEST_NAME:
        return words
    return words[: _LONGEST_NAME + 1].rpartition("_")[0] or words[:_LONGEST_NAME]
