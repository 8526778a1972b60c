"""The forms of checks in JSON: each `type` is a tree with holes, read in both directions.

`check_of` makes the tree of a record, `record_of` the record of a tree; each form is its own inverse. `call_has` alone
is written by hand, because the tests of its arguments are a mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from evalc.check.tree import (
    OF_TEXT,
    All,
    Argument,
    At,
    Bounds,
    Call,
    Check,
    Failure,
    Items,
    Measure,
    Node,
    Not,
    Of,
    Result,
    Some,
    Test,
    Tools,
    Turn,
)

Record: TypeAlias = dict[str, Any]
"""A check as the case model writes it in JSON: an object whose `type` names its form."""

ABSENT: Final = msgspec.UNSET


class Hole(NamedTuple):
    """A part of a form that the record gives.

    Attributes:
        key: its key in the record.
        default: what an absent key means, which is then left out of the record; `ABSENT` where it is required.
        fits: whether a value has this form.
        read: makes the tree's value of the record's.
        write: makes the record's value of the tree's.
    """

    key: str
    default: Any = ABSENT
    fits: Callable[[Any], bool] = lambda _: True
    read: Callable[[Any], Any] = lambda value: value
    write: Callable[[Any], Any] = lambda value: value


class Form(NamedTuple):
    """A form of checks: the `type` of its records, its tree with holes, its keys in order, what is in all of them."""

    type: str
    tree: Any
    holes: tuple[Hole, ...]
    keys: tuple[str, ...]
    fixed: Mapping[str, Any]


def _form(type_: str, tree: Any, *first: str, **fixed: Any) -> Form:
    """A form; the keys of its records are the `first` ones, then those of its other holes."""
    holes = tuple(_holes(tree))
    return Form(type_, tree, holes, tuple(dict.fromkeys((*first, *(hole.key for hole in holes)))), fixed)


def _holes(tree: Any) -> Iterator[Hole]:
    match tree:
        case Hole():
            yield tree
        case Node():
            for name in tree.__struct_fields__:
                yield from _holes(getattr(tree, name))
        case tuple():
            for part in tree:
                yield from _holes(part)
        case _:
            pass


# --- holes -----------------------------------------------------------------------------------------------------------


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value


def _fields(value: Iterable[Mapping[str, str]]) -> tuple[tuple[str, str | None], ...]:
    return tuple((field["path"], field.get("type")) for field in value)


def _field_records(fields: Iterable[tuple[str, str | None]]) -> list[dict[str, str]]:
    return [{"path": path} if type_ is None else {"path": path, "type": type_} for path, type_ in fields]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, tuple) and all(map(_is_text, value)))


def _hole(key: str, default: Any = ABSENT, **rest: Any) -> Any:
    """A hole, which may stand for a part of a tree of any type."""
    return Hole(key, default, **rest)


def _texts(key: str, default: Any = ABSENT, **rest: Any) -> Any:
    """A hole for a list of texts, or of lists of them."""
    return Hole(key, default, read=_tuples, write=_lists, **rest)


def _values(key: str, default: Any = ABSENT) -> Any:
    """A hole for a list of JSON values."""
    return Hole(key, default, read=tuple, write=_lists)


_CASE: Final = _hole("ignoringCase", False)
_BOUNDS: Final = Bounds(_hole("min", None), _hole("max", None), _hole("above", None), _hole("below", None))
_BETWEEN: Final = Test("between", _BOUNDS)
_CHECK: Final = _hole(
    "check",
    read=lambda record: check_of(record),  # noqa: PLW0108 - it is defined below
    write=lambda check: record_of(check),  # noqa: PLW0108 - the same
)
_CHECKS: Final = _hole(
    "checks",
    read=lambda records: tuple(map(check_of, records)),
    write=lambda checks: list(map(record_of, checks)),
)


def _param(assertion: str, test: Any) -> Form:
    tree = Of(Call(_hole("tool"), "first"), Of(Argument(_hole("paramName")), test))
    return _form("tool_param", tree, "tool", "paramName", "assertion", assertion=assertion)


FORMS: Final[tuple[Form, ...]] = (
    _form("contains", Test("contains", _hole("value"))),
    _form("not_contains", Not(Test("contains", _hole("value", fits=_is_text)))),
    _form("icontains", Test("contains", _hole("value"), True)),
    _form("contains_any", Test("contains_any", _values("values"), _CASE)),
    _form("regex", Test("matches", (_hole("pattern"), _hole("flags", "")))),
    _form("equals", Test("equals", _hole("value"), _CASE)),
    _form("starts_with", Test("starts_with", _hole("value"), _CASE)),
    _form("ends_with", Test("ends_with", _hole("value"), _CASE)),
    _form("non_empty", Test("non_empty")),
    _form(
        "length", Of(Measure(_hole("unit", "chars", fits=(OF_TEXT - {"tokens"}).__contains__)), _BETWEEN), "min", "max"
    ),
    _form("similar", Test("similar", (_hole("value"), _hole("threshold", 0.8)))),
    _form("contains_all", Test("contains_all", _values("values"), _CASE)),
    _form("occurs", Test("occurs", (_hole("value"), _BOUNDS), _CASE)),
    _form("markdown", Test("markdown", (_hole("has"), _hole("language", None)))),
    _form("language", Test("language", _hole("of"))),
    _form("json", Test("json", (_hole("mode", "strict"), _hole("schema", None)))),
    _form(
        "structure",
        Test("structure", (_hole("fields", (), read=_fields, write=_field_records), _texts("headings", ()))),
    ),
    _form("number", _BETWEEN),
    _form("count", Of(Measure("items"), _BETWEEN)),
    _form("value", Test("is", _hole("value"))),
    _form("within", Test("within", (_hole("by"), _hole("of")))),
    _form("one_of", Test("one_of", _values("values"), _CASE)),
    _form("exists", Test("exists")),
    _form("empty", Test("empty")),
    _form("is_a", Test("is_a", _hole("of"))),
    _form("format", Test("format", _hole("of"))),
    _form("sorted", Test("sorted", (_hole("descending", False), _hole("by", None)))),
    _form("unique", Test("unique")),
    _form("numbers_from", Test("numbers_from", _texts("sources", ("tools",)))),
    _form("quotes_from", Test("quotes_from", _texts("sources", ("tools",)))),
    _form("tools_called", Of(Tools(), Test("called", _texts("names")))),
    _form("tools_acceptable", Of(Tools(), Test("acceptable", _texts("sets")))),
    _form("tools_not_called", Of(Tools(), Test("not_called", _texts("names")))),
    _form("tools_include", Of(Tools(), Test("include", _texts("names")))),
    _form("tools_in_order", Of(Tools(), Test("in_order", _texts("names")))),
    _form("tools_only", Of(Tools(), Test("only", _texts("names")))),
    _form("called_before", Of(Tools(), Test("before", (_hole("first"), _hole("then"))))),
    _param("equals", Test("equals", _hole("value", None))),
    _param("contains", Test("contains", _hole("value", None, fits=lambda value: value is None or _are_texts(value)))),
    _param("oneOf", Test("one_of", _texts("value", None, fits=lambda value: value is None or _are_texts(value)))),
    _param("exists", Test("exists")),
    _param("notExists", Not(Test("exists"))),
    _param("matches", Test("matches", (_hole("value", None), ""))),
    _form("argument", Of(Call(_hole("tool"), "first"), Of(Argument(_hole("name")), _CHECK))),
    _form("call", Of(Call(_hole("tool"), _hole("which", "any")), _CHECK)),
    _form("result", Of(Result(), _CHECK)),
    _form("failure", Of(Failure(), _CHECK)),
    _form("fails", Test("fails")),
    _form("no_tool_errors", Of(Tools(), Test("no_errors"))),
    _form("tool_count", Of(Measure("calls", _hole("tool", "")), _BETWEEN), "min", "max"),
    _form("tool_errors", Of(Measure("errors"), _BETWEEN)),
    _form("latency", Of(Measure("ms"), _BETWEEN), "max"),
    _form("tokens", Of(Measure("tokens"), _BETWEEN), "max"),
    _form("cost", Of(Measure("dollars"), _BETWEEN), "max"),
    _form("usage", Of(Measure(_hole("of")), _BETWEEN)),
    _form("measure", Of(Measure(_hole("of"), _hole("tool", "")), _CHECK)),
    _form("check", Test("check", (_hole("name"), _values("args", ()), _hole("options", {}), _BOUNDS))),
    _form("at", Of(At(_hole("path")), _CHECK)),
    _form("items", Of(Items(_hole("path"), _hole("which")), _CHECK)),
    _form("turn", Of(Turn(_hole("turn")), _CHECK)),
    _form("any_of", Some(_CHECKS)),
    _form("all_of", All(_CHECKS)),
    _form("not", Not(_CHECK)),
    _form(
        "judge",
        Test("judge", (_hole("dimension"), _hole("maxScore", 1), _hole("criteria", ""), _hole("minScore", None))),
    ),
)
"""Every form; what has no field of `expect` stands in this order in a compiled case.

