"""What `evalc challenge` finds: which faulty answers the checks of a suite notice, and which they pass."""

from __future__ import annotations

import msgspec

from evalc.model.suite import Place


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class Survivor(_Record, frozen=True, kw_only=True):
    """A faulty answer that a case passes.

    `difference` says what the fault is, `line` is an item of `validate:` that would notice it, null if none was
    found.
    """

    challenger: str
    difference: str
    line: str | None


class ChallengerCount(_Record, frozen=True, kw_only=True):
    """How many of the answers with one fault were noticed."""

    name: str
    mutants: int
    killed: int


class CaseStrength(_Record, frozen=True, kw_only=True):
    """How many faulty answers a case was given, and how many its checks noticed.

    `strength` is killed / mutants, null if there was no mutant. `undecided` counts the mutants that nobody could
    decide, `allowed` has the faults that the source excludes. Neither are among the mutants.
    """

    id: str
    tool_name: str
    suite: str
    tier: str
    mutants: int
    killed: int
    strength: float | None
    undecided: int
    allowed: dict[str, str]
    challengers: tuple[ChallengerCount, ...]
    survivors: tuple[Survivor, ...]
    place: Place | None


class CheckStrength(_Record, frozen=True, kw_only=True):
    """A check as it was written, and how many of the mutants that it looked at it noticed.

    The rows of a table share a check. `id` is the case's, the first of several, and `at` the JSON pointer in it.
    """

    id: str
    at: str
    check: str
    mutants: int
    killed: int
    place: Place | None


class CriterionStrength(_Record, frozen=True, kw_only=True):
    """A criterion of a suite: of the mutants of cases with checks for it, how many these checks noticed."""

    tool_name: str
    suite: str
    tier: str
    name: str
    mutants: int
    killed: int


class NotChallenged(_Record, frozen=True, kw_only=True):
    """A case that was not challenged, and why."""

    id: str
    reason: str


class Strength(_Record, frozen=True, kw_only=True):
    """The strength of suites: `strength` is killed / mutants over all cases, null if there was no mutant.

    `of` is the run whose answers were changed; null where suites were challenged by themselves.
    """

    of: str | None
    strength: float | None
    mutants: int
    killed: int
    undecided: int
    challengers: tuple[ChallengerCount, ...]
    cases: tuple[CaseStrength, ...]
    checks: tuple[CheckStrength, ...]
    criteria: tuple[CriterionStrength, ...]
    not_challenged: tuple[NotChallenged, ...]
    warnings: tuple[str, ...] = ()
