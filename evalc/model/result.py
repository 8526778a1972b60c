"""Records of results: EvalSuiteResult and EvalCaseResult with evalc's own keys, and comparisons of two runs.

The sentences on the keys of results are in `evalc.schema.records`.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Protocol

import msgspec

from evalc.model.answer import WrittenFile
from evalc.model.case import Message
from evalc.model.suite import Place, Selected, SuiteKey

Verdict = Literal["better", "worse", "inconclusive", "unchanged"]
"""Verdict on a difference, at a level of 5 %; `unchanged` if no case differs at all."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The common settings of these records. Every key is written, but for the records that omit their defaults."""


class Significance(_Record, frozen=True, kw_only=True):
    """Significance of the changed verdicts of two runs, by McNemar's exact test."""

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


class Slice(Rate, frozen=True, kw_only=True):
    """The rate of a suite's cases that have a tag."""

    tag: str


class SliceComparison(_Record, frozen=True, kw_only=True):
    """The cases of two runs that have a tag in the later one.

    `pValue` is that of McNemar's exact test times the number of slices that are compared, and at most 1.
    """

    tag: str
    before: Rate
    after: Rate
    p_value: float
    verdict: Verdict


class Medians(_Record, frozen=True, kw_only=True):
    """The medians of one measure over the cases of both runs that have it; null if none has."""

    before: float | None
    after: float | None
    cases: int


class ChangedCase(_Record, frozen=True, kw_only=True):
    """A case that is not what it was: why it did not pass in either run, null if it did."""

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
    slices: tuple[SliceComparison, ...]
    latency_ms: Medians
    cost_usd: Medians
    regressions: tuple[ChangedCase, ...]
    new_passes: tuple[ChangedCase, ...]
    still_failing: tuple[ChangedCase, ...]
    """Those that fail in both runs, for another reason now."""
    came: tuple[str, ...]
    went: tuple[str, ...]


class RunComparison(_Record, frozen=True, kw_only=True):
    """Two runs, and the agents of each.

    Suites that only one of them has are named `SUITE (TIER)`, with the agent if it has several.
    `significance` is over the cases of all suites that both have. `missing` are the cases, by id, and the suites that
    the later run should have had.
    """

    before: str
    after: str
    before_agents: tuple[str, ...] = ()
    after_agents: tuple[str, ...] = ()
    suites: tuple[SuiteComparison, ...]
    significance: Significance
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    missing: tuple[str, ...]
    regressions: int
    new_passes: int
    warnings: tuple[str, ...] = ()


Status = Literal["passed", "failed", "error", "unverified", "expected-failure", "unexpected-pass"]
PASSING: Final[frozenset[Status]] = frozenset(("passed", "unverified", "expected-failure"))
"""The statuses for which the contract's `passed` is true."""

Outcome = Literal["passed", "failed", "skipped", "error"]
ScoredBy = Literal["linked", "unlinked", "judge"]


