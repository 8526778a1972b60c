"""From an IR case to a case of the model: checks to the contract's fields where they fit, else to `expect.checks`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalc.compiler import ir
from evalc.model import case as m
from evalc.model import checks as c

CONTRACT_FIELDS = frozenset(
    {
        "toolsCalled",
        "toolsAcceptable",
        "toolsNotCalled",
        "toolParams",
        "noToolErrors",
        "responseNonEmpty",
        "responseContains",
        "responseContainsAny",
        "responseNotContains",
        "responseMatches",
        "maxLatencyMs",
        "maxTokens",
    }
)
"""The fields of `expect` that every runner of the contract checks."""

_SINGLE: dict[type, tuple[str, str]] = {
    c.ToolsCalled: ("tools_called", "names"),
    c.ToolsAcceptable: ("tools_acceptable", "sets"),
    c.ToolsNotCalled: ("tools_not_called", "names"),
    c.Latency: ("max_latency_ms", "max"),
    c.Tokens: ("max_tokens", "max"),
    c.Cost: ("max_cost", "max"),
}
_MANY: dict[type, tuple[str, str]] = {
    c.Contains: ("response_contains", "value"),
    c.ContainsAny: ("response_contains_any", "values"),
    c.NotContains: ("response_not_contains", "value"),
    c.Regex: ("response_matches", "pattern"),
}
_BOUNDS: dict[type, tuple[str, str]] = {
    c.Length: ("min_length", "max_length"),
    c.ToolCount: ("min_tool_calls", "max_tool_calls"),
}
_JSON_NAMES = dict(zip(m.Expect.__struct_fields__, m.Expect.__struct_encode_fields__, strict=True))


class LoweredCase(NamedTuple):
    """A case of the model, and where its parts were written: JSON pointers from the case's root to places."""

    case: m.Case
    wheres: Mapping[str, ir.Where]


def lower(case: ir.Case, criteria: tuple[ir.Criterion, ...]) -> LoweredCase:
    """The case as the JSON case model has it (case model, and the additions of evalc)."""
    slots: dict[str, Any] = {}
    pointers = [_place(item.check, slots) for item in case.checks]
    fields: dict[str, Any] = {field: tuple(v) if isinstance(v, list) else v for field, v in slots.items()}
    expect = m.Expect(**fields)
    lowered = m.Case(
        id=case.id,
        description=case.description,
        difficulty=case.difficulty,
        created_at=case.created_at,
        bug_ref=case.bug_ref,
        input=m.Input(message=case.message, messages=case.messages, inputs=case.inputs),
        stubs=case.stubs,
        max_turns=case.max_turns,
        expect=expect,
        reference_data=case.reference_data,
        rubric=case.rubric,
        expected=case.expected,
        criteria=tuple(_criterion(criterion, case, pointers) for criterion in criteria) or None,
        unlinked=tuple(_link(link, pointers) for link in case.links if link.criterion is None) or None,
        threshold=case.threshold,
        tags=case.tags,
    )
    wheres: dict[str, ir.Where] = {"": case.where, **case.wheres}
    for item, at in zip(case.checks, pointers, strict=True):
        for pointer in at:
            wheres[pointer] = item.where
    return LoweredCase(lowered, wheres)


def _criterion(criterion: ir.Criterion, case: ir.Case, pointers: list[tuple[str, ...]]) -> m.Criterion:
    linked = tuple(_link(link, pointers) for link in case.links if link.criterion == criterion.name)
    return m.Criterion(
        name=criterion.name, weight=criterion.weight, description=criterion.description, checks=linked or None
    )


def _link(link: ir.Link, pointers: list[tuple[str, ...]]) -> m.CheckLink:
    at = tuple(pointer for index in link.checks for pointer in pointers[index])
    return m.CheckLink(at=at, weight=link.weight)


def _place(check: c.Check, slots: dict[str, Any]) -> tuple[str, ...]:
    """Put a check where it belongs in `expect`; its pointers from the case's root."""
    kind = type(check)
    if kind in _SINGLE:
        field, attribute = _SINGLE[kind]
        value = getattr(check, attribute)
        # A limit of 0 asserts nothing in the contract, so the check of such a limit stands in `checks`.
        if field not in slots and value not in (0, None):
            slots[field] = value
            return (f"/expect/{_JSON_NAMES[field]}",)
    elif kind in _MANY and not (isinstance(check, c.Regex) and check.flags):
        field, attribute = _MANY[kind]
        return _append(slots, field, getattr(check, attribute))
    elif kind in _BOUNDS:
        return _place_bounds(check, slots)
    else:
        return _place_other(check, slots)
    return _append(slots, "checks", check)


def _place_bounds(check: c.Check, slots: dict[str, Any]) -> tuple[str, ...]:
    """A range: its bounds are two fields, which belong to one check of the case."""
    assert isinstance(check, c.Length | c.ToolCount)  # noqa: S101 - for the type checker
    fields = _BOUNDS[type(check)]
    bounds = {field: bound for field, bound in zip(fields, (check.min, check.max), strict=True) if bound is not None}
    unit = check.unit if isinstance(check, c.Length) else "chars"
    if unit != "chars" or not bounds or 0 in bounds.values() or any(field in slots for field in fields):
        return _append(slots, "checks", check)
    slots.update(bounds)
    return tuple(f"/expect/{_JSON_NAMES[field]}" for field in bounds)


def _place_other(check: c.Check, slots: dict[str, Any]) -> tuple[str, ...]:
    match check:
        case c.ToolParam():
            entry = m.ToolParamExpectation(
                tool=check.tool, param_name=check.param_name, assertion=check.assertion, value=check.value
            )
            return _append(slots, "tool_params", entry)
        case c.NoToolErrors() if "no_tool_errors" not in slots:
            slots["no_tool_errors"] = True
            return ("/expect/noToolErrors",)
        case c.NonEmpty() if "response_non_empty" not in slots:
            slots["response_non_empty"] = True
            return ("/expect/responseNonEmpty",)
        case c.Json(mode="strict", schema=None) if "json_valid" not in slots:
            slots["json_valid"] = True
            return ("/expect/jsonValid",)
        case c.Structure(headings=(), fields=fields) if "required_keys" not in slots and _are_flat(fields):
            slots["required_keys"] = tuple(field.path for field in fields)
            return ("/expect/requiredKeys",)
        case _:
            return _append(slots, "checks", check)


def _append(slots: dict[str, Any], field: str, value: object) -> tuple[str, ...]:
    entries = slots.setdefault(field, [])
    entries.append(value)
    return (f"/expect/{_JSON_NAMES[field]}/{len(entries) - 1}",)


def _are_flat(fields: tuple[c.RequiredField, ...]) -> bool:
    return bool(fields) and all(field.type is None and not set(field.path) & set(".[]") for field in fields)


def own_assertions(case: m.Case) -> set[str]:
    """The names of the assertions of a case that a runner which knows only the contract would not check."""
    expect = case.expect
    names = {
        json
        for field, json in _JSON_NAMES.items()
        if json not in CONTRACT_FIELDS and json != "checks" and getattr(expect, field)
    }
    names |= {f"checks.{check.__struct_config__.tag}" for check in expect.checks or ()}
    if case.expected and expect == m.Expect():
        names.add("expected")
    if case.threshold:
        names.add("threshold")
    return names
