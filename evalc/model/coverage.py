"""What `evalc coverage` says: which tools, arguments, seed values and criteria the cases of suites look at."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["tools", "arguments", "toolPairs", "seedValues", "criteria", "prompts", "promptBranches"]


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class Part(_Record, frozen=True, kw_only=True):
    """One kind of thing that cases may look at: how many there are, how many are looked at, the names of the rest."""

    kind: Kind
    total: int
    covered: int
    missing: tuple[str, ...]


class ToolCoverage(_Record, frozen=True, kw_only=True):
    """A tool of the registry: how many cases want it called, by tier and by difficulty, and its parameters.

    `arguments` says of each parameter in how many cases it is asserted.
    """

    name: str
    cases: int
    tiers: dict[str, int]
    difficulties: dict[str, int]
    arguments: dict[str, int]


class Coverage(_Record, frozen=True, kw_only=True):
    """The coverage of suites: `coverage` is covered / total over all parts, null if there is nothing to cover."""

    coverage: float | None
    covered: int
    total: int
    parts: tuple[Part, ...]
    tools: tuple[ToolCoverage, ...]
