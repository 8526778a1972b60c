"""Return which field of `expect` holds which check: lowering writes by this table, and `assertions` reads by it.

What no field can hold is an entry of `expect.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from evalc.check.forms import FORMS, Record, check_of
from evalc.check.tree import Check, Not, Of, Test, Turn
from evalc.model.case import Expect, RubricDimension, ToolParamExpectation
from evalc.model.json import only_key, path_of_key

KEYS: Final = dict(zip(Expect.__struct_fields__, Expect.__struct_encode_fields__, strict=True))
"""The fields of `expect`, and what they are called in JSON."""


CONTRACT_FIELDS: Final = frozenset(
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


class Field(NamedTuple):
    """A field of `expect` that can hold a check.

    Attributes:
        name: the field of `Expect`.
        key: the key of the check's record that it holds; empty for a field that is `true`.
        each: whether the field is a list with an entry for each such check.
        once: whether a nearer layer replaces it, and a second value in one layer is a mistake.
    """

    name: str
    key: str = ""
    each: bool = False
    once: bool = False


CONTRACT: Final[Mapping[str, tuple[Field, ...]]] = {
    "contains": (Field("response_contains", "value", each=True),),
    "not_contains": (Field("response_not_contains", "value", each=True),),
    "contains_any": (Field("response_contains_any", "values", each=True),),
    "regex": (Field("response_matches", "pattern", each=True),),
    "non_empty": (Field("response_non_empty"),),
    "length": (Field("min_length", "min", once=True), Field("max_length", "max", once=True)),
    "json": (Field("json_valid"),),
    "structure": (Field("required_keys", "fields"),),
    "tools_called": (Field("tools_called", "names", once=True),),
    "tools_acceptable": (Field("tools_acceptable", "sets", once=True),),
    "tools_not_called": (Field("tools_not_called", "names"),),
    "tool_param": (Field("tool_params", each=True),),
    "no_tool_errors": (Field("no_tool_errors"),),
    "tool_count": (Field("min_tool_calls", "min", once=True), Field("max_tool_calls", "max", once=True)),
    "latency": (Field("max_latency_ms", "max", once=True),),
    "tokens": (Field("max_tokens", "max", once=True),),
    "cost": (Field("max_cost", "max", once=True),),
}
"""The fields that hold each type of check, in the order of `Expect`."""


def _texts_alone(record: Record) -> bool:
    return "ignoringCase" not in record and all(isinstance(value, str) for value in record["values"])


def _is_counted(record: Record) -> bool:
    """Bounds that a field can hold; a lower bound of 0 asserts nothing in the contract."""
    given = record.keys() - {"type"}
    return (
        bool(given)
        and given <= {"min", "max"}
        and record.get("min") != 0
        and all(isinstance(record[key], int) for key in given)
    )


def _is_limit(record: Record) -> bool:
    """A limit that a field can hold; one of 0 asserts nothing in the contract."""
    return record.keys() == {"type", "max"} and not isinstance(record["max"], str) and record["max"] != 0


_HOLDS: Final[Mapping[str, Callable[[Record], bool]]] = {
    "contains": lambda record: isinstance(record["value"], str),
    "contains_any": _texts_alone,
    "regex": lambda record: "flags" not in record,
    "length": _is_counted,
    "json": lambda record: record.keys() == {"type"},
    "structure": lambda record: (
        "fields" in record
        and "headings" not in record
        and all("type" not in field and only_key(field["path"]) is not None for field in record["fields"])
    ),
    "tool_count": _is_counted,
    "latency": _is_limit,
    "tokens": _is_limit,
    "cost": lambda record: record.keys() == {"type", "max"} and not isinstance(record["max"], str),
}
"""When a field can hold a record, of the types of which it cannot hold each."""


def fields_of(record: Record) -> tuple[Field, ...]:
    """The fields of `expect` that can hold this very check; none for an entry of `expect.checks`."""
    fields = CONTRACT.get(record["type"], ())
    holds = _HOLDS.get(record["type"])
    return fields if holds is None or holds(record) else ()


def held(field: Field, record: Record) -> Any:
    """Return what a field holds of a check; None if the check says nothing of it."""
    if not field.key:
        return True if field.name != "tool_params" else _param(record)
    value = record.get(field.key)
    if field.name == "required_keys" and value is not None:
        return tuple(only_key(each["path"]) for each in value)
    return _tuples(value)


def _param(record: Record) -> ToolParamExpectation:
    return ToolParamExpectation(
        tool=record["tool"],
        param_name=record["paramName"],
        assertion=record["assertion"],
        value=_tuples(record.get("value")),
    )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def single_fields(record: Record) -> dict[str, str]:
    """The keys of a check that say what there can be one of, each with the name of that: of the field that holds it.

    A length in words is not a length in characters.
    """
    once = [field for field in CONTRACT.get(record["type"], ()) if field.once and record.get(field.key) is not None]
    if not once:
        return {}
    narrower = "".join(f" in {record[key]}" for key in ("unit", "tool") if key in record)
    return {field.key: KEYS[field.name] + narrower for field in once}


def without(record: Record, fields: Collection[str]) -> Record | None:
    """The rest of a check when others fill these fields; None if nothing is left."""
    keys = {key for key, name in single_fields(record).items() if name in fields}
    rest = {key: value for key, value in record.items() if key not in keys}
    return None if keys and rest.keys().isdisjoint(_SAY_SOMETHING) else rest


_SAY_SOMETHING: Final = frozenset({"min", "max", "above", "below"})


_FIELDS: Final = Expect.__struct_fields__
_POSITION: Final = {type_: index for index, type_ in enumerate(dict.fromkeys(form.type for form in FORMS))}


def rank(record: Record) -> tuple[int, bool, bool]:
    """The position of a check in the canonical order; checks of one rank keep the order they were written in.

    Among checks of one type those with a field of their own come first, and of two bounds the lower one.
    """
    type_ = record["type"]
    fields = CONTRACT.get(type_)
    if fields is None:
        return len(_FIELDS) + _POSITION.get(type_, _POSITION["argument"]), True, False
    return _FIELDS.index(fields[0].name), not fields_of(record), len(fields) > 1 and record.get("min") is None


# --- reading ---------------------------------------------------------------------------------------------------------


class Assertion(NamedTuple):
    """One checked value: its JSON pointer from the case's root, the name its failures begin with, and the check."""

    at: str
    field: str
    check: Check


