"""What a comparison of two runs says, as `evalc diff --json` prints it, and what a run says of its baseline."""

from __future__ import annotations

from typing import Literal

import msgspec

Verdict = Literal["better", "worse", "inconclusive", "unchanged"]
"""What a difference is, at a level of 5 %; `unchanged` if no case differs at all."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class Significance(_Record, frozen=True, kw_only=True):
    """What the changed verdicts of the cases of two runs say, by McNemar's exact test.

    `pairs` are the cases of both runs that ended in error in neither, `errors` those that did in one of them.
    `moreCases` is about how many cases beyond `pairs` would settle what is inconclusive; null if nothing can be
    said.
    """

    pairs: int
    regressed: int
    newly_passed: int
    errors: int
    p_value: float
    verdict: Verdict
    more_cases: int | None


class Difference(_Record, frozen=True, kw_only=True):
    """A mean over the same `cases` in two runs, with the bootstrap interval of what it changed by (95 %).

    `clusters` is how many groups of cases were drawn for it, where the rows of a table were drawn together; null where
    each case was drawn by itself.
    """

    before: float
    after: float
    difference: float
    low: float
    high: float
    cases: int
    clusters: int | None
    verdict: Verdict
    more_cases: int | None


class CriterionDifference(Difference, frozen=True, kw_only=True):
    """The difference of one criterion's mean score."""

    name: str


class Rate(_Record, frozen=True, kw_only=True):
    """How many cases passed of those that did not end in error, with Wilson's interval of the rate (95 %).

    The rate and its interval are null if there are no such cases.
    """

    passed: int
    of: int
    errors: int
    rate: float | None
    low: float | None
    high: float | None


class Medians(_Record, frozen=True, kw_only=True):
    """The medians of one measure over the cases of both runs that have it; null if none has."""

    before: float | None
    after: float | None
    cases: int


class ChangedCase(_Record, frozen=True, kw_only=True):
    """A case that is not what it was: its `error` in either run, null if it had none."""

    id: str
    before: str | None
    after: str | None


class SuiteComparison(_Record, frozen=True, kw_only=True):
    """A suite in two runs.

    `agentEndpoint`, that of the later run, is there where either run has the suite of several agents. `passShare` is
    there where cases were repeated: the mean share of their attempts that passed. `score` and `criteria` are over the
    cases that have a score in both runs.
    """

    tool_name: str
    suite: str
    tier: str
    agent_endpoint: str | msgspec.UnsetType = msgspec.UNSET
    before_run_id: str
    after_run_id: str
    before: Rate
    after: Rate
    significance: Significance
    pass_share: Difference | None
    score: Difference | None
    criteria: tuple[CriterionDifference, ...]
    latency_ms: Medians
    cost_usd: Medians
    regressions: tuple[ChangedCase, ...]
    new_passes: tuple[ChangedCase, ...]
    still_failing: tuple[ChangedCase, ...]
    """Those that fail in both runs, for another reason now."""
    came: tuple[str, ...]
    went: tuple[str, ...]


class RunComparison(_Record, frozen=True, kw_only=True):
    """Two runs. Suites that only one of them has are named `SUITE (TIER)`, with the agent if it has several.

    `significance` is over the cases of all suites that both have. `missing` are the cases, by id, and the suites that
    the later run should have had.
    """

    before: str
    after: str
    suites: tuple[SuiteComparison, ...]
    significance: Significance
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    missing: tuple[str, ...]
    regressions: int
    new_passes: int
    warnings: tuple[str, ...] = ()
