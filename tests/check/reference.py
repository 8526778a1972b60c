"""A plain and slow reference of what checks mean, written from the specs and not from the code that it is held against.

A predicate is a function of a `Thing` (what a subject is) and of operands, by its name in `PREDICATES`. A subject is a
function of an `Answer` and of what is asked of each thing there.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any


class Outcome(enum.Enum):
    """The outcome of a check; `OPEN` where the specs leave it open, `ABSENT` where an item lacks the place."""

    HOLDS = "holds"
    FAILS = "does not hold"
    CANNOT = "cannot be asked"
    ABSENT = "is not there"
    UNVERIFIED = "unverified"
    OPEN = "open"


HOLDS, FAILS, CANNOT, ABSENT, UNVERIFIED, OPEN = Outcome


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()
"""A place or an argument that is not there."""


@dataclass
class ToolCalled:
    """A call of a tool: its arguments, and its result or its error."""

    tool: str
    arguments: dict[str, Any]
    result: Any = NOTHING
    error: str | None = None


@dataclass
class Answer:
    """Return what an agent said and did; `turns` are the answers that a conversation is made of."""

    response: str
    calls: list[ToolCalled] = field(default_factory=list)
    message: str = "Book a room."
    milliseconds: float = 0
    dollars: float = 0
    tokens: tuple[int, int] | None = None
    turns: list[Answer] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


# --- JSON, and texts of it -------------------------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def written(value: Any) -> str:
    """A value as `JSON.stringify` writes it."""
    if is_number(value):
        return str(int(value)) if value == int(value) else repr(value)
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(key)}:{written(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else written(value)


def string_of(value: Any) -> str:
    """`String(value)` of JavaScript."""
    if isinstance(value, list):
        return ",".join("" if item is None else string_of(item) for item in value)
    return "[object Object]" if isinstance(value, dict) else text_of(value)


def same(one: Any, other: Any) -> bool:
    """Whether two values are one JSON value."""
    if is_number(one) and is_number(other):
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def parsed(text: str) -> Any:
    """The value of a text that is JSON, white space around it aside."""

    def refuse(_: str) -> Any:
        raise ValueError

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return NOTHING


_FENCED = re.compile(r"^```\w*\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def leniently(text: str) -> Any:
    """The value of a response that is JSON, or whose one fenced block is."""
    value = parsed(text)
    blocks = _FENCED.findall(text)
    return parsed(blocks[0]) if value is NOTHING and len(blocks) == 1 else value


def places(value: Any, path: str) -> list[Any]:
    """The values at a path: one, or one for each item where it has `[]`; NOTHING for one which is not there."""
    found = [value]
    for step in re.findall(r"\[\d*\]|[^.\[\]]+", path):
        following: list[Any] = []
        for each in found:
            if step == "[]":
                following += each if isinstance(each, list) else [NOTHING]
            elif step[0] == "[":
                index = int(step[1:-1])
                following.append(each[index] if isinstance(each, list) and index < len(each) else NOTHING)
            else:
                following.append(each[step] if isinstance(each, dict) and step in each else NOTHING)
        found = following
    return found


# --- what a subject is -----------------------------------------------------------------------------------------------


@dataclass
class Thing:
    """Return what a check asks: a value, and the text of it that texts are compared with.

    The response and an argument by its name are a text first, as the contract has them: even where the value is a
    list, `contains "x"` asks that text.
    """

    value: Any
    text: str
    answer: Answer
    is_response: bool = False
    is_text_first: bool = False
    is_prose: bool = False


def response_of(answer: Answer) -> Thing:
    value = leniently(answer.response)
    return Thing(
        answer.response if value is NOTHING else value, answer.response, answer, is_response=True, is_text_first=True
    )


def file(answer: Answer, path: str, ask: Ask, place: str = "") -> Outcome:
    """Return what is asked of a file that the agent wrote, as if it were the response, or of a place in it."""
    if path not in answer.files:
        return CANNOT if place else ask(value_of(answer, NOTHING))
    whole = replace(answer, response=answer.files[path])
    if not place:
        return ask(response_of(whole))
    value = json_in(whole.response)
    if value is NOTHING:
        return CANNOT
    (found,) = places(value, place)
    return ask(value_of(whole, found))


def value_of(answer: Answer, value: Any) -> Thing:
    return Thing(value, "" if value is NOTHING else text_of(value), answer)


def result_of(answer: Answer, result: Any) -> Thing:
    """A result in which places are sought: of a text what it says; prose has none, be they there or not."""
    found = json_in(result)
    thing = value_of(answer, found)
    thing.is_prose = found is NOTHING and result is not NOTHING
    return thing


def argument_of(answer: Answer, value: Any) -> Thing:
    return Thing(value, "" if value is NOTHING else string_of(value), answer, is_text_first=True)


Ask = Callable[[Thing], Outcome]


def negated(outcome: Outcome) -> Outcome:
    return {HOLDS: FAILS, FAILS: HOLDS}.get(outcome, outcome)


def reported(holds: bool) -> Outcome:
    return HOLDS if holds else FAILS


def first_of(outcomes: Iterable[Outcome], *order: Outcome) -> Outcome:
    """The first of an order that is among the outcomes, and the last of it where none is."""
    met = list(outcomes)
    return next((outcome for outcome in order if outcome in met), order[-1])


def all_of(outcomes: Iterable[Outcome]) -> Outcome:
    """All of them hold; what cannot be asked leaves it so, and what says nothing is left out."""
    return first_of(outcomes, FAILS, OPEN, CANNOT, HOLDS, UNVERIFIED)


def some_of(outcomes: Iterable[Outcome]) -> Outcome:
    """At least one of them holds."""
    return first_of(outcomes, HOLDS, OPEN, CANNOT, FAILS, UNVERIFIED)


def asked_of(thing: Thing, ask: Ask) -> Outcome:
    """The outcome of a check of a thing that an item or a call may lack."""
    outcome = ask(thing)
    return ABSENT if outcome is CANNOT and thing.value is NOTHING and not thing.is_prose else outcome


def of_one(outcome: Outcome) -> Outcome:
    """An outcome of one of several: what is not there does not hold."""
    return FAILS if outcome is ABSENT else outcome


def every_of(outcomes: Iterable[Outcome]) -> Outcome:
    """Every one of several items or calls, or of several parts of one: what says nothing leaves the whole open."""
    return first_of(map(of_one, outcomes), FAILS, OPEN, CANNOT, UNVERIFIED, HOLDS)


def quantified(which: str, outcomes: list[Outcome]) -> Outcome:
    """`any`, `every` or `no` of some items or calls."""
    if not outcomes:
        return {"any": FAILS, "every": UNVERIFIED, "no": HOLDS}[which]
    if which == "any":
        return first_of(map(of_one, outcomes), HOLDS, OPEN, CANNOT, UNVERIFIED, FAILS)
    return every_of(outcomes if which == "every" else [negated(of_one(outcome)) for outcome in outcomes])


def json_in(value: Any) -> Any:
    """The JSON of a response or a result: of a text what it says."""
    return leniently(value) if isinstance(value, str) else value


def items(answer: Answer, path: str, which: str, ask: Ask) -> Outcome:
    """`any item of PATH`: the list has to be there."""
    value = leniently(answer.response)
    (lists,) = places(value, path.partition("[]")[0]) or [NOTHING]
    if not isinstance(lists, list):
        return CANNOT
    return quantified(which, [asked_of(value_of(answer, item), ask) for item in places(value, path)])


def calls_of(answer: Answer, tool: str) -> list[ToolCalled]:
    return [call for call in answer.calls if call.tool == tool]


def calls(answer: Answer, tool: str, which: str | int, ask: Callable[[ToolCalled], Outcome]) -> Outcome:
    """`any call of TOOL`, or the call of a number."""
    made = calls_of(answer, tool)
    if isinstance(which, int):
        outcome = ask(made[which - 1]) if which <= len(made) else CANNOT
        return CANNOT if outcome is ABSENT else outcome
    return quantified(which, [ask(call) for call in made])


def argument(answer: Answer, tool: str, name: str, ask: Ask, *, is_contracts: bool = False) -> Outcome:
    """`tool TOOL.NAME`: of the first call; skipped where there is none.

    The contract has a form for some checks, in which an argument that was not sent is the text `undefined`.
    """
    made = calls_of(answer, tool)
    if not made:
        return UNVERIFIED
    absent = "undefined" if is_contracts else NOTHING
    return ask(argument_of(answer, made[0].arguments.get(name, absent)))


def failure(answer: Answer, call: ToolCalled, ask: Ask) -> Outcome:
    """`fails with`: the error of a call."""
    return asked_of(value_of(answer, NOTHING if call.error is None else call.error), ask)


# --- measures --------------------------------------------------------------------------------------------------------

SENTENCES = {"": 0, " ": 0, "a": 1, "timeout after 3s": 1, "One. Two! Three?": 3}
"""Texts whose sentences nobody disputes."""

MEASURES_OF_TEXT: dict[str, Callable[[str], Any]] = {
    "chars": len,
    "words": lambda text: len(text.split()),
    "lines": lambda text: len(text.splitlines()),
    "bytes": lambda text: len(text.encode()),
    "sentences": lambda text: SENTENCES.get(text, OPEN),
}


def measured(thing: Thing, measure: str) -> Any:
    """A measure of a thing; NOTHING where it has none."""
    if measure == "items":
        return len(thing.value) if isinstance(thing.value, list) else NOTHING
    text = thing.text if thing.is_response else thing.value
    return MEASURES_OF_TEXT[measure](text) if isinstance(text, str) else NOTHING


def of_run(answer: Answer, measure: str, tool: str = "") -> Any:
    """A measure of a run; NOTHING where the agent does not report it."""
    if measure in ("total_tokens", "input_tokens", "output_tokens"):
        if answer.tokens is None:
            return NOTHING
        used, made = answer.tokens
        return {"total_tokens": used + made, "input_tokens": used, "output_tokens": made}[measure]
    return {
        "calls": len(calls_of(answer, tool) if tool else answer.calls),
        "errors": sum(call.error is not None for call in answer.calls),
        "ms": answer.milliseconds,
        "dollars": answer.dollars,
        "tokens": len(answer.response.split()),  # of texts that are words of one token each
    }[measure]


def number_test(number: Any, ask: Ask, answer: Answer) -> Outcome:
    """Return what is asked of a measure that a value may lack."""
    if isinstance(number, Outcome):
        return number
    return CANNOT if number is NOTHING else ask(value_of(answer, number))


# --- predicates ------------------------------------------------------------------------------------------------------


def _cased(text: str, fold: bool) -> str:
    return text.casefold() if fold else text


def equal(thing: Thing, value: Any, *, fold: bool = False) -> bool:
    """A text is compared with the text, any other value with the JSON value."""
    if isinstance(value, str):
        return _cased(thing.text, fold) == _cased(value, fold)
    return same(thing.value, value)


def equals(thing: Thing, value: str, *, fold: bool = False) -> Outcome:
    return reported(equal(thing, value, fold=fold))


def is_value(thing: Thing, value: Any) -> Outcome:
    return reported(equal(thing, value))


def one_of(thing: Thing, values: list[Any], *, fold: bool = False) -> Outcome:
    return reported(any(equal(thing, value, fold=fold) for value in values))


def contains(thing: Thing, value: Any, *, fold: bool = False) -> Outcome:
    if value is None and thing.is_text_first and not thing.is_response:
        return OPEN  # a field of the contract that lacks its value
    if isinstance(thing.value, list) and not (thing.is_text_first and isinstance(value, str)):
        each = [value_of(thing.answer, item) for item in thing.value]
        if any(equal(item, value, fold=fold) for item in each):
            return HOLDS
        inside = _cased(text_of(value), fold) in _cased(written(thing.value), fold)
        if isinstance(value, str) or not inside:
            return CANNOT if inside else FAILS
        return CANNOT if any(item.value == written(value) for item in each) else OPEN
    if not isinstance(value, str):
        return OPEN
    return reported(_cased(value, fold) in _cased(thing.text, fold))


def contains_any(thing: Thing, values: list[Any], *, fold: bool = False) -> Outcome:
    """A value that is only within an item hides the guard, as it does for one value."""
    met = [contains(thing, value, fold=fold) for value in values]
    return next((outcome for outcome in (HOLDS, OPEN, CANNOT) if outcome in met), FAILS)


def contains_all(thing: Thing, values: list[Any], *, fold: bool = False) -> Outcome:
    met = [contains(thing, value, fold=fold) for value in values]
    if FAILS in met and (CANNOT in met or OPEN in met):
        return OPEN
    return next((outcome for outcome in (FAILS, OPEN, CANNOT) if outcome in met), HOLDS)


@dataclass
class Range:
    """The numbers that bounds allow."""

    min: Any = None
    max: Any = None
    above: Any = None
    below: Any = None

    def allows(self, number: Any) -> bool:
        exact = Decimal(repr(number))
        return (
            (self.min is None or exact >= Decimal(str(self.min)))
            and (self.max is None or exact <= Decimal(str(self.max)))
            and (self.above is None or exact > Decimal(str(self.above)))
            and (self.below is None or exact < Decimal(str(self.below)))
        )


def occurs(thing: Thing, value: str, times: Range, *, fold: bool = False) -> Outcome:
    if isinstance(thing.value, list) and not thing.is_text_first:
        return OPEN
    return reported(times.allows(_cased(thing.text, fold).count(_cased(value, fold))))


def matches(thing: Thing, pattern: str, flags: str) -> Outcome:
    """Of patterns that mean the same in Python."""
    return reported(re.search(pattern, thing.text, re.IGNORECASE if flags == "i" else 0) is not None)


def starts_with(thing: Thing, value: str, *, fold: bool = False) -> Outcome:
    return reported(_cased(thing.text, fold).startswith(_cased(value, fold)))


def ends_with(thing: Thing, value: str, *, fold: bool = False) -> Outcome:
    return reported(_cased(thing.text, fold).endswith(_cased(value, fold)))


def similar(thing: Thing, value: str, threshold: float) -> Outcome:
    longest = max(len(thing.text), len(value), 1)
    return reported(1 - Fraction(_distance(thing.text, value), longest) >= Fraction(str(threshold)))


def _distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        following = [at + 1]
        for index, beside in enumerate(other):
            following.append(min(row[index] + (letter != beside), row[index + 1] + 1, following[index] + 1))
        row = following
    return row[-1]


def between(thing: Thing, numbers: Range) -> Outcome:
    if is_number(thing.value):
        return reported(numbers.allows(thing.value))
    is_equality = numbers.min is not None and numbers.min == numbers.max
    return FAILS if is_equality else CANNOT


def within(thing: Thing, distance: Any, number: Any) -> Outcome:
    if not is_number(thing.value):
        return CANNOT
    return reported(abs(Decimal(repr(thing.value)) - Decimal(str(number))) <= Decimal(str(distance)))


def exists(thing: Thing) -> Outcome:
    return reported(thing.value is not NOTHING)


def empty(thing: Thing) -> Outcome:
    if is_number(thing.value) or isinstance(thing.value, bool):
        return FAILS if thing.is_response else CANNOT
    return reported(thing.value is None or not (thing.value.strip() if isinstance(thing.value, str) else thing.value))


def non_empty(thing: Thing) -> Outcome:
    if thing.is_response:  # the contract's
        return reported(thing.text.strip() != "")
    return negated(empty(thing))


TYPES: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
TYPES |= {"string": TYPES["text"], "array": TYPES["list"]}


def is_a(thing: Thing, type_: str) -> Outcome:
    return reported(TYPES[type_](thing.value))


FORMATS = {
    "date": re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
    "uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    "email": re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+"),
    "url": re.compile(r"https?://[^\s/]+\S*"),
}
"""The formats of the texts that are drawn; conformance has the rest."""


def format_(thing: Thing, name: str) -> Outcome:
    if thing.is_response and thing.value is not thing.text and isinstance(thing.value, str):
        return OPEN  # a JSON text as the whole response
    text = thing.text if thing.is_response else thing.value
    return reported(FORMATS[name].fullmatch(text) is not None) if isinstance(text, str) else CANNOT


def sorted_(thing: Thing, descending: bool, by: str | None) -> Outcome:
    if not isinstance(thing.value, list):
        return CANNOT
    keys = thing.value if by is None else [place for item in thing.value for place in places(item, by)]
    if not (all(map(is_number, keys)) or all(isinstance(key, str) for key in keys)):
        return CANNOT
    return reported(all(one >= other if descending else one <= other for one, other in pairwise(keys)))


def unique(thing: Thing) -> Outcome:
    if not isinstance(thing.value, list):
        return CANNOT
    found = thing.value
    return reported(not any(same(item, other) for at, item in enumerate(found) for other in found[:at]))


def json_(thing: Thing, mode: str, schema: str) -> Outcome:
    text = thing.text if thing.is_response else text_of(thing.value)
    value = leniently(text) if mode == "lenient" else parsed(text)
    if value is NOTHING or (mode in ("object", "array") and not TYPES[mode](value)):
        return FAILS
    return reported(schema == "" or SCHEMAS[schema](value))


SCHEMAS: dict[str, Callable[[Any], bool]] = {
    '{"type": "object"}': lambda value: isinstance(value, dict),
    '{"type": "array", "minItems": 2}': lambda value: isinstance(value, list) and len(value) >= 2,
    '{"type": ["number", "null"]}': lambda value: value is None or is_number(value),
    '{"required": ["a"]}': lambda value: not isinstance(value, dict) or "a" in value,
    '{"items": {"type": "integer", "minimum": 5}}': lambda value: (
        not isinstance(value, list) or all(TYPES["integer"](item) and item >= 5 for item in value)
    ),
    '{"enum": ["a", 5, [1]]}': lambda value: any(same(value, item) for item in ("a", 5, [1])),
}
"""A few schemas, and what is valid against them."""


def structure(thing: Thing, fields: list[tuple[str, str | None]], headings: list[str]) -> Outcome:
    if headings:
        found = [line.lstrip("#").strip().casefold() for line in thing.text.split("\n") if line.startswith("#")]
        return reported(all(heading.casefold() in found for heading in headings))
    document = json_in(thing.value)
    if document is NOTHING:
        return CANNOT
    met = [(place, type_) for path, type_ in fields for place in places(document, path)]
    return reported(all(place is not NOTHING and (type_ is None or TYPES[type_](place)) for place, type_ in met))


MARKDOWN = {
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "list": "- one\n- two",
    "code block": "```python\nprint(1)\n```",
    "link": "See [the page](https://example.com/a).",
    "heading": "# Risks\n\nNone.",
    "": "None.",
}
"""Texts of Markdown, each by the only part that it has."""


def markdown(thing: Thing, part: str, language: str | None) -> Outcome:
    fences = re.findall(r"^```(\w*)\n.*?^```", thing.text, re.MULTILINE | re.DOTALL)
    if part == "code block":
        return reported(bool(fences) if language is None else language in fences)
    text = re.sub(r"^```.*?^```", "", thing.text, flags=re.MULTILINE | re.DOTALL)
    return reported(MARKDOWN[part] in text or (part == "link" and re.search("https?://", text) is not None))


ENGLISH = "The weather is lovely in the mountains today"
GERMAN = "Das Wetter ist heute in den Bergen herrlich"
UNSURE = "Lorem ipsum dolor sit amet consectetur adipiscing"


def language(thing: Thing, name: str) -> Outcome:
    """As a detector says that knows two texts, and is not sure of any other."""
    if sum(map(str.isalpha, thing.text)) < 20:
        return UNVERIFIED
    found = {ENGLISH: "English", GERMAN: "German"}.get(thing.text)
    return UNVERIFIED if found is None else reported(found == name)


def texts_in(value: Any) -> Iterator[str]:
    """All texts and numbers in a value."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)
    elif isinstance(value, str) or is_number(value):
        yield text_of(value)


