"""The IR: what an eval means, apart from how it was written. The YAML front end and the JSON reader both end here.

Checks are the model's, in the canonical order (the contract's, then evalc's own, then what a judge is asked), each
with the place that it came from: a span of the YAML source, or a JSON pointer into the eval JSON, whose span is only
computed when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import msgspec

from evalc.model import case as m
from evalc.model import checks as c
from evalc.source import Source, Span

Where = Span | str
"""A span of the source, or a JSON pointer from the document's root."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check, and where it was written."""

    check: c.Check
    where: Where


class Link(msgspec.Struct, frozen=True, kw_only=True):
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


class Case(msgspec.Struct, frozen=True, kw_only=True):
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
    inputs: dict[str, Any] | None = None
    stubs: dict[str, Any] | None = None
    max_turns: int | None = None
    checks: tuple[Check, ...] = ()
    links: tuple[Link, ...] = ()
    reference_data: dict[str, Any] | None = None
    expected: str | None = None
    threshold: int | float | None = None
    tags: tuple[str, ...] | None = None
    where: Where
    wheres: dict[str, Where] = {}
    partial: bool = False

    def place_of(self, field: str) -> Where:
        """Where a field was written; the case itself where that is not known."""
        return self.wheres.get(field, self.where)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One suite: a YAML document, or an eval JSON file. Its cases may have several tiers.

    Attributes:
        from_json: whether it is eval JSON, where ids and descriptions are the author's own.
        authored: the metadata of an eval JSON's envelope; None for YAML and for a bare array.
        bare: whether it is a bare array, whose staleness is not checked.
        locate: from a place in the IR to its span in `source`.
    """

    source: Source
    name: str
    tool: str
    tier: m.Tier
    tool_version: str | None = None
    tool_description: str | None = None
    registry_size: int | None = None
    criteria: tuple[Criterion, ...] = ()
    threshold: int | float | None = None
    cases: Sequence[Case]
    where: Where
    authored: m.Metadata | None = None
    from_json: bool = False
    bare: bool = False
    locate: Callable[[Where], Span]
    partial: bool = False
