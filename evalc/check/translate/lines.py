"""Writes checks as lines: subjects, predicates, quantifiers, and how negation goes into each."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, final

from evalc.ecma.regexp import PatternError, parse

Root = Literal["response", "json", "item", "call"]
Step = str | int


class NoLine(Exception):
    """No line surely means the same."""


@final
class Place(NamedTuple):
    """A text or a JSON value that is asked: the response, its JSON, an item of a list or an argument, and a path."""

    root: Root = "response"
    path: tuple[Step, ...] = ()
    folded: Literal["", "lower", "upper"] = ""  # the case that all its letters were put into
    trimmed: bool = False  # without white space at both ends

    def member(self, step: Step) -> Place:
        """The place one step further down; a step into the response is one into its JSON."""
        if self.folded or self.trimmed:
            raise NoLine
        return Place("json" if self.root == "response" else self.root, (*self.path, step))

    def plain(self) -> Place:
        """The place, whatever its case and the white space around it."""
        return Place(self.root, self.path)


@final
class Part(NamedTuple):
    """Anything else that an expression denotes: a literal, a size, a measure of the run, the calls."""

    kind: str
    of: Any = None
    value: Any = None
    foreign: bool = False  # of a regular expression, whether another language's classes may differ


@final
class Predicate(NamedTuple):
    """A question about a place, and its opposite."""

    text: str
    opposite: str
    verbal: bool = True  # whether it may begin a line about the response

    def negated(self) -> Predicate:
        """The opposite."""
        return Predicate(self.opposite, self.text, self.verbal)


def asked(text: str) -> Predicate:
    """A predicate that `not` before it negates."""
    return Predicate(text, f"not {text}")


def described(text: str) -> Predicate:
    """A predicate that stands after `is`."""
    return Predicate(f"is {text}", f"is not {text}")


EXISTS: Final = Predicate("exists", "not exists")
MISSING: Final = EXISTS.negated()


@final
class Test(NamedTuple):
    """A predicate asked of a place."""

    place: Place
    predicate: Predicate


@final
class Fact(NamedTuple):
    """A line that has its own subject, and its opposite."""

    text: str
    opposite: str
    tools: tuple[str, ...] = ()  # the tools that the call is of, where this is asked of one call

    def negated(self) -> Fact:
        """The opposite."""
        if self.tools:
            raise NoLine
        return Fact(self.opposite, self.text)


@final
class Both(NamedTuple):
    """All or some of several conditions."""

    word: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition = Test | Fact | Both


def fact(text: str, opposite: str | None = None) -> Fact:
    """A line that stands for itself."""
    return Fact(text, f"not {text}" if opposite is None else opposite)


SUCCEEDS: Final = Fact("", " ")  # of one call, which has no line of its own
NO_ERRORS: Final = Fact("no tool errors", "tool errors >= 1")


def negated(condition: Condition) -> Condition:
    """The opposite of a condition."""
    match condition:
        case Test(place, predicate):
            return Test(place, predicate.negated())
        case Fact():
            return condition.negated()
        case Both(word, parts):
            return Both("or" if word == "and" else "and", tuple(map(negated, parts)))


def joined(word: Literal["and", "or"], parts: Iterable[Condition]) -> Condition:
    """Conditions under one `and` or `or`."""
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, Both) and part.word == word else (part,)
    if not flat:
        raise NoLine
    return flat[0] if len(flat) == 1 else Both(word, tuple(flat))


def written(condition: Condition, *, inner: bool = False) -> str:
    """The line of a condition."""
    match condition:
        case Fact(text) if text.strip():
            return text
        case Test(place, predicate):
            return _test(place, predicate)
        case Both(word, parts):
            line = f" {word} ".join(written(part, inner=True) for part in parts)
            return f"({line})" if inner else line
        case _:
            raise NoLine


def _test(place: Place, predicate: Predicate) -> str:
    if place.folded or place.trimmed or place.root in ("item", "call"):
        raise NoLine
    if "*" in place.path:
        return _every(place, predicate)
    if not place.path:
        return predicate.text if predicate.verbal else f"response {predicate.text}"
    return f"at {path_of(place.path)} {predicate.text}"


def _every(place: Place, predicate: Predicate) -> str:
    before, after = cut(place)
    if "*" in after.path:
        raise NoLine
    return items("every", before, Test(after, predicate)).text


def cut(place: Place) -> tuple[Place, Place]:
    """The list before the first `[*]` of a path, and what is asked of each item."""
    at = place.path.index("*")
    return Place("json", place.path[:at]), Place("item", place.path[at + 1 :])


# --- quantifiers -----------------------------------------------------------------------------------------------------


def items(quantifier: str, of: Place, condition: Condition) -> Fact:
    """A condition of every, any or no item of a list."""
    if of.root not in ("json", "response") or of.folded or of.trimmed or "*" in of.path:
        raise NoLine
    if isinstance(condition, Test) and condition.place == Place("item"):
        clause = condition.predicate.text
    else:
        clause = f"has {', '.join(parts(condition, 'item'))}"
    subject = f"item of {path_of(of.path)}" if of.path else "$[*]"
    if not of.path and clause.startswith("has "):
        raise NoLine
    return _quantified(quantifier, subject, clause)


def calls(quantifier: str, tool: str, condition: Condition) -> Fact:
    """A condition of the arguments of every, any or no call of a tool."""
    return _quantified(quantifier, f"call of {name_of(tool)}", f"has {', '.join(parts(condition, 'call'))}")


def _quantified(quantifier: str, subject: str, clause: str) -> Fact:
    texts = {word: f"{word} {subject} {clause}" for word in ("any", "every", "no")}
    opposite = {"any": texts["no"], "no": texts["any"], "every": f"not {texts['every']}"}
    return Fact(texts[quantifier], opposite[quantifier])


def parts(condition: Condition, root: Root) -> list[str]:
    """The conditions that one item or one call has to meet together, as they stand after `has`."""
    match condition:
        case Test(place, predicate) if place.root == root and place.path and not place.folded and not place.trimmed:
            if "*" in place.path:
                raise NoLine
            # a value alone is the short form of `equals`
            return [f"{path_of(place.path)} {predicate.text.removeprefix('equals ')}"]
        case Both("and", several):
            return [text for part in several for text in parts(part, root)]
        case _:
            raise NoLine


# --- predicates ------------------------------------------------------------------------------------------------------

OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def compared(op: str, number: object, unit: str = "") -> Predicate:
    """An order or an equality of numbers."""
    n = number_of(number)
    return Predicate(f"{op} {n}{unit}", f"{OPPOSITE[op]} {n}{unit}", verbal=False)


def measured(measure: str, op: str, number: object) -> Predicate:
    """A comparison of a measure of the place, such as its length."""
    n = whole(number)
    short = f"{measure} {n}" if op == "==" and measure == "count" else f"{measure} {op} {n}"
    return Predicate(short, f"{measure} {OPPOSITE[op]} {n}")


def between(low: object, high: object, measure: str = "") -> Predicate:
    """A range with both ends."""
    text = f"between {number_of(low)} and {number_of(high)}"
    text = f"{measure} {text}" if measure else text
    return Predicate(text, f"not {text}", verbal=bool(measure))


def within(tolerance: object, number: object) -> Predicate:
    """A number near another."""
    return asked(f"within {number_of(tolerance)} of {number_of(number)}")


def occurring(text: str, op: str, number: object, *, folded: bool = False) -> Predicate:
    """How often a text occurs."""
    n = whole(number)
    often = {"1": "once", "2": "twice"}.get(n, f"{n} times") if op == "==" else f"{op} {n} times"
    return asked(f"{contains(text, folded=folded).text} {often}")


def equal(value: Any) -> Predicate:
    """Equality with any JSON value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return compared("==", value)
    if value is None:
        return described("null")
    return asked(f"equals {literal(value)}")