def sources(answer: Answer, names: list[str]) -> list[str]:
    found = [answer.message] if "message" in names else []
    for call in answer.calls if "tools" in names else []:
        found += texts_in(call.result) if call.error is None else [call.error]
    return found


_NUMBER = re.compile(r"(?<![\w.+-])-?\d+(?:\.\d+)?(?![\w.]|,\d|-\d)")
_WORDS = {"one": "1", "two": "2", "three": "3"}


def numbers_in(text: str) -> list[Decimal] | None:
    """The numbers of a text that has only plain ones."""
    if re.search(r"\d", _NUMBER.sub("", text)) or ",-" in text:
        return None
    return [Decimal(found) for found in _NUMBER.findall(text)]


def numbers_from(thing: Thing, names: list[str]) -> Outcome:
    """Of plain numbers, where rounding does not matter."""
    known: list[Decimal] = []
    for source in sources(thing.answer, names):
        plain = numbers_in(source)
        if plain is None or any(number != int(number) for number in plain):
            return OPEN
        known += [
            *plain,
            *(Decimal(number) for word, number in _WORDS.items() if re.search(rf"\b{word}\b", source.casefold())),
        ]
    said = numbers_in(thing.text)
    return OPEN if said is None else reported(all(number in known for number in said))


def quotes_from(thing: Thing, names: list[str]) -> Outcome:
    """Of quotes that are whole texts, letter by letter the same."""
    if "\\" in thing.text or "{" in thing.text or re.search(r"[`“«„「]", thing.text):
        return OPEN
    quotes = [quote.strip() for quote in re.findall(r'"([^"\n]*)"', thing.text)]
    if thing.text.count('"') % 2 or any(re.search(r"[A-Zß\W]", quote) for quote in quotes):
        return OPEN
    known = [source.casefold() for source in sources(thing.answer, names)]
    return reported(all(any(quote in source for source in known) for quote in quotes))


