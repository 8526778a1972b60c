"""Records that `evalc history`, `plan`, `coverage` and `challenge` print with `--json`.

With them the part of an EvalSuiteResult that a comparison needs, of any runner: evalc's own keys may be missing.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec

from evalc.model.result import PASSING, Status, in_lines
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
    """The coverage of suites: `coverage` is covered / total over all parts.

    It is null if there is nothing to cover, or where nobody knows what there is: `unknown` are these kinds. `covered`
    and `total` count the others.
    """

    coverage: float | None
    covered: int
    total: int
    parts: tuple[Part, ...]
    tools: tuple[ToolCoverage, ...]
    unknown: tuple[Kind, ...] = ()


class Survivor(_Record, frozen=True, kw_only=True):
    """A faulty answer that a case passes.

    `difference` says what the fault is, `turn` the turn of a conversation that has it; null for all of them. `line` is
    an item of `validate:` that would notice it, null if none was found. It is `proved` if every recorded answer that
    passed still passes and the file gets no new finding, so that `--fix` adds it; `wording` says that it asks for words
    that the only recorded answer has.
    """

    challenger: str
    difference: str
    line: str | None
    turn: int | None = None
    proved: bool = False
    wording: bool = False


class ChallengerCount(_Record, frozen=True, kw_only=True):
    """How many of the answers with one fault were noticed."""

    name: str
    mutants: int
    killed: int


class TurnStrength(_Record, frozen=True, kw_only=True):
    """How many answers with a fault in one turn of a conversation were noticed; faults in all turns are in none."""

    turn: int
    mutants: int
    killed: int


class CaseStrength(_Record, frozen=True, kw_only=True):
    """How many faulty answers a case was given, and how many its checks noticed.

    `strength` is killed / mutants, null if there was no mutant. `undecided` counts the mutants that nobody could
    decide, `allowed` has the faults that the source excludes. Neither are among the mutants. `turns` are those of a
    conversation.
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
    turns: tuple[TurnStrength, ...] = ()


class SuiteStrength(_Record, frozen=True, kw_only=True):
    """The strength of the cases of a suite, null if there was no mutant."""

    tool_name: str
    suite: str
    tier: str
    cases: int
    mutants: int
    killed: int
    strength: float | None


class CheckStrength(_Record, frozen=True, kw_only=True):
    """A check as it was written, and how many mutants it noticed of those that changed what it looks at.

    The rows of a table share a check. `id` is the case's, the first of several, and `at` the JSON pointer in it. A
    check without mutants was not tried.
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
    suites: tuple[SuiteStrength, ...]
    cases: tuple[CaseStrength, ...]
    checks: tuple[CheckStrength, ...]
    criteria: tuple[CriterionStrength, ...]
    not_challenged: tuple[NotChallenged, ...]
    warnings: tuple[str, ...] = ()


Measure = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
"""A number as results hold them; one whose square would be no number any more makes the file no result."""


class _Past(msgspec.Struct, frozen=True, rename="camel"):
    pass


class PastCriterion(_Past, frozen=True):
    """A criterion's score in a case."""

    name: str
    score: Measure | None = None


class _Usage(_Past, frozen=True):
    cost_usd: Measure | None = None


class _Details(_Past, frozen=True):
    usage: _Usage | None = None


class _Attempt(_Past, frozen=True):
    status: Status


class _Assertion(_Past, frozen=True):
    at: str
    field: str | None = None
    line: str | None = None


class ComparedCase(_Past, frozen=True):
    """A case of a run."""

    id: str
    passed: bool
    status: str | None = None
    error: str | None = None
    error_at: str | None = None
    assertions: tuple[_Assertion, ...] = ()
    duration_ms: Measure | None = None
    criteria: tuple[PastCriterion, ...] = ()
    attempts: tuple[_Attempt, ...] = ()
    tags: tuple[str, ...] = ()
    not_attempted: int = 0
    details: _Details | None = None

    @property
    def why(self) -> str | None:
        """Why it did not pass, in people's words."""
        ending = next((each for each in self.assertions if each.line and each.at == self.error_at), None)
        return None if self.error is None else in_lines(self.error, ending)

    @property
    def cost_usd(self) -> float | None:
        """The cost of the answer, if known."""
        usage = self.details.usage if self.details else None
        return usage.cost_usd if usage else None

    @property
    def broken(self) -> bool:
        """Whether the agent or a check broke, so that nothing is known of the case."""
        return self.status == "error"

    @property
    def pass_share(self) -> float:
        """The share of the attempts that passed, of those that did not end in error; of a single one 1 or 0.

        Where a failure was expected, an attempt that passed is not good news: there the verdict counts alone.
        """
        measured = [attempt.status for attempt in self.attempts if attempt.status != "error"]
        if not measured or self.status in ("expected-failure", "unexpected-pass"):
            return float(self.passed)
        return sum(status in PASSING for status in measured) / len(measured)


class Pair(NamedTuple):
    """A case in two runs."""

    before: ComparedCase
    after: ComparedCase

    @property
    def lapsed(self) -> bool:
        """Whether nothing is verified any more of a case that had a verdict, so that it has none on the agent."""
        return self.after.status == "unverified" and self.before.status != "unverified"

    @property
    def cut_short(self) -> bool:
        """Whether attempts were left out in either, so that the share that passed depends on when it was decided."""
        return bool(self.before.not_attempted or self.after.not_attempted)

    @property
    def broken(self) -> bool:
        """Whether it ended in error in either, so that the two cannot be compared."""
        return self.before.broken or self.after.broken


class WeightedCriterion(_Past, frozen=True):
    """A criterion of a suite."""

    name: str
    weight: Measure


class _Summary(_Past, frozen=True):
    criteria: tuple[WeightedCriterion, ...] = ()


class _Skipped(_Past, frozen=True):
    id: str


class ComparedSuite(_Past, frozen=True):
    """A suite of a run."""

    tool_name: str
    tier: str
    cases: tuple[ComparedCase, ...]
    suite: str | None = None
    run_id: str | None = None
    agent_endpoint: str | None = None
    decided: bool = False
    selected: object = None
    skipped: tuple[_Skipped, ...] = ()
    summary: _Summary = _Summary()
