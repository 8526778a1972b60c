"""Writes messages: hostile texts on one printable line, and failures by predicate, subject and the value found.

The contract's twelve fields keep their original words; all other checks share one form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from evalc.base.terminal import so_often
from evalc.check.forms import record_of
from evalc.check.predicates import set_of
from evalc.check.tree import Bounds, Check, Test
from evalc.check.values import KINDS, CannotAsk, OnlyInside, described, is_text
from evalc.ecma import to_json
from evalc.model.json import MISSING, is_number
from evalc.model.json import to_json as encoded
from evalc.runtime.checks import View

SHOWN: Final = 120
"""The characters of a text that a message shows."""

LONGEST_REASON: Final = 500
"""The characters of a reason, as a judge or a check of a package gives it, that a result keeps."""


# --- hostile texts on one printable line -----------------------------------------------------------------------------


def shown(text: str, limit: int = SHOWN) -> str:
    """The text, shortened, without line ends and control characters."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def quoted(text: str) -> str:
    """The text as `shown`, in the contract's single quotes."""
    return f"'{shown(text)}'"


def listed(texts: Iterable[str]) -> str:
    """Texts as a list: `'a', 'b'`, shortened as a whole."""
    return shown(", ".join(f"'{text}'" for text in texts))


def bracketed(names: Iterable[str]) -> str:
    """Names of tools as a list: `[a, b]`, shortened as a whole."""
    return f"[{shown(', '.join(names))}]"


def number(value: float) -> str:
    """A number without needless digits: 2000, 2.5, 0.02."""
    return f"{value:.15g}"


# --- failures --------------------------------------------------------------------------------------------------------


def failure(test: Test, view: View, *, negated: bool) -> str:
    """Why a check does not hold: `total is 261, expected at most 240`."""
    contract = _OF_CONTRACT.get((view.kind, test.predicate, negated))
    if contract and _is_of_contract(test, view):
        return contract(test, view)
    expected = _expected(test, view.unit, negated=negated)
    if view.kind == "count":
        at = f" at {shown(view.name)}" if view.name else ""
        return f"expected {expected}{at}, found {_amount(view.value, view.unit)}"
    if view.kind == "call":
        return f"expected {expected}"
    if view.value is MISSING:
        return f"{shown(view.name)} is not there"
    if view.kind == "names":
        amiss = _AMISS[test.predicate](test.operand, view.value) if test.predicate in _AMISS and not negated else ""
        return f"expected {expected} but got {bracketed(view.value)}{amiss}"
    if test.predicate == "is" and is_text(view.value) != is_text(test.operand):
        return f"{_subject(view)} is {_with_type(view.value)}, expected {'not ' * negated}{_with_type(test.operand)}"
    return f"{_subject(view)} is {in_words(view.value, end=test.predicate == 'ends_with')}, expected {expected}"


def cannot_ask(error: CannotAsk, view: View) -> str:
    """Why a value of this type cannot be asked."""
    if isinstance(error, OnlyInside):
        item, whole = in_words(error.sought), in_words(error.found)
        words = f"no item is {item}, but {whole} contains it"
        if view.where is None:
            return words
        name, items = view.item
        line = f"item of {shown(items + view.where.removeprefix(name))} contains {shown(to_json(error.sought))}"
        return f"{words}; write `any {line}` or `no {line}`"
    at = f" at {shown(view.name)}" if view.name else ""
    found = shown(error.found) if isinstance(error.found, str) else error.found
    return f"expected {error.required}{at}, found {described(found)}"


def not_json(error: Exception, text: str) -> str:
    """Why a text is not the JSON that it must be."""
    return f"expected JSON but got {quoted(text)}: {shown(str(error))}"


def one_of_several(view: View) -> str:
    """The item or call that must not be there."""
    if view.kind == "call":
        return f"{view.name} is one"
    return f"{shown(view.name)} is {'not there' if view.value is MISSING else in_words(view.value)}"


def holds_though(check: Check) -> str:
    """Why the negation of a composition does not hold."""
    return f"expected this not to hold but it does: {shown(encoded(record_of(check)).decode('utf-8', 'replace'))}"