def judge(thing: Thing, least: float, scale: int) -> Outcome:
    """As a judge says that gives the half of a scale to a text with an `a` in it, and nothing to any other."""
    return reported((scale / 2 if "a" in thing.text else 0) >= least)


def check(thing: Thing, args: list[Any], numbers: Range | None) -> Outcome:
    """As a package says whose check finds the share of texts that a text contains."""
    share = sum(arg in thing.text for arg in args) / len(args)
    return reported(share == 1 if numbers is None else numbers.allows(share))


PREDICATES: dict[str, Callable[..., Outcome]] = {
    "equals": equals,
    "is": is_value,
    "one_of": one_of,
    "contains": contains,
    "contains_any": contains_any,
    "contains_all": contains_all,
    "occurs": occurs,
    "matches": matches,
    "starts_with": starts_with,
    "ends_with": ends_with,
    "similar": similar,
    "between": between,
    "within": within,
    "exists": exists,
    "empty": empty,
    "non_empty": non_empty,
    "is_a": is_a,
    "format": format_,
    "sorted": sorted_,
    "unique": unique,
    "json": json_,
    "structure": structure,
    "markdown": markdown,
    "language": language,
    "numbers_from": numbers_from,
    "quotes_from": quotes_from,
    "judge": judge,
    "check": check,
}


