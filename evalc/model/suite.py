"""What a runner is given: a suite's metadata, its cases, and the places that their parts were authored at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import msgspec

from evalc.model.case import Case, Metadata


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A place in an authored file: its name as the user gave it, line and column from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class LocatedCase(NamedTuple):
    """A case, and where its parts were authored: JSON pointers from the case's root (`""` is the case) to places."""

    case: Case
    places: Mapping[str, Place]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One tool, one tier: the unit of a run and of a result file.

    Attributes:
        metadata: the envelope's metadata; None for a bare array, whose staleness is not checked.
        tool_name: the tool; with the tier it names the suite's files and is unique in a run.
        tier: golden, labeled, regression or rubric.
        file_hash: `sha256[0:12]` of the eval JSON file, or of the compiled bytes.
        origin: the file it came from, for messages.
        cases: the cases in source order; may be iterated several times.
    """

    metadata: Metadata | None
    tool_name: str
    tier: str
    file_hash: str
    origin: str
    cases: Iterable[LocatedCase]
    size: int
