"""Translates a check into the formula that it asserts."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from math import floor, inf
from typing import Any, Final, assert_never

import msgspec

from evalc.compiler.logic.formulas import (
    All,
    AtLeast,
    AtMost,
    Begins,
    Calls,
    CallsEach,
    CallsInOrder,
    CallsOnly,
    CallsSet,
    CallsTool,
    Exceeds,
    Fact,
    Formula,
    Has,
    HasField,
    HasFolded,
    HasHeading,
    HasPlace,
    Is,
    IsJson,
    IsSimilar,
    IsValue,
    Matches,
    Measured,
    NotSent,
    OfParam,
    Place,
    Some,
    Unit,
    Unknown,
    depth,
    negation,
    size,
)
from evalc.compiler.logic.texts import encode
from evalc.compiler.patterns import literal_of
from evalc.ecma.text import trim
from evalc.ecma.tokens import find_tokens
from evalc.model import checks as c

_MOST_FACTS: Final = 64
_MOST_JOINTS: Final = 4  # comparing takes time that doubles with each


def formula_of(check: c.Check) -> Formula:
    """The formula of a check of the response; one of too many parts to compare is taken as a whole."""
    try:
        return _cached(check, _as_json(check))
    except TypeError:  # a schema or an argument that cannot be hashed
        return _bounded(check)


def _bounded(check: c.Check) -> Formula:
    formula = _formula(check, ())
    if isinstance(formula, Fact) or (size(formula) <= _MOST_FACTS and depth(formula) <= _MOST_JOINTS):
        return formula
    return Fact(Unknown(_as_json(check)))


@lru_cache(4096)
def _cached(check: c.Check, _written: bytes) -> Formula:
    """The formula; the written check distinguishes 1 from true, which are equal in Python."""
    return _bounded(check)


def _formula(check: c.Check, place: Place) -> Formula:  # noqa: C901 - one arm a check
    match check:
        case c.Contains(value=value):
            return Fact(Has(encode(value)), True, place)
        case c.NotContains(value=value):
            return Fact(Has(encode(value)), False, place)
        case c.IContains(value=value):
            return Fact(HasFolded(encode(value).casefold()), True, place)
        case c.ContainsAny(values=values) if 0 < len(values) <= _MOST_FACTS:  # an empty group is skipped
            return _joined(Some, [Fact(Has(encode(value)), True, place) for value in values])
        case c.Equals(value=value):
            return Fact(Is(encode(value)), True, place)
        case c.StartsWith(value=value):
            return Fact(Begins(encode(value)), True, place)
        case c.EndsWith(value=value):
            return _joined(All, [Fact(Has(encode(value)), True, place), Fact(Unknown(_as_json(check)), True, place)])
        case c.Regex():
            return _matches(check.pattern, check.flags, place)
        case c.NonEmpty():
            return Fact(Exceeds("words", 0), True, place)
        case c.Length():
            return _bounds(check.unit, check.min, check.max, place)
        case c.Similar():
            return Fact(IsSimilar(encode(check.value), check.threshold), True, place)
        case c.Json():
            return _json(check, place)
        case c.Number():
            return _measured("number", check.min, check.max, place)
        case c.Count():
            return _measured("items", check.min, check.max, place)
        case c.Value(value=value) if b"{{" not in _as_json(value):
            return Fact(IsValue(_as_json(value)), True, place)
        case c.Structure() if len(check.fields) + len(check.headings) <= _MOST_FACTS:
            parts: list[Formula] = [part for field in check.fields for part in _field(field.path, field.type, place)]
            parts += (Fact(HasHeading(trim(heading).casefold()), True, place) for heading in check.headings)
            return _joined(All, parts)
        case c.ToolsCalled(names=names):
            return Fact(Calls(names))
        case c.ToolsAcceptable(sets=sets) if len(sets) <= _MOST_FACTS:
            return _joined(Some, [_called_set(names) for names in sets])
        case c.ToolsNotCalled(names=names) if len(names) <= _MOST_FACTS:
            return _joined(All, [Fact(CallsTool(name), False) for name in names])
        case c.ToolsInclude(names=names):
            return _called_each(names)
        case c.ToolsInOrder(names=names):
            return _joined(All, [_called_each(names), *([Fact(CallsInOrder(names))] if len(names) > 1 else [])])
        case c.ToolsOnly(names=names):
            return Fact(CallsOnly(frozenset(names))) if names else Fact(Calls(()))
        case c.ToolCount():
            return _bounds("calls", check.min, check.max, ())
        case c.ToolParam():
            return OfParam(check.tool, check.param_name, _of_param(check))
        case c.CallHas(tool=tool, which="any" | int()):
            return All((Fact(CallsTool(tool)), Fact(Unknown(_as_json(check)))))
        case c.Latency(max=limit):
            return Fact(Exceeds("ms", limit), False)
        case c.Tokens(max=limit):
            return Fact(Exceeds("tokens", floor(limit)), False, place)
        case c.Cost(max=limit):
            return Fact(Exceeds("dollars", limit), False)
        case c.Judge(min_score=int() | float() as least, max_score=scale) if not 0 < least <= scale:
            return All(()) if least <= 0 else Some(())
        case c.At(path=path, check=inner):
            found = (*_field(path, None, place), Fact(HasPlace(path), True, place))
            return _joined(All, [*found, _formula(inner, (*place, path))])
        case c.InTurn(turn=turn, check=inner):
            return _within_turn(_formula(inner, ()), turn)
        case c.AnyOf(checks=checks) if len(checks) <= _MOST_FACTS:
            return _joined(Some, [_formula(operand, place) for operand in checks])
        case c.AllOf(checks=checks) if len(checks) <= _MOST_FACTS:
            return _joined(All, [_formula(operand, place) for operand in checks])
        case c.Not(check=inner):
            return negation(_formula(inner, place))
        case (
            c.ContainsAny()
            | c.Structure()
            | c.Value()
            | c.NumbersFrom()
            | c.QuotesFrom()
            | c.ToolsAcceptable()
            | c.ToolsNotCalled()
            | c.AnyOf()
            | c.AllOf()
            | c.NoToolErrors()
            | c.CallHas()
            | c.Custom()
            | c.Judge()
        ):
            return Fact(Unknown(_as_json(check)), True, place)
        case _:
            assert_never(check)


def _within_turn(formula: Formula, turn: int) -> Formula:
    """The formula, said of a turn: its texts, its calls and its limits are nothing to those of any other."""
    mark = f"\0turn {turn}"
    match formula:
        case Fact():
            return Fact(formula.atom, formula.holds, (mark, *formula.place))
        case OfParam():
            return OfParam(f"{mark} {formula.tool}", formula.param, formula.formula)
        case All() | Some():
            return type(formula)(tuple(_within_turn(part, turn) for part in formula.parts))
        case _:
            assert_never(formula)


def _joined(join: type[All | Some], parts: list[Formula]) -> Formula:
    """The parts joined, one level of the same kind flattened; parameters of one call are one formula about it."""
    flat = tuple(chain.from_iterable(part.parts if isinstance(part, join) else (part,) for part in parts))
    if len(flat) == 1:
        return flat[0]
    first = flat[0] if flat else None
    if isinstance(first, OfParam):
        inner = [p.formula for p in flat if isinstance(p, OfParam) and (p.tool, p.param) == (first.tool, first.param)]
        if len(inner) == len(flat):
            return OfParam(first.tool, first.param, _joined(join, inner))
    return join(flat)


def _matches(pattern: str, flags: str, place: Place) -> Formula:
    """A pattern of plain characters is a text to contain, to start with, or to be."""
    literal = literal_of(pattern, flags)
    if literal is None:
        return Fact(Matches(pattern, flags), True, place)
    text, kind = literal
    match kind:
        case "has":
            return Fact(Has(text), True, place)
        case "begins":
            return Fact(Begins(text), True, place)
        case "is":
            return Fact(Is(text), True, place)


def _bounds(unit: Unit, low: int | None, high: int | None, place: Place) -> Formula:
    parts: list[Formula] = []
    if low is not None:
        parts.append(_more_than(unit, low - 1, place))
    if high is not None:
        parts.append(negation(_more_than(unit, high, place)))
    return _joined(All, parts)


def _measured(of: Measured, low: float | None, high: float | None, place: Place) -> Formula:
    parts: list[Formula] = []
    if low is not None or high is None:
        parts.append(Fact(AtLeast(of, -inf if low is None else low), True, place))
    if high is not None:
        parts.append(Fact(AtMost(of, high), True, place))
    return _joined(All, parts)


def _more_than(unit: Unit, limit: int, place: Place) -> Formula:
    if limit == 0 and unit == "calls":
        return Fact(Calls(()), False)
    if limit == 0 and unit != "words":
        return Fact(Is(""), False, place)
    return Fact(Exceeds(unit, limit), True, place)


def _json(check: c.Json, place: Place) -> Formula:
    mode: str = check.mode
    schema = check.schema
    if schema is None or schema is True or schema == {}:
        return Fact(IsJson(mode), True, place)
    if schema is False:
        return Some(())
    parts: list[Formula] = [Fact(IsJson(mode), True, place)]
    if mode != "lenient" and "$ref" not in schema and schema.get("type") in ("object", "array"):
        parts.append(Fact(IsJson(schema["type"]), True, place))
    return All((*dict.fromkeys(parts), Fact(Unknown(_as_json(schema)), True, place)))


def _field(path: str, type_: c.FieldType | None, place: Place) -> tuple[Formula, ...]:
    return Fact(IsJson("lenient"), True, place), Fact(HasField(path, type_), True, place)


def _called_set(names: tuple[str, ...]) -> Formula:
    if not names or names == (c.NO_TOOL,):
        return Fact(Calls(()))
    return Fact(CallsSet(frozenset(names)))


def _called_each(names: tuple[str, ...]) -> Formula:
    match names:
        case ():
            return All(())
        case (name,):
            return Fact(CallsTool(name))
        case _:
            return Fact(CallsEach(tuple(sorted(names))))


def _of_param(check: c.ToolParam) -> Formula:
    value = check.value
    match check.assertion:
        case "exists" | "notExists":
            return Fact(NotSent(), check.assertion == "notExists")
        case "oneOf" if value is not None:
            values = (value,) if isinstance(value, str) else value
            if len(values) <= _MOST_FACTS:
                return _joined(Some, [Fact(Is(encode(member))) for member in values])
        case "equals" if isinstance(value, str):
            return Fact(Is(encode(value)))
        case "contains" if isinstance(value, str):
            return Fact(Has(encode(value)))
        case "matches" if isinstance(value, str) and not find_tokens(value):
            return _matches(value, "", ())
        case _:
            pass
    return Fact(Unknown(_as_json(check)))


def _as_json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
