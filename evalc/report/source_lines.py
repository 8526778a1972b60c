"""Shows the source lines behind results, if they may be shown and are still those of the run, and transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, final

from msgspec import UNSET

from evalc.base.files import read_limited
from evalc.model.result import CaseResult, TurnDetails
from evalc.model.suite import Place

_LONGEST_LINE: Final = 300
_LONGEST_STRUCK: Final = 20_000
"""Of how much of a line secrets are struck out before it is cut: half of one would not be found any more."""
_LARGEST_FILE: Final = 16_000_000
_KINDS: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".md"})


PlacesOf = Callable[[str, str], Mapping[str, Place]]
"""The places of the parts of a case, by their JSON pointers, of a file and an id."""


def no_places(_file: str, _id: str) -> Mapping[str, Place]:
    """Nothing is known of any case."""
    return {}


class Authored(NamedTuple):
    """The lines of an eval file, and when it was last written, in seconds since 1970."""

    lines: list[str]
    written: float


@final
class SourceLines:
    """Reads each file once, when the first of its lines is asked for; which may be read, `read_authored` says.

    Names in places start from the folder `root`. `redact` strikes secrets out of a line; `places` say where the parts
    of a case were authored.
    """

    def __init__(self, root: Path, redact: Callable[[str], str] = str, places: PlacesOf = no_places) -> None:
        self._root = root.resolve()
        self._places = places
        self._redact = redact
        self._read: dict[str, Authored | None] = {}

    def line(self, place: Place, began: str) -> str | None:
        """The line of the place; None if it is gone, or the file is newer than the run that `began` (ISO 8601)."""
        authored = self._authored(place.file, began)
        if authored is None or not 1 <= place.line <= len(authored.lines):
            return None
        return quoted(authored.lines[place.line - 1], self._redact)

    def place_of(self, case: Place, id_: str, at: str, began: str) -> Place | None:
        """Where a part of a case was authored; None if that is not known, or the file is newer than the run.

        The part is `at` a JSON pointer from the case's root; the run `began` then, in ISO 8601.
        """
        if self._authored(case.file, began) is None:
            return None
        places = self._places(case.file, id_)
        while at and at not in places:
            at = at.rpartition("/")[0]
        return places.get(at) if at else None

    def _authored(self, file: str, began: str) -> Authored | None:
        if file not in self._read:
            self._read[file] = read_authored(self._root, file)
        authored = self._read[file]
        return None if authored is None or authored.written > seconds_of(began) else authored


def read_authored(root: Path, name: str) -> Authored | None:
    """The eval file of that name; None if there is none that can be read.

    A result file may come from anyone and name any file: only eval files within the folder `root` are read.
    """
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or path.suffix.lower() not in _KINDS or not path.is_file():
            return None
        status = path.stat()
        return Authored(read_limited(path, _LARGEST_FILE).decode("utf-8-sig").split("\n"), status.st_mtime)
    except (OSError, ValueError):  # not there any more, not UTF-8, a name that no file can have
        return None


def quoted(line: str, redact: Callable[[str], str]) -> str:
    """A line as reports quote it: without its end, without secrets, at most 300 characters of it."""
    return redact(line.rstrip("\r")[:_LONGEST_STRUCK])[:_LONGEST_LINE]


def seconds_of(timestamp: str) -> float:
    """The time in seconds since 1970; 0 if it is not a time, so that any file counts as newer."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0


def transcript(case: CaseResult) -> str | None:
    """The transcript as text: the response, or each turn with the user's message and the calls."""
    if case.details.turns is UNSET:
        return case.details.response
    return "\n".join(_lines(case))


def response_of(case: CaseResult, turn: int | None) -> str | None:
    """The response of a turn; that of the case where it is about none."""
    turns = case.details.turns
    if turn is None or turns is UNSET or turn > len(turns):
        return case.details.response
    return turns[turn - 1].response


def calls_by_turn(case: CaseResult) -> Iterator[tuple[TurnDetails, list[str]]]:
    """Each turn of a conversation with the names of the tools that were called in it."""
    names = iter([str(call.get("name")) for call in case.details.tool_calls])
    for turn in () if case.details.turns is UNSET else case.details.turns:
        yield turn, list(islice(names, turn.calls))


def _lines(case: CaseResult) -> Iterator[str]:
    for number, (turn, names) in enumerate(calls_by_turn(case), 1):
        failed = any(each.turn == number and each.outcome in ("failed", "error") for each in case.assertions)
        yield f"turn {number}{' (failed)' if failed else ''}"
        yield f"  user: {turn.message}"
        if names:
            yield f"  calls: {', '.join(names)}"
        yield f"  agent: {turn.response}"
