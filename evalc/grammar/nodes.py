"""What the small languages parse to: atoms with offsets, checks built of them, templates, criteria.

The three spellings of a check (the one-line form, `type`/`rule`, a field of `expect`) end in the same nodes.
Offsets are half-open and count code points: from the start of the parsed text for nodes that a grammar built, from
the start of the source for nodes that the YAML reader's mappings were turned into (`dsl` keeps which is which).
Texts may still hold templates: a check is parsed first and its texts are filled after.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Unit = Literal["chars", "words", "lines", "bytes"]
JsonMode = Literal["strict", "lenient", "object", "array"]
FieldType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
ParamOp = Literal["equals", "contains", "oneOf", "exists", "notExists", "matches"]


class Node(msgspec.Struct, frozen=True, gc=False):
    """A node: where it begins and ends."""

    start: int
    end: int


# --- atoms ---------------------------------------------------------------------------------------------------------


class Text(Node, frozen=True, gc=False):
    """A string: its value with escapes undone; the offsets take in its quotes."""

    value: str


class Number(Node, frozen=True, gc=False):
    """A number, in the base unit of where it stands: milliseconds, US dollars, else a plain count."""

    value: int | float


class Regexp(Node, frozen=True, gc=False):
    """An ECMAScript pattern and its flags (a subset of `imsuv`, in alphabetical order, each once).

    `pattern_at` is the offset of the pattern's first character; for a `/pattern/flags` literal the pattern is
    exactly the characters between the outer slashes, so an offset in it is `pattern_at` plus an index.
    `literal` is True for `/pattern/flags`, False for a pattern written as a plain text.
    """

    pattern: str
    pattern_at: int
    literal: bool
    flags: str = ""


class Path(Node, frozen=True, gc=False):
    """A place in a JSON value: `meta.title`, `items[].id`, `items[0].title`.

    Steps are keys, indexes, or None for `[]`.
    """

    steps: tuple[str | int | None, ...]
    text: str


# --- JSON values ---------------------------------------------------------------------------------------------------


class Constant(Node, frozen=True, gc=False):
    """A number, `true`, `false` or `null`."""

    value: int | float | bool | None


class Array(Node, frozen=True):
    """A list of values."""

    items: tuple[Value, ...]


class Member(Node, frozen=True):
    """A key of an object, and its value."""

    key: Text
    value: Value


class Object(Node, frozen=True):
    """An object; its keys are distinct."""

    members: tuple[Member, ...]


Value = Text | Constant | Array | Object


class Argument(Node, frozen=True):
    """A value that something is called with, by name or, without one, by place."""

    value: Value
    name: Text | None = None


# --- checks --------------------------------------------------------------------------------------------------------


class Contains(Node, frozen=True):
    """The response contains a text."""

    text: Text
    ignore_case: bool = False


class ContainsAny(Node, frozen=True):
    """The response contains at least one of the texts."""

    texts: tuple[Text, ...]


class Matches(Node, frozen=True):
    """The response matches a pattern somewhere."""

    regexp: Regexp


class Length(Node, frozen=True):
    """The response's length lies in bounds, both inclusive; an absent bound is None."""

    min: Number | None = None
    max: Number | None = None
    unit: Unit = "chars"


class Json(Node, frozen=True):
    """The response is JSON; `schema` is a path to a JSON Schema, relative to the file."""

    mode: JsonMode = "strict"
    schema: Text | None = None


class HasField(Node, frozen=True):
    """One required field and, when given, its type."""

    path: Path
    type: FieldType | None = None


class Structure(Node, frozen=True):
    """The response has these fields (as JSON) or these headings (as Markdown)."""

    fields: tuple[HasField, ...] = ()
    headings: tuple[Text, ...] = ()


class Equals(Node, frozen=True):
    """The response is exactly a text."""

    text: Text


class StartsWith(Node, frozen=True):
    """The response starts with a text."""

    text: Text


class NonEmpty(Node, frozen=True):
    """The response holds something other than white space."""


class Similar(Node, frozen=True):
    """The response is similar to a text, at least as much as the threshold says: 0 to 1, 0.8 where it is absent."""

    text: Text
    threshold: Number | None = None