def in_words(value: Any, *, end: bool = False) -> str:
    """A value in one line: a text in backticks, others as JSON. With `end`, a long text is cut at its beginning."""
    if not isinstance(value, str) or not value:
        return "an empty text" if value == "" else shown(to_json(value))
    return f"`{shown(value) if not end or len(value) <= SHOWN else f'…{shown(value[1 - SHOWN :])}'}`"


def _with_type(value: Any) -> str:
    """A text or a number with its type, where `10115` could be either; other values as `in_words`."""
    if is_text(value):
        return described(shown(value))
    return described(value) if is_number(value) else in_words(value)


def _subject(view: View) -> str:
    return shown(view.name) or "response"


def _list(values: Any) -> str:
    return shown(", ".join(f"`{value}`" if isinstance(value, str) else to_json(value) for value in values))


# --- what is expected ------------------------------------------------------------------------------------------------


def _expected(test: Test, unit: str, *, negated: bool) -> str:
    operand, numbers = test.operand, _numbers(test.operand)
    if negated and isinstance(operand, Bounds) and len(numbers) == 1 and operand.min != operand.max:
        operand, negated = Bounds(operand.below, operand.above, operand.max, operand.min), False
    if isinstance(operand, Bounds):
        words = bounds(operand, unit)
    else:
        words = _amount(operand, unit) if unit == "$" and numbers else _EXPECTED[test.predicate](operand)
    if unit not in ("", "$"):
        words += f" {unit.removesuffix('s') if numbers == {1} and unit != 'ms' else unit}"
    if test.ignoring_case:
        words += ", ignoring case"
    return f"{'it ' * words.startswith('to ')}{'not ' * negated}{words}"


def bounds(allowed: Bounds, unit: str = "") -> str:
    """The numbers that are allowed: `at most 5`, `between 1 and 5`."""
    if allowed.min is not None and allowed.min == allowed.max:
        return _amount(allowed.min, unit)
    if None not in (allowed.min, allowed.max):
        return f"between {_amount(allowed.min, unit)} and {_amount(allowed.max, unit)}"
    numbers = (allowed.min, allowed.above, allowed.max, allowed.below)
    named = zip(("at least", "more than", "at most", "less than"), numbers, strict=True)
    return " and ".join(f"{name} {_amount(number, unit)}" for name, number in named if number is not None) or "a number"


def _numbers(operand: Any) -> set[Any]:
    parts = msgspec.structs.astuple(operand) if isinstance(operand, Bounds) else (operand,)
    return {part for part in parts if isinstance(part, int | float)}


def _amount(value: Any, unit: str) -> str:
    return f"{'$' * (unit == '$')}{to_json(value)}"


def _times(text: Any, allowed: Bounds) -> str:
    same = allowed.min is not None and allowed.min == allowed.max
    return f"to contain {in_words(text)} {so_often(allowed.min) if same else f'{bounds(allowed)} times'}"


