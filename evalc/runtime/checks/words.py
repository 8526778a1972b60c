"""Words of failures, made once from what was asked, of what, and what was found.

The twelve fields of the contract keep the words that they began with; all other checks share one form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from evalc.check.forms import record_of
from evalc.check.holds import set_of
from evalc.check.tree import Bounds, Check, Test
from evalc.check.values import CannotAsk, OnlyInside, described
from evalc.ecma.values import to_json
from evalc.model.json import MISSING
from evalc.model.json import to_json as encoded
from evalc.runtime.checks.verdict import View
from evalc.runtime.checks.wording import SHOWN, bracketed, listed, quoted, shown, so_often

_TYPES: Final = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_FORMATS: Final = {
    "date": "a date",
    "date-time": "a date with a time",
    "uuid": "a UUID",
    "email": "an e-mail address",
    "url": "a web address",
}


def failure(test: Test, view: View, *, negated: bool) -> str:
    """Why a check does not hold: `total is 261, expected at most 240`."""
    contract = _OF_CONTRACT.get((view.kind, test.predicate, negated))
    words = contract(test, view) if contract else None
    if words is not None:
        return words
    expected = _expected(test, view.unit, negated=negated)
    if view.kind == "count":
        at = f" at {shown(view.name)}" if view.name else ""
        return f"expected {expected}{at}, found {_amount(view.value, view.unit)}"
    if view.kind == "call":
        return f"expected {expected}"
    if view.value is MISSING:
        return f"{shown(view.name)} is not there"
    if view.kind == "names":
        return f"expected {expected} but got {bracketed(view.value)}"
    return f"{_subject(view)} is {in_words(view.value, end=test.predicate == 'ends_with')}, expected {expected}"


def cannot_ask(error: CannotAsk, view: View) -> str:
    """Why a value of this type cannot be asked."""
    if isinstance(error, OnlyInside):
        item, whole = in_words(error.sought), in_words(error.found)
        words = f"no item is {item}, but {whole} contains it"
        if view.where is None:
            return words
        line = f"item of {shown(view.where)} contains {shown(to_json(error.sought))}"
        return f"{words}; write `any {line}` or `no {line}`"
    at = f" at {shown(view.name)}" if view.name else ""
    found = shown(error.found) if isinstance(error.found, str) else error.found
    return f"expected {error.required}{at}, found {described(found)}"


def not_json(error: Exception, text: str) -> str:
    """Why a text that must be JSON is none."""
    return f"expected JSON but got {quoted(text)}: {shown(str(error))}"


def one_of_several(view: View) -> str:
    """The one of several that must not be there."""
    if view.kind == "call":
        return f"{view.name} is one"
    return f"{shown(view.name)} is {'not there' if view.value is MISSING else in_words(view.value)}"


def holds_though(check: Check) -> str:
    """Why the negation of a composition does not hold."""
    return f"expected this not to hold but it does: {shown(encoded(record_of(check)).decode('utf-8', 'replace'))}"


def in_words(value: Any, *, end: bool = False) -> str:
    """A value in one line: a text in backticks, others as JSON; `end` is of a text of which the end matters."""
    if not isinstance(value, str) or not value:
        return "an empty text" if value == "" else shown(to_json(value))
    return f"`{shown(value) if not end or len(value) <= SHOWN else f'…{shown(value[1 - SHOWN :])}'}`"


def _subject(view: View) -> str:
    return shown(view.name) or "response"


def _list(values: Any) -> str:
    return shown(", ".join(f"`{value}`" if isinstance(value, str) else to_json(value) for value in values))


# --- what is expected ------------------------------------------------------------------------------------------------


def _expected(test: Test, unit: str, *, negated: bool) -> str:
    operand = test.operand
    if negated and isinstance(operand, Bounds) and len(_numbers(operand)) == 1 and operand.min != operand.max:
        operand, negated = Bounds(operand.below, operand.above, operand.max, operand.min), False
    words = _EXPECTED[test.predicate](operand)
    if unit:
        words = _of_unit(words, operand, unit)
    case = ", ignoring case" if test.ignoring_case else ""
    if words.startswith("to "):
        return f"it {'not ' * negated}{words}{case}"
    return f"{'not ' * negated}{words}{case}"


def bounds(allowed: Bounds) -> str:
    """The numbers that are allowed: `at most 5`, `between 1 and 5`."""
    if allowed.min is not None and allowed.min == allowed.max:
        return to_json(allowed.min)
    if None not in (allowed.min, allowed.max):
        return f"between {to_json(allowed.min)} and {to_json(allowed.max)}"
    numbers = (allowed.min, allowed.above, allowed.max, allowed.below)
    named = zip(("at least", "more than", "at most", "less than"), numbers, strict=True)
    return " and ".join(f"{name} {to_json(number)}" for name, number in named if number is not None) or "a number"


def _of_unit(words: str, operand: Any, unit: str) -> str:
    numbers = _numbers(operand)
    if unit == "$":
        written = set(map(to_json, numbers))
        return " ".join(f"${word}" if word in written else word for word in words.split(" "))
    return f"{words} {_singular(unit) if numbers == [1] else unit}"


def _numbers(operand: Any) -> list[Any]:
    parts = [getattr(operand, name) for name in operand.__struct_fields__] if isinstance(operand, Bounds) else [operand]
    return list(dict.fromkeys(part for part in parts if isinstance(part, int | float)))


def _singular(unit: str) -> str:
    return unit if unit == "ms" else unit.removesuffix("s")


def _amount(value: Any, unit: str) -> str:
    return f"${to_json(value)}" if unit == "$" else to_json(value)


def _times(operand: Any) -> str:
    text, allowed = operand
    same = allowed.min is not None and allowed.min == allowed.max
    return f"to contain {in_words(text)} {so_often(allowed.min) if same else f'{bounds(allowed)} times'}"


def _markdown(operand: Any) -> str:
    part, language = operand
    return f"to have a {part}{f' in {shown(language)}' if language else ''}"


def _structure(operand: Any) -> str:
    fields, headings = operand
    return f"to have {listed(path for path, _ in fields) or listed(headings)}"


def _sorted(operand: Any) -> str:
    descending, by = operand
    return f"to be sorted{' descending' * descending}{f' by {shown(by)}' if by else ''}"


_EXPECTED: Final[Mapping[str, Callable[[Any], str]]] = {
    "contains": lambda value: f"to contain {in_words(value)}",
    "contains_any": lambda values: f"to contain one of {_list(values)}",
    "contains_all": lambda values: f"to contain all of {_list(values)}",
    "occurs": _times,
    "matches": lambda operand: f"to match /{shown(operand[0])}/{operand[1]}",
    "equals": in_words,
    "is": in_words,
    "one_of": lambda values: f"one of {_list(values)}",
    "starts_with": lambda value: f"to start with {in_words(value)}",
    "ends_with": lambda value: f"to end with {in_words(value)}",
    "similar": lambda operand: f"to be at least {to_json(operand[1])} similar to {in_words(operand[0])}",
    "between": bounds,
    "within": lambda operand: f"at most {to_json(operand[0])} from {to_json(operand[1])}",
    "exists": lambda _: "to be there",
    "empty": lambda _: "to be empty",
    "non_empty": lambda _: "to be non-empty",
    "is_a": _TYPES.__getitem__,
    "format": _FORMATS.__getitem__,
    "sorted": _sorted,
    "unique": lambda _: "each item once",
    "language": lambda name: f"to be in {name}",
    "markdown": _markdown,
    "structure": _structure,
    "json": lambda operand: "to be JSON" if operand[1] is None else "to be JSON that fits the schema",
    "numbers_from": lambda names: f"to have only numbers of {' or '.join(names)}",
    "quotes_from": lambda names: f"to have only quotes of {' or '.join(names)}",
    "judge": lambda operand: f"to do as `{shown(operand[0])}` asks",
    "check": lambda operand: f"to hold by {shown(operand[0])}",
    "called": bracketed,
    "acceptable": lambda sets: " or ".join("no tool" if not set_of(names) else bracketed(names) for names in sets),
    "not_called": lambda names: f"no call of {listed(names)}",
    "include": lambda names: f"at least {bracketed(names)}",
    "in_order": lambda names: f"{bracketed(names)} in this order",
    "only": lambda names: f"only {bracketed(names)}",
    "before": lambda names: f"{quoted(names[0])} before {quoted(names[1])}",
    "no_errors": lambda _: "no failing call",
    "fails": lambda _: "to fail",
}
"""The words of each predicate, as `expected` or `expected it` goes on."""


# --- the words of the contract's fields ------------------------------------------------------------------------------


def _contains(test: Test, _: View) -> str | None:
    if not isinstance(test.operand, str):
        return None
    return f"expected {quoted(test.operand)} in response{', ignoring case,' * test.ignoring_case} but not found"


def _contained(test: Test, _: View) -> str | None:
    if not isinstance(test.operand, str):
        return None
    return f'found "{shown(test.operand)}" in response{", ignoring case" * test.ignoring_case}'


def _matches(name: str, test: Test, found: str) -> str:
    pattern, flags = test.operand
    return f"expected {name} to match /{shown(pattern)}/{flags} but got {quoted(found)}"


def _non_empty(_: Test, view: View) -> str:
    return f"expected a response but it {'is only white space' if view.value else 'is empty'}"


def _acceptable(test: Test, view: View) -> str:
    expected = shown(_EXPECTED["acceptable"](test.operand))
    return f"expected {expected or 'one of no sets'} but got {bracketed(view.value)}"


def _not_called(test: Test, view: View) -> str:
    name = next(name for name in test.operand if name in view.value)
    return f"expected no call of {quoted(name)} but got {bracketed(view.value)}"


def _include(test: Test, view: View) -> str:
    missing_ones = tuple((Counter(test.operand) - Counter(view.value)).elements())
    verb = "is" if len(missing_ones) == 1 else "are"
    got = f"{bracketed(view.value)}: {bracketed(missing_ones)} {verb} missing"
    return f"expected at least {bracketed(test.operand)} but got {got}"


def _in_order(test: Test, view: View) -> str:
    names, calls = test.operand, iter(view.value)
    index = next(index for index, name in enumerate(names) if name not in calls)
    after = f" after {bracketed(names[:index])}" if index else ""
    got = f"{bracketed(view.value)}: no {quoted(names[index])}{after}"
    return f"expected {bracketed(names)} in this order but got {got}"


def _only(test: Test, view: View) -> str:
    other = next(name for name in view.value if name not in test.operand)
    got = f"{bracketed(view.value)}: {quoted(other)} is another tool"
    return f"expected only {bracketed(test.operand)} but got {got}"


def _limit(test: Test, view: View) -> str | None:
    if test.operand != Bounds(max=test.operand.max):
        return None
    most, found = to_json(test.operand.max), to_json(view.value)
    match view.unit:
        case "ms":
            return f"expected at most {most} ms but took {found} ms"
        case "tokens" if not view.name:
            return f"expected at most {most} tokens but got {found}"
        case _:
            return None


def _param(verb: str) -> Callable[[Test, View], str | None]:
    def words(test: Test, view: View) -> str | None:
        if test.ignoring_case or not isinstance(test.operand, str):
            return None
        return f"expected {shown(view.name)} to {verb} {quoted(test.operand)} but got {quoted(view.text)}"

    return words


def _param_one_of(test: Test, view: View) -> str | None:
    if test.ignoring_case or not all(isinstance(value, str) for value in test.operand):
        return None
    return f"expected {shown(view.name)} to be one of {listed(test.operand)} but got {quoted(view.text)}"


_OF_CONTRACT: Final[Mapping[tuple[str, str, bool], Callable[[Test, View], str | None]]] = {
    ("response", "contains", False): _contains,
    ("response", "contains", True): _contained,
    ("response", "contains_any", False): lambda test, _: (
        f"expected one of {listed(map(str, test.operand))} in response but found none"
    ),
    ("response", "matches", False): lambda test, view: _matches("response", test, view.text),
    ("response", "non_empty", False): _non_empty,
    ("names", "called", False): lambda test, view: (
        f"expected {bracketed(test.operand)} but got {bracketed(view.value)}"
    ),
    ("names", "acceptable", False): _acceptable,
    ("names", "not_called", False): _not_called,
    ("names", "include", False): _include,
    ("names", "in_order", False): _in_order,
    ("names", "only", False): _only,
    ("count", "between", False): _limit,
    ("argument", "equals", False): _param("equal"),
    ("argument", "contains", False): _param("contain"),
    ("argument", "one_of", False): _param_one_of,
    ("argument", "matches", False): lambda test, view: _matches(shown(view.name), test, view.text),
    ("argument", "exists", False): lambda _, view: f"expected {shown(view.name)} to be sent but it was not",
    ("argument", "exists", True): lambda _, view: f"expected no {shown(view.name)} but it was sent",
}
"""The words of the contract's fields, and of evalc's own checks of which tools were called."""