class Custom(Node, frozen=True):
    """A check that an installed package provides, and what it is called with; arguments by name stand last."""

    name: Text
    arguments: tuple[Argument, ...] = ()


class Judge(Node, frozen=True):
    """A judge's answer to a question is at least `min` of `scale`; 1 of 1, a yes, where they are absent."""

    question: Text
    min: Number | None = None
    scale: Number | None = None


class ToolsCalled(Node, frozen=True):
    """Exactly these tools were called, in this order; none when empty."""

    names: tuple[Text, ...]


class ToolsAcceptable(Node, frozen=True):
    """The set of tools called is one of these sets; `none` is the empty tuple."""

    sets: tuple[tuple[Text, ...], ...]


class ToolsNotCalled(Node, frozen=True):
    """None of these tools was called."""

    names: tuple[Text, ...]


class ToolCount(Node, frozen=True):
    """How many tool calls there were, bounds inclusive."""

    min: Number | None = None
    max: Number | None = None


class ToolParam(Node, frozen=True):
    """A parameter of the first call of a tool. `value` is set for equals and contains, `values` for oneOf,
    `regexp` for matches, none of them for exists and notExists."""

    tool: Text
    param: Text
    op: ParamOp
    value: Text | None = None
    values: tuple[Text, ...] = ()
    regexp: Regexp | None = None


class NoToolErrors(Node, frozen=True):
    """Every tool call succeeded."""


class Latency(Node, frozen=True):
    """The answer took at most so many milliseconds."""

    max: Number


class Tokens(Node, frozen=True):
    """The response has at most so many tokens."""

    max: Number


class Cost(Node, frozen=True):
    """The answer cost at most so many US dollars."""

    max: Number


class At(Node, frozen=True):
    """A response check made of one place of a JSON response."""

    path: Path
    check: Check


class AnyOf(Node, frozen=True):
    """At least one of the checks holds."""

    checks: tuple[Check, ...]


class AllOf(Node, frozen=True):
    """All of the checks hold."""

    checks: tuple[Check, ...]


class Not(Node, frozen=True):
    """The check does not hold."""

    check: Check


Check = (
    Contains
    | ContainsAny
    | Matches
    | Length
    | Json
    | Structure
    | Equals
    | StartsWith
    | NonEmpty
    | Similar
    | Custom
    | ToolsCalled
    | ToolsAcceptable
    | ToolsNotCalled
    | ToolCount
    | ToolParam
    | NoToolErrors
    | Latency
    | Tokens
    | Cost
    | Judge
    | At
    | AnyOf
    | AllOf
    | Not
)


class CheckLine(Node, frozen=True):
    """A whole one-line check: what it asks, and the criterion it counts for."""

    check: Check
    criterion: Text | None = None


# --- criteria ------------------------------------------------------------------------------------------------------


class CriterionLine(Node, frozen=True):
    """A one-line criterion, `clarity (0.3): Clear and well-structured`."""

    name: Text
    weight: Number | None = None
    description: Text | None = None


# --- templates -----------------------------------------------------------------------------------------------------


class Words(Node, frozen=True, gc=False):
    """Text that stands for itself."""

    value: str


class Variable(Node, frozen=True, gc=False):
    """`{{name}}`, or `{{this}}` inside `#each`."""

    name: str


class Token(Node, frozen=True, gc=False):
    """`{{seed:path}}` or `{{snapshot:path}}`: resolved when the eval runs. `text` is the token as written."""

    source: Literal["seed", "snapshot"]
    path: str
    text: str


class If(Node, frozen=True):
    """`{{#if name}}...{{else}}...{{/if}}`; `{{#unless name}}` is the same with `negated`."""

    name: Variable
    then: tuple[Part, ...]
    negated: bool = False
    otherwise: tuple[Part, ...] = ()


class Each(Node, frozen=True):
    """`{{#each name}}...{{this}}...{{/each}}`."""

    name: Variable
    body: tuple[Part, ...]


Part = Words | Variable | Token | If | Each


class Template(Node, frozen=True):
    """A parsed template."""

    parts: tuple[Part, ...]