Of the forms that a tree has, the first one is its record's.
"""

TYPES: Final[Mapping[str, tuple[Form, ...]]] = {
    type_: tuple(form for form in FORMS if form.type == type_) for type_ in dict.fromkeys(form.type for form in FORMS)
}
"""The forms by their `type`: one each, but for the six of `tool_param`."""


# --- both directions -------------------------------------------------------------------------------------------------


def check_of(record: Record) -> Check:
    """The check that a record means; the record has the shape that its type asks for."""
    if record["type"] == CALL_HAS:
        return _calls_of(record)
    check: Check = _fill(form_of(record).tree, record)
    return check


def form_of(record: Record) -> Form:
    """The form that a record has."""
    for form in TYPES[record["type"]]:
        if not form.fixed or form.fixed.items() <= record.items():
            return form
    raise KeyError(record["type"])


def record_of(check: Check) -> Record:
    """A check as the case model has it: in the first form that its tree has."""
    calls = _call_has(check)
    if calls is not None:
        return calls
    for form in _CANDIDATES[kind_of(check)]:
        found: Record = {}
        if _take(form.tree, check, found):
            found |= form.fixed
            return {"type": form.type, **{key: found[key] for key in form.keys if key in found}}
    raise ValueError(check)


def type_of(check: Check) -> str:
    """The `type` of a check's record."""
    return str(record_of(check)["type"])


