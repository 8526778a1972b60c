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
    c.Similar,
    c.Custom,
    c.At,
    c.AnyOf,
    c.AllOf,
    c.Not,
    c.Judge,
)
_RANK = {type_: rank for rank, type_ in enumerate(_ORDER)}


def rank(check: c.Check) -> tuple[int, bool, bool]:
    """Where the check stands in the canonical order; checks of one rank keep the order they were written in.

    Among checks of one kind those with a field of their own come first, and of two bounds the lower one.
    """
    return _RANK[type(check)], not has_field(check), isinstance(check, c.Length | c.ToolCount) and check.min is None


def has_field(check: c.Check) -> bool:
    """Whether `expect` has a field that can hold the check; the others stand in `expect.checks` or in `rubric`."""
    match check:
        case c.Regex():
            return not check.flags
        case c.Latency(max=limit) | c.Tokens(max=limit) | c.Cost(max=limit):
            return limit != 0  # a limit of 0 asserts nothing in the contract
        case c.Length() | c.ToolCount():
            bounds = [bound for bound in (check.min, check.max) if bound is not None]
            return bool(bounds) and 0 not in bounds and (isinstance(check, c.ToolCount) or check.unit == "chars")
        case c.Json():
            return check.mode == "strict" and check.schema is None
        case c.Structure(fields=fields):
            return bool(fields) and not check.headings and all(map(_is_flat, fields))
        case _:
            return type(check) in _WITH_FIELD


def _is_flat(field: c.RequiredField) -> bool:
    return field.type is None and not set(field.path) & set(".[]")


_WITH_FIELD = frozenset(
    (
        c.ToolsCalled,
        c.ToolsAcceptable,
        c.ToolsNotCalled,
        c.ToolParam,
        c.NoToolErrors,
        c.NonEmpty,
        c.Contains,
        c.ContainsAny,
        c.NotContains,
    )
)
