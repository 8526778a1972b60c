"""From an IR case to a case of the model: checks to the contract's fields where they fit, else to `expect.checks`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalc.compiler import ir
from evalc.compiler.order import has_field
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.paths import only_key

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
_FLAGS: dict[type, str] = {
    c.NoToolErrors: "no_tool_errors",
    c.NonEmpty: "response_non_empty",
    c.Json: "json_valid",
}
_WITH_PATTERNS = frozenset({"labeled", "rubric"})
"""The tiers in which `responseMatches` may stand; in the others the one pattern of a case is its `regexPattern`."""
_RUBRIC = "rubric"
_JSON_NAMES = dict(zip(m.Expect.__struct_fields__, m.Expect.__struct_encode_fields__, strict=True))


class LoweredCase(NamedTuple):
    """A case of the model, and where its parts were written: JSON pointers from the case's root to places."""

    case: m.Case
    wheres: Mapping[str, ir.Where]


def lower(case: ir.Case, criteria: tuple[ir.Criterion, ...]) -> LoweredCase:
    """The case as the JSON case model has it (case model, and the additions of evalc)."""
    slots: dict[str, Any] = {}
    pointers = [_place(item.check, slots, case.tier) for item in case.checks]
    fields: dict[str, Any] = {field: tuple(v) if isinstance(v, list) else v for field, v in slots.items()}
    rubric = fields.pop(_RUBRIC, None)
    expect = m.Expect(**fields)
    lowered = m.Case(
        id=case.id,
        description=case.description,
        difficulty=case.difficulty,
        created_at=case.created_at,
        bug_ref=case.bug_ref,
        input=m.Input(message=case.message, messages=case.messages, system=case.system, inputs=case.inputs),
        stubs=case.stubs,
        max_turns=case.max_turns,
        expect=expect,
        reference_data=case.reference_data,
        rubric=rubric,
        expected=case.expected,
        criteria=tuple(_criterion(criterion, case, pointers) for criterion in criteria) or None,
        unlinked=tuple(_link(link, pointers) for link in case.links if link.criterion is None) or None,
        threshold=case.threshold,
        tags=case.tags,
        repeat=case.repeat,
        require=case.require,
        expected_failure=case.expected_failure,
        skip=case.skip,
        archived=case.archived,
        variant=case.variant,
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


def _place(check: c.Check, slots: dict[str, Any], tier: m.Tier) -> tuple[str, ...]:
    """Put a check where it belongs in `expect` of a case of this tier; its pointers from the case's root."""
    kind = type(check)
    if isinstance(check, c.Judge):
        return _append_dimension(slots, check)
    if not has_field(check):
        return _append(slots, "checks", check)
    if isinstance(check, c.Regex) and tier not in _WITH_PATTERNS:
        slots["regex_pattern"] = check.pattern
        return ("/expect/regexPattern",)
    if kind in _MANY:
        field, attribute = _MANY[kind]
        return _append(slots, field, getattr(check, attribute))
    if isinstance(check, c.ToolParam):
        entry = m.ToolParamExpectation(
            tool=check.tool, param_name=check.param_name, assertion=check.assertion, value=check.value
        )
        return _append(slots, "tool_params", entry)
    values = _values(check)
    if not slots.keys().isdisjoint(values):
        return _append(slots, "checks", check)
    slots.update(values)
    return tuple(f"/expect/{_JSON_NAMES[field]}" for field in values)


def _values(check: c.Check) -> dict[str, Any]:
    """The fields that hold one value each, as the check fills them; the two bounds of a range are two fields."""
    kind = type(check)
    if kind in _SINGLE:
        field, attribute = _SINGLE[kind]
        return {field: getattr(check, attribute)}
    if isinstance(check, c.Length | c.ToolCount):
        bounds = zip(_BOUNDS[kind], (check.min, check.max), strict=True)
        return {field: bound for field, bound in bounds if bound is not None}
    if isinstance(check, c.Structure):
        return {"required_keys": tuple(only_key(field.path) for field in check.fields)}
    return {_FLAGS[kind]: True}


def _append(slots: dict[str, Any], field: str, value: object) -> tuple[str, ...]:
    entries = slots.setdefault(field, [])
    entries.append(value)
    return (f"/expect/{_JSON_NAMES[field]}/{len(entries) - 1}",)


def _append_dimension(slots: dict[str, Any], check: c.Judge) -> tuple[str, ...]:
    """What a judge scores stands beside `expect`."""
    dimensions = slots.setdefault(_RUBRIC, [])
    dimensions.append(
        m.RubricDimension(
            dimension=check.dimension,
            max_score=check.max_score,
            criteria=check.criteria,
            min_score=check.min_score,
        )
    )
    return (f"/rubric/{len(dimensions) - 1}",)


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
    if any(dimension.min_score is not None for dimension in case.rubric or ()):
        names.add("rubric.minScore")
    if case.threshold:
        names.add("threshold")
    return names
