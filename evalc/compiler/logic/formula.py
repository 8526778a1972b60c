"""Turns a check into facts, joined by `Every` and `Either`. A fact is a predicate of a subject, or its denial.

`not` requires more than that a predicate does not hold: its subject can be asked, too. So `not at x < 5` is two facts:
there is a number at x, and the denial of `at x < 5`.

Each token of a text becomes a run of characters that no text contains, and equal tokens become equal runs. So `in`,
`startswith` and `==` hold of encoded texts only if they hold of the resolved ones, for all values of the tokens. That
they do *not* hold is conclusive only for texts without tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, isfinite
from typing import Any, Final, TypeAlias

import msgspec

from evalc.check import tree as t
from evalc.check.predicates import set_of
from evalc.check.texts import NotJson, parse, parse_leniently
from evalc.compiler.examine import examine
from evalc.ecma import Unit, find_tokens, length_of, trim
from evalc.model.json import EVERY, is_number, steps, to_json

_OPEN, _CLOSE, _BYTE = 0x10FE00, 0x10FE01, 0x10FF00  # the end of the last private use area
_MARK: Final = chr(_OPEN)
_RUN: Final = re.compile(f"{_MARK}[^{chr(_CLOSE)}]*{chr(_CLOSE)}")


def encode(text: str) -> str:
    """The text, with a run of private characters for each token."""
    if "{{" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for token in find_tokens(text):
        name = f"{token.source}:{token.path}".encode("utf-8", "surrogatepass")
        run = "".join(chr(_BYTE + byte) for byte in name)
        pieces += (text[at : token.start], _MARK, run, chr(_CLOSE))
        at = token.end
    return "".join(pieces) + text[at:]


def is_fixed(encoded: str) -> bool:
    """Whether the text has no tokens."""
    return _MARK not in encoded


def beginning(encoded: str) -> str:
    """The text before the first token."""
    return encoded.partition(_MARK)[0]


def end(encoded: str) -> str:
    """The text behind the last token."""
    return encoded.rpartition(chr(_CLOSE))[2]


def pieces(encoded: str) -> list[str]:
    """The texts between the tokens."""
    return _RUN.split(encoded)


def without_tokens(encoded: str) -> str:
    """The text if every token is empty."""
    return encoded if is_fixed(encoded) else _RUN.sub("", encoded)


def least(encoded: str, unit: Unit, folded: bool) -> int:
    """The least length of a text that contains this one, whatever its tokens and the text around it are.

    If case is folded: one character folds to at most three.
    """
    text = without_tokens(encoded)
    return -(-len(text) // 3) if folded and unit in ("chars", "bytes") else length_of(text, unit)


# --- JSON ------------------------------------------------------------------------------------------------------------

_JSON_SPACES: Final = " \t\n\r"
_JSON_STARTS: Final = {"object": "{", "array": "[", "strict": '{["-0123456789tfn'}
NOT_JSON: Final = object()
"""Stands for the value of a text that is not JSON."""
UNCERTAIN: Final = object()
"""Stands for the value of a text whose JSON depends on its tokens."""
_SAFE: Final = 2**53


def cannot_begin_json(start: str, mode: str) -> bool:
    """Whether no JSON of the mode starts so; what a lenient one starts with may be prose."""
    rest = start.lstrip(_JSON_SPACES)
    return rest != "" and rest[0] not in _JSON_STARTS[mode]


@lru_cache(256)
def json_of(text: str, *, lenient: bool) -> Any:
    """The JSON of a text, `NOT_JSON` or `UNCERTAIN`."""
    try:
        value = parse_leniently(text) if lenient else parse(text)
    except NotJson:
        return NOT_JSON
    except RecursionError:
        return UNCERTAIN
    return value if is_safe(value) else UNCERTAIN


def is_safe(value: Any) -> bool:
    """Whether the numbers within the value are equal only if they are written alike."""
    match value:
        case bool() | str() | None:
            return True
        case int() | float():
            return -_SAFE < value < _SAFE
        case list():
            return all(map(is_safe, value))
        case _:
            return isinstance(value, dict) and all(map(is_safe, value.values()))


def is_well_formed(text: str) -> bool:
    """Whether Python and JavaScript read the same characters: no half of a surrogate pair stands alone."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


