"""Reads a check as facts, joined by `Every` and `Either`. A fact is a predicate of a subject, or its denial.

A predicate is so where its outcome is that it holds. `not` asks for more than that it is not so: the subject can be
asked, too. So `not at x < 5` is the fact that there is a number at x beside the denial of `at x < 5`.

Texts are templates as `templates` encodes them: what follows about them follows whatever their tokens turn out to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import ceil, floor, isfinite
from typing import Any, Final, TypeAlias

import msgspec

from evalc.check.holds import set_of
from evalc.check.tree import (
    OF_TEXT,
    All,
    Argument,
    At,
    Blank,
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
    Step,
    Test,
    Tools,
    Turn,
)
from evalc.check.values import text_of
from evalc.compiler.logic.texts import encode
from evalc.compiler.patterns import examine
from evalc.ecma.text import trim
from evalc.ecma.tokens import find_tokens
from evalc.model.json import EVERY, is_number, steps, to_json


class Json(Node, frozen=True):
    """The step from a text to the JSON that is read of it."""


class Times(Node, frozen=True):
    """The step to the number of times that something contains a text."""

    text: Any
    folded: bool


JSON: Final = Json()
TOOLS: Final = Tools()
ITEM: Final = (Items("", "every"),)
"""An item of a list, or a call, among others: the subject of what a quantified fact says of each."""

Subject: TypeAlias = tuple[Any, ...]
"""The steps to what a fact is about; those of paths are single keys and indices, as `steps` gives them."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A predicate that is so, or is not. `folded`: it compares texts that are case-folded."""

    subject: Subject
    predicate: str
    operand: Any = None
    folded: bool = False
    holds: bool = True


class Every(msgspec.Struct, frozen=True, gc=False):
    """Every part is so. No parts: always so."""

    parts: tuple[Formula, ...]