def _fill(tree: Any, record: Record) -> Any:
    """The tree that a form is with these values in its holes."""
    match tree:
        case Hole(key, default, _, read):
            value = record.get(key, ABSENT)
            return default if value is ABSENT else read(value)
        case Node():
            return type(tree)(*(_fill(getattr(tree, name), record) for name in tree.__struct_fields__))
        case tuple():
            return tuple(_fill(part, record) for part in tree)
        case _:
            return tree


def _take(form: Any, tree: Any, found: Record) -> bool:
    """Whether a tree has a form; what is in its holes goes to `found`."""
    match form:
        case Hole(key, default, fits, _, write):
            if not fits(tree):
                return False
            if tree != default or type(tree) is not type(default):
                found[key] = write(tree)
            return True
        case Node():
            if type(form) is not type(tree):
                return False
            return all(_take(getattr(form, name), getattr(tree, name), found) for name in form.__struct_fields__)
        case tuple():
            return (
                isinstance(tree, tuple) and len(form) == len(tree) and all(map(_take, form, tree, [found] * len(form)))
            )
        case _:
            return bool(form == tree)


def kind_of(check: Any) -> Any:
    """The common part of a form and of its trees: the predicate, or the kind of the first step, or of the node."""
    match check:
        case Test(predicate):
            return predicate
        case Of(step):
            return type(step)
        case _:
            return type(check)


