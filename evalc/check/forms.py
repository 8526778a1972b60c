"""The forms of checks in JSON: each `type` is a tree with holes, read in both directions.

`check_of` makes the tree of a record, `record_of` the record of a tree; each form is its own inverse. `call_has` alone
is written by hand, because the tests of its arguments are a mapping. A `Placed` record knows where its texts were
written, and so does the tree built from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, final

import msgspec

from evalc.check import tree as t
from evalc.check.predicates import Role, texts_of
from evalc.model.json import pointer_step

Record: TypeAlias = dict[str, Any]
"""A check as the case model writes it in JSON: an object whose `type` names its form."""

ABSENT: Final = msgspec.UNSET


class Hole(NamedTuple):
    """A part of a form that the record gives.

    Attributes:
        key: its key in the record.
        default: what an absent key means, which is then left out of the record; `ABSENT` where it is required.
        fits: whether a value has this form; any has without it.
        read: makes the tree's value of the record's; they are the same without it.
        write: makes the record's value of the tree's, likewise; `ABSENT` if a tree has not this form.
    """

    key: str
    default: Any = ABSENT
    fits: Callable[[Any], bool] | None = None
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None


Take = Callable[[Any, Record], bool]
"""Says whether a tree has a form; what is in its holes goes to the record."""
Make = Callable[[Any], Any]
"""Makes the tree of a form of a record, or of a list if the keys of its holes are indexes."""


@final
class Form(msgspec.Struct, frozen=True, dict=True, eq=False):
    """A form of checks: the `type` of its records, its tree with holes, and the keys that all of them have.

    The keys of its records are the `first` ones, then those of its other holes.
    """

    type: str
    tree: Any
    first: tuple[str, ...]
    fixed: Mapping[str, Any]

    @cached_property
    def take(self) -> Take:
        """The function that takes trees of this form apart."""
        return taker(self.tree)

    @cached_property
    def make(self) -> Make:
        """The function that makes trees of this form of their records."""
        return maker(self.tree) or (lambda _: self.tree)

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """The holes of the tree, in order."""
        return tuple(holes_of(self.tree))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of records, but for `type`, in order."""
        return tuple(dict.fromkeys((*self.first, *(hole.key for hole in self.holes))))


def form(type_: str, tree: Any, *first: str, **fixed: Any) -> Form:
    """A form of checks."""
    return Form(type_, tree, first, fixed)


def holes_of(tree: Any) -> Iterator[Hole]:
    """The holes of a form, in order."""
    if isinstance(tree, Hole):
        yield tree
    for part in _members(tree):
        yield from holes_of(part)


def _members(tree: Any) -> tuple[Any, ...]:
    """The fields of a node, the items of a tuple or list, and the values of a mapping; other constants have none."""
    if isinstance(tree, t.Node):
        return msgspec.structs.astuple(tree)
    return tuple(tree.values()) if isinstance(tree, dict) else tuple(tree) if type(tree) in (tuple, list) else ()


def taker(form: t.Node | tuple[Any, ...]) -> Take:
    """The function that takes trees of a form apart; it looks at all that is fixed at once."""
    if isinstance(form, Hole):
        whole = taker((form,))
        return lambda tree, found: whole((tree,), found)
    size = len(form) if isinstance(form, tuple) else None
    parts = dict(enumerate(form)) if isinstance(form, tuple) else dict(_parts_of(form))
    getter: Any = attrgetter if size is None else itemgetter
    moving = {key: part for key, part in parts.items() if any(holes_of(part))}
    fixed = parts.keys() - moving.keys()
    constants: Any = getter(*fixed) if fixed else len
    required = constants(form)
    holes = [(getter(key), *part) for key, part in moving.items() if isinstance(part, Hole)]
    others = [(getter(key), taker(part)) for key, part in moving.items() if not isinstance(part, Hole)]

    def take(tree: Any, found: Record) -> bool:
        if size is not None and (not isinstance(tree, tuple) or len(tree) != size):
            return False
        try:
            if constants(tree) != required:
                return False
        except AttributeError:  # the tree has nodes of other kinds
            return False
        for part_of, key, default, fits, _, write in holes:
            part = part_of(tree)
            if fits is not None and not fits(part):
                return False
            if part != default or type(part) is not type(default):
                value = found[key] = part if write is None else write(part)
                if value is ABSENT:
                    return False
        for part_of, take_part in others:  # noqa: SIM110 - quicker
            if not take_part(part_of(tree), found):
                return False
        return True

    return take


