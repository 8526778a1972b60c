"""The syntax tree of an eval file: what the author wrote, with its places, before any name is looked up.

There is always a tree: where something is wrong, the wrong part is left out and the node around it says `partial`,
so that later phases neither stumble over it nor conclude anything from its absence.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from evalc.base.source import Source, Span
from evalc.dsl.nodes import Mapping, Node, Sequence
from evalc.grammar import nodes as g
from evalc.model.checks import Check


class Str(msgspec.Struct, frozen=True, gc=False):
    """A text of the file: its value, and the span of its raw token (with quotes, header, indentation)."""

    value: str
    span: Span


class Num(msgspec.Struct, frozen=True, gc=False):
    """A number of the file."""

    value: int | float
    span: Span


# --- checks --------------------------------------------------------------------------------------------------------


class CheckLeaf(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A check, its texts unfilled, and where they were written.

    With an `origin`, the offsets of `atoms` count from the start of that text's value; without one they count from the
    start of the source.
    """

    span: Span
    check: Check
    atoms: g.Atoms = {}
    origin: Str | None = None


class CheckGroup(msgspec.Struct, frozen=True, kw_only=True):
    """`any_of:`, `all_of:` or `not:` over checks (`not:` holds one)."""

    span: Span
    op: Literal["any_of", "all_of", "not"]
    items: tuple[CheckBody, ...]


class CheckUse(msgspec.Struct, frozen=True, kw_only=True):
    """`use: NAME`: the checks of a named rule."""

    span: Span
    name: Str