_EXPECTED: Final[Mapping[str, Callable[[Any], str]]] = {
    "contains": lambda value: f"to contain {in_words(value)}",
    "contains_any": lambda values: f"to contain one of {_list(values)}",
    "contains_all": lambda values: f"to contain all of {_list(values)}",
    "occurs": lambda operand: _times(*operand),
    "matches": lambda operand: f"to match /{shown(operand[0])}/{operand[1]}",
    "equals": in_words,
    "is": in_words,
    "one_of": lambda values: f"one of {_list(values)}",
    "starts_with": lambda value: f"to start with {in_words(value)}",
    "ends_with": lambda value: f"to end with {in_words(value)}",
    "similar": lambda operand: f"to be at least {to_json(operand[1])} similar to {in_words(operand[0])}",
    "within": lambda operand: f"to be within {to_json(operand[0])} of {to_json(operand[1])}",
    "exists": lambda _: "to be there",
    "empty": lambda _: "to be empty",
    "non_empty": lambda _: "to be non-empty",
    "is_a": KINDS.__getitem__,
    "format": KINDS.__getitem__,
    "sorted": lambda how: f"to be sorted{' descending' * how[0]}{f' by {shown(how[1])}' if how[1] else ''}",
    "unique": lambda _: "each item once",
    "language": lambda name: f"to be in {name}",
    "markdown": lambda part: f"to have a {part[0]}{f' in {shown(part[1])}' if part[1] else ''}",
    "structure": lambda parts: f"to have {listed(path for path, _ in parts[0]) or listed(parts[1])}",
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
"""The words of each predicate, after `expected` or `expected it`; those of `between` come from its bounds."""


# --- the words of the contract's fields ------------------------------------------------------------------------------


def _is_of_contract(test: Test, view: View) -> bool:
    """Whether a field of the contract can hold the test: fields compare texts and limit time and tokens."""
    match test.predicate:
        case "between":
            is_limit = test.operand == Bounds(max=test.operand.max)
            return is_limit and (view.unit == "ms" or (view.unit == "tokens" and not view.name))
        case "contains" | "equals" | "one_of":
            texts = test.operand if test.predicate == "one_of" else (test.operand,)
            return all(map(is_text, texts)) and not (view.kind == "argument" and test.ignoring_case)
        case _:
            return True


def _missing(names: Sequence[str], called: Sequence[str]) -> str:
    missing = tuple((Counter(names) - Counter(called)).elements())
    return f": {bracketed(missing)} {'is' if len(missing) == 1 else 'are'} missing"


def _out_of_order(names: Sequence[str], called: Sequence[str]) -> str:
    calls = iter(called)
    index = next(index for index, name in enumerate(names) if name not in calls)
    return f": no {quoted(names[index])}{f' after {bracketed(names[:index])}' if index else ''}"


def _another(names: Sequence[str], called: Sequence[str]) -> str:
    return f": {quoted(next(name for name in called if name not in names))} is another tool"


_AMISS: Final = {"include": _missing, "in_order": _out_of_order, "only": _another}
"""The difference between the tools that must be called and those that were."""


def _got(view: View, expected: str) -> str:
    return f"expected {_subject(view)} {expected} but got {quoted(view.text)}"


def _limit(test: Test, view: View) -> str:
    found = f"took {to_json(view.value)} ms" if view.unit == "ms" else f"got {to_json(view.value)}"
    return f"expected at most {to_json(test.operand.max)} {view.unit} but {found}"


def _matches(test: Test, view: View) -> str:
    return _got(view, _EXPECTED["matches"](test.operand))


_OF_CONTRACT: Final[Mapping[tuple[str, str, bool], Callable[[Test, View], str]]] = {
    ("response", "contains", False): lambda test, _: (
        f"expected {quoted(test.operand)} in response{', ignoring case,' * test.ignoring_case} but not found"
    ),
    ("response", "contains", True): lambda test, _: (
        f'found "{shown(test.operand)}" in response{", ignoring case" * test.ignoring_case}'
    ),
    ("response", "contains_any", False): lambda test, _: (
        f"expected one of {listed(map(str, test.operand))} in response but found none"
    ),
    ("response", "matches", False): _matches,
    ("response", "non_empty", False): lambda _, view: (
        f"expected a response but it {'is only white space' if view.value else 'is empty'}"
    ),
    ("names", "acceptable", False): lambda test, view: (
        f"expected {shown(_EXPECTED['acceptable'](test.operand)) or 'one of no sets'} but got {bracketed(view.value)}"
    ),
    ("names", "not_called", False): lambda test, view: (
        f"expected no call of {quoted(next(name for name in test.operand if name in view.value))} "
        f"but got {bracketed(view.value)}"
    ),
    ("count", "between", False): _limit,
    ("argument", "equals", False): lambda test, view: _got(view, f"to equal {quoted(test.operand)}"),
    ("argument", "contains", False): lambda test, view: _got(view, f"to contain {quoted(test.operand)}"),
    ("argument", "one_of", False): lambda test, view: _got(view, f"to be one of {listed(test.operand)}"),
    ("argument", "matches", False): _matches,
    ("argument", "exists", False): lambda _, view: f"expected {shown(view.name)} to be sent but it was not",
    ("argument", "exists", True): lambda _, view: f"expected no {shown(view.name)} but it was sent",
}
"""The words of the contract's fields that differ from those of all checks."""