def _parts_of(node: t.Node, path: str = "") -> Iterator[tuple[str, Any]]:
    """The kinds of the nodes that have holes, and their other parts, each with the path of its attribute."""
    yield f"{path}__class__", type(node)
    for name in node.__struct_fields__:
        part = getattr(node, name)
        if isinstance(part, t.Node) and any(holes_of(part)):
            yield from _parts_of(part, f"{path}{name}.")
        else:
            yield f"{path}{name}", part


def maker(form: Any) -> Make | None:
    """The function that makes trees of a form; None if it has no holes."""
    if isinstance(form, Hole):
        key, default, _, read, _ = form
        if default is ABSENT:
            return itemgetter(key) if read is None else lambda record: read(record[key])
        return lambda record: (record[key] if read is None else read(record[key])) if key in record else default
    into = _into(form)
    parts = _members(form)
    makers = {at: make for at, part in enumerate(parts) if (make := maker(part)) is not None}
    if not makers:
        return None
    if len(makers) > 1:
        return lambda record: into(*[makers[at](record) if at in makers else part for at, part in enumerate(parts)])
    ((at, make),) = makers.items()
    before, after = parts[:at], parts[at + 1 :]
    return lambda record: into(*before, make(record), *after)


def _into(form: Any) -> Callable[..., Any]:
    """The function that makes what a form makes of its parts."""
    if isinstance(form, dict):
        return lambda *made: dict(zip(form, made, strict=True))
    return type(form) if isinstance(form, t.Node) else lambda *made: type(form)(made)


# --- holes -----------------------------------------------------------------------------------------------------------


def tuples(value: Any) -> Any:
    """A value whose lists are tuples, as trees have them."""
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else value


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value


is_text: Final[Callable[[Any], bool]] = str.__instancecheck__
"""Whether a value is a text."""


def are_texts(value: Any) -> bool:
    """Whether a value is a text, or a list of texts alone."""
    return isinstance(value, str) or (isinstance(value, tuple) and all(map(is_text, value)))


def hole(key: Any, default: Any = ABSENT, **rest: Any) -> Any:
    """A hole, which may stand for a part of a tree of any type."""
    return Hole(key, default, **rest)


def _texts(key: str, default: Any = ABSENT, **rest: Any) -> Any:
    """A hole for a list of texts, or of lists of them."""
    return Hole(key, default, read=tuples, write=_lists, **rest)


def _values(key: str, default: Any = ABSENT) -> Any:
    """A hole for a list of JSON values."""
    return Hole(key, default, read=tuple, write=_lists)


_CASE: Final = hole("ignoringCase", False)
_BOUNDS: Final = t.Bounds(hole("min", None), hole("max", None), hole("above", None), hole("below", None))
_BETWEEN: Final = t.Test("between", _BOUNDS)
_FIELDS: Final = hole(
    "fields",
    (),
    read=lambda fields: tuple((field["path"], field.get("type")) for field in fields),
    write=lambda fields: [{"path": path, **({"type": type_} if type_ else {})} for path, type_ in fields],
)
_CHECK: Final = hole(
    "check",
    read=lambda record: check_of(record),  # noqa: PLW0108 - it is defined below
    write=lambda check: record_of(check),  # noqa: PLW0108 - the same
)
_CHECKS: Final = hole(
    "checks",
    read=lambda records: tuple(map(check_of, records)),
    write=lambda checks: list(map(record_of, checks)),
)


def _param(assertion: str, test: Any) -> Form:
    tree = t.Of(t.Call(hole("tool"), "first"), t.Of(t.Argument(hole("paramName")), test))
    return form("tool_param", tree, "tool", "paramName", "assertion", assertion=assertion)


