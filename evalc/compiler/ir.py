"""The IR: what an eval means, apart from how it was written. The YAML front end and the JSON reader both end here.

Checks are the model's, in the canonical order (the contract's, then evalc's own, then what a judge is asked), each
with the place that it came from: a span of the YAML source, or a JSON pointer into the eval JSON, whose span is only
computed when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast, final

import msgspec

from evalc.base.source import Source, Span
from evalc.check import tree
from evalc.diagnostics import Severity
from evalc.dsl.nodes import InSource, Stretch
from evalc.grammar.nodes import Template
from evalc.model import case as m
from evalc.model.case import Gates


class Located(NamedTuple):
    """A place in a source of its own: a file that the suite includes, a prompt file, a row of a table."""

    source: Source
    span: Span


Where = Stretch | Span | str | Located
"""A stretch of the suite's source, a JSON pointer from its root, or a place in another source."""


_NO_NAMES: Final[Mapping[str, Located]] = MappingProxyType({})  # one for all


class Check(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One check, and where it was written.

    `names` are the places of the tools, parameters and values that a check of tool calls names, by their texts; empty
    for eval JSON, where pointers lead to them.
    """

    check: tree.Check
    where: Where
    names: Mapping[str, Located] = _NO_NAMES


class Link(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Checks of a case, by index, that pass together and count as one; for a criterion, or for none in particular.

    Every check that no link names counts by itself, with weight 1, for the criteria that nothing is linked to.
    """

    criterion: str | None
    checks: tuple[int, ...]
    weight: int | float = 1
    where: Where


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """A weighted criterion of the suite."""

    name: str
    weight: int | float
    description: str | None
    where: Where


class Case(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One case.

    `partial`: something of it was wrong and left out, so nothing follows from what is not there.
    """

    id: str
    name: str
    description: str
    tier: m.Tier
    difficulty: m.Difficulty | None = None
    created_at: str | None = None
    bug_ref: str | None = None
    message: str
    messages: tuple[m.Message, ...] | None = None
    follow_ups: tuple[str, ...] | None = None
    user: m.SimulatedUser | None = None
    system: str | None = None
    inputs: dict[str, Any] | None = None
    files: dict[str, str] | None = None
    skill: str | None = None
    stubs: dict[str, Any] | None = None
    stub_answers: dict[str, tuple[m.StubAnswer, ...]] | None = None
    max_turns: int | None = None
    checks: tuple[Check, ...] = ()
    links: tuple[Link, ...] = ()
    reference_data: dict[str, Any] | None = None
    expected: str | None = None
    threshold: int | float | None = None
    tags: tuple[str, ...] | None = None
    repeat: int | None = None
    require: int | None = None
    expected_failure: str | None = None
    skip: str | None = None
    archived: str | None = None
    variant: str | None = None
    allow: dict[str, str] | None = None
    label: m.Label | None = None
    where: Where
    wheres: dict[str, Where] = {}
    partial: bool = False

    def place_of(self, field: str) -> Where:
        """Where a field was written, or with a leading `#` its key; the case itself if that is not known."""
        return self.wheres.get(field, self.where)

    @property
    def running(self) -> bool:
        """Whether it is run: neither skipped nor archived."""
        return self.skip is None and self.archived is None

    @property
    def row(self) -> Where | None:
        """The place of the row that it is made from; None if it is not made from a row."""
        inputs = self.wheres.get("/input/inputs")
        return inputs if inputs is not None and inputs == self.wheres.get("/id") else None


@final
class CaseRows(msgspec.Struct, frozen=True, kw_only=True):
    """The cases of one `for_each:`, which are made anew for each use.

    `size` counts them, `running` those that are neither skipped nor archived. `own` names their assertions that a
    runner which knows only the contract would not check.
    """

    name: str
    tier: m.Tier
    size: int
    running: int
    own: frozenset[str]
    expand: Callable[[], Iterator[Case]]


@final
class Cases(Collection[Case]):
    """The cases of a suite in the order of the source; may be iterated several times."""

    __slots__ = ("_tables", "parts")

    def __init__(self, parts: Sequence[Case | CaseRows] = ()) -> None:
        self.parts = parts
        self._tables = [part for part in parts if type(part) is CaseRows]

    def __iter__(self) -> Iterator[Case]:
        if not self._tables:
            return cast("Iterator[Case]", iter(self.parts))
        return chain.from_iterable(part.expand() if isinstance(part, CaseRows) else (part,) for part in self.parts)

    def __len__(self) -> int:
        return len(self.parts) - len(self._tables) + sum(table.size for table in self._tables)

    def __contains__(self, case: object) -> bool:
        return any(case == other for other in self)

    @property
    def tiers(self) -> tuple[m.Tier, ...]:
        """The tiers of the cases, in the order of their first case."""
        return tuple(dict.fromkeys([part.tier for part in self.parts]))

    def of_tier(self, tier: m.Tier) -> Cases:
        """The cases of one tier."""
        return Cases([part for part in self.parts if part.tier == tier])


def in_pieces(cases: Iterator[Case], size: int) -> Iterator[Cases]:
    """The cases a few at a time, so that no more of them are held."""
    while piece := [*islice(cases, size)]:
        yield Cases(piece)


class PromptTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that cases are made from: the place of its text, its template, the defaults of its inputs as data."""

    where: Where
    template: Template
    defaults: Mapping[str, Any]


@final
class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """One suite: a YAML document, or an eval JSON file. Its cases may have several tiers."""

    source: Source
    name: str
    tool: str
    tier: m.Tier
    tool_version: str | None = None
    tool_description: str | None = None
    registry_size: int | None = None
    criteria: tuple[Criterion, ...] = ()
    criteria_partial: bool = False  # whether it may have been meant to have more criteria
    weights_partial: bool = False  # whether it may, or a criterion to have another weight
    threshold: int | float | None = None
    gates: Gates | None = None
    # where each gate is written, by its name in YAML; empty for eval JSON, where pointers lead there
    gate_places: Mapping[str, Where] = {}
    prompts: tuple[PromptTemplate, ...] = ()  # the prompts that its cases are made from; empty for eval JSON
    cases: Cases
    where: Where
    name_at: Where  # where the suite is named: by `suite:`, else by what it is called after; else the suite
    named_after: str = ""  # what its name is made from; empty if `suite:` gives it, and for eval JSON
    tool_at: Where  # where the tool is named: by `tool:`, else by what the suite is called; else the suite
    authored: m.Metadata | None = None  # the metadata of an eval JSON's envelope; None for YAML and for a bare array
    from_json: bool = False  # whether it is eval JSON, where ids and descriptions are the author's own
    bare: bool = False  # whether it is a bare array, whose staleness is not checked
    locate: Callable[[Span | str], Span]  # from a place in `source` to its span
    # the files that it was made from beside `source`: what it includes, prompts, tables, schemas
    files: frozenset[str] = frozenset()
    partial: bool = False

    @property
    def gravest(self) -> Severity:
        """The gravest that a finding of meaning can be: eval JSON is run by the contract whatever its checks mean."""
        return "warning" if self.from_json else "error"

    def place(self, where: Where) -> Located:
        """The source and the span of a place."""
        if isinstance(where, Located):
            return where
        return Located(self.source, InSource(where).span if isinstance(where, int) else self.locate(where))

    def row_of(self, case: Case) -> Located | None:
        """The place of the row that a case is made from."""
        return None if case.row is None else self.place(case.row)

    def line(self, where: Where) -> int:
        """The line of a place, in its source."""
        source, span = self.place(where)
        return source.position(span.start).line
