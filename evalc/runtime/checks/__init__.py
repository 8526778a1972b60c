"""Evidence that checks are evaluated on, the parts of it that they look at, and their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, final

import msgspec

from evalc.check.tree import Check, Of, Turn
from evalc.checks import ProjectChecks
from evalc.ecma import UNDEFINED, to_string
from evalc.model.answer import Question, ToolCall, ToolMode, Usage, WrittenFile
from evalc.model.case import Case
from evalc.model.json import MISSING
from evalc.model.result import JudgedScore, TextFinding
from evalc.runtime import TIMEOUT_MS

CheckOutcome = Literal["passed", "failed", "skipped", "error", "not_applicable"]
"""`not_applicable` is what the contract neither runs nor skips: the check has no meaning for this answer."""


Embeddings = Callable[[str, str], float]
"""Compares the meanings of two texts: 1 for equal texts, 0 for unrelated ones."""


class Judging(Protocol):
    """Asks a judge to score an answer."""

    async def score(self, question: Question, text: str | None = None) -> JudgedScore:
        """The score of the answer, or of `text`, a part of it.

        Raises:
            JudgeError: there is no judgement.
        """
        ...


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a check may look at: the agent's answer, what the case says about it, the values of tokens.

    `timeout_ms` is how long a check of a package may take; `judge` is None if no judge is configured, `embeddings`
    where texts are compared by edit distance. `written`, `unchanged`, `all_unchanged`, `reports_calls` and
    `near_calls` are as in `AgentResponse`.
    `turns` is the evidence of each turn of a conversation, and `turn` the number of this turn; None for the whole,
    whose response is the answers of all turns and whose calls are those of all. `earlier_calls` are those of the turns
    before, and `said` is what the user said so far, turn by turn. `scores` says that the check stands by itself and
    counts for a criterion, so that a share is its score.
    """

    response: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_mode: ToolMode = "executed"
    duration_ms: float = 0.0
    usage: Usage | None = None
    written: tuple[WrittenFile, ...] | None = None
    unchanged: tuple[str, ...] = ()
    all_unchanged: bool = True
    stubs: Collection[str] | None = None
    seed: object = None
    snapshot: object = None
    case: Case | None = None
    timeout_ms: float = TIMEOUT_MS
    judge: Judging | None = None
    embeddings: Embeddings | None = None
    checks: ProjectChecks = ProjectChecks()
    reports_calls: bool = True
    near_calls: str | None = None
    turns: tuple[Evidence, ...] = ()
    turn: int | None = None
    earlier_calls: tuple[ToolCall, ...] = ()
    said: tuple[str, ...] = ()
    scores: bool = False

    @property
    def every_tool_has_a_stub(self) -> bool:
        """Whether calls of tools without a stub fail, whatever their success (contract, 3. noToolErrors)."""
        return self.stubs is not None and self.tool_mode != "injected"