FORMS: Final[tuple[Form, ...]] = (
    form("contains", t.Test("contains", hole("value"))),
    form("not_contains", t.Not(t.Test("contains", hole("value", fits=is_text)))),
    form("icontains", t.Test("contains", hole("value"), True)),
    form("contains_any", t.Test("contains_any", _values("values"), _CASE)),
    form("regex", t.Test("matches", (hole("pattern"), hole("flags", "")))),
    form("equals", t.Test("equals", hole("value"), _CASE)),
    form("starts_with", t.Test("starts_with", hole("value"), _CASE)),
    form("ends_with", t.Test("ends_with", hole("value"), _CASE)),
    form("non_empty", t.Test("non_empty")),
    form(
        "length",
        t.Of(t.Measure(hole("unit", "chars", fits=(t.OF_TEXT - {"tokens"}).__contains__)), _BETWEEN),
        "min",
        "max",
    ),
    form("similar", t.Test("similar", (hole("value"), hole("threshold", 0.8)))),
    form("contains_all", t.Test("contains_all", _values("values"), _CASE)),
    form("occurs", t.Test("occurs", (hole("value"), _BOUNDS), _CASE)),
    form("markdown", t.Test("markdown", (hole("has"), hole("language", None)))),
    form("language", t.Test("language", hole("of"))),
    form("json", t.Test("json", (hole("mode", "strict"), hole("schema", None)))),
    form("structure", t.Test("structure", (_FIELDS, _texts("headings", ())))),
    form("number", _BETWEEN),
    form("count", t.Of(t.Measure("items"), _BETWEEN)),
    form("value", t.Test("is", hole("value"))),
    form("within", t.Test("within", (hole("by"), hole("of")))),
    form("one_of", t.Test("one_of", _values("values"), _CASE)),
    form("exists", t.Test("exists")),
    form("empty", t.Test("empty")),
    form("is_a", t.Test("is_a", hole("of"))),
    form("format", t.Test("format", hole("of"))),
    form("sorted", t.Test("sorted", (hole("descending", False), hole("by", None)))),
    form("unique", t.Test("unique")),
    form("numbers_from", t.Test("numbers_from", _texts("sources", ("tools",)))),
    form("quotes_from", t.Test("quotes_from", _texts("sources", ("tools",)))),
    form("tools_called", t.Of(t.Tools(), t.Test("called", _texts("names")))),
    form("tools_acceptable", t.Of(t.Tools(), t.Test("acceptable", _texts("sets")))),
    form("tools_not_called", t.Of(t.Tools(), t.Test("not_called", _texts("names")))),
    form("tools_include", t.Of(t.Tools(), t.Test("include", _texts("names")))),
    form("tools_in_order", t.Of(t.Tools(), t.Test("in_order", _texts("names")))),
    form("tools_only", t.Of(t.Tools(), t.Test("only", _texts("names")))),
    form("called_before", t.Of(t.Tools(), t.Test("before", (hole("first"), hole("then"))))),
    _param("equals", t.Test("equals", hole("value", None))),
    _param("contains", t.Test("contains", hole("value", None, fits=lambda value: value is None or are_texts(value)))),
    _param("oneOf", t.Test("one_of", _texts("value", None, fits=lambda value: value is None or are_texts(value)))),
    _param("exists", t.Test("exists")),
    _param("notExists", t.Not(t.Test("exists"))),
    _param("matches", t.Test("matches", (hole("value", None), ""))),
    form("argument", t.Of(t.Call(hole("tool"), "first"), t.Of(t.Argument(hole("name")), _CHECK))),
    form("call", t.Of(t.Call(hole("tool"), hole("which", "any")), _CHECK)),
    form("result", t.Of(t.Result(), _CHECK)),
    form("failure", t.Of(t.Failure(), _CHECK)),
    form("fails", t.Test("fails")),
    form("no_tool_errors", t.Of(t.Tools(), t.Test("no_errors"))),
    form("tool_count", t.Of(t.Measure("calls", hole("tool", "")), _BETWEEN), "min", "max"),
    form("tool_errors", t.Of(t.Measure("errors"), _BETWEEN)),
    form("latency", t.Of(t.Measure("ms"), _BETWEEN), "max"),
    form("tokens", t.Of(t.Measure("tokens"), _BETWEEN), "max"),
    form("cost", t.Of(t.Measure("dollars"), _BETWEEN), "max"),
    form("usage", t.Of(t.Measure(hole("of")), _BETWEEN)),
    form("measure", t.Of(t.Measure(hole("of"), hole("tool", "")), _CHECK)),
    form("check", t.Test("check", (hole("name"), _values("args", ()), hole("options", {}), _BOUNDS))),
    form("at", t.Of(t.At(hole("path")), _CHECK)),
    form("file", t.Of(t.File(hole("path")), _CHECK)),
    form("items", t.Of(t.Items(hole("path"), hole("which")), _CHECK)),
    form("turn", t.Of(t.Turn(hole("turn")), _CHECK)),
    form("any_of", t.Some(_CHECKS)),
    form("all_of", t.All(_CHECKS)),
    form("not", t.Not(_CHECK)),
    form(
        "judge",
        t.Test("judge", (hole("dimension"), hole("maxScore", 1), hole("criteria", ""), hole("minScore", None))),
    ),
)
"""Every form; what has no field of `expect` stands in this order in a compiled case.

Of the forms that a tree has, the first one is its record's.
"""


