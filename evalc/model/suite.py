"""What a runner is given: a suite's metadata, its cases, and the places that their parts were authored at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """That not all cases were chosen: `cases` of `of`, and `by` what, as the user said it."""

    cases: int
    of: int
    by: tuple[str, ...]


def suite_title(tool_name: str, tier: str, agent: str | None) -> str:
    """What messages call a suite: `TOOL (TIER)`, with its agent where the run has several."""
    return f"{tool_name} ({tier})" if agent is None else f"{tool_name} ({tier}, {agent})"


class LocatedCase(NamedTuple):
    """A case, and where its parts were authored: JSON pointers from the case's root (`""` is the case) to places."""

    case: Case
    places: Mapping[str, Place]


@final
class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """One tool, one tier: the unit of a run and of a result file.

    Attributes:
        metadata: the envelope's metadata; None for a bare array, whose staleness is not checked.
        tool_name: the tool; with the tier it names the suite's files and is unique in a run.
        tier: golden, labeled, regression or rubric.
        file_hash: `sha256[0:12]` of the eval JSON file, or of the compiled bytes.
        origin: the file it came from, for messages.
        cases: the cases in source order; may be iterated several times.
        selected: which cases these are of the file's; None if they are all.
        narrowed: whether flags decided case by case which of the suite are run.
        agent: what results call the agent that it is run against, in a run of several; None in a run of one.
    """

    metadata: Metadata | None
    tool_name: str
    tier: str
    file_hash: str
    origin: str
    cases: Iterable[LocatedCase]
    size: int
    selected: Selected | None = None
    narrowed: bool = False
    agent: str | None = None

    @property
    def title(self) -> str:
        """What messages call it, such as `get_weather (golden)`."""
        return suite_title(self.tool_name, self.tier, self.agent)