class Json(t.Node, frozen=True):
    """The step from a text to its JSON."""


class Times(t.Node, frozen=True):
    """The step to the number of times that a value contains a text."""

    text: Any
    folded: bool


JSON: Final = Json()
TOOLS: Final = t.Tools()
ITEM: Final = (t.Items("", "every"),)
"""An item of a list, or a call, among others: the subject of a quantified fact."""

Subject: TypeAlias = tuple[Any, ...]
"""The steps to the subject of a fact; those of paths are single keys and indices, as `steps` returns them."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A predicate that holds of a subject, or does not. `folded`: it compares case-folded texts."""

    subject: Subject
    predicate: str
    operand: Any = None
    folded: bool = False
    holds: bool = True


class Every(msgspec.Struct, frozen=True, gc=False):
    """Every part holds; without parts, it always holds."""

    parts: tuple[Formula, ...]


class Either(msgspec.Struct, frozen=True, gc=False):
    """At least one part holds; without parts, it never holds."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Fact | Every | Either

_EVERY: Final = ("every", EVERY)
_MOST_FACTS: Final = 64
_MOST_JOINTS: Final = 4  # comparing takes time that doubles with each


def facts_of(formula: Formula) -> list[Fact]:
    """The facts of a formula."""
    return [formula] if isinstance(formula, Fact) else [fact for part in formula.parts for fact in facts_of(part)]


def negation(formula: Formula) -> Formula:
    """The formula that holds where this one does not. `not` says more: that the check can be asked, too."""
    match formula:
        case Fact(subject, predicate, operand, folded, holds):
            return Fact(subject, predicate, operand, folded, not holds)
        case Every(parts):
            return Either(tuple(map(negation, parts)))
        case Either(parts):
            return Every(tuple(map(negation, parts)))


def _depth(formula: Formula) -> int:
    return 0 if isinstance(formula, Fact) else 1 + max(map(_depth, formula.parts), default=0)


def formula_of(check: t.Check) -> Formula:
    """The formula of a check; a check with too many parts to compare is a single fact."""
    try:
        return _cached(check, to_json(check))
    except TypeError:  # a schema or a value that cannot be hashed
        return _bounded(check)


@lru_cache(4096)
def _cached(check: t.Check, _written: bytes) -> Formula:
    """The formula; the written check keeps 1 and true apart, which are equal in Python."""
    return _bounded(check)


def _bounded(check: t.Check) -> Formula:
    formula = _read(check, (), True)
    if isinstance(formula, Fact) or (len(facts_of(formula)) <= _MOST_FACTS and _depth(formula) <= _MOST_JOINTS):
        return formula
    return _unread(check, (), True)


# --- subjects --------------------------------------------------------------------------------------------------------


def is_text(subject: Subject) -> bool:
    """Whether the subject is the response, or that of a turn: a text, whose JSON has to be parsed."""
    return not subject or isinstance(subject[-1], t.Turn)


def is_textual(subject: Subject) -> bool:
    """Whether `contains` searches only the text; in other subjects it looks for an item of a list."""
    return is_text(subject) or isinstance(subject[-1], t.Argument)


def value_of(subject: Subject) -> Subject:
    """The JSON value of a subject."""
    return (*subject, JSON) if is_text(subject) else subject


def place(subject: Subject, path: str) -> Subject:
    """A place in a subject; the JSON of the response, and of a result that is a text, has to be parsed."""
    reads = is_text(subject) or isinstance(subject[-1], t.Result | t.Failure | t.File)
    return (*subject, *((JSON,) if reads else ()), *steps(path))


def there_is(group: Subject) -> Fact:
    """Assert that there is a call, or an item, where the steps lead."""
    if isinstance(group[-1], t.Call):
        return calls(group[:-1], group[-1].tool, 1)
    return Fact(group, "any", Every(()))


def calls(subject: Subject, tool: str, least: int, *, holds: bool = True) -> Fact:
    """Assert that a tool is called at least so often."""
    return Fact((*subject, TOOLS, t.Measure("calls", tool)), "over", (least, True), holds=holds)


def is_optional(step: Any) -> bool:
    """Whether a step leads to a number that agents may not report; a check of it then says nothing."""
    return isinstance(step, t.Measure) and (step.of == "errors" or step.of.endswith("_tokens"))


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(check: t.Check, subject: Subject, required: bool) -> Formula:
    """The formula of a check of the subject; if not `required`, that of the check with `not` before it."""
    match check:
        case t.Test():
            return _reached(subject, _of_test(check, subject, required))
        case t.Of(step, inner):
            return _behind(step, inner, subject, required)
        case t.Not(inner):
            return _read(inner, subject, not required)
        case t.All(checks) | t.Some(checks):
            if len(checks) > _MOST_FACTS:
                return _unread(check, subject, required)
            if not required and any(isinstance(step, t.Call) for step in subject):
                return _without_one_of(check, subject) if isinstance(check, t.All) else _unread(check, subject, False)
            join = Every if isinstance(check, t.All) is required else Either
            return _joined(join, [_read(part, subject, required) for part in checks])


def _without_one_of(check: t.All, subject: Subject) -> Formula:
    """The formula of `not` before the parts of a call: one of them does not hold, or its argument is not there."""
    parts: list[Formula] = []
    for part in check.checks:
        if not (isinstance(subject[-1], t.Call) and isinstance(part, t.Of) and isinstance(part.step, t.At)):
            return _unread(check, subject, False)
        argument = place(subject, part.step.path)
        if _EVERY in argument:
            return _unread(check, subject, False)
        parts += [Fact(argument, "exists", holds=False), _read(part.check, argument, False)]
    return _reached(subject, _joined(Either, parts))


def _behind(step: t.Step, inner: t.Check, subject: Subject, required: bool) -> Formula:
    match step:
        case t.At(path) if _EVERY not in steps(path):
            return _read(inner, place(subject, path), required)
        case t.Items(path, which) if _EVERY in steps(path):
            route = place(subject, path)
            inside = len(route) - route[::-1].index(_EVERY)
            return _reached(subject, _of_several(route[:inside], which, inner, required, (*ITEM, *route[inside:])))
        case t.Call(tool, "any" | "every" | "no" as which):
            several, call = _of_several((*subject, t.Call(tool)), which, inner, required), calls(subject, tool, 1)
            if which == "every":  # of no call it says nothing
                return _reached(subject, several)
            holds_without = required is (which == "no")
            return _reached(subject, Either((negation(call), several)) if holds_without else Every((call, several)))
        case t.Measure("calls"):
            return _read(inner, (*subject, TOOLS, step), required)
        case t.Measure("items"):
            return _read(inner, (*value_of(subject), step), required)
        case t.Turn() | t.File() | t.Tools() | t.Call() | t.Argument() | t.Result() | t.Failure() | t.Measure():
            return _read(inner, (*subject, step), required)
        case _:
            return _unread(t.Of(step, inner), subject, required)


def _of_several(subject: Subject, which: str, inner: t.Check, required: bool, item: Subject = ITEM) -> Fact:
    """The formula about items or calls; `not` before it changes the quantifier. Of nothing, `every` says nothing."""
    return Fact(subject, which if required else f"not {which}", _read(inner, item, True))


def _reached(subject: Subject, formula: Formula) -> Formula:
    """The formula together with what every check requires: that there is such a turn, and such a call."""
    there: list[Formula] = []
    for at, step in enumerate(subject):
        match step:
            case t.Turn(number) if number > 1:
                there.append(Fact(subject[: at + 1], "exists"))
            case t.Call(tool, int() as number):
                there.append(calls(subject[:at], tool, number))
    return _joined(Every, [*there, formula]) if there else formula


def _unread(check: t.Check, subject: Subject, required: bool) -> Fact:
    """A fact that only a run can decide; under `not` it is a different fact, because the check may not be askable."""
    return Fact(subject, "unknown", check if required else t.Not(check))


def _joined(join: type[Every | Either], parts: Sequence[Formula]) -> Formula:
    """The parts joined, one level of the same kind flattened."""
    flat: list[Formula] = []
    for part in parts:
        flat += part.parts if isinstance(part, join) else (part,)
    return flat[0] if len(flat) == 1 else join(tuple(flat))


# --- tests -----------------------------------------------------------------------------------------------------------


def _of_test(test: t.Test, subject: Subject, required: bool) -> Formula:
    """The formula of a test: the predicate holds, or under `not`, it can be asked and does not hold."""
    is_measured = bool(subject) and isinstance(subject[-1], t.Measure | Times)
    match test:
        case t.Test("contains_any" | "contains_all" | "one_of" as predicate, values, folded):
            if not values and required and predicate == "one_of":
                return Either(())
            if not values or len(values) > _MOST_FACTS:  # an empty group of texts is skipped
                return _unread(test, subject, required)
            parts = [_of_test(t.Test(_member(predicate, value), value, folded), subject, required) for value in values]
            joint = _joined(Every if required is (predicate == "contains_all") else Either, parts)
            asks_sent = predicate != "one_of" and isinstance(subject[-1] if subject else None, t.Argument)
            return _joined(Every, [Fact(subject, "exists"), joint]) if asks_sent else joint
        case t.Test("non_empty") if not is_text(subject):
            return _of_test(t.Test("empty"), subject, not required)
        case t.Test("contains", value, folded) if required and not is_textual(subject):
            test = t.Test("has", value, folded)  # at a list it asks for an item; `not` asks that no text contains it
        case t.Test("occurs", (str() as text, bounds), folded) if is_textual(subject):
            test, subject = t.Test("between", bounds), (*subject, Times(_encoded(text, folded), folded))
        case t.Test("is", value) if is_measured and is_number(value):
            test = t.Test("between", t.Bounds(value, value))
        case t.Test("within", (by, of)) if is_number(by) and is_number(of):
            test = t.Test("within", t.Bounds(exact(of) - exact(by), exact(of) + exact(by)))
        case t.Test("between", t.Bounds(value, most)) if value is not None and value == most and not is_measured:
            test = t.Test("is", value)
    formula = _READERS[test.predicate](test, subject) if test.predicate in _READERS else None
    if formula is None:
        return _unread(test, subject, required)
    formula = formula if required else negation(formula)
    says_so = _is_number(formula) or (required and test.predicate not in ("between", "within", "judge"))
    return formula if says_so else _joined(Every, [*_asked(test, subject), formula])


def _member(predicate: str, value: Any) -> str:
    """The predicate for one of several values."""
    if predicate != "one_of":
        return "contains"
    return "equals" if isinstance(value, str) else "is"


def _is_number(formula: Formula) -> bool:
    """Whether it says that the subject is a number of some size, so that it could be asked."""
    match formula:
        case Fact():
            return formula.predicate == "over" and formula.holds
        case Every(parts):
            return any(map(_is_number, parts))
        case Either(parts):
            return bool(parts) and all(map(_is_number, parts))


def _asked(test: t.Test, subject: Subject) -> list[Fact]:
    """The facts that hold wherever a test can be asked, whether or not the test holds."""
    value = value_of(subject)
    *rest, last = subject or (None,)
    outer = tuple(rest)
    match test.predicate, last:
        case "exists", _:  # that it is not there can be asked of JSON alone, where one is read
            return [Fact(subject[: subject.index(JSON) + 1], "exists")] if JSON in subject else []
        case "between" | "within", t.Measure("items"):
            return [Fact(outer, "is_a", "array")]
        case "between" | "within", t.Measure(of):
            return [Fact(outer, "is_a", "string")] if of in t.OF_TEXT and not is_text(outer) else []
        case "between", Times():
            return [] if is_text(outer) else [Fact(outer, "exists")]
        case "between" | "within", _:
            return [Fact(value, "is_a", "number")]
        case "unique", _:
            return [Fact(value, "is_a", "array")]
        case "sorted", _:
            return [Fact(value, "sortable", test.operand[1])]
        case _ if is_text(subject) or last in (TOOLS, JSON):
            return []
        case "format", _:
            return [Fact(subject, "is_a", "string")]
        case "empty", _:
            never = [Fact(subject, "is_a", type_, holds=False) for type_ in ("number", "boolean")]
            return [Fact(subject, "exists"), *never]
        case _:
            return [Fact(subject, "exists")]


def _sure(subject: Subject, holds: bool) -> Formula:
    """The formula that holds of every subject, or of none; if the subject may be left out, only where it is asked."""
    if any(isinstance(step, t.Call) or is_optional(step) for step in subject):
        return Fact(subject, "sure", holds=holds)
    return Every(()) if holds else Either(())


def _encoded(text: str, folded: bool) -> str:
    return encode(text).casefold() if folded else encode(text)


def _of_text(test: t.Test, subject: Subject) -> Formula | None:
    if isinstance(test.operand, str):
        return Fact(subject, test.predicate, _encoded(test.operand, test.ignoring_case), test.ignoring_case)
    asks_items = test.predicate in ("contains", "has") and not is_textual(subject)
    return Fact(subject, test.predicate, test.operand) if asks_items else None


def _of_pattern(test: t.Test, subject: Subject) -> Formula | None:
    """The formula of a pattern; one of plain characters is a text to contain, to start with, or to equal."""
    pattern, flags = test.operand
    if not isinstance(pattern, str) or not (is_text(subject) or not find_tokens(pattern)):
        return None
    literal = examine(pattern, flags).literal if is_textual(subject) else None
    if literal is None:
        return Fact(subject, "matches", (pattern, flags))
    return Fact(subject, _LITERALS[literal[1]], encode(literal[0]))


_LITERALS: Final = {"has": "contains", "begins": "starts_with", "is": "equals"}


def _of_similar(test: t.Test, subject: Subject) -> Formula | None:
    text, threshold = test.operand
    return Fact(subject, "similar", (encode(text), threshold)) if is_number(threshold) else None


def _of_value(test: t.Test, subject: Subject) -> Formula | None:
    subject = value_of(subject)
    if test.predicate == "is" and (isinstance(subject[-1], t.Measure | Times) or b"{{" in to_json(test.operand)):
        return None
    return Fact(subject, test.predicate, test.operand)


def _of_judge(test: t.Test, subject: Subject) -> Formula | None:
    """The formula of a judge's score, which is at least 0 and at most the highest of the scale."""
    scale, least = test.operand[1], test.operand[3]
    return _sure(subject, least <= 0) if is_number(least) and not 0 < least <= scale else None


