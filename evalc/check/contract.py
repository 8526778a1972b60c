"""The table of the fields of `expect` and the checks that they hold: lowering writes by it, `assertions` reads by it.

Checks that no field can hold are entries of `expect.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import compress, repeat
from operator import attrgetter, is_not
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from evalc.check.forms import (
    ABSENT,
    FORMS,
    Form,
    Record,
    are_texts,
    check_of,
    filler,
    form,
    grouped,
    hole,
    is_text,
    kind_of,
    record_of,
    tuples,
    type_of,
)
from evalc.check.tree import OF_TEXT, Bounds, Call, Check, Measure, Not, Of, Step, Test, Tools, Turn, asks
from evalc.model.case import Expect, RubricDimension, ToolParamExpectation
from evalc.model.json import is_number, only_key, path_of_key

_FIELDS: Final = Expect.__struct_fields__
KEYS: Final = dict(zip(_FIELDS, Expect.__struct_encode_fields__, strict=True))
"""The fields of `expect`, and what they are called in JSON."""
CONTRACT_FIELDS: Final = frozenset(KEYS[field] for field in _FIELDS[: _FIELDS.index("max_tokens") + 1])
"""The fields of `expect` that every runner of the contract checks."""
EACH: Final = frozenset(
    {
        "tool_params",
        "response_contains",
        "response_contains_any",
        "response_not_contains",
        "response_matches",
        "cop_out_phrases",
    }
)
"""The fields that are a list with an entry for each check."""
PAIRS: Final = (("minLength", "maxLength"), ("minToolCalls", "maxToolCalls"))
"""Pairs of fields that bound one check, unless criteria link them separately."""


# --- which fields hold which check -----------------------------------------------------------------------------------


def _lists(name: str, **rest: Any) -> Any:
    return hole(name, read=tuples, write=tuples, **rest)


def _text(name: str) -> Any:
    return hole(name, fits=is_text)


def _bounds(low: str, high: str) -> Test:
    """Whole numbers, either of which may be absent; a lower bound of 0 asserts nothing in the contract."""
    at_least = hole(low, default=None, fits=lambda least: least is None or (isinstance(least, int) and least != 0))
    at_most = hole(high, default=None, fits=lambda most: most is None or isinstance(most, int))
    return Test("between", Bounds(at_least, at_most))


def _limit(name: str, *but: int) -> Test:
    """A number other than those."""
    return Test("between", Bounds(max=hole(name, fits=lambda most: is_number(most) and most not in but)))


def _tools(predicate: str) -> Of:
    return Of(Tools(), Test(predicate, _lists(f"tools_{predicate}")))


def _param_of(check: Check) -> Any:
    record = record_of(check)
    if record["type"] != "tool_param":
        return ABSENT
    tool, name, value = record["tool"], record["paramName"], tuples(record.get("value"))
    return ToolParamExpectation(tool=tool, param_name=name, assertion=record["assertion"], value=value)


def _required(name: str, **rest: Any) -> Test:
    """Fields that the response has; `rest` says how a field of `expect` names them."""
    return Test("structure", (hole(name, **rest), ()))


_PARAM: Final = form(
    "tool_param",
    hole(
        "tool_params",
        read=lambda entry: check_of({"type": "tool_param", **msgspec.to_builtins(entry)}),
        write=_param_of,
    ),
)
_ROWS: Final = (
    form("contains", Test("contains", _text("response_contains"))),
    form("not_contains", Not(Test("contains", _text("response_not_contains")))),
    form("contains_any", Test("contains_any", _lists("response_contains_any", fits=are_texts))),
    form("regex", Test("matches", (hole("response_matches"), ""))),
    form("non_empty", Test("non_empty"), "response_non_empty"),
    form("length", Of(Measure("chars"), _bounds("min_length", "max_length"))),
    form("json", Test("json", ("strict", None)), "json_valid"),
    form(
        "structure",
        _required(
            "required_keys",
            fits=lambda fields: (
                bool(fields) and all(type_ is None and only_key(path) is not None for path, type_ in fields)
            ),
            read=lambda keys: tuple((path_of_key(key), None) for key in keys),
            write=lambda fields: tuple(only_key(path) for path, _ in fields),
        ),
    ),
    form("tools_called", _tools("called")),
    form("tools_acceptable", _tools("acceptable")),
    form("tools_not_called", _tools("not_called")),
    _PARAM,
    form("no_tool_errors", Of(Tools(), Test("no_errors")), "no_tool_errors"),
    form("tool_count", Of(Measure("calls"), _bounds("min_tool_calls", "max_tool_calls"))),
    form("latency", Of(Measure("ms"), _limit("max_latency_ms", 0))),
    form("tokens", Of(Measure("tokens"), _limit("max_tokens", 0))),
    form("cost", Of(Measure("dollars"), _limit("max_cost"))),
)
"""The forms of checks that fields of `expect` hold. Their keys are the fields; of one without holes it is a flag."""
_OF_KIND: Final = grouped(_ROWS, lambda row: Call if row is _PARAM else kind_of(row.tree))
_RANGES: Final = frozenset(row.type for row in _ROWS if len(row.keys) > 1)
"""The types with two bounds, one of which at least is given."""
_READ_ONLY: Final = (
    form(
        "structure",
        _required("type_checks", read=lambda types: tuple((path_of_key(key), type_) for key, type_ in types.items())),
    ),
    form("regex", Test("matches", (hole("regex_pattern"), ""))),
    form("not_contains", Not(Test("contains", hole("cop_out_phrases"), True))),
)
"""The forms of checks in fields that lowering never writes."""


def _row_of(check: Check) -> tuple[Form | None, dict[str, Any]]:
    for row in _OF_KIND.get(kind_of(check), ()):
        found: dict[str, Any] = {}
        if row.take(check, found) and (found or row.type not in _RANGES):
            return row, found
    return None, {}


def fields_of(check: Check) -> Mapping[str, Any]:
    """The fields of `expect` that hold this very check, with their values, or the entry of a list.

    Empty for an entry of `expect.checks`.
    """
    test = check.check if type(check) is Not else check
    if type(test) is Test and type(test.operand) is str:
        field = _field_of_text(test.predicate, test.ignoring_case, test is not check)
        return {} if field is None else {field: test.operand}
    if type(check) is Of and type(check.check) is Test and type(check.check.operand) is Bounds:
        return _fields_of_bounds(check.step, check.check.predicate, *astuple(check.check.operand))
    return _fields_of(check)


@cache
def _field_of_text(predicate: str, ignoring_case: bool, denied: bool) -> str | None:
    """The field that holds a check for a text, whichever it is."""
    test = Test(predicate, "", ignoring_case)
    return next(iter(_fields_of(Not(test) if denied else test)), None)


@lru_cache(1024, typed=True)  # a limit of 1.0 is in no field that takes whole numbers
def _fields_of_bounds(step: Step, predicate: str, *limits: Any) -> Mapping[str, Any]:
    return _fields_of(Of(step, Test(predicate, Bounds(*limits))))


def _fields_of(check: Check) -> Mapping[str, Any]:
    row, found = _row_of(check)
    return {} if row is None else found or {row.keys[0]: True}


_POSITION: Final = {form.type: len(_FIELDS) + index for index, form in reversed(list(enumerate(FORMS)))} | {
    row.type: _FIELDS.index(row.keys[0]) for row in _ROWS
}


def rank(check: Check) -> tuple[int, bool, bool]:
    """The position of a check in the canonical order; checks of one rank keep the order they were written in.

    Among checks of one type those with a field of their own come first, and of two bounds the lower one.
    """
    test = check.check if type(check) is Not else check
    if type(test) is Test:
        operand = test.operand
        if type(operand) is str:
            return _rank_of_text(test.predicate, "", test.ignoring_case, test is not check)
        if test.predicate == "matches":
            return _rank_of_text("matches", ("", operand[1]), test.ignoring_case, test is not check)
    if type(check) is Of and type(check.check) is Test and type(check.check.operand) is Bounds:
        return _rank_of_bounds(check.step, check.check.predicate, *astuple(check.check.operand))
    return _rank(check)


@cache
def _rank_of_text(predicate: str, operand: Any, ignoring_case: bool, denied: bool) -> tuple[int, bool, bool]:
    """The rank of a check for a text or a pattern, whichever it is."""
    test = Test(predicate, operand, ignoring_case)
    return _rank(Not(test) if denied else test)


@lru_cache(1024, typed=True)  # as above
def _rank_of_bounds(step: Step, predicate: str, *limits: Any) -> tuple[int, bool, bool]:
    return _rank(Of(step, Test(predicate, Bounds(*limits))))


def _rank(check: Check) -> tuple[int, bool, bool]:
    row, _ = _row_of(check)
    type_ = type_of(check) if row is None else row.type
    return _POSITION.get(type_, _POSITION["argument"]), row is None, type_ in _RANGES and _is_upper(check)


def _is_upper(check: Check) -> bool:
    match check:
        case Of(_, Test(operand=Bounds(min=None))):
            return True
        case _:
            return False


# --- what there can be one of ----------------------------------------------------------------------------------------

_SINGLE: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(OF_TEXT, PAIRS[0]),
    "calls": PAIRS[1],
    "ms": ("", "maxLatencyMs"),
    "tokens": ("", "maxTokens"),
    "dollars": ("", "maxCost"),
}
"""The fields that hold the lower and the upper bound of a measure, where a nearer layer replaces them."""


def single_values(check: Check) -> dict[str, str]:
    """The parts of a check of which there can be one, each with its name: of the field that holds it.

    A length in words is not a length in characters.
    """
    match check:
        case Of(Tools(), Test("called" | "acceptable" as predicate)):
            return {"operand": KEYS[f"tools_{predicate}"]}
        case Of(Measure(of, tool), Test("between", Bounds() as bounds)) if of in _SINGLE:
            narrower = tool or (of if _SINGLE[of] == PAIRS[0] and of != "chars" else "")
            found: dict[str, str] = {}
            for side, limit, name in zip(_SIDES, (bounds.min, bounds.max), _SINGLE[of], strict=True):
                if name and limit is not None:
                    found[side] = f"{name} in {narrower}" if narrower else name
            return found
        case _:
            return {}


_SIDES: Final = ("min", "max")


def without(check: Check, names: Collection[str]) -> Check | None:
    """The rest of a check when others give these single values; None if nothing is left."""
    given = [part for part, name in single_values(check).items() if name in names]
    match check:
        case _ if not given:
            return check
        case Of(Measure() as measured, Test("between", bounds)):
            rest = msgspec.structs.replace(bounds, **dict.fromkeys(given))
            return None if rest == Bounds() else Of(measured, Test("between", rest))
        case _:
            return None


# --- reading ---------------------------------------------------------------------------------------------------------


class Assertion(msgspec.Struct, frozen=True, gc=False):
    """One checked value: its JSON pointer from the case's root, the name its failures begin with, and the check.

    `is_judged` says that a judge decides it.
    """

    at: str
    field: str
    check: Check
    is_judged: bool = False


def assertions(expect: Expect) -> Sequence[Assertion]:
    """Every assertion of `expect`, in the order in which a runner evaluates them (contract, Assertion Execution)."""
    found: list[Assertion] = []
    values = _values(expect)
    given = map(is_not, values, repeat(None))  # most are not
    for (key, pointer, is_list, asserts_by_nothing, make), value in compress(zip(_READ, values, strict=True), given):
        if value is False or not (value or asserts_by_nothing):
            continue
        if is_list:
            for index, item in enumerate(value):
                found.append(Assertion(pointer_to(key, index), key, make(item)))
        else:
            found.append(Assertion(pointer, key, make(value)))
    for index, record in enumerate(expect.checks or ()):
        check = check_of(record)
        found.append(Assertion(pointer_to("checks", index), named(check, record), check, asks(check, "judge")))
    return found


def named(check: Check, record: Record) -> str:
    """The beginning of messages about an entry of `expect.checks`."""
    match check:
        case Of(Turn(number)):
            return f"turn {number}"
        case _:
            return str(record["type"])


def check_in(name: str, value: Any) -> Check:
    """The check that a value in a field of `Expect` is; of a list with an entry for each, that one entry."""
    check: Check = _MAKE[name](value)
    return check


def bounded(low: Any, high: Any) -> Check:
    """The check of a measure with the lower bound of one check and the upper bound of another."""
    return Of(low.step, Test("between", Bounds(low.check.operand.min, high.check.operand.max)))


def _maker(row: Form, field: str) -> Callable[[Any], Any]:
    """The function that makes the check of a field's value. Limits are few numbers, and most cases have the same."""
    make = filler(row.tree, field)
    return lru_cache(1024, typed=True)(make) if kind_of(row.tree) is Measure else make


_MAKERS: Final = {field: _maker(row, field) for row in (*_ROWS, *_READ_ONLY) for field in row.keys}
_MAKE: Final = {field: _MAKERS[field] for field in _FIELDS if field in _MAKERS}
"""The functions that make checks of the values of the fields, in the order of the fields."""
_values: Final = attrgetter(*_MAKE)
ASSERT_BY_NOTHING: Final = frozenset(
    {"tools_called", "tools_acceptable", "tools_not_called", "max_length", "max_tool_calls", "max_cost"}
)
"""The fields in which an empty list or 0 asserts something. In the others it does not (the contract's truthiness)."""
_READ: Final = tuple(
    (KEYS[field], f"/expect/{KEYS[field]}", field in EACH, field in ASSERT_BY_NOTHING, make)
    for field, make in _MAKE.items()
)


@lru_cache(1024)
def pointer_to(field: str, index: int) -> str:
    """The JSON pointer from a case's root to an entry of a field of `expect`."""
    return f"/expect/{field}/{index}"


def judge_check(dimension: RubricDimension) -> Check:
    """The check that an entry of `rubric` is; a runner evaluates it after those of `expect`."""
    return Test("judge", (dimension.dimension, dimension.max_score, dimension.criteria, dimension.min_score))