def one_of(values: Sequence[Any]) -> Predicate:
    """Equality with one of several values."""
    return asked(f"one of {_list(values)}")


def contains(value: Any, *, folded: bool = False) -> Predicate:
    """A text within a text, or an item of a list."""
    return asked(f"contains {literal(value)}{' ignoring case' * folded}")


def contains_of(which: str, values: Sequence[Any], *, folded: bool = False) -> Predicate:
    """Any, all or none of several texts or items."""
    if which == "none":
        return contains_of("any", values, folded=folded).negated()
    if len(values) == 1:
        return contains(values[0], folded=folded)
    return asked(f"contains {which} of {_list(values)}{' ignoring case' * folded}")


def matches(pattern: str, flags: str = "") -> Predicate:
    """A regular expression of JavaScript."""
    try:
        parse(pattern, flags)
    except PatternError:
        raise NoLine from None
    if not pattern or "g" in flags or "y" in flags or "{{" in pattern or re.search("[\u2028\u2029]", pattern):
        raise NoLine
    return asked(f"matches /{_slashed(pattern)}/{flags}")


def escaped(text: str) -> str:
    """A pattern that has the text as it stands."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _slashed(pattern: str) -> str:
    """The pattern as it stands between slashes."""
    pattern = pattern.replace("\n", r"\n").replace("\r", r"\r")
    pieces = re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", pattern, re.DOTALL)
    return "".join(r"\/" if piece == "/" else piece for piece in pieces)


# --- atoms -----------------------------------------------------------------------------------------------------------

_PLAIN_STEP: Final = re.compile(r"[A-Za-z_][\w$-]*", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_SPECIAL: Final = re.compile(r"[][\\^$.*+?(){}|/]")
_LONGEST: Final = 4_000


def path_of(path: tuple[Step, ...]) -> str:
    """A path in the notation of `at`."""
    text = ""
    for step in path:
        if isinstance(step, int) or step == "*":
            text += f"[{step}]"
        elif _PLAIN_STEP.fullmatch(step):
            text += f".{step}" if text else step
        else:
            raise NoLine
    if not text or any(isinstance(step, int) and not 0 <= step < 10**9 for step in path):
        raise NoLine
    return text


def name_of(tool: object) -> str:
    """The name of a tool."""
    if not isinstance(tool, str) or not tool or len(tool) > _LONGEST:
        raise NoLine
    return tool if _NAME.fullmatch(tool) else literal(tool)


def names_of(tools: object) -> str:
    """A list of names of tools."""
    if not isinstance(tools, list | tuple):
        raise NoLine
    return f"[{', '.join(map(name_of, tools))}]"


def number_of(number: object) -> str:
    """A number in digits, without an exponent."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise NoLine
    text = format(Decimal(repr(number)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if sum(map(str.isdigit, text)) > 15:
        raise NoLine
    return text


def whole(number: object) -> str:
    """A count."""
    if isinstance(number, bool) or not isinstance(number, int | float) or number < 0 or number % 1 != 0:
        raise NoLine
    return number_of(int(number))


def literal(value: Any, depth: int = 0) -> str:
    """A JSON value."""
    match value:
        case str() if "{{" not in value and len(value) <= _LONGEST and not re.search("[\ud800-\udfff]", value):
            return json.dumps(value, ensure_ascii=False)
        case bool() | None:
            return json.dumps(value)
        case int() | float():
            return number_of(value)
        case list() | tuple() if depth < 20:
            return f"[{', '.join(literal(each, depth + 1) for each in value)}]"
        case dict() if depth < 20 and all(isinstance(key, str) for key in value):
            pairs = (f"{literal(key)}: {literal(each, depth + 1)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            raise NoLine


def _list(values: Sequence[Any]) -> str:
    if not isinstance(values, list | tuple) or not values:
        raise NoLine
    return literal(values)