class Note(NamedTuple):
    """A warning for the suite: a fact, and what it meant for the assertion."""

    fact: str
    effect: str


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one check."""

    outcome: CheckOutcome
    message: str | None = None  # why it did not pass, without the name of the field; None if it passed
    skipped_tokens: tuple[str, ...] = ()  # the unresolved tokens met, as written
    score: float = 0.0  # 0 to 1; other than 0 and 1 only where a check measures a share
    notes: tuple[Note, ...] = ()  # what the suite's warnings should count
    judged: JudgedScore | None = None  # the score behind it, where a judge gave one
    finding: TextFinding | None = None  # what a check of texts found that did not pass
    verifies: bool = True  # whether it says anything about the answer; a check that every answer passes does not
    asked: bool = True  # whether the check could be asked; if not, it fails, and so does its negation
    # whether it could not because there is nothing to ask; of an item or a call that counts as not holding
    absent: bool = False


ViewKind = Literal["response", "file", "value", "argument", "call", "result", "names", "count"]


@final
class Beside(msgspec.Struct, frozen=True):
    """The checks of a case, some of which compete for calls; the calls that fit a check are found only once."""

    checks: Sequence[Check] = ()
    fits: dict[int, list[int]] = {}  # by the identity of a check
    _turns: dict[int, Beside] = {}

    def in_turn(self, turn: Turn) -> Beside:
        """The checks of one turn, without the step to it."""
        if turn.number not in self._turns:
            of_turn = [check.check for check in self.checks if isinstance(check, Of) and check.step == turn]
            self._turns[turn.number] = Beside(of_turn)
        return self._turns[turn.number]


NONE_BESIDE: Final = Beside()


@final
class View(msgspec.Struct, frozen=True):
    """The subject of a check: what its steps lead to."""

    evidence: Evidence  # the answer that it is a part of
    kind: ViewKind  # what it is; a `result` is what a call gave back, a `count` a number that was measured
    value: Any  # the text of the response, a JSON value, a call, the names of the tools, or a number; or `MISSING`
    name: str = ""  # what messages call it; empty for the response, and for a call as a whole
    unit: str = ""  # the unit of a count
    in_call: bool = False  # whether it is a part of a call
    in_file: bool = False  # whether it is a file, or a part of one
    item: tuple[str, str] = ("", "")  # of an item or a place in it, the name of the item, and the path to all of them
    beside: Beside = NONE_BESIDE  # the checks of the case, which may compete for calls
    fault: Verdict | None = None  # if the subject is missing, the verdict on every check of it but `exists`

    @classmethod
    def of(cls, evidence: Evidence, beside: Beside = NONE_BESIDE) -> View:
        """The response."""
        return cls(evidence, "response", evidence.response, beside=beside)

    @property
    def text(self) -> Any:
        """The text to compare; JavaScript's `String(value)` for an argument."""
        if self.kind != "argument":
            return self.value
        return to_string(UNDEFINED if self.value is MISSING else self.value)

    @property
    def where(self) -> str | None:
        """The path in the JSON of the response, empty for the response itself; None for other subjects."""
        return None if self.in_call or self.in_file or self.kind in ("names", "count") else self.name

    @property
    def is_whole_text(self) -> bool:
        """Whether it is a text that may be JSON as a whole: a response, or a file."""
        return self.kind in ("response", "file")


class NoAnswer(Exception):
    """No predicate can be tested on a subject; `verdict` is the verdict on every check of it."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


Found = bool | str | Verdict
"""The answer to a test: whether it holds, the reason why it does not, or a whole verdict."""

PASSED: Final = Verdict(outcome="passed", score=1.0)
NOT_APPLICABLE: Final = Verdict(outcome="not_applicable")


def failed(message: str | None, finding: TextFinding | None = None) -> Verdict:
    """The check does not hold, because of `message`."""
    return Verdict(outcome="failed", message=message, finding=finding)


def unasked(message: str | None, *, absent: bool = False) -> Verdict:
    """The check cannot be asked of this answer, because of `message`."""
    return Verdict(outcome="failed", message=message, asked=False, absent=absent)


def broken(message: str) -> Verdict:
    """Whether the check holds is unknown, because of `message`."""
    return Verdict(outcome="error", message=message)


def unknown(fact: str) -> Verdict:
    """The answer leaves nothing to check, because of `fact`."""
    return Verdict(outcome="not_applicable", notes=(Note(fact, "not checked"),))


def skipped(tokens: tuple[str, ...]) -> Verdict:
    """Nothing is left to check, because these tokens name nothing."""
    return Verdict(
        outcome="skipped",
        message=f"unresolved: {', '.join(tokens)}",
        skipped_tokens=tokens,
        notes=unresolved_notes(tokens, "skipped"),
    )


def unresolved_notes(tokens: tuple[str, ...], effect: str) -> tuple[Note, ...]:
    """A note for each distinct unresolved token."""
    return tuple(Note(f"{token} is unresolved", effect) for token in dict.fromkeys(tokens))
