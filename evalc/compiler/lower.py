"""From an IR case to a case of the model: checks to the contract's fields where they fit, else to `expect.checks`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalc.compiler import ir
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import KEYS
from evalc.model.checks.declaration import type_name

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

_WITH_PATTERNS = frozenset({"labeled", "rubric"})
"""The tiers in which `responseMatches` may stand; in the others the one pattern of a case is its `regexPattern`."""
_RUBRIC = "rubric"


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
    match check:
        case c.Judge():
            return _append_dimension(slots, check)
        case _ if not check.has_field():
            return _append(slots, "checks", check)
        case c.Regex() if tier not in _WITH_PATTERNS:
            slots["regex_pattern"] = check.pattern
            return ("/expect/regexPattern",)
        case c.ToolParam():
            entry = m.ToolParamExpectation(
                tool=check.tool, param_name=check.param_name, assertion=check.assertion, value=check.value
            )
            return _append(slots, "tool_params", entry)
    first = check.contract[0]
    if first.each:
        return _append(slots, first.name, getattr(check, first.attribute))
    values = {field.name: getattr(check, field.attribute) if field.attribute else True for field in check.contract}
    given = {field: value for field, value in values.items() if value is not None}
    if not slots.keys().isdisjoint(given):
        return _append(slots, "checks", check)
    slots.update(given)
    return tuple(f"/expect/{KEYS[field]}" for field in given)


def _append(slots: dict[str, Any], field: str, value: object) -> tuple[str, ...]:
    entries = slots.setdefault(field, [])
    entries.append(value)
    return (f"/expect/{KEYS[field]}/{len(entries) - 1}",)


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
        for field, json in KEYS.items()
        if json not in CONTRACT_FIELDS and json != "checks" and getattr(expect, field)
    }
    names |= {f"checks.{type_name(check)}" for check in expect.checks or ()}
    if case.expected and expect == m.Expect():
        names.add("expected")
    if any(dimension.min_score is not None for dimension in case.rubric or ()):
        names.add("rubric.minScore")
    if case.threshold:
        names.add("threshold")
    return names