def assertions(expect: Expect) -> Iterator[Assertion]:
    """Every assertion of `expect`, in the order in which a runner evaluates them (contract, Assertion Execution)."""
    for name, make in _MADE_OF.items():
        value = getattr(expect, name)
        if value is None or value is False or (not value and name not in ASSERT_BY_NOTHING):
            continue
        key = KEYS[name]
        if name in _LISTS:
            for index, item in enumerate(value):
                yield Assertion(_pointer(key, index), key, make(item))
        else:
            yield Assertion(f"/expect/{key}", key, make(value))
    for index, record in enumerate(expect.checks or ()):
        check = check_of(record)
        yield Assertion(_pointer("checks", index), named(check, record), check)


def named(check: Check, record: Record) -> str:
    """The beginning of messages about an entry of `expect.checks`."""
    match check:
        case Of(Turn(number)):
            return f"turn {number}"
        case _:
            return str(record["type"])


def _reader(type_: str, key: str) -> Callable[[Any], Check]:
    return lambda value: check_of({"type": type_, key: value} if key else {"type": type_})


def _param_check(entry: ToolParamExpectation) -> Check:
    given = {} if entry.value is None else {"value": entry.value}
    names = {"tool": entry.tool, "paramName": entry.param_name, "assertion": entry.assertion}
    return check_of({"type": "tool_param", **names, **given})


def _required(fields: Iterable[tuple[str, str | None]]) -> Check:
    return Test("structure", (tuple((path_of_key(key), type_) for key, type_ in fields), ()))


def check_in(name: str, value: Any) -> Check:
    """The check that a value in a field of `Expect` is; of a list with an entry for each, that one entry."""
    return _READERS[name](value)


_READERS: Final[dict[str, Callable[[Any], Check]]] = {
    field.name: _reader(type_, field.key) for type_, fields in CONTRACT.items() for field in fields
} | {
    "tool_params": _param_check,
    "required_keys": lambda keys: _required((key, None) for key in keys),
    "type_checks": lambda types: _required(types.items()),
    "regex_pattern": _reader("regex", "pattern"),
    "cop_out_phrases": lambda phrase: Not(Test("contains", phrase, True)),
}
_MADE_OF: Final = {name: _READERS[name] for name in Expect.__struct_fields__ if name in _READERS}
_LISTS: Final = frozenset({"cop_out_phrases", *(f.name for fields in CONTRACT.values() for f in fields if f.each)})
ASSERT_BY_NOTHING: Final = frozenset(
    {"tools_called", "tools_acceptable", "tools_not_called", "max_length", "max_tool_calls", "max_cost"}
)
"""The fields in which an empty list or 0 asserts something. In the others it does not (the contract's truthiness)."""

PAIRS: Final = (("minLength", "maxLength"), ("minToolCalls", "maxToolCalls"))
"""Fields that are the two bounds of one check, unless a criterion links them apart."""


@lru_cache(1024)
def _pointer(field: str, index: int) -> str:
    return f"/expect/{field}/{index}"


def judge_check(dimension: RubricDimension) -> Check:
    """The check that an entry of `rubric` is; a runner evaluates it after those of `expect`."""
    return Test("judge", (dimension.dimension, dimension.max_score, dimension.criteria, dimension.min_score))