class JudgedScore(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """A judge's score from 0 to `maxScore`, and why.

    Of several judges it is the median, in the words of the one nearest to it, and `spread` is how far they lie apart.
    """

    score: int | float
    max_score: int | float
    reason: str | None = None
    spread: int | float | None = None


class TextFinding(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """A finding of a check of texts in the response.

    `kind` is `missing` where the `text` was expected and is not there, `forbidden` where it is there and must not be,
    `differs` where the response had to be or begin with it. `path` is the place of the JSON response that was looked
    at, absent for the whole response.
    """

    kind: Literal["missing", "forbidden", "differs"]
    text: str
    path: str | None = None


class AssertionResult(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """One assertion that was reached. `at` is its JSON pointer from the case's root; `message` says why not passed.

    Of what did not pass, `field` is the contract's name, with which `error` of the case begins, and `line` the check as
    authors write it, filled and long texts cut. `judged` is there if a judge was asked.
    """

    at: str
    outcome: Outcome
    field: str | None = None
    line: str | None = None
    message: str | None = None
    place: Place | None = None
    judged: JudgedScore | None = None
    finding: TextFinding | None = None
    turn: int | None = None


class Named(Protocol):
    """The check behind an error: the contract's name of it, and the line that authors write."""

    @property
    def field(self) -> str | None:
        """The name with which the error begins."""

    @property
    def line(self) -> str | None:
        """The check on one line."""


def in_lines(error: str, check: Named | None) -> str:
    """The error of a case with the check as authors write it in place of the contract's name."""
    if check is None or check.line is None:
        return error.removeprefix("expectedFailure: ")
    return error.replace(f"{check.field}: ", f"{check.line}: ", 1)


class CriterionResult(_Record, frozen=True, kw_only=True):
    """A criterion's score in one case: 0 to 1, or null if nothing scored it. `judged` is what a judge said of it."""

    name: str
    weight: int | float
    score: float | None
    scored_by: ScoredBy | None
    judged: JudgedScore | msgspec.UnsetType = msgspec.UNSET


class TurnDetails(_Record, frozen=True, kw_only=True):
    """One turn of a conversation: what was said, what was answered, and how long that took.

    `calls` is how many tool calls it took: they are in `toolCalls` of the case, turn by turn. `written` are the files
    that the agent had written by its end, and `unchanged` the paths of those that it had left as they were, unset
    if they are those of the case.
    """

    message: str
    response: str
    calls: int
    duration_ms: float
    usage: dict[str, int | float] | msgspec.UnsetType = msgspec.UNSET
    written: tuple[WrittenFile, ...] | msgspec.UnsetType = msgspec.UNSET
    unchanged: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class CaseDetails(_Record, frozen=True, kw_only=True):
    """The contract's `details`, the response and the tool calls as they came (secrets struck out).

    `usage` has `inputTokens`, `outputTokens` and `costUsd`, each where known, `judge_usage` also `requests` and
    `cached`, `user_usage` `requests` and `costUsd`. Of a conversation, `response` is that of all turns, and
    `unanswered` the message of the turn that it broke in. `written` are the files that the agent wrote in the folder of
    the attempt, unset if it had none, and `unchanged` the paths of those that it was given and left as they were.
    """

    tools_called: tuple[str, ...] = ()
    response_length: int = 0
    skipped_tokens: tuple[str, ...] = ()
    response: str | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    usage: dict[str, int | float] | msgspec.UnsetType = msgspec.UNSET
    judge_usage: dict[str, int | float] | msgspec.UnsetType = msgspec.UNSET
    finish_reason: str | msgspec.UnsetType = msgspec.UNSET
    model: str | msgspec.UnsetType = msgspec.UNSET
    message: str | msgspec.UnsetType = msgspec.UNSET
    messages: tuple[Message, ...] | msgspec.UnsetType = msgspec.UNSET
    near_calls: str | msgspec.UnsetType = msgspec.UNSET
    turns: tuple[TurnDetails, ...] | msgspec.UnsetType = msgspec.UNSET
    unanswered: str | msgspec.UnsetType = msgspec.UNSET
    user_usage: dict[str, int | float] | msgspec.UnsetType = msgspec.UNSET
    written: tuple[WrittenFile, ...] | msgspec.UnsetType = msgspec.UNSET
    unchanged: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class LabelResult(_Record, frozen=True, kw_only=True):
    """The class that a case should have, and the class that the agent gave; null if the answer has none."""

    expected: str
    predicted: str | None


class AttemptResult(_Record, frozen=True, kw_only=True):
    """One run of a case that is repeated. `error` is in people's words; `response` is null if no answer came."""

    status: Status
    duration_ms: float
    score: float | None
    error: str | msgspec.UnsetType = msgspec.UNSET
    response: str | None


class CaseResult(_Record, frozen=True, kw_only=True):
    """The result of one case. `passed` is true for the statuses passed, unverified and expected-failure.

    Of a case that is repeated, `durationMs`, the counts of assertions and `usage` are sums over its attempts, the
    scores are means, and the rest of `details` and `assertions` are of the first attempt that ended as the case did.
    """

    id: str
    description: str
    passed: bool
    status: Status
    duration_ms: float
    started_at: str | msgspec.UnsetType = msgspec.UNSET
    ended_at: str | msgspec.UnsetType = msgspec.UNSET
    assertions_run: int
    assertions_skipped: int
    score: float | None
    criteria: tuple[CriterionResult, ...] = ()
    error: str | msgspec.UnsetType = msgspec.UNSET
    error_at: str | msgspec.UnsetType = msgspec.UNSET
    timed_out: bool | msgspec.UnsetType = msgspec.UNSET
    expected_failure: str | msgspec.UnsetType = msgspec.UNSET
    flaky: bool | msgspec.UnsetType = msgspec.UNSET
    variant: str | msgspec.UnsetType = msgspec.UNSET
    tags: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    case_hash: str | msgspec.UnsetType = msgspec.UNSET
    details: CaseDetails
    assertions: tuple[AssertionResult, ...] = ()
    attempts: tuple[AttemptResult, ...] | msgspec.UnsetType = msgspec.UNSET
    not_attempted: int | msgspec.UnsetType = msgspec.UNSET
    label: LabelResult | msgspec.UnsetType = msgspec.UNSET
    place: Place | msgspec.UnsetType = msgspec.UNSET
    row: Place | msgspec.UnsetType = msgspec.UNSET

    @property
    def why(self) -> str | None:
        """`error` with the check as authors write it in place of the contract's names; None if the case passed."""
        return None if self.error is msgspec.UNSET else in_lines(self.error, self.decided_by)

    @property
    def decided_by(self) -> AssertionResult | None:
        """The assertion whose message `error` is; None if it is of none."""
        return next((each for each in self.assertions if each.at == self.error_at and each.outcome != "passed"), None)

    @property
    def answer(self) -> str | None:
        """The agent's response; None if no answer came."""
        return self.details.response


class SkippedCase(_Record, frozen=True, kw_only=True):
    """A case that was not sent to the agent, and why: it says so, is `archived`, or the run `stopped` before it."""

    id: str
    description: str
    reason: str
    archived: bool
    stopped: bool | msgspec.UnsetType = msgspec.UNSET


class GateResult(_Record, frozen=True, kw_only=True):
    """The verdict on a gate. `value` is null if nothing could be measured; then the gate is not met.

    With a `confidence` there are `verdict` and `moreCases`; `newFailures` and `missing` are there if any cases are.
    """

    gate: Literal["minPassRate", "minScore", "maxP95Ms", "failOnRegression", "recall", "precision", "macroF1"]
    label: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | float
    value: int | float | None
    passed: bool
    new_failures: int | msgspec.UnsetType = msgspec.UNSET
    missing: int | msgspec.UnsetType = msgspec.UNSET
    confidence: int | float | msgspec.UnsetType = msgspec.UNSET
    verdict: Literal["holds", "fails", "undecided"] | msgspec.UnsetType = msgspec.UNSET
    more_cases: int | msgspec.UnsetType | None = msgspec.UNSET


class CriterionSummary(_Record, frozen=True, kw_only=True):
    """A criterion's mean over the cases that scored it: `cases` of `of`. `scoredBy` is what did in any of them."""

    name: str
    weight: int | float
    score: float | None
    cases: int
    of: int
    scored_by: tuple[ScoredBy, ...] = ()


class RateEstimate(_Record, frozen=True, kw_only=True):
    """A share, `of` how many, with Wilson's interval (95 %); nulls where it is of none."""

    value: float | None
    low: float | None
    high: float | None
    of: int


class ClassSummary(_Record, frozen=True, kw_only=True):
    """One class: how often it was right to give it (`recall`), how often it was right when given (`precision`).

    `f1` is their harmonic mean: 0 if both are 0 or one is of no cases, as scikit-learn has it.
    """

    name: str
    recall: RateEstimate
    precision: RateEstimate
    f1: float


class ConfusedClasses(_Record, frozen=True, kw_only=True):
    """How many cases of one class were given another, or the same; `predicted` is null if the answer has none."""

    expected: str
    predicted: str | None
    cases: int


class LabelSummary(_Record, frozen=True, kw_only=True):
    """How well the cases of a suite were classified. Cases that ended in error are left out."""

    cases: int
    accuracy: RateEstimate
    macro_f1: float
    classes: tuple[ClassSummary, ...]
    confusion: tuple[ConfusedClasses, ...]


class RepeatSummary(_Record, frozen=True, kw_only=True):
    """How repeated cases do in k attempts: `passAtK` is the chance that one of them passes, `passHatK` that all do."""

    k: int
    cases: int
    pass_at_k: float
    pass_hat_k: float


class Summary(_Record, frozen=True, kw_only=True):
    """A suite's totals. passed + failed = totalCases.

    Within `passed` are counted `unverified` and `expectedFailures`, within `failed` are `errors` and
    `unexpectedPasses`, in either `flaky`. Skipped cases are in none of them. `repeats` is there where cases are
    repeated, unless the run ended attempts at them early: then `cutShort` is how many, and pass@k cannot be estimated.
    `labels` is there where cases have labels, `slices` where some cases have a tag and others do not.
    """

    total_cases: int
    passed: int
    failed: int
    skipped_assertions: int
    total_duration_ms: float
    estimated_cost_usd: float | msgspec.UnsetType = msgspec.UNSET
    judge_cost_usd: float | msgspec.UnsetType = msgspec.UNSET
    errors: int
    unverified: int
    expected_failures: int = 0
    unexpected_passes: int = 0
    flaky: int = 0
    skipped: int = 0
    score: float | None
    scored_weight: float | None
    criteria: tuple[CriterionSummary, ...] = ()
    repeats: tuple[RepeatSummary, ...] | msgspec.UnsetType = msgspec.UNSET
    cut_short: int | msgspec.UnsetType = msgspec.UNSET
    labels: LabelSummary | msgspec.UnsetType = msgspec.UNSET
    slices: tuple[Slice, ...] | msgspec.UnsetType = msgspec.UNSET


class ResultMetadata(_Record, frozen=True, kw_only=True):
    """The state at run time, for staleness (contract, metadata). Null without a tool registry."""

    tool_version: str | None
    description_hash: str | None
    registry_size: int | None
    eval_file_hash: str


class SuiteResult(_Record, frozen=True, kw_only=True):
    """EvalSuiteResult: the outcome of one suite, every key of the contract.

    If it is `decided`, measured values are those of a part of the cases. `significance` is there where the suite was
    compared with a baseline; `went` is not there if flags selected some of its cases.
    """

    run_id: str
    timestamp: str
    tier: str
    tool_name: str
    suite: str | None = None
    agent_endpoint: str
    metadata: ResultMetadata
    staleness_warnings: tuple[str, ...]
    cases: tuple[CaseResult, ...]
    summary: Summary
    baseline_run_id: str | None
    regressions: tuple[str, ...]
    new_passes: tuple[str, ...]
    stale: bool
    warnings: tuple[str, ...] = ()
    skipped: tuple[SkippedCase, ...] = ()
    gates: tuple[GateResult, ...] | msgspec.UnsetType = msgspec.UNSET
    selected: Selected | msgspec.UnsetType = msgspec.UNSET
    stopped: str | msgspec.UnsetType = msgspec.UNSET
    decided: bool | msgspec.UnsetType = msgspec.UNSET
    rescored_from: str | msgspec.UnsetType = msgspec.UNSET
    significance: Significance | msgspec.UnsetType = msgspec.UNSET
    came: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    changed: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    went: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    judges: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    similarity: str | msgspec.UnsetType = msgspec.UNSET


class RunSummary(_Record, frozen=True, kw_only=True):
    """The totals of a whole run."""

    suites: int
    total_cases: int
    passed: int
    failed: int
    errors: int
    unverified: int
    expected_failures: int = 0
    unexpected_passes: int = 0
    flaky: int = 0
    skipped: int = 0
    skipped_assertions: int
    total_duration_ms: float
    score: float | None
    regressions: int
    new_passes: int


class MissingSuite(_Record, frozen=True, kw_only=True):
    """A suite of the baseline that the run should have had: its number of cases then, and its file, where known."""

    suite: str
    tier: str
    cases: int
    file: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def key(self) -> SuiteKey:
        """The key that identifies it in a run."""
        return SuiteKey(self.suite, self.tier)


class RunResult(_Record, frozen=True, kw_only=True):
    """All suites of a run under their shared run id. `missing` is there if suites of the baseline are gone."""

    run_id: str
    suites: tuple[SuiteResult, ...]
    summary: RunSummary
    gates: tuple[GateResult, ...] | msgspec.UnsetType = msgspec.UNSET
    missing: tuple[MissingSuite, ...] | msgspec.UnsetType = msgspec.UNSET
