"""The syntax tree of an eval file: what the author wrote, with its places, before any name is looked up.

There is always a tree: where something is wrong, the wrong part is left out and the node around it says `partial`,
so that later phases neither stumble over it nor conclude anything from its absence.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from evalc.dsl.nodes import Node
from evalc.grammar import nodes as g
from evalc.source import Source, Span


class Str(msgspec.Struct, frozen=True, gc=False):
    """A text of the file: its value, and the span of its raw token (with quotes, header, indentation)."""

    value: str
    span: Span


class Num(msgspec.Struct, frozen=True, gc=False):
    """A number of the file."""

    value: int | float
    span: Span


# --- checks --------------------------------------------------------------------------------------------------------


class CheckLeaf(msgspec.Struct, frozen=True, kw_only=True):
    """A check as the grammar sees it.

    With an `origin`, the offsets of the check's nodes count from the start of that text's value; without one they
    count from the start of the source.
    """

    span: Span
    check: g.Check
    origin: Str | None = None


class CheckGroup(msgspec.Struct, frozen=True, kw_only=True):
    """`any_of:`, `all_of:` or `not:` over checks (`not:` holds one)."""

    span: Span
    op: Literal["any_of", "all_of", "not"]
    items: tuple[CheckBody, ...]


CheckBody = CheckLeaf | CheckGroup


class CheckTree(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `validate:`, or a field of `expect:`: what it asks, what it counts for, and how much."""

    span: Span
    body: CheckBody
    criterion: Str | None = None
    weight: int | float = 1


# --- suites --------------------------------------------------------------------------------------------------------


class InputTree(msgspec.Struct, frozen=True, kw_only=True):
    """A declared input of a prompt (PromptSpec)."""

    name: Str
    required: bool = False
    default: Node | None = None


class PromptTree(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt: its template's text in its source, and the inputs it declares (None: it declares none)."""

    source: Source
    text: Str
    id: Str | None = None
    inputs: tuple[InputTree, ...] | None = None
    partial: bool = False


class CriterionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A weighted criterion."""

    span: Span
    name: Str
    weight: Num | None = None
    description: str | None = None


class InputValue(msgspec.Struct, frozen=True, kw_only=True):
    """An input that a case gives."""

    name: Str
    value: Node


class CaseTree(msgspec.Struct, frozen=True, kw_only=True):
    """A test case. `span` is that of its name, or of its first key."""

    span: Span
    name: Str
    id: Str | None = None
    description: Str | None = None
    tier: Str | None = None
    difficulty: Str | None = None
    created_at: Str | None = None
    bug_ref: Str | None = None
    prompt_id: Str | None = None
    message: Str | None = None
    messages: Node | None = None
    inputs: tuple[InputValue, ...] | None = None
    inputs_span: Span | None = None
    expected: Str | None = None
    checks: tuple[CheckTree, ...] = ()
    stubs: Node | None = None
    max_turns: Num | None = None
    rubric: Node | None = None
    reference_data: Node | None = None
    threshold: Num | None = None
    tags: tuple[str, ...] | None = None
    partial: bool = False


class SuiteTree(msgspec.Struct, frozen=True, kw_only=True):
    """One document: a suite, a prompt file with its `eval:` block, or an external cases file.

    At most one of `prompt`, `prompt_file` and `prompt_id` is set.
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
    prompt_file: Str | None = None
    prompt_id: Str | None = None
    inputs: tuple[InputTree, ...] | None = None
    criteria: tuple[CriterionTree, ...] = ()
    cases: tuple[CaseTree, ...] = ()
    threshold: Num | None = None
    partial: bool = False