class Either(msgspec.Struct, frozen=True, gc=False):
    """At least one part is so. No parts: never so."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Fact | Every | Either

_EVERY: Final = ("every", EVERY)
_MOST_FACTS: Final = 64
_MOST_JOINTS: Final = 4  # comparing takes time that doubles with each


def facts_of(formula: Formula) -> list[Fact]:
    """The facts of a formula."""
    return [formula] if isinstance(formula, Fact) else [fact for part in formula.parts for fact in facts_of(part)]


def negation(formula: Formula) -> Formula:
    """The formula that is so where this one is not: with `not`, this is more than can be asked."""
    match formula:
        case Fact(subject, predicate, operand, folded, holds):
            return Fact(subject, predicate, operand, folded, not holds)
        case Every(parts):
            return Either(tuple(map(negation, parts)))
        case Either(parts):
            return Every(tuple(map(negation, parts)))


def _depth(formula: Formula) -> int:
    return 0 if isinstance(formula, Fact) else 1 + max(map(_depth, formula.parts), default=0)


def formula_of(check: Check) -> Formula:
    """The formula of a check; one of too many parts to compare is taken as a whole."""
    try:
        return _cached(check, to_json(check))
    except TypeError:  # a schema or a value that cannot be hashed
        return _bounded(check)


@lru_cache(4096)
def _cached(check: Check, _written: bytes) -> Formula:
    """The formula; the written check distinguishes 1 from true, which are equal in Python."""
    return _bounded(check)


def _bounded(check: Check) -> Formula:
    formula = _read(check, (), True)
    if isinstance(formula, Fact) or (len(facts_of(formula)) <= _MOST_FACTS and _depth(formula) <= _MOST_JOINTS):
        return formula
    return _unread(check, (), True)


# --- subjects --------------------------------------------------------------------------------------------------------


def is_text(subject: Subject) -> bool:
    """Whether the subject is the response, of a turn too: a text, of which any JSON has to be read."""
    return not subject or isinstance(subject[-1], Turn)


def is_textual(subject: Subject) -> bool:
    """Whether `contains` asks the text alone; of other subjects it asks the items of a list."""
    return is_text(subject) or isinstance(subject[-1], Argument)


def value_of(subject: Subject) -> Subject:
    """The JSON value of a subject."""
    return (*subject, JSON) if is_text(subject) else subject


def place(subject: Subject, path: str) -> Subject:
    """A place in a subject; of the response, and of a result that is a text, the JSON has to be read."""
    reads = is_text(subject) or isinstance(subject[-1], Result | Failure)
    return (*subject, *((JSON,) if reads else ()), *steps(path))


def there_is(group: Subject) -> Fact:
    """Assert that there is a call, or an item, where the steps lead."""
    if isinstance(group[-1], Call):
        return calls(group[:-1], group[-1].tool, 1)
    return Fact(group, "any", Every(()))


def calls(subject: Subject, tool: str, least: int, *, holds: bool = True) -> Fact:
    """Assert that a tool is called at least so often."""
    return Fact((*subject, TOOLS, Measure("calls", tool)), "over", (least, True), holds=holds)


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(check: Check, subject: Subject, required: bool) -> Formula:
    """Return what a check of the subject asserts; if not `required`, what a `not` before it asserts."""
    match check:
        case Test(predicate):
            if predicate in _MEMBERS:
                return _of_members(check, subject, required)
            formula = _READERS.get(predicate, _unread)(check, subject, required)
            return _reached(subject, _unread(check, subject, required) if formula is None else formula)
        case Of(step, inner):
            return _behind(step, inner, subject, required)
        case Not(inner):
            return _read(inner, subject, not required)
        case All(checks) | Some(checks):
            if len(checks) > _MOST_FACTS:
                return _unread(check, subject, required)
            join = Every if isinstance(check, All) else Either
            joint = _joined(join, [_read(part, subject, True) for part in checks])
            return joint if required else negation(joint)


def _behind(step: Step, inner: Check, subject: Subject, required: bool) -> Formula:
    match step:
        case At(path) if _EVERY not in steps(path):
            return _read(inner, place(subject, path), required)
        case Items(path, which) if _EVERY in steps(path):
            route = place(subject, path)
            inside = len(route) - route[::-1].index(_EVERY)
            return _reached(subject, _of_several(route[:inside], which, inner, required, (*ITEM, *route[inside:])))
        case Call(tool, "any" | "every" | "no" as which):
            several, call = _of_several((*subject, Call(tool)), which, inner, required), calls(subject, tool, 1)
            if which == "every":  # of no call it says nothing
                return _reached(subject, several)
            holds_without = required is (which == "no")
            return _reached(subject, Either((negation(call), several)) if holds_without else Every((call, several)))
        case Measure("calls"):
            return _read(inner, (*subject, TOOLS, step), required)
        case Measure("items"):
            return _read(inner, (*value_of(subject), step), required)
        case Turn() | Tools() | Call() | Argument() | Result() | Failure() | Measure():
            return _read(inner, (*subject, step), required)
        case _:
            return _unread(Of(step, inner), subject, required)


def _reached(subject: Subject, formula: Formula) -> Formula:
    """The formula beside what is so wherever anything is asked: that there is such a turn, and such a call."""
    there: list[Formula] = []
    for at, step in enumerate(subject):
        match step:
            case Turn(number) if number > 1:
                there.append(Fact(subject[: at + 1], "exists"))
            case Call(tool, int() as number):
                there.append(calls(subject[:at], tool, number))
            case _:
                pass
    return _joined(Every, [*there, formula]) if there else formula


def _unread(check: Check, subject: Subject, required: bool) -> Fact:
    """A fact that only a run can decide; under `not` another one, since it may be that it cannot be asked."""
    return Fact(subject, "unknown", check if required else Not(check))


def _joined(join: type[Every | Either], parts: Sequence[Formula]) -> Formula:
    """The parts joined, one level of the same kind flattened."""
    flat: list[Formula] = []
    for part in parts:
        flat += part.parts if isinstance(part, join) else (part,)
    return flat[0] if len(flat) == 1 else join(tuple(flat))


def _of_several(subject: Subject, which: str, inner: Check, required: bool, item: Subject = ITEM) -> Fact:
    """The formula about items or calls; `not` before it is another quantifier: on nothing `every` says nothing."""
    return Fact(subject, which if required else f"not {which}", _read(inner, item, True))


def _of_members(test: Test, subject: Subject, required: bool) -> Formula:
    """A predicate of several values is another one of each."""
    if not 0 < len(test.operand) <= _MOST_FACTS:  # an empty group is skipped
        return _unread(test, subject, required)
    join, each = _MEMBERS[test.predicate]
    parts = [_read(Test(each(value), value, test.ignoring_case), subject, required) for value in test.operand]
    return _joined(join if required else (Either if join is Every else Every), parts)


_MEMBERS: Final[dict[str, tuple[type[Every | Either], Callable[[Any], str]]]] = {
    "contains_any": (Either, lambda _: "contains"),
    "contains_all": (Every, lambda _: "contains"),
    "one_of": (Either, lambda value: "equals" if isinstance(value, str) else "is"),
}


def _sure(subject: Subject, holds: bool) -> Formula:
    """Return what is so of every subject, or of none; of a call that is not made it is not asked."""
    if any(isinstance(step, Call) for step in subject):
        return Fact(subject, "sure", holds=holds)
    return Every(()) if holds else Either(())


def _said(fact: Fact, required: bool, *asked: Fact) -> Formula:
    """A predicate as a fact; under `not` beside what is so wherever it can be asked."""
    if required:
        return fact
    subject = fact.subject
    there = () if is_text(subject) or subject[-1] in (TOOLS, JSON) else (Fact(subject, "exists"),)
    return _joined(Every, [*(asked or there), negation(fact)])


def _of_text(test: Test, subject: Subject, required: bool) -> Formula | None:
    if not isinstance(test.operand, str):
        return None
    return _said(_text_fact(subject, test.predicate, test.operand, test.ignoring_case), required)


def _text_fact(subject: Subject, predicate: str, text: str, folded: bool) -> Fact:
    encoded = encode(text)
    return Fact(subject, predicate, encoded.casefold() if folded else encoded, folded)


def _of_contains(test: Test, subject: Subject, required: bool) -> Formula | None:
    """At a list `contains` asks for an item, and where none is it, its text must not contain it for `not` to hold."""
    value, folded = test.operand, test.ignoring_case
    if isinstance(value, Blank) or (is_textual(subject) and not isinstance(value, str)):
        return None
    inside = _text_fact(subject, "contains", text_of(value), folded)
    if is_textual(subject) or not required:
        return _said(inside, required)
    if isinstance(value, str):
        return Every((_text_fact(subject, "has", value, folded), inside))
    return Every((Fact(subject, "has", value), inside))


def _of_occurs(test: Test, subject: Subject, required: bool) -> Formula | None:
    value, bounds = test.operand
    if not isinstance(value, str) or not is_textual(subject):
        return None
    text = encode(value)
    times = (*subject, Times(text.casefold() if test.ignoring_case else text, test.ignoring_case))
    least = 0 if bounds.min is None else bounds.min
    reported = _of_bounds(Test("between", bounds), times, required)
    if reported is None or not required or not is_number(least) or least < 1:
        return reported
    return _joined(Every, [reported, _text_fact(subject, "contains", value, test.ignoring_case)])


def _of_pattern(test: Test, subject: Subject, required: bool) -> Formula | None:
    """A pattern of plain characters is a text to contain, to start with, or to be."""
    pattern, flags = test.operand
    if not isinstance(pattern, str) or not (is_text(subject) or not find_tokens(pattern)):
        return None
    literal = examine(pattern, flags).literal if is_textual(subject) else None
    if literal is None:
        return _said(Fact(subject, "matches", (pattern, flags)), required)
    return _said(_text_fact(subject, _LITERALS[literal[1]], literal[0], False), required)


_LITERALS: Final = {"has": "contains", "begins": "starts_with", "is": "equals"}


def _of_similar(test: Test, subject: Subject, required: bool) -> Formula | None:
    text, threshold = test.operand
    if not isinstance(text, str) or not is_number(threshold):
        return None
    return _said(Fact(subject, "similar", (encode(text), threshold)), required)


def _of_empty(test: Test, subject: Subject, required: bool) -> Formula:
    required = required is (test.predicate == "empty")
    if is_text(subject):
        return Fact((*subject, Measure("words")), "over", (1, True), holds=not required)
    types = [Fact(subject, "is_a", each, holds=False) for each in ("number", "boolean")]
    fact = Fact(subject, "empty")
    return fact if required else Every((Fact(subject, "exists"), *types, negation(fact)))


def _of_exists(_: Test, subject: Subject, required: bool) -> Formula | None:
    """It is there; that it is not can be asked of JSON alone, where one is read."""
    if is_text(subject):
        return Every(()) if required else Either(())
    fact = Fact(subject, "exists")
    if required or JSON not in subject:
        return fact if required else negation(fact)
    json = subject[: subject.index(JSON) + 1]
    return Every((Fact(json, "exists"), negation(fact))) if is_text(json[:-1]) else None


def _of_value(test: Test, subject: Subject, required: bool) -> Formula | None:
    subject = value_of(subject)
    if isinstance(subject[-1], Measure | Times) and is_number(test.operand):
        return _of_bounds(Test("between", Bounds(test.operand, test.operand)), subject, required)
    if isinstance(subject[-1], Measure | Times) or isinstance(test.operand, Blank) or b"{{" in to_json(test.operand):
        return None
    return _said(Fact(subject, "is", test.operand), required)


def _of_type(test: Test, subject: Subject, required: bool) -> Formula:
    return _said(Fact(value_of(subject), "is_a", test.operand), required)


def _of_format(test: Test, subject: Subject, required: bool) -> Formula:
    fact = Fact(subject, "format", test.operand)
    return _said(fact, required, *([] if is_text(subject) else [Fact(subject, "is_a", "string")]))


def _of_list(test: Test, subject: Subject, required: bool) -> Formula:
    subject = value_of(subject)
    able = Fact(subject, "is_a", "array") if test.predicate == "unique" else Fact(subject, "sortable", test.operand[1])
    return _said(Fact(subject, test.predicate, test.operand), required, able)


def _of_near(test: Test, subject: Subject, required: bool) -> Formula | None:
    subject = value_of(subject)
    if not all(map(is_number, test.operand)):
        return None
    return _said(Fact(subject, "within", test.operand), required, *_numeric(subject))


# --- bounds ----------------------------------------------------------------------------------------------------------


def _of_bounds(test: Test, subject: Subject, required: bool) -> Formula | None:
    """Return what is more than the lower bounds and not more than the upper ones; both are asked of a number alone."""
    bounds: Bounds = test.operand
    subject = subject if subject and isinstance(subject[-1], Measure | Times) else value_of(subject)
    limits = [
        (bounds.min, True, True),
        (bounds.above, False, True),
        (bounds.max, False, False),
        (bounds.below, True, False),
    ]
    given = [limit for limit in limits if limit[0] is not None]
    if not all(is_number(limit[0]) and isfinite(limit[0]) for limit in given):
        return None
    if bounds.min is not None and bounds.min == bounds.max and not isinstance(subject[-1], Measure | Times):
        return _said(Fact(subject, "is", bounds.min), required)
    asked = _numeric(subject)
    reported = [_over(subject, limit, inclusive, lower) for limit, inclusive, lower in given]
    if required:
        is_asked = any(isinstance(fact, Fact) and fact.holds and fact.predicate == "over" for fact in reported)
        return _joined(Every, reported if is_asked else [*asked, *reported])
    denied = [negation(each) for each in reported] or [_sure(subject, False)]
    return _joined(Every, [*asked, _joined(Either, denied)])


def _over(subject: Subject, limit: Any, inclusive: bool, holds: bool) -> Formula:
    """Whether a number is more than the limit, or not less; of what is counted, whether it is at least a number."""
    measured = subject[-1]
    if isinstance(measured, Measure | Times) and measured not in _NO_COUNTS:
        limit, inclusive = ceil(limit) if inclusive else floor(limit) + 1, True
        if limit < 1:
            return _sure(subject, holds)
        if limit == 1 and measured == Measure("calls"):
            return Fact(subject[:-1], "called", (), holds=not holds)
        if limit == 1 and isinstance(measured, Times):
            return Fact(subject[:-1], "contains", measured.text, measured.folded, holds)
        if limit == 1 and isinstance(measured, Measure) and measured.of in ("chars", "lines", "bytes"):
            return Fact(subject[:-1], "equals", "", holds=not holds)
    return Fact(subject, "over", (limit, inclusive), holds=holds)


_NO_COUNTS: Final = (Measure("ms"), Measure("dollars"))


def _numeric(subject: Subject) -> list[Fact]:
    """Return what is so where the subject is a number."""
    match subject[-1]:
        case Measure("items"):
            return [Fact(subject[:-1], "is_a", "array")]
        case Measure(of) if of in OF_TEXT:
            return [] if is_text(subject[:-1]) else [Fact(subject[:-1], "is_a", "string")]
        case Times() if not is_text(subject[:-1]):
            return [Fact(subject[:-1], "exists")]
        case Measure() | Times():
            return []
        case _:
            return [Fact(subject, "is_a", "number")]


# --- JSON and Markdown -----------------------------------------------------------------------------------------------


def _of_json(test: Test, subject: Subject, required: bool) -> Formula | None:
    mode, schema = test.operand
    if not is_text(subject) or isinstance(schema, str):
        return None
    value = value_of(subject)
    parts: list[Formula] = [Fact(value, "exists") if mode == "lenient" else Fact(subject, "json", mode)]
    if schema is False:
        parts.append(Either(()))
    elif isinstance(schema, dict) and schema:
        if "$ref" not in schema and (type_ := schema.get("type")) in ("object", "array"):
            parts.append(Fact(value, "is_a", type_) if mode == "lenient" else Fact(subject, "json", type_))
        parts.append(_unread(test, subject, True))
    joint = _joined(Every, parts)
    return joint if required else negation(joint)


def _of_structure(test: Test, subject: Subject, required: bool) -> Formula | None:
    fields, headings = test.operand
    if not is_text(subject) or len(fields) + len(headings) > _MOST_FACTS:
        return None
    parts: list[Formula] = [part for path, type_ in fields for part in _field(place(subject, path), path, type_)]
    parts += (Fact(subject, "heading", trim(heading).casefold()) for heading in headings)
    joint = _joined(Every, parts)
    return joint if required else negation(joint)


def _field(subject: Subject, path: str, type_: str | None) -> tuple[Fact, ...]:
    """A field; a path to every item may lead to none, and asks for JSON all the same."""
    if _EVERY in subject:
        items = subject[: subject.index(_EVERY)]
        return Fact(items, "is_a", "array"), Fact(items, "field", (path, type_))
    return (Fact(subject, "exists") if type_ is None else Fact(subject, "is_a", type_),)


# --- tools -----------------------------------------------------------------------------------------------------------


def _of_tools(test: Test, subject: Subject, required: bool) -> Formula | None:
    joint = _names(test, subject)
    return joint if joint is None or required else negation(joint)


def _names(test: Test, subject: Subject) -> Formula | None:
    names = test.operand
    if not all(isinstance(name, str | tuple) for name in names) or len(names) > _MOST_FACTS:
        return None
    outer = subject[:-1]
    match test.predicate:
        case "called":
            return Fact(subject, "called", names)
        case "acceptable":
            sets = map(set_of, names)
            return _joined(
                Either, [Fact(subject, "set", each) if each else Fact(subject, "called", ()) for each in sets]
            )
        case "not_called":
            return _joined(Every, [calls(outer, name, 1, holds=False) for name in names])
        case "only" if names:
            return Fact(subject, "only", frozenset(names))
        case "only":
            return Fact(subject, "called", ())
        case "before":
            return Fact(subject, "before", names) if names[0] != names[1] else Either(())
        case "in_order" if len(names) > 1:
            return Fact(subject, "in_order", names)
        case _:
            counts = [calls(outer, name, names.count(name)) for name in dict.fromkeys(names)]
            return _joined(Every, [*counts, *([calls(outer, "", len(names))] if len(counts) > 1 else [])])


# --- verdicts that need no answer ------------------------------------------------------------------------------------


def _of_judge(test: Test, subject: Subject, required: bool) -> Formula | None:
    scale, least = test.operand[1], test.operand[3]
    if not is_number(least) or 0 < least <= scale:
        return None
    return _sure(subject, (least <= 0) is required)


_READERS: Final[Mapping[str, Callable[[Test, Subject, bool], Formula | None]]] = {
    **dict.fromkeys(("equals", "starts_with", "ends_with"), _of_text),
    **dict.fromkeys(("empty", "non_empty"), _of_empty),
    **dict.fromkeys(("sorted", "unique"), _of_list),
    **dict.fromkeys(("called", "acceptable", "not_called", "include", "in_order", "only", "before"), _of_tools),
    "contains": _of_contains,
    "occurs": _of_occurs,
    "matches": _of_pattern,
    "similar": _of_similar,
    "exists": _of_exists,
    "is": _of_value,
    "is_a": _of_type,
    "format": _of_format,
    "within": _of_near,
    "between": _of_bounds,
    "json": _of_json,
    "structure": _of_structure,
    "judge": _of_judge,
}
"""How tests are read; the facts of the others are known by themselves alone."""
READ: Final = frozenset({*_READERS, *_MEMBERS})
"""The predicates of which anything follows."""
