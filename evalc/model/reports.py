"""Records that `evalc history`, `plan`, `coverage` and `challenge` print with `--json`."""

from __future__ import annotations

from typing import Literal

import msgspec

from evalc.model.suite import Place


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records: every key is always written."""


class HistoryEntry(_Record, frozen=True, kw_only=True):
    """A suite in a run.

    `run` is the name of the run's folder, `began` the seconds since 1970 at which the run did; `criteria` are the mean
    scores by criterion, null if nothing scored it. `partial` says that not all of the suite's cases ran, because
    some were chosen or the run stopped; `rescored` that no agent was asked.
    """

    run: str
    file: str
    run_id: str
    timestamp: str
    began: float
    tool_name: str
    suite: str
    tier: str
    agent_endpoint: str
    total_cases: int
    passed: int
    errors: int
    score: float | None
    estimated_cost_usd: float | None
    total_duration_ms: float | None
    criteria: dict[str, float | None]
    partial: bool
    rescored: bool


class TrendPoint(_Record, frozen=True, kw_only=True):
    """A suite in one of its runs: the share of the cases that passed, and the scores; null if there is none."""

    run: str
    timestamp: str
    pass_rate: float | None
    score: float | None
    criteria: dict[str, float | None]


class Trend(_Record, frozen=True, kw_only=True):
    """The course of a suite, the oldest run first. `criteria` are all that any run scored, in order of appearance.

    `agentEndpoint` is the agent where the suite was run by several, so that each has a course of its own; else null.
    """

    tool_name: str
    suite: str
    tier: str
    agent_endpoint: str | None
    criteria: tuple[str, ...]
    points: tuple[TrendPoint, ...]


class History(_Record, frozen=True, kw_only=True):
    """The newest entries, the newest first, and the courses of their suites over all runs."""

    entries: tuple[HistoryEntry, ...]
    trends: tuple[Trend, ...]


class NoisePlan(_Record, frozen=True, kw_only=True):
    """The noise that a plan assumes: how verdicts vary between runs though nothing has changed, and how that is known.

    `passes` is the share of the cases that pass, `flips` the share whose verdict differs between two runs. `source` is
    `attempts` for those at the cases of one run, `runs` for the verdicts of earlier ones, `assumed` without
    either; `of` is how many attempts, or pairs of verdicts, it was seen in.
    """

    source: Literal["attempts", "runs", "assumed"]
    passes: float
    flips: float
    of: int


class Option(_Record, frozen=True, kw_only=True):
    """The power of so many cases at the plan's confidence, and their cost.

    `changed` is how many verdicts have to get worse, and none better, to show a regression; null if that is more
    than there are cases. `smallest` is that as a share of the cases. `likely` is how far the pass rate has to fall for
    that to be shown four times in five, given the suite's noise; null if no fall is. `costUsd` is null if no earlier
    run says.
    """

    cases: int
    changed: int | None
    smallest: float | None
    likely: float | None
    cost_usd: float | None


class GatePlan(_Record, frozen=True, kw_only=True):
    """A gate on the pass rate: it holds from so many passes on, and fails up to so many; null if none does."""

    limit: int | float
    confidence: int | float | None
    holds_from: int | None
    fails_to: int | None


class SuitePlan(_Record, frozen=True, kw_only=True):
    """A suite before its run. `attempts` counts the repeats of its cases.

    `options` are the suite as it is, then with two and four times as many cases.
    """

    tool_name: str
    suite: str
    tier: str
    cases: int
    attempts: int
    gate: GatePlan | None
    noise: NoisePlan
    options: tuple[Option, ...]


class Plan(_Record, frozen=True, kw_only=True):
    """All suites, at one confidence. `costsOf` is the run that the costs are taken from; null if there is none."""

    confidence: int | float
    costs_of: str | None
    suites: tuple[SuitePlan, ...]


Kind = Literal["tools", "arguments", "toolPairs", "seedValues", "criteria", "prompts", "promptBranches"]


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