# --- numbers ---------------------------------------------------------------------------------------------------------


def exact(number: Any) -> Any:
    """The number that the shortest digits of a float write, as `within` compares it."""
    return Fraction(repr(number)) if isinstance(number, float) and isfinite(number) else number


def _of_bounds(test: t.Test, subject: Subject) -> Formula | None:
    """The formula of bounds: above the lower limits, and not above the upper ones."""
    bounds = test.operand
    if not isinstance(bounds, t.Bounds):
        return None
    limits = [
        (bounds.min, True, True),
        (bounds.above, False, True),
        (bounds.max, False, False),
        (bounds.below, True, False),
    ]
    given = [(exact(limit), inclusive, holds) for limit, inclusive, holds in limits if limit is not None]
    if not all(isinstance(limit, int | Fraction) for limit, _, _ in given):
        return None
    return _joined(Every, [_over(value_of(subject), *limit) for limit in given] or [_sure(subject, True)])


def _over(subject: Subject, limit: Any, inclusive: bool, holds: bool) -> Formula:
    """The fact that a number is above the limit, or not below it; the limit of a count becomes a whole number."""
    measured = subject[-1]
    if isinstance(measured, t.Measure | Times) and measured not in (t.Measure("ms"), t.Measure("dollars")):
        limit, inclusive = ceil(limit) if inclusive else floor(limit) + 1, True
        if limit < 1:
            return _sure(subject, holds)
        if limit == 1 and measured == t.Measure("calls"):
            return Fact(subject[:-1], "called", (), holds=not holds)
        if limit == 1 and isinstance(measured, Times):
            return Fact(subject[:-1], "contains", measured.text, measured.folded, holds)
        if limit == 1 and isinstance(measured, t.Measure) and measured.of in ("chars", "lines", "bytes"):
            return Fact(subject[:-1], "equals", "", holds=not holds)
    return Fact(subject, "over", (limit, inclusive), holds=holds)