def asked(thing: Thing, predicate: str, *operands: Any, fold: bool = False) -> Outcome:
    """Return what a predicate says of a thing: only whether it is there can be asked of nothing."""
    if thing.value is NOTHING and predicate != "exists":
        return CANNOT
    if predicate in FOLDED:
        return PREDICATES[predicate](thing, *operands, fold=fold)
    return PREDICATES[predicate](thing, *operands)


FOLDED = {"equals", "one_of", "contains", "contains_any", "contains_all", "occurs", "starts_with", "ends_with"}
"""The predicates that compare texts, which may ignore case."""


# --- the names of the calls ------------------------------------------------------------------------------------------


def _in_order(names: list[str], required: list[str]) -> bool:
    rest: Iterator[str] = iter(names)
    return all(name in rest for name in required)


OF_NAMES: dict[str, Callable[..., bool]] = {
    "called": lambda names, required: names == required,
    "acceptable": lambda names, sets: any(set(names) == set(required) for required in sets),
    "not_called": lambda names, unwanted: not set(names) & set(unwanted),
    "include": lambda names, required: all(names.count(name) >= required.count(name) for name in required),
    "in_order": _in_order,
    "only": lambda names, allowed: set(names) <= set(allowed),
    "before": lambda names, first, then: first in names and then in names and names.index(first) < names.index(then),
}


def of_names(answer: Answer, predicate: str, *operands: Any) -> Outcome:
    return reported(OF_NAMES[predicate]([call.tool for call in answer.calls], *operands))


def no_errors(answer: Answer) -> Outcome:
    return reported(all(call.error is None for call in answer.calls))
