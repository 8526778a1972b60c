"""From a check to the fields of `expect` that it fills and that can hold one value each."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from evalc.model import checks as c

_SINGLE = {
    c.ToolsCalled: "toolsCalled",
    c.ToolsAcceptable: "toolsAcceptable",
    c.Latency: "maxLatencyMs",
    c.Tokens: "maxTokens",
    c.Cost: "maxCost",
}
SINGLE_KINDS = frozenset((*_SINGLE, c.Length, c.ToolCount))
"""The kinds of checks that may fill such fields."""


def single_fields(check: c.Check) -> Iterator[str]:
    """The fields by name; a length in words is no length in characters."""
    if type(check) in _SINGLE:
        yield _SINGLE[type(check)]
    elif isinstance(check, c.Length | c.ToolCount):
        low, high = _bounds(check)
        if check.min is not None:
            yield low
        if check.max is not None:
            yield high


def without(check: c.Check, fields: Collection[str]) -> c.Check | None:
    """What is left of a check when others fill these fields; None when nothing is."""
    own = frozenset(single_fields(check))
    if not own or own.isdisjoint(fields):
        return check
    if own <= frozenset(fields) or not isinstance(check, c.Length | c.ToolCount):
        return None
    low, high = _bounds(check)
    changes = {name: None for name, field in (("min", low), ("max", high)) if field in fields}
    return msgspec.structs.replace(check, **changes)


def _bounds(check: c.Length | c.ToolCount) -> tuple[str, str]:
    if isinstance(check, c.ToolCount):
        return "minToolCalls", "maxToolCalls"
    unit = "" if check.unit == "chars" else f" in {check.unit}"
    return f"minLength{unit}", f"maxLength{unit}"
