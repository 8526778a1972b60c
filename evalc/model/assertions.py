"""Lists the assertions of a case in the contract's order: the one table of fields and checks.

The runtime evaluates what `assertions` yields; the compiler lowers checks to fields by the same correspondence and
reads them back with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from evalc.model import checks as c
from evalc.model.case import Expect, RubricDimension
from evalc.model.checks.declaration import Declared, has_parts, parts_of
from evalc.model.json import path_of_key

KEYS: Final = dict(zip(Expect.__struct_fields__, Expect.__struct_encode_fields__, strict=True))
"""The fields of `expect`, and what they are called in JSON."""


class Assertion(NamedTuple):
    """One checked value: its JSON pointer from the case's root, the name its failures begin with, and the check."""

    at: str
    field: str
    check: c.Check


def assertions(expect: Expect) -> Iterator[Assertion]:
    """Every assertion of `expect`, in the order in which a runner evaluates them (contract, Assertion Execution)."""
    for field, check in _single_fields_of_tools(expect):
        yield Assertion(f"/expect/{field}", field, check)
    for index, entry in enumerate(expect.tool_params or ()):
        check = c.ToolParam(tool=entry.tool, param_name=entry.param_name, assertion=entry.assertion, value=entry.value)
        yield Assertion(_pointer("toolParams", index), "toolParams", check)
    if expect.no_tool_errors:
        yield Assertion("/expect/noToolErrors", "noToolErrors", c.NoToolErrors())
    if expect.response_non_empty:
        yield Assertion("/expect/responseNonEmpty", "responseNonEmpty", c.NonEmpty())
    for index, value in enumerate(expect.response_contains or ()):
        yield Assertion(_pointer("responseContains", index), "responseContains", c.Contains(value=value))
    for index, group in enumerate(expect.response_contains_any or ()):
        yield Assertion(_pointer("responseContainsAny", index), "responseContainsAny", c.ContainsAny(values=group))
    for index, value in enumerate(expect.response_not_contains or ()):
        yield Assertion(_pointer("responseNotContains", index), "responseNotContains", c.NotContains(value=value))
    for index, pattern in enumerate(expect.response_matches or ()):
        yield Assertion(_pointer("responseMatches", index), "responseMatches", c.Regex(pattern=pattern))
    for field, check in _limits(expect):
        yield Assertion(f"/expect/{field}", field, check)
    if expect.regex_pattern:
        yield Assertion("/expect/regexPattern", "regexPattern", c.Regex(pattern=expect.regex_pattern))
    for index, phrase in enumerate(expect.cop_out_phrases or ()):
        check = c.Not(check=c.IContains(value=phrase))
        yield Assertion(_pointer("copOutPhrases", index), "copOutPhrases", check)
    for index, check in enumerate(expect.checks or ()):
        yield Assertion(_pointer("checks", index), check.named, check)


@lru_cache(1024)
def _pointer(field: str, index: int) -> str:
    return f"/expect/{field}/{index}"


def _single_fields_of_tools(expect: Expect) -> Iterator[tuple[str, c.Check]]:
    if expect.tools_called is not None:
        yield "toolsCalled", c.ToolsCalled(names=expect.tools_called)
    if expect.tools_acceptable is not None:
        yield "toolsAcceptable", c.ToolsAcceptable(sets=expect.tools_acceptable)
    if expect.tools_not_called is not None:
        yield "toolsNotCalled", c.ToolsNotCalled(names=expect.tools_not_called)


def _limits(expect: Expect) -> Iterator[tuple[str, c.Check]]:
    """The fields that hold one limit each. In those of the contract, and as a lower bound, 0 asserts nothing."""
    if expect.max_latency_ms:
        yield "maxLatencyMs", c.Latency(max=expect.max_latency_ms)
    if expect.max_tokens:
        yield "maxTokens", c.Tokens(max=expect.max_tokens)
    if expect.min_length:
        yield "minLength", c.Length(min=expect.min_length)
    if expect.max_length is not None:
        yield "maxLength", c.Length(max=expect.max_length)
    if expect.json_valid:
        yield "jsonValid", c.Json()
    if expect.required_keys:
        fields = tuple(c.RequiredField(path=path_of_key(key)) for key in expect.required_keys)
        yield "requiredKeys", c.Structure(fields=fields)
    if expect.type_checks:
        fields = tuple(c.RequiredField(path=path_of_key(key), type=type_) for key, type_ in expect.type_checks.items())
        yield "typeChecks", c.Structure(fields=fields)
    if expect.min_tool_calls:
        yield "minToolCalls", c.ToolCount(min=expect.min_tool_calls)
    if expect.max_tool_calls is not None:
        yield "maxToolCalls", c.ToolCount(max=expect.max_tool_calls)
    if expect.max_cost is not None:
        yield "maxCost", c.Cost(max=expect.max_cost)


PAIRS: Final = (("minLength", "maxLength"), ("minToolCalls", "maxToolCalls"))
"""Fields that are the two bounds of one check, unless a criterion links them apart."""


def judge_check(dimension: RubricDimension) -> c.Judge:
    """The check that an entry of `rubric` is; a runner evaluates it after those of `expect`."""
    return c.Judge(
        dimension=dimension.dimension,
        max_score=dimension.max_score,
        criteria=dimension.criteria,
        min_score=dimension.min_score,
    )


def asks_judge(check: Declared) -> bool:
    """Whether evaluating the check may take a judge."""
    if has_parts(type(check)):
        return any(asks_judge(part) for part, _ in parts_of(check))
    return isinstance(check, c.Judge)
