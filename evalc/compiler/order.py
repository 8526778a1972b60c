"""The canonical order of checks: the contract's order of assertions, then evalc's own in the order of the language."""

from __future__ import annotations

from evalc.model import checks as c

_ORDER: tuple[type, ...] = (
    c.ToolsCalled,
    c.ToolsAcceptable,
    c.ToolsNotCalled,
    c.ToolParam,
    c.NoToolErrors,
    c.NonEmpty,
    c.Contains,
    c.ContainsAny,
    c.NotContains,
    c.Regex,
    c.Latency,
    c.Tokens,
    c.Length,
    c.Json,
    c.Structure,
    c.ToolCount,
    c.Cost,
    c.IContains,
    c.Equals,
    c.StartsWith,
    c.At,
    c.AnyOf,
    c.AllOf,
    c.Not,
)
_RANK = {type_: rank for rank, type_ in enumerate(_ORDER)}


def rank(check: c.Check) -> int:
    """Where the check stands in the canonical order; checks of one kind keep the order they were written in."""
    return _RANK[type(check)]
