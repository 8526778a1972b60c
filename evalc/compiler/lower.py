"""Verifies the IR, and lowers its cases to the model: to fields of the contract if they fit, else `expect.checks`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from math import inf
from operator import attrgetter
from typing import Any, Final, NoReturn

from evalc.check.contract import CONTRACT_FIELDS, EACH, KEYS, fields_of, pointer_to
from evalc.check.forms import record_of
from evalc.check.tree import Check, Test
from evalc.compiler import ir
from evalc.model import case as m

_WITH_PATTERNS: Final = frozenset({"labeled", "rubric"})
"""The tiers in which `responseMatches` is allowed; in the others the one pattern of a case is its `regexPattern`."""
_RUBRIC: Final = "rubric"


def lower(case: ir.Case, criteria: tuple[ir.Criterion, ...]) -> m.Case:
    """The case as the JSON case model has it (case model, and the additions of evalc)."""
    slots, pointers = _slots_of(case)
    for field, value in slots.items():
        if type(value) is list:
            slots[field] = tuple(value)
    rubric = slots.pop(_RUBRIC, None)
    unlinked = tuple([_link(link, pointers) for link in case.links if link.criterion is None]) if case.links else ()
    return m.Case(
        **dict(zip(OF_CASE, of_case(case), strict=True)),
        input=m.Input(**dict(zip(OF_INPUT, of_input(case), strict=True))),
        expect=m.Expect(**slots),
        rubric=rubric,
        criteria=tuple([_criterion(criterion, case, pointers) for criterion in criteria]) if criteria else None,
        unlinked=unlinked or None,
    )


OF_CASE: Final = tuple(field for field in m.Case.__struct_fields__ if field in ir.Case.__struct_fields__)
OF_INPUT: Final = m.Input.__struct_fields__
"""The fields that a case of the IR has under the same name."""
of_case: Final = attrgetter(*OF_CASE)
of_input: Final = attrgetter(*OF_INPUT)


def wheres_of(case: ir.Case) -> Mapping[str, ir.Where]:
    """Where the parts of the lowered case were written: JSON pointers from the case's root to places."""
    _, pointers = _slots_of(case)
    of_values = {pointer: where for pointer, where in case.wheres.items() if not pointer.startswith("#")}
    wheres: dict[str, ir.Where] = {"": case.where, **of_values}
    for item, at in zip(case.checks, pointers, strict=True):
        for pointer in at:
            wheres[pointer] = item.where
    return wheres


def _slots_of(case: ir.Case) -> tuple[dict[str, Any], list[tuple[str, ...]]]:
    """The fields of `expect` that the checks fill, and the pointers of each check from the case's root."""
    slots: dict[str, Any] = {}
    return slots, [_place(item.check, slots, case.tier) for item in case.checks]


def _criterion(criterion: ir.Criterion, case: ir.Case, pointers: list[tuple[str, ...]]) -> m.Criterion:
    linked = tuple(_link(link, pointers) for link in case.links if link.criterion == criterion.name)
    return m.Criterion(
        name=criterion.name, weight=criterion.weight, description=criterion.description, checks=linked or None
    )


def _link(link: ir.Link, pointers: list[tuple[str, ...]]) -> m.CheckLink:
    at = tuple(pointer for index in link.checks for pointer in pointers[index])
    return m.CheckLink(at=at, weight=link.weight)


def _place(check: Check, slots: dict[str, Any], tier: m.Tier) -> tuple[str, ...]:
    """Put a check where it belongs in `expect` of a case of this tier; its pointers from the case's root."""
    if isinstance(check, Test) and check.predicate == "judge":  # a dimension of the rubric, which is beside `expect`
        dimensions = slots.setdefault(_RUBRIC, [])
        name, top, criteria, least = check.operand
        dimensions.append(m.RubricDimension(dimension=name, max_score=top, criteria=criteria, min_score=least))
        return (f"/rubric/{len(dimensions) - 1}",)
    values = fields_of(check)
    first = next(iter(values), None)
    if first == "response_matches" and tier not in _WITH_PATTERNS:
        slots["regex_pattern"] = values[first]
        return ("/expect/regexPattern",)
    if first in EACH:
        field, value = first, values[first]
    elif values and slots.keys().isdisjoint(values):
        slots.update(values)
        return tuple(map(_AT.__getitem__, values))
    else:
        field, value = "checks", record_of(check)
    entries = slots.setdefault(field, [])
    entries.append(value)
    return (pointer_to(KEYS[field], len(entries) - 1),)


_AT: Final = {field: f"/expect/{key}" for field, key in KEYS.items()}


def own_assertions(case: m.Case) -> set[str]:
    """The names of the assertions of a case that a runner which knows only the contract would not check."""
    expect = case.expect
    names = set(compress(_OWN_FIELDS.values(), _own_fields(expect)))
    if expect.checks:
        names |= {f"checks.{record['type']}" for record in expect.checks}
    if case.input.follow_ups:
        names.add("input.followUps")
    if case.input.user is not None:
        names.add("input.user")
    if case.input.files:
        names.add("input.files")
    if case.stub_answers:
        names.add("stubAnswers")
    if case.expected and expect == m.Expect():
        names.add("expected")
    if case.rubric and any(dimension.min_score is not None for dimension in case.rubric):
        names.add("rubric.minScore")
    if case.threshold:
        names.add("threshold")
    return names


_OWN_FIELDS: Final = {field: json for field, json in KEYS.items() if json not in CONTRACT_FIELDS and json != "checks"}
_own_fields: Final = attrgetter(*_OWN_FIELDS)


class BrokenPromiseError(AssertionError):
    """The IR is not what it promises to be: a mistake of the compiler, never of an author."""


def verify(suite: ir.Suite) -> None:
    """Hold a suite without errors to what `ir` says about it.

    Raises:
        BrokenPromiseError: it is not so.
    """
    if not suite.cases:
        _break("a suite has cases", suite.name)
    names = {criterion.name for criterion in suite.criteria}
    if len(names) != len(suite.criteria):
        _break("the names of criteria are unique", suite.name)
    ids: set[int] = set()  # their hashes, since there may be very many
    for case in suite.cases:
        if case.partial:
            _break("nothing was left out", case.id)
        if case.links:
            _verify_links(case, names)
        ids.add(hash(case.id))
    if len(ids) != len(suite.cases):
        _break("ids are unique", suite.name)


def _verify_links(case: ir.Case, criteria: set[str]) -> None:
    count = len(case.checks)
    for link in case.links:
        if link.criterion is not None and link.criterion not in criteria:
            _break("a link names a criterion of the suite", case.id)
        if not link.checks or min(link.checks) < 0 or max(link.checks) >= count:
            _break("links lead to checks", case.id)
        if not 0 <= link.weight < inf:
            _break("weights are finite and not negative", case.id)
    heads = [link.checks for link in case.links]
    if len(heads) > 1 and heads != sorted(heads):
        _break("links stand in the order of their checks", case.id)


def _break(promise: str, where: str) -> NoReturn:
    raise BrokenPromiseError(f"{where}: it does not hold that {promise}")