# --- JSON and Markdown -----------------------------------------------------------------------------------------------


def _of_json(test: t.Test, subject: Subject) -> Formula | None:
    mode, schema = test.operand
    if not is_text(subject) or isinstance(schema, str):
        return None

    def of_type(type_: str | None) -> Fact:
        if mode == "lenient":
            return Fact(value_of(subject), "is_a", type_) if type_ else Fact(value_of(subject), "exists")
        return Fact(subject, "json", type_ or mode)

    parts: list[Formula] = [of_type(None)]
    if schema is False:
        parts.append(Either(()))
    elif isinstance(schema, dict) and schema:
        if "$ref" not in schema and schema.get("type") in ("object", "array"):
            parts.append(of_type(schema["type"]))
        parts.append(_unread(test, subject, True))
    return _joined(Every, parts)


def _has_words(_: Any, subject: Subject) -> Fact:
    return Fact((*subject, t.Measure("words")), "over", (1, True))


def _of_empty(_: t.Test, subject: Subject) -> Formula:
    """The formula of `is empty`: a response is empty as a text, or as its JSON."""
    if not is_text(subject):
        return Fact(subject, "empty")
    return Either((negation(_has_words(None, subject)), Fact(value_of(subject), "empty")))


def _of_structure(test: t.Test, subject: Subject) -> Formula | None:
    fields, headings = test.operand
    if not is_text(subject) or len(fields) + len(headings) > _MOST_FACTS:
        return None
    parts: list[Formula] = [part for path, type_ in fields for part in _field(place(subject, path), path, type_)]
    return _joined(Every, [*parts, *(Fact(subject, "heading", trim(heading).casefold()) for heading in headings)])