_CANDIDATES: Final[Mapping[Any, tuple[Form, ...]]] = {
    kind: tuple(form for form in FORMS if kind_of(form.tree) == kind)
    for kind in dict.fromkeys(kind_of(form.tree) for form in FORMS)
}


# --- calls with arguments --------------------------------------------------------------------------------------------

CALL_HAS: Final = "call_has"
_TESTS: Final[Mapping[str, Any]] = {
    "equals": Test("equals", _hole("equals", fits=_is_text)),
    "contains": Test("contains", _hole("contains", fits=_is_text)),
    "matches": Test("matches", (_hole("matches"), "")),
    "oneOf": Test("one_of", _values("oneOf")),
    "exists": Test("exists"),
    "min": Test("between", Bounds(_hole("min", None), _hole("max", None))),
}
"""The tests of one argument, by their keys; a test of bounds has two."""
_ORDER: Final = ("equals", "contains", "matches", "oneOf", "exists", "min", "max")


def _calls_of(record: Record) -> Check:
    tests = [Of(At(path), test) for path, entry in record["args"].items() for test in _tests_of(entry)]
    return Of(Call(record["tool"], record.get("which", "any")), together(tests))


def together(tests: Iterable[Check]) -> Check:
    """Return what follows `has`: one test by itself, several as all of them, in the order of a record's arguments."""
    several = tuple(tests)
    if len(several) == 1:
        return several[0]
    steps = list(dict.fromkeys(getattr(test, "step", None) for test in several))
    return All(tuple(sorted(several, key=lambda test: (steps.index(getattr(test, "step", None)), _position(test)))))


def _position(test: Any) -> int:
    """Where the test of an argument stands among the keys of its entry; what an entry cannot hold comes last."""
    entry = _entry(test.check) if isinstance(test, Of) else None
    return min((_ORDER.index(key) for key in entry or ()), default=len(_ORDER))


def _tests_of(entry: Mapping[str, Any]) -> Iterator[Check]:
    if "equals" in entry:
        value = entry["equals"]
        yield Test("equals" if isinstance(value, str) else "is", value)
    for key in ("contains", "matches", "oneOf"):
        if entry.get(key) is not None:
            yield _fill(_TESTS[key], {key: entry[key]})
    if entry.get("min") is not None or entry.get("max") is not None:
        yield Test("between", Bounds(entry.get("min"), entry.get("max")))
    if entry.get("exists") is not None:
        yield Test("exists") if entry["exists"] else Not(Test("exists"))


def _call_has(check: Check) -> Record | None:
    """The record of a check of calls whose arguments have tests that a mapping can hold; None for any other."""
    match check:
        case Of(Call(tool, which), inner) if which != "first":
            args: dict[str, Record] = {}
            for part in inner.checks if isinstance(inner, All) else (inner,):
                if not isinstance(part, Of) or not isinstance(part.step, At):
                    return None
                test = _entry(part.check)
                entry = args.setdefault(part.step.path, {})
                if test is None or not entry.keys().isdisjoint(test):
                    return None
                entry |= test
            ordered = {path: {key: entry[key] for key in _ORDER if key in entry} for path, entry in args.items()}
            return {"type": CALL_HAS, "tool": tool, **({} if which == "any" else {"which": which}), "args": ordered}
        case _:
            return None


def _entry(test: Check) -> Record | None:
    match test:
        case Test("is", value) if not isinstance(value, str):
            return {"equals": value}
        case Not(Test("exists")):
            return {"exists": False}
        case Test("exists"):
            return {"exists": True}
        case _:
            for form in _TESTS.values():
                found: Record = {}
                if _take(form, test, found):
                    return found
            return None
