"""The vocabulary of checks, as they stand in `expect.checks` and as the runtime evaluates them.

Each field of `expect` that the contract names is short for one or several of these (see `assertions`). In JSON a
check is an object whose `type` names it: `{"type": "icontains", "value": "refund"}`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

LengthUnit = Literal["chars", "words", "lines", "bytes"]
JsonMode = Literal["strict", "lenient", "object", "array"]
FieldType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
ParamAssertion = Literal["equals", "contains", "oneOf", "exists", "notExists", "matches"]


class _Check(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename="camel",
    tag_field="type",
):
    """The common settings of every check."""


class Contains(_Check, frozen=True, kw_only=True, tag="contains"):
    """The response contains the value, case-sensitively (contract, `responseContains`)."""

    value: str


class NotContains(_Check, frozen=True, kw_only=True, tag="not_contains"):
    """The response does not contain the value (contract, `responseNotContains`)."""

    value: str


class IContains(_Check, frozen=True, kw_only=True, tag="icontains"):
    """The response contains the value, both case-folded."""

    value: str


class ContainsAny(_Check, frozen=True, kw_only=True, tag="contains_any"):
    """The response contains one of the values (contract, a group of `responseContainsAny`)."""

    values: tuple[str, ...]


class Regex(_Check, frozen=True, kw_only=True, tag="regex"):
    """`new RegExp(pattern, flags).test(response)` (contract, `responseMatches`, which has no flags)."""

    pattern: str
    flags: str = ""


class Length(_Check, frozen=True, kw_only=True, tag="length"):
    """The response's length in `unit`s lies in the bounds, both inclusive. Characters are Unicode code points."""

    min: int | None = None
    max: int | None = None
    unit: LengthUnit = "chars"


class Json(_Check, frozen=True, kw_only=True, tag="json"):
    """The response is JSON, and valid against `schema` where there is one.

    `strict`: the whole response. `lenient`: the whole response or its one fenced block. `object`, `array`: strict,
    and of that type.
    """

    mode: JsonMode = "strict"
    schema: dict[str, Any] | bool | None = None


class RequiredField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A field that `structure` asks for: a path such as `meta.title` or `items[].id`, and a type or any."""

    path: str
    type: FieldType | None = None


class Structure(_Check, frozen=True, kw_only=True, tag="structure"):
    """The response has these JSON fields (contract of tool-forge, `requiredKeys`) or these Markdown headings."""

    fields: tuple[RequiredField, ...] = ()
    headings: tuple[str, ...] = ()


class Equals(_Check, frozen=True, kw_only=True, tag="equals"):
    """The response is exactly the value."""

    value: str


class StartsWith(_Check, frozen=True, kw_only=True, tag="starts_with"):
    """The response starts with the value."""

    value: str


class NonEmpty(_Check, frozen=True, kw_only=True, tag="non_empty"):
    """The response, trimmed as JavaScript trims, is not empty (contract, `responseNonEmpty`)."""


class Similar(_Check, frozen=True, kw_only=True, tag="similar"):
    """The response is similar to the value, by edit distance: 1 is the same text, 0 one that shares nothing with it."""

    value: str
    threshold: int | float = 0.8


class Custom(_Check, frozen=True, kw_only=True, tag="check"):
    """A check that an installed package provides (entry point `evalc.checks`), called with JSON values.

    `args` are handed over by place, `options` by name.
    """

    name: str
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = {}


class ToolsCalled(_Check, frozen=True, kw_only=True, tag="tools_called"):
    """The names of the tool calls, in order, are exactly these (contract, `toolsCalled`)."""

    names: tuple[str, ...]


class ToolsAcceptable(_Check, frozen=True, kw_only=True, tag="tools_acceptable"):
    """The set of tools called is one of these; `["__none__"]` is the empty set (contract, `toolsAcceptable`)."""

    sets: tuple[tuple[str, ...], ...]


class ToolsNotCalled(_Check, frozen=True, kw_only=True, tag="tools_not_called"):
    """None of these tools was called (contract, `toolsNotCalled`)."""

    names: tuple[str, ...]


class ToolCount(_Check, frozen=True, kw_only=True, tag="tool_count"):
    """The number of tool calls lies in the bounds, both inclusive."""

    min: int | None = None
    max: int | None = None


class ToolParam(_Check, frozen=True, kw_only=True, tag="tool_param"):
    """A parameter of the first call of a tool (contract, `toolParams`). `value` is a list for `oneOf`."""

    tool: str
    param_name: str
    assertion: ParamAssertion
    value: str | tuple[str, ...] | None = None


class NoToolErrors(_Check, frozen=True, kw_only=True, tag="no_tool_errors"):
    """No tool call failed (contract, `noToolErrors`)."""


class Latency(_Check, frozen=True, kw_only=True, tag="latency"):
    """The answer took at most `max` milliseconds (contract, `maxLatencyMs`)."""

    max: int | float


class Tokens(_Check, frozen=True, kw_only=True, tag="tokens"):
    """The response has at most `max` tokens (contract, `maxTokens`)."""

    max: int | float


class Cost(_Check, frozen=True, kw_only=True, tag="cost"):
    """The answer cost at most `max` US dollars."""

    max: int | float


class Judge(_Check, frozen=True, kw_only=True, tag="judge"):
    """A judge scores the answer, from 0 to `max_score`, by the criteria (case model, an entry of `rubric`).

    Without `min_score` every score will do: the dimension is scored and nothing is asserted.
    """

    dimension: str
    max_score: int | float = 1
    criteria: str = ""
    min_score: int | float | None = None


class At(_Check, frozen=True, kw_only=True, tag="at"):
    """A response check made of one place of a JSON response (`items[0].title`)."""

    path: str
    check: Check


class AnyOf(_Check, frozen=True, kw_only=True, tag="any_of"):
    """At least one of the checks holds."""

    checks: tuple[Check, ...]


class AllOf(_Check, frozen=True, kw_only=True, tag="all_of"):
    """All of the checks hold."""

    checks: tuple[Check, ...]


class Not(_Check, frozen=True, kw_only=True, tag="not"):
    """The check does not hold."""

    check: Check


Check = (
    Contains
    | NotContains
    | IContains
    | ContainsAny
    | Regex
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