def _field(subject: Subject, path: str, type_: str | None) -> tuple[Fact, ...]:
    """The formula of a field; a path to every item may lead to none, but still requires JSON."""
    if _EVERY in subject:
        items = subject[: subject.index(_EVERY)]
        return Fact(items, "is_a", "array"), Fact(items, "field", (path, type_))
    return (Fact(subject, "exists") if type_ is None else Fact(subject, "is_a", type_),)


# --- tools -----------------------------------------------------------------------------------------------------------


def _of_tools(test: t.Test, subject: Subject) -> Formula | None:
    predicate, names, outer = test.predicate, test.operand, subject[:-1]
    if len(names) > _MOST_FACTS:
        return None
    none_called = Fact(subject, "called", ())
    match predicate:
        case "acceptable":
            sets = map(set_of, names)
            return _joined(Either, [Fact(subject, "set", each) if each else none_called for each in sets])
        case "not_called":
            return _joined(Every, [calls(outer, name, 1, holds=False) for name in names])
        case "only":
            return Fact(subject, "only", frozenset(names)) if names else none_called
        case "before" if names[0] == names[1]:
            return Either(())
        case "called" | "before":
            return Fact(subject, predicate, names)
        case "in_order" if len(names) > 1:
            return Fact(subject, "in_order", names)
        case _:
            counts = [calls(outer, name, names.count(name)) for name in dict.fromkeys(names)]
            return _joined(Every, [*counts, *([calls(outer, "", len(names))] if len(counts) > 1 else [])])


_READERS: Final[Mapping[str, Callable[[t.Test, Subject], Formula | None]]] = {
    **dict.fromkeys(("contains", "has", "equals", "starts_with", "ends_with"), _of_text),
    **dict.fromkeys(("is", "is_a", "sorted", "unique"), _of_value),
    **dict.fromkeys(("called", "acceptable", "not_called", "include", "in_order", "only", "before"), _of_tools),
    **dict.fromkeys(("between", "within"), _of_bounds),
    "matches": _of_pattern,
    "similar": _of_similar,
    "exists": lambda _, subject: Every(()) if is_text(subject) else Fact(subject, "exists"),
    "format": lambda test, subject: Fact(subject, "format", test.operand),
    "empty": _of_empty,
    "non_empty": _has_words,
    "json": _of_json,
    "structure": _of_structure,
    "judge": _of_judge,
}
"""How the tests of some predicates become formulas; others are single facts."""
READ: Final = frozenset({*_READERS, "contains_any", "contains_all", "one_of", "occurs"})
"""The predicates that imply anything."""
