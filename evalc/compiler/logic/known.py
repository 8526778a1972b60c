"""Decides a fact about a known value, with the functions that evaluation uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from evalc.check.predicates import HOLDS
from evalc.check.tree import Argument, Measure
from evalc.check.values import CannotAsk, OnlyInside, is_sorted, text_of
from evalc.compiler.examine import answer
from evalc.compiler.logic import formula as f
from evalc.ecma import length_of, to_json, to_string, trim
from evalc.model.json import MISSING, is_number, step_into

_LONGEST: Final = 10_000
_TEXTUAL: Final = frozenset({"contains", "equals", "starts_with", "ends_with", "matches", "similar"})
"""Predicates that compare the text that JavaScript makes of an argument."""


def is_known(fact: f.Fact) -> bool:
    """Whether the fact says what its subject is."""
    match fact.predicate:
        case "is":
            return f.is_safe(fact.operand)
        case "equals":
            return not fact.folded and f.is_fixed(fact.operand)
        case predicate:
            return predicate == "called"


def decides(known: f.Fact, fact: f.Fact) -> bool | None:
    """Whether a fact, taken as not denied, holds if its subject, or a value on the way to it, is known; or None."""
    rest = fact.subject[len(known.subject) :]
    if known.predicate == "called":
        return _of_calls(known.operand, rest, fact)
    if not rest and _is_argument(known.subject) and fact.predicate in _TEXTUAL:
        return is_so(known.operand if known.predicate == "equals" else to_string(known.operand), fact)
    answers = {_asked(value, route, fact) for value, route in _values(known, rest, fact)}
    return answers.pop() if len(answers) == 1 else None


def _of_calls(names: tuple[str, ...], rest: f.Subject, fact: f.Fact) -> bool | None:
    match rest:
        case (Measure("calls", tool),):
            return is_so(names.count(tool) if tool else len(names), fact)
        case () if fact.predicate == "set":
            return bool(frozenset(names) == fact.operand)
        case () if fact.predicate in HOLDS:
            return HOLDS[fact.predicate](names, fact.operand, False)
        case _:
            return None


def _is_argument(subject: f.Subject) -> bool:
    return bool(subject) and isinstance(subject[-1], Argument)


def _values(known: f.Fact, rest: f.Subject, fact: f.Fact) -> Iterator[tuple[Any, f.Subject]]:
    """The values that the subject may have, each with the steps that remain."""
    value = known.operand
    if known.predicate == "equals" and f.is_text(known.subject) and rest[:1] == (f.JSON,):
        read = f.json_of(value, lenient=True)
        asks_text = fact.predicate != "exists" and len(rest) == 1  # a response that is no JSON is a text
        yield (value if asks_text else MISSING) if read is f.NOT_JSON else read, rest[1:]
        return
    yield value, rest
    if known.predicate == "equals" and not f.is_text(known.subject):  # the text of any JSON value
        read = f.json_of(value, lenient=False)
        if read is f.UNCERTAIN or (_is_argument(known.subject) and (rest or not _asks_scalars(fact))):
            yield f.UNCERTAIN, rest  # to JavaScript the text of a list is that of its items
        elif read is not f.NOT_JSON and not isinstance(read, str) and to_json(read) == value:
            yield read, rest


def _asks_scalars(fact: f.Fact) -> bool:
    """Whether the fact can hold only of numbers, texts, flags and null."""
    match fact.predicate:
        case "is":
            return not isinstance(fact.operand, list | dict)
        case "is_a":
            return fact.operand not in ("array", "object")
        case predicate:
            return predicate in ("over", "format")


def _asked(value: Any, rest: f.Subject, fact: f.Fact) -> bool | None:
    """Whether the fact holds of a value, or of the value at the rest of the subject's steps."""
    for at, step in enumerate(rest):
        if value is f.UNCERTAIN or value is MISSING:
            break
        match step:
            case ("every", str()):
                return _of_items(value, fact) if at == len(rest) - 1 else None
            case ("key" | "index", str() | int() as key):
                value = step_into(value, key)
            case Measure("items"):
                value = len(value) if isinstance(value, list) else MISSING
            case Measure("chars" | "words" | "lines" | "bytes" | "sentences" as unit):
                value = length_of(value, unit) if isinstance(value, str) else MISSING
            case f.Json() if isinstance(value, dict | list):
                pass
            case f.Times(text, folded) if isinstance(value, str) and f.is_fixed(text):
                value = (value.casefold() if folded else value).count(text)
            case _:
                return None
    if value is f.UNCERTAIN:
        return None
    return False if value is MISSING else is_so(value, fact)


