"""Suites for a runner: metadata, cases, and the places that their parts were authored at."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol, final

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
    """A selection of `cases` of `of`, and `by` which flags, as the user wrote them."""

    cases: int
    of: int
    by: tuple[str, ...]


class Copied(NamedTuple):
    """A file or a folder that agents are given a copy of, by its path from the project's root; or such a skill."""

    path: str
    is_skill: bool = False


class SuiteKey(NamedTuple):
    """Identifies a suite in a run: its name and its tier."""

    name: str
    tier: str

    def __str__(self) -> str:
        """`NAME.TIER`, as files are called."""
        return f"{self.name}.{self.tier}"

    def short(self, agent: str | None = None) -> str:
        """The suite on a screen: as its title, but without the usual tier."""
        if self.tier != "labeled":
            return self.title(agent)
        return self.name if agent is None else f"{self.name} ({agent})"

    def title(self, agent: str | None = None) -> str:
        """The suite in messages: `NAME (TIER)`, with its agent where the run has several."""
        return f"{self.name} ({self.tier})" if agent is None else f"{self.name} ({self.tier}, {agent})"


class CaseKey(NamedTuple):
    """Identifies a case in a run."""

    suite: SuiteKey
    id: str


class SuiteRecord(Protocol):
    """A record of a suite in a run. Earlier versions of evalc, and other runners, do not write `suite`."""

    @property
    def suite(self) -> str | None:
        """The suite's name."""

    @property
    def tool_name(self) -> str:
        """The tool that it is about."""

    @property
    def tier(self) -> str:
        """Its tier."""


def key_of(record: SuiteRecord) -> SuiteKey:
    """The suite that a record is of; without a name, the suite is called what its tool is."""
    return SuiteKey(record.suite or record.tool_name, record.tier)


RENEWED_BY_RUN: Final = "`evalc run` writes results that name their suite"
"""Advice on results of earlier versions, which name only the tool of their suite."""


class KnownSuites:
    """Finds out which suite a record of an earlier run is of.

    A record that does not name its suite is of the suite that has its tool and tier, if there is exactly one. `suites`
    are the keys of suites, each with its tool. With `ids_of`, the ids of a suite's cases, that suite has to have one of
    the record's: the tool may have had another suite then.
    """

    def __init__(
        self, suites: Iterable[tuple[SuiteKey, str]], ids_of: Callable[[SuiteKey], Iterable[str]] = lambda _: ()
    ) -> None:
        self._ids_of = ids_of
        self._of_tool: dict[tuple[str, str], dict[SuiteKey, None]] = {}
        self._unclear: dict[tuple[str, str], Collection[SuiteKey]] = {}
        for key, tool_name in suites:
            self._of_tool.setdefault((tool_name, key.tier), {})[key] = None

    @classmethod
    def named_by(cls, records: Iterable[SuiteRecord]) -> KnownSuites:
        """The suites that records name."""
        return cls((key_of(record), record.tool_name) for record in records if record.suite)

    def candidates(self, record: SuiteRecord) -> Collection[SuiteKey]:
        """The suites that the record may be of, at least one; ids of cases decide, if there are several."""
        own = key_of(record)
        return {own} if record.suite else self._of_tool.get((record.tool_name, record.tier), {own})

    def key_of(self, record: SuiteRecord, ids: Collection[str] | None = None) -> SuiteKey | None:
        """The record's suite; None if it may be of several. `ids` are those of its cases, where they are to decide."""
        candidates = self.candidates(record)
        if len(candidates) > 1:
            self._unclear[record.tool_name, record.tier] = candidates
            return None
        (key,) = candidates
        if record.suite or ids is None or any(id_ in ids for id_ in self._ids_of(key)):
            return key
        return key_of(record)

    def warnings(self, of: str, cure: str) -> Iterator[str]:
        """A warning that results `of` something are left out since their suite is unclear, if any are; with a cure."""
        if self._unclear:
            which = "; ".join(
                f"`{tool_name}` ({tier}) may be {' or '.join(f'`{key.name}`' for key in keys)}"
                for (tool_name, tier), keys in self._unclear.items()
            )
            yield f"{of} names tools and not suites, so results of several suites are left out: {which}; {cure}"


class LocatedCase(NamedTuple):
    """A case, and where its parts were authored: JSON pointers from the case's root (`""` is the case) to places."""

    case: Case
    places: Mapping[str, Place]


@final
class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """One suite, one tier: the unit of a run and of a result file."""

    metadata: Metadata | None  # the envelope's metadata; None for a bare array, whose staleness is not checked
    name: str  # the suite's name; with the tier it names the suite's files and is unique in a run
    tool_name: str  # the tool that it is about
    tier: str  # golden, labeled, regression or rubric
    file_hash: str  # `sha256[0:12]` of the eval JSON file, or of the compiled bytes
    origin: str  # the file it came from, for messages
    cases: Iterable[LocatedCase]  # the cases in source order; may be iterated several times
    size: int
    selected: Selected | None = None  # which cases these are of the file's; None if they are all
    narrowed: bool = False  # whether flags decided case by case which of the suite are run
    # what results call the agent that it is run against, in a run of several; None in a run of one
    agent: str | None = None
    copied_hash: str | None = None  # of what is in the files and skills that its cases give to agents, if they give any

    @property
    def key(self) -> SuiteKey:
        """The key that identifies it in a run, whichever its agent."""
        return SuiteKey(self.name, self.tier)

    @property
    def title(self) -> str:
        """Its name in messages, such as `get_weather (golden)`."""
        return self.key.title(self.agent)


_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST_DIMENSION: Final = 40
_OTHER: Final = re.compile(r"[^A-Za-z0-9._-]+")


def is_slug(text: str) -> bool:
    """Whether a text is made of letters, digits, `-`, `_` and `.`, and begins with a letter or digit."""
    return _SLUG.fullmatch(text) is not None


def slug(text: str) -> str:
    """The text as a slug, what a slug cannot hold being dashes; empty if nothing is left."""
    return _OTHER.sub("-", text).strip("-._")


def dimension_of(question: str) -> str:
    """A name for what a judge scores, from the words of the question."""
    name = slug(question.lower())
    if len(name) > _LONGEST_DIMENSION:
        name = name[:_LONGEST_DIMENSION].rpartition("-")[0] or name[:_LONGEST_DIMENSION]
    return name or "judge"