class CheckJson(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `expect.checks`: a check as the case model writes it in JSON."""

    span: Span
    node: Mapping


CheckBody = CheckLeaf | CheckGroup | CheckUse | CheckJson


class CheckTree(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An entry of `validate:`, or a field of `expect:`: what it asks, what it counts for, and how much.

    `turn` is the number of the turn whose checks it is among; None among the checks of the case.
    """

    span: Span
    body: CheckBody
    criterion: Str | None = None
    weight: int | float = 1
    turn: int | None = None


class RuleTree(msgspec.Struct, frozen=True, kw_only=True):
    """A named group of checks."""

    source: Source
    name: Str
    checks: tuple[CheckTree, ...] = ()
    partial: bool = False


# --- suites --------------------------------------------------------------------------------------------------------


class InputTree(msgspec.Struct, frozen=True, kw_only=True):
    """A declared input of a prompt (PromptSpec)."""

    name: Str
    type: Str | None = None
    options: tuple[Str, ...] | None = None
    required: bool = False
    default: Node | None = None


class PromptTree(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt: its template's text in its source, and the inputs it declares (None: it declares none).

    `system` are the texts of its role and its instructions, in their order. `has_evals` says that its document holds
    evals, `partial` that something of these declarations is left out.
    """

    source: Source
    text: Str
    id: Str | None = None
    system: tuple[str, ...] = ()
    inputs: tuple[InputTree, ...] | None = None
    has_evals: bool = False
    partial: bool = False


class VariantTree(msgspec.Struct, frozen=True, kw_only=True):
    """One of the prompts that a suite compares: its text, a file, or an id to look up."""

    name: Str
    text: Str | None = None
    file: Str | None = None
    id: Str | None = None


class CriterionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A weighted criterion."""

    span: Span
    name: Str
    weight: Num | None = None
    description: str | None = None


class InputValue(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An input that a case gives."""

    name: Str
    value: Node


class ForEachTree(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that a case is repeated for, from a list or a file. `key` names the column that ids come from."""

    span: Span
    rows: tuple[Mapping, ...] = ()
    file: Str | None = None
    key: Str | None = None


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the repetitions have to pass: a number of them, perhaps out of so many, or a share."""

    span: Span
    count: int | None = None
    of: int | None = None
    share: float | None = None


class CaseFields(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What `defaults:` may say for every case, and a case for itself.

    `inputs_partial` says that an input which is not among its own may yet have been given.
    """

    source: Source
    difficulty: Str | None = None
    inputs: tuple[InputValue, ...] | None = None
    inputs_partial: bool = False
    inputs_span: Span | None = None
    checks: tuple[CheckTree, ...] = ()
    stubs: Node | None = None
    max_turns: Num | None = None
    threshold: Num | None = None
    tags: tuple[Str, ...] | None = None
    allow: tuple[tuple[str, Str | None], ...] | None = None
    label: LabelTree | None = None
    repeat: Num | None = None
    require: Requirement | None = None
    partial: bool = False


class UserTree(msgspec.Struct, frozen=True, kw_only=True):
    """A simulated user. `span` is that of the key."""

    span: Span
    goal: Str | None = None
    persona: Str | None = None
    facts: tuple[tuple[str, Str], ...] = ()
    opens: Str | None = None
    max_turns: Num | None = None
    stop_when: Str | None = None


class LabelTree(msgspec.Struct, frozen=True, kw_only=True):
    """The class that the agent should give, and where its answer has it: `path` is None for the whole response."""

    span: Span
    expected: Str
    path: str | None


class CaseTree(CaseFields, frozen=True, kw_only=True, gc=False):
    """A test case. `span` is that of its name, or of its first key; `inherits` says that it takes in the defaults."""

    span: Span
    name: Str
    id: Str | None = None
    description: Str | None = None
    tier: Str | None = None
    created_at: Str | None = None
    bug_ref: Str | None = None
    prompt_id: Str | None = None
    message: Str | None = None
    messages: Node | None = None
    turns: tuple[Str, ...] | None = None
    user: UserTree | None = None
    expected: Str | None = None
    rubric: Node | None = None
    reference_data: Node | None = None
    for_each: ForEachTree | None = None
    expected_failure: Str | None = None
    skip: Str | None = None
    archived: Str | None = None
    inherits: bool = True

    @property
    def has_own_words(self) -> bool:
        """Whether it says itself what is sent, in place of a prompt: a list of messages that is empty says nothing."""
        if self.message is not None or self.turns is not None or self.user is not None:
            return True
        return self.messages is not None and not (isinstance(self.messages, Sequence) and not self.messages.items)


class SharedTree(msgspec.Struct, frozen=True, kw_only=True):
    """What a document shares: its named rules and defaults, and the files that it takes others from.

    `partial` says that there may have been more rules, or more files, than it has.
    """

    source: Source
    rules: tuple[RuleTree, ...] = ()
    defaults: CaseFields | None = None
    includes: tuple[Str, ...] = ()
    partial: bool = False


class GatesTree(msgspec.Struct, frozen=True, kw_only=True):
    """What a suite has to reach as a whole."""

    min_pass_rate: Num | None = None
    min_score: Num | None = None
    max_p95_ms: Num | None = None
    fail_on_regression: bool = False
    confidence: Num | None = None
    recall: tuple[tuple[str, Num], ...] = ()
    precision: tuple[tuple[str, Num], ...] = ()
    macro_f1: Num | None = None
    places: dict[str, Span] = {}
    """Where each gate is written."""


class SuiteTree(msgspec.Struct, frozen=True, kw_only=True):
    """One document: a suite, a prompt file with its `eval:` block, or an external cases file.

    At most one of `prompt`, `prompts`, `prompt_file` and `prompt_id` is set; `prompt_partial` says that one may have
    been meant if none is. `inputs_partial` and `criteria_partial`
    say that something of these is left out, so that a name that is not among them may yet have been declared;
    `weights_partial`, that a criterion or something of one is.
    """

    source: Source
    span: Span
    name: Str | None = None
    tier: Str | None = None
    tool: Str | None = None
    tool_version: Str | None = None
    tool_description: Str | None = None
    registry_size: Num | None = None
    prompt: PromptTree | None = None
    prompts: tuple[VariantTree, ...] = ()
    prompt_file: Str | None = None
    prompt_id: Str | None = None
    prompt_partial: bool = False
    inputs: tuple[InputTree, ...] | None = None
    inputs_partial: bool = False
    criteria: tuple[CriterionTree, ...] = ()
    criteria_partial: bool = False
    weights_partial: bool = False
    cases: tuple[CaseTree, ...] = ()
    shared: SharedTree
    threshold: Num | None = None
    gates: GatesTree | None = None
    partial: bool = False
