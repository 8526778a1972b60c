"""The compiled eval file: an envelope of metadata and cases, field by field as the case model document has it.

evalc's own fields are additions that a runner of the contract may ignore. Absent fields are not written; `null`
in an optional field is read as absent. The sentences on the keys are in `evalc.schema.records`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, final

import msgspec

from evalc.model.json import to_json

ParamAssertion = Literal["equals", "contains", "oneOf", "exists", "notExists", "matches"]
FieldType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]

Tier = Literal["golden", "labeled", "regression", "rubric"]
Difficulty = Literal["straightforward", "ambiguous", "edge", "regression", "easy", "medium", "hard", "adversarial"]
"""The contract's, and after `regression` those that tool-forge's generator writes."""


class _Record(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"
):
    """The common settings of the records of a compiled file."""


class ToolParamExpectation(_Record, frozen=True, kw_only=True):
    """An entry of `toolParams` (contract, 2. toolParams)."""

    tool: str
    param_name: str
    assertion: ParamAssertion
    value: str | tuple[str, ...] | None = None


class Expect(_Record, frozen=True, kw_only=True):
    """Assertions of a case, in the contract's order; evalc's own fields follow `maxTokens`.

    A limit of 0 and a `false` assert nothing (the contract's truthiness); `toolsCalled: []` asserts that no tool
    was called.
    """

    tools_called: tuple[str, ...] | None = None
    tools_acceptable: tuple[tuple[str, ...], ...] | None = None
    tools_not_called: tuple[str, ...] | None = None
    tool_params: tuple[ToolParamExpectation, ...] | None = None
    no_tool_errors: bool | None = None
    response_non_empty: bool | None = None
    response_contains: tuple[str, ...] | None = None
    response_contains_any: tuple[tuple[str, ...], ...] | None = None
    response_not_contains: tuple[str, ...] | None = None
    response_matches: tuple[str, ...] | None = None
    max_latency_ms: int | float | None = None
    max_tokens: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None
    json_valid: bool | None = None
    required_keys: tuple[str, ...] | None = None
    type_checks: dict[str, FieldType] | None = None
    min_tool_calls: int | None = None
    max_tool_calls: int | None = None
    max_cost: int | float | None = None
    regex_pattern: str | None = None
    cop_out_phrases: tuple[str, ...] | None = None
    checks: tuple[dict[str, Any], ...] | None = None


Role = Literal["system", "user", "assistant"]
"""The author of a message."""


class Message(_Record, frozen=True, kw_only=True):
    """One message of a conversation, for chat agents."""

    role: Role
    content: str


class SimulatedUser(_Record, frozen=True, kw_only=True):
    """A user who is played, where the turns of a conversation are not written down.

    The conversation ends when the user says so, as `stop_when` describes, or after `max_turns`.
    """

    goal: str
    persona: str | None = None
    facts: dict[str, str] = {}
    opens: str | None = None
    max_turns: int = 10
    stop_when: str | None = None


class Input(_Record, frozen=True, kw_only=True):
    """Input of the agent. `inputs` are the variables that the message was made from.

    With `follow_ups`, one text after each answer, the case is a conversation of so many more turns.
    `files` are copied into the folder of each attempt, by their paths there, and `skill` is the folder of the skill
    that the case is about. Their paths begin at the project's root.
    """

    message: str
    follow_ups: tuple[str, ...] | None = None
    user: SimulatedUser | None = None
    messages: tuple[Message, ...] | None = None
    system: str | None = None
    inputs: dict[str, Any] | None = None
    files: dict[str, str] | None = None
    skill: str | None = None


class CheckLink(_Record, frozen=True, kw_only=True):
    """A check of a criterion: JSON pointers from the case's root to its assertions, which pass together."""

    at: tuple[str, ...]
    weight: int | float = 1


class Criterion(_Record, frozen=True, kw_only=True):
    """A weighted criterion. In a case, `checks` are the ones linked to it."""

    name: str
    weight: int | float = 1
    description: str | None = None
    checks: tuple[CheckLink, ...] | None = None


class RubricDimension(_Record, frozen=True, kw_only=True):
    """One dimension that a judge scores (case model, RubricEvalCase)."""

    dimension: str
    max_score: int | float = 1
    criteria: str = ""
    min_score: int | float | None = None


TRIGGERS: Final = ("triggered", "not triggered")
"""The classes of a label that asks for a skill."""
SKILL_TOOL: Final = "Skill"
"""The tool whose calls load skills, each by the name that its argument `skill` has."""


class Label(_Record, frozen=True, kw_only=True):
    """The class that a classifying agent should give: `expected`, and where its answer has it.

    `source` is `response` for the whole response without surrounding white space, `at PATH` for a place in it, or
    `skill NAME` for whether the agent loaded a skill, which is one of the classes `TRIGGERS`.
    """

    expected: str
    source: str = msgspec.field(default="response", name="from")

    @property
    def path(self) -> str | None:
        """The place in a JSON response; None for the whole response, and for a skill."""
        return self.source.removeprefix("at ") if self.source.startswith("at ") else None

    @property
    def skill(self) -> str | None:
        """The skill that is loaded or not; None for a class that the response names."""
        return self.source.removeprefix("skill ") if self.source.startswith("skill ") else None


class StubResult(_Record, frozen=True, kw_only=True):
    """A result of a tool, any JSON, or the error of a call that fails."""

    answer: Any = msgspec.UNSET
    error: str | None = None


class StubAnswer(_Record, frozen=True, kw_only=True):
    """An answer of a stub to calls with the arguments `when`, or to any: a result, an error, or a `sequence` of these.

    Of a sequence, the first call gets the first one, and calls after the last one get the last.
    """

    when: dict[str, Any] | None = None
    answer: Any = msgspec.UNSET
    error: str | None = None
    sequence: tuple[StubResult, ...] | None = None


def stubbed(
    stubs: Mapping[str, Any] | None, stub_answers: Mapping[str, Sequence[StubAnswer]] | None
) -> Collection[str] | None:
    """The tools that have a stub; None without stubs, where an empty mapping is one of no tool."""
    return None if stubs is None and stub_answers is None else (*(stubs or ()), *(stub_answers or ()))


class Case(_Record, frozen=True, kw_only=True):
    """One eval case of any tier (case model: GoldenEvalCase, LabeledEvalCase, RegressionEvalCase, RubricEvalCase)."""

    id: str
    description: str
    difficulty: Difficulty | None = None
    created_at: str | None = None
    bug_ref: str | None = None
    input: Input
    stubs: dict[str, Any] | None = None
    stub_answers: dict[str, tuple[StubAnswer, ...]] | None = None
    max_turns: int | None = None
    expect: Expect = msgspec.field(default_factory=Expect)
    reference_data: dict[str, Any] | None = None
    rubric: tuple[RubricDimension, ...] | None = None
    expected: str | None = None
    criteria: tuple[Criterion, ...] | None = None
    unlinked: tuple[CheckLink, ...] | None = None
    threshold: int | float | None = None
    tags: tuple[str, ...] | None = None
    repeat: int | None = None
    require: int | None = None
    expected_failure: str | None = None
    skip: str | None = None
    archived: str | None = None
    variant: str | None = None
    allow: dict[str, str] | None = None
    label: Label | None = None

    @property
    def running(self) -> bool:
        """Whether it is run: neither skipped nor archived."""
        return self.skip is None and self.archived is None


class Metadata(_Record, frozen=True, kw_only=True):
    """The envelope's metadata (contract, Staleness Checks), and evalc's own `suite`, `criteria`, `gates`, `requires`.

    `suite` is the suite's name; None if it is that of the tool. `description_hash` is `sha256(description)[0:12]`.
    `requires` names the assertions that a runner which knows only the contract would not check.
    """

    tool_name: str
    suite: str | None = None
    tier: Tier
    tool_version: str | None = None
    description_hash: str | None = None
    description: str | None = None
    registry_size: int | None = None
    generated_by: str | None = None
    criteria: tuple[Criterion, ...] | None = None
    threshold: int | float | None = None
    gates: Gates | None = None
    requires: tuple[str, ...] | None = None


class Envelope(_Record, frozen=True, kw_only=True):
    """A whole compiled file, in memory."""

    metadata: Metadata
    cases: tuple[Case, ...]


class Gates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """Gates of a suite as a whole. Where any is given, they decide in place of "no case failed".

    With `confidence`, a gate holds or fails only if that is certain, and is undecided otherwise. `recall` and
    `precision` are the least of each class that has a label, by its name.
    """

    min_pass_rate: int | float | None = None
    min_score: int | float | None = None
    max_p95_ms: int | float | None = None
    fail_on_regression: bool | None = None
    confidence: int | float | None = None
    recall: dict[str, int | float] | None = None
    precision: dict[str, int | float] | None = None
    macro_f1: int | float | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        limits = (self.min_pass_rate, self.min_score, self.max_p95_ms, self.macro_f1)
        by_class = self.recall or self.precision
        return bool(self.fail_on_regression or by_class) or any(limit is not None for limit in limits)


@final
class EnvelopeWriter:
    """The bytes of a compiled file in their order, indented by two: its head, each case, and its end."""

    def __init__(self, metadata: Metadata) -> None:
        self.head = b'{\n  "metadata": ' + _indented(metadata) + b',\n  "cases": ['
        self._separator = b"\n    "

    def case(self, case: Case) -> bytes:
        """The bytes of the next case."""
        separator, self._separator = self._separator, b",\n    "
        return separator + _indented(case, depth=4)

    def end(self) -> bytes:
        """The bytes after the last case."""
        return b"]\n}\n" if self._separator == b"\n    " else b"\n  ]\n}\n"


def encode_envelope(metadata: Metadata, cases: Iterable[Case]) -> Iterator[bytes]:
    """The bytes of a compiled file, streamed: metadata, then a case at a time."""
    writer = EnvelopeWriter(metadata)
    yield writer.head
    yield from map(writer.case, cases)
    yield writer.end()


def _indented(record: Any, depth: int = 2) -> bytes:
    pretty = msgspec.json.format(to_json(record), indent=2)
    return pretty.replace(b"\n", b"\n" + b" " * depth)


BROKEN_AGENTS: Final[Mapping[str, str]] = {
    "silent": "answers with an empty text",
    "echo-message": "repeats the message",
    "echo-prompt": "repeats the system prompt and the message",
    "refusal": "refuses to help",
    "apology": "apologises and does nothing",
    "leaked-prompt": "puts the system prompt in front of a good answer",
    "leaked-json": "answers with the raw JSON of a model's API",
    "truncated": "stops halfway through a good answer",
    "tools-reordered": "calls the right tools in the wrong order",
    "tool-extra": "calls a tool that was not needed",
    "tool-missing": "leaves out one of the right tools",
    "wrong-arguments": "calls the right tools with wrong arguments",
    "tool-errors": "calls the right tools, but every call fails",
    "files-missing": "gives a good answer, but writes no files",
    "neighbour": "gives a good answer to another case",
}
"""The faults of a whole agent, which need no recorded answer."""

MUTATIONS: Final[Mapping[str, str]] = {
    "sentence-dropped": "a sentence is missing",
    "number-changed": "a number is changed",
    "negated": "a negation was added or removed",
    "entity-swapped": "a name or value comes from another case of the suite",
    "truncated": "the second half is missing",
    "field-dropped": "a field of a JSON answer is missing",
    "call-dropped": "a tool call is missing",
    "call-repeated": "a tool call was made twice",
    "calls-reordered": "two tool calls changed places",
    "argument-changed": "an argument of a tool call is changed",
}
"""The faults that are put into a recorded answer."""

CHALLENGERS: Final = tuple(dict.fromkeys((*BROKEN_AGENTS, *MUTATIONS)))
"""All names, as `allow` of a case has them."""
