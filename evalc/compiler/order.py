"""The canonical order of checks: the contract's order of assertions, then evalc's own in the order of the language."""

from __future__ import annotations

from evalc.model import checks as c
from evalc.model.paths import only_key

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
    rank_of_kind = _RANK_OF_KIND.get(type(check))
    if rank_of_kind is not None:
        return rank_of_kind
    return _RANK[type(check)], not has_field(check), isinstance(check, _RANGES) and check.min is None


def has_field(check: c.Check) -> bool:
    """Whether `expect` has a field that can hold the check; the others stand in `expect.checks` or in `rubric`."""
    match check:
        case c.Regex(flags=flags):
            return not flags
        case c.Latency(max=limit) | c.Tokens(max=limit):
            return limit != 0  # a limit of 0 asserts nothing in the contract
        case c.Cost():
            return True
        case c.Length() | c.ToolCount():
            bounds = [bound for bound in (check.min, check.max) if bound is not None]
            return bool(bounds) and check.min != 0 and (isinstance(check, c.ToolCount) or check.unit == "chars")
        case c.Json():
            return check.mode == "strict" and check.schema is None
        case c.Structure(fields=fields):
            return bool(fields) and not check.headings and all(map(_is_flat, fields))
        case _:
            return type(check) in _WITH_FIELD


def _is_flat(field: c.RequiredField) -> bool:
    return field.type is None and only_key(field.path) is not None


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
_RANGES = (c.Length, c.ToolCount)
_BY_VALUE = frozenset((c.Regex, c.Latency, c.Tokens, c.Cost, c.Length, c.ToolCount, c.Json, c.Structure))
"""The kinds of which some checks have a field and others have none."""
_RANK_OF_KIND = {
    kind: (rank_, kind not in _WITH_FIELD, False) for kind, rank_ in _RANK.items() if kind not in _BY_VALUE
}