# --- items -----------------------------------------------------------------------------------------------------------


def _of_items(items: Any, fact: f.Fact) -> bool | None:
    """Whether the formula holds of some item of a known list, or of every item."""
    if fact.predicate not in ("any", "every"):
        return None
    if not isinstance(items, list) or not items:
        return False
    return _joint((_formula(item, fact.operand) for item in items), every=fact.predicate == "every")


def _formula(item: Any, formula: f.Formula) -> bool | None:
    if not isinstance(formula, f.Fact):
        return _joint((_formula(item, part) for part in formula.parts), every=isinstance(formula, f.Every))
    answer = _asked(item, formula.subject[len(f.ITEM) :], formula)
    return None if answer is None else answer is formula.holds


def _joint(answers: Iterable[bool | None], *, every: bool) -> bool | None:
    """The answer to several questions together: whether all hold, or at least one does."""
    found = set(answers)
    return (not every) if (not every) in found else None if None in found else every


# --- values ----------------------------------------------------------------------------------------------------------


def is_so(value: Any, fact: f.Fact) -> bool | None:
    """Whether a fact, taken as not denied, holds of a known value; None if unsure."""
    rule = _RULES.get(fact.predicate)
    if rule is None:
        return None
    try:
        return rule(value, fact)
    except CannotAsk:
        return False


def _as_evaluated(value: Any, fact: f.Fact) -> bool:
    return HOLDS[fact.predicate](value, fact.operand, fact.folded)


def _by_text(value: Any, fact: f.Fact) -> bool | None:
    return _as_evaluated(text_of(value), fact) if f.is_fixed(fact.operand) else None


def _contains(value: Any, fact: f.Fact) -> bool | None:
    """Whether a text contains another one, or a list has such an item, or an item that contains it."""
    if isinstance(fact.operand, str) and not f.is_fixed(fact.operand):
        return None
    try:
        return HOLDS["contains"](value, fact.operand, fact.folded)
    except OnlyInside:
        return fact.predicate == "contains"


def _over(value: Any, fact: f.Fact) -> bool:
    limit, inclusive = fact.operand
    return is_number(value) and (f.exact(value) > limit or (inclusive and f.exact(value) == limit))


def _matches(value: Any, fact: f.Fact) -> bool | None:
    text = text_of(value)
    pattern, flags = fact.operand
    return answer(pattern, flags, text) if len(text) <= _LONGEST and f.is_well_formed(text) else None


def _similar(value: Any, fact: f.Fact) -> bool | None:
    text, threshold = fact.operand
    return True if text_of(value) == text and f.is_fixed(text) and threshold <= 1 else None


def _is_json(value: Any, fact: f.Fact) -> bool | None:
    read = f.json_of(text_of(value), lenient=False)
    if read is f.UNCERTAIN:
        return None
    return read is not f.NOT_JSON and isinstance(read, {"object": dict, "array": list}.get(fact.operand, object))


_RULES: Final[Mapping[str, Callable[[Any, f.Fact], bool | None]]] = {
    **dict.fromkeys(("is", "is_a", "empty", "format", "sorted", "unique"), _as_evaluated),
    **dict.fromkeys(("equals", "starts_with", "ends_with"), _by_text),
    **dict.fromkeys(("contains", "has"), _contains),
    "exists": lambda _, __: True,
    "over": _over,
    "matches": _matches,
    "similar": _similar,
    "json": _is_json,
    "heading": lambda value, _: None if trim(text_of(value)) else False,
    "sortable": lambda value, fact: is_sorted(value, by=fact.operand or "") or True,
}