def grouped(forms: Iterable[Form], key: Callable[[Form], Any]) -> Mapping[Any, Sequence[Form]]:
    """Forms by a key that several may have."""
    groups: dict[Any, list[Form]] = {}
    for form in forms:
        groups.setdefault(key(form), []).append(form)
    return groups


TYPES: Final[Mapping[str, Sequence[Form]]] = grouped(FORMS, lambda form: form.type)
"""The forms by their `type`: one each, but for the six of `tool_param`."""


# --- both directions -------------------------------------------------------------------------------------------------


def check_of(record: Record) -> t.Check:
    """The check that a record means; the record has the shape that its type asks for."""
    if record["type"] == CALL_HAS:
        return _calls_of(record)
    check: t.Check = form_of(record).make(record)
    return check


def form_of(record: Record) -> Form:
    """The form that a record has."""
    for form in TYPES[record["type"]]:
        if not form.fixed or form.fixed.items() <= record.items():
            return form
    raise KeyError(record["type"])


def record_of(check: t.Check) -> Record:
    """A check as the case model has it: in the first form that its tree has."""
    kind = kind_of(check)
    if kind is t.Call and (calls := _call_has(check)) is not None:
        return calls
    for form in _CANDIDATES[kind]:
        found: Record = {}
        if form.take(check, found):
            found |= form.fixed
            return {"type": form.type, **{key: found[key] for key in form.keys if key in found}}
    raise ValueError(check)


def type_of(check: t.Check) -> str:
    """The `type` of a check's record."""
    return str(record_of(check)["type"])


def filler(form: Any, key: str) -> Callable[[Any], Any]:
    """The function that makes a tree of a form of the value of one hole; the other holes have their defaults.

    A form without holes is its own tree, whatever the value.
    """
    if isinstance(form, Hole):
        return form.read or (lambda value: value)
    parts = _members(form)
    index = next((at for at, each in enumerate(parts) if key in {hole.key for hole in holes_of(each)}), None)
    if index is None:
        return lambda _: form
    into = _into(form)
    makers = [None if at == index else maker(each) for at, each in enumerate(parts)]
    rest = tuple([make({}) if make else each for make, each in zip(makers, parts, strict=True)])
    before, after = rest[:index], rest[index + 1 :]
    if isinstance(parts[index], Hole) and parts[index].read is None:
        return lambda value: into(*before, value, *after)
    fill = filler(parts[index], key)
    return lambda value: into(*before, fill(value), *after)


def kind_of(check: Any) -> Any:
    """The common part of a form and of its trees: the predicate, or the kind of the first step, or of the node."""
    kind = type(check)
    return check.predicate if kind is t.Test else type(check.step) if kind is t.Of else kind


_CANDIDATES: Final[Mapping[Any, Sequence[Form]]] = grouped(FORMS, lambda form: kind_of(form.tree))


# --- calls with arguments --------------------------------------------------------------------------------------------

CALL_HAS: Final = "call_has"
_TESTS: Final = (
    form("equals", t.Test("equals", hole("equals", fits=is_text))),
    form("equals", t.Test("is", hole("equals", fits=lambda value: not isinstance(value, str)))),
    form("contains", t.Test("contains", hole("contains", fits=is_text))),
    form("matches", t.Test("matches", (hole("matches"), ""))),
    form("oneOf", t.Test("one_of", _values("oneOf"))),
    form("exists", t.Test("exists"), "exists", exists=True),
    form("exists", t.Not(t.Test("exists")), "exists", exists=False),
    form("between", t.Test("between", t.Bounds(hole("min", None), hole("max", None)))),
)
"""The forms of a test of one argument."""
_ORDER: Final = tuple(dict.fromkeys(key for form in _TESTS for key in form.keys))


def _calls_of(record: Record) -> t.Check:
    tests = [t.Of(t.At(path), test) for path, entry in record["args"].items() for test in tests_of(entry)]
    return t.Of(t.Call(record["tool"], record.get("which", "any")), together(tests))


def together(tests: Iterable[t.Check]) -> t.Check:
    """The check that follows `has`: one test as it is, several as `All`, in the order of a record's arguments."""
    several = tuple(tests)
    if len(several) == 1:
        return several[0]
    steps = list(dict.fromkeys(getattr(test, "step", None) for test in several))
    return t.All(tuple(sorted(several, key=lambda test: (steps.index(getattr(test, "step", None)), _position(test)))))


def _position(test: Any) -> int:
    """Where the test of an argument stands among the keys of its entry; what an entry cannot hold comes last."""
    entry = _entry(test.check) if isinstance(test, t.Of) else None
    return min((_ORDER.index(key) for key in entry or ()), default=len(_ORDER))


def tests_of(entry: Mapping[str, Any]) -> Iterator[t.Check]:
    """The tests of an argument that its entry holds."""
    given = {key: value for key, value in entry.items() if value is not None or key == "equals"}
    for form in _TESTS:
        fit = all(each.fits is None or each.fits(given.get(each.key)) for each in form.holes)
        if fit and not given.keys().isdisjoint(form.keys) and form.fixed.items() <= given.items():
            yield form.make(given)


def _call_has(check: t.Check) -> Record | None:
    """The record of a check of calls whose arguments have tests that a mapping can hold; None for any other."""
    match check:
        case t.Of(t.Call(tool, which), inner) if which != "first":
            args: dict[str, Record] = {}
            for part in t.conjuncts(inner):
                if not isinstance(part, t.Of) or not isinstance(part.step, t.At):
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


def _entry(test: t.Check) -> Record | None:
    for form in _TESTS:
        found: Record = {**form.fixed}
        if form.take(test, found):
            return found
    return None


@final
class Placed(str):
    """A text that knows where it was written."""

    __slots__ = ("place",)

    place: Any

    def __new__(cls, text: str, place: Any) -> Placed:  # noqa: D102 - a constructor
        placed = super().__new__(cls, text)
        placed.place = place
        return placed


def placed(value: Any, at: str = "") -> Any:
    """JSON whose texts know their JSON pointers; of a key, that is one with a leading `#`."""
    match value:
        case str():
            return Placed(value, at)
        case dict():
            parts = ((key, item, f"{at}/{pointer_step(key)}") for key, item in value.items())
            return {Placed(key, f"#{pointer}"): placed(item, pointer) for key, item, pointer in parts}
        case list() | tuple():
            return [placed(item, f"{at}/{index}") for index, item in enumerate(value)]
        case _:
            return value


def bare(value: Any) -> Any:
    """The same JSON, its texts without their places."""
    match value:
        case str():
            return str(value)
        case dict():
            return {str(key): bare(item) for key, item in value.items()}
        case list() | tuple():
            return [bare(item) for item in value]
        case _:
            return value


def places_of(record: Record) -> tuple[Any, ...]:
    """The places of the texts of a check, whose record has them, in the order of `texts_of`."""
    return tuple(getattr(text, "place", None) for _, text in texts_of(check_of(record)))


def texts_at(record: Record) -> Iterator[tuple[Role, str, str]]:
    """The texts of a check, each with its role and the JSON pointer to it in the check's record."""
    for role, text in texts_of(check_of(placed(record))):
        if isinstance(text, Placed):
            yield role, str(text), text.place
