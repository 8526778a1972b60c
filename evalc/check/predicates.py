"""The predicates and the subjects of checks: one row each, which every phase reads.

A row of `PREDICATES` says which subjects a predicate takes, which texts of its operand are filled and how, how a line
with it looks, and what editors say about it. A row of `HOLDS` is its meaning, a function of a value and the operand;
those that ask a judge, a package or a schema are in `evalc.runtime.checks`. A row of `SUBJECTS` says how a subject is
written in front of a predicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, Final, Literal, NamedTuple, final

import msgspec

from evalc.check import tree as t
from evalc.check import values as v
from evalc.model.json import is_same


def holds(value: Any, test: t.Test) -> bool:
    """Whether a value, or the names of the tools called, has the predicate; it is one of `HOLDS`.

    Raises:
        CannotAsk: the value cannot be asked.
    """
    return HOLDS[test.predicate](value, test.operand, test.ignoring_case)


def is_within_order(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the names are among the others, in their order."""
    left = iter(others)
    return all(name in left for name in names)


def is_more(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each of the others is among the names, as often as among the others."""
    return Counter(others) <= Counter(names)


def set_of(names: Sequence[str]) -> frozenset[str]:
    """The tools of an acceptable set."""
    return frozenset(names) - {t.NO_TOOL} if len(names) == 1 else frozenset(names)


def in_any(ask: Callable[[Any], bool], values: Iterable[Any]) -> bool:
    """Whether it holds for one of the values; if it does, the others need not be asked.

    Raises:
        CannotAsk: it holds for none, and one of them cannot be asked.
    """
    fault = None
    for value in values:
        try:
            if ask(value):
                return True
        except v.CannotAsk as error:
            fault = fault or error
    if fault is not None:
        raise fault
    return False


def in_all(ask: Callable[[Any], bool], values: Iterable[Any]) -> bool:
    """Whether it holds for all of the values; as in `in_any`, one for which it does not hold decides."""
    return not in_any(lambda value: not ask(value), values)


HOLDS: Final[Mapping[str, Callable[[Any, Any, bool], bool]]] = {
    "contains": v.contains,
    "contains_any": lambda value, expected, case: in_any(lambda each: v.contains(value, each, case), expected),
    "contains_all": lambda value, expected, case: in_all(lambda each: v.contains(value, each, case), expected),
    "occurs": lambda value, asked, case: v.is_between(v.occurrences(value, asked[0], ignoring_case=case), asked[1]),
    "equals": lambda value, expected, case: v.equals(value, expected, ignoring_case=case),
    "is": lambda value, expected, _: is_same(value, expected),
    "one_of": lambda value, expected, case: v.is_one_of(value, expected, ignoring_case=case),
    "starts_with": lambda value, expected, case: v.folded(v.text_of(value), case).startswith(v.folded(expected, case)),
    "ends_with": lambda value, expected, case: v.folded(v.text_of(value), case).endswith(v.folded(expected, case)),
    "between": v.is_between,
    "within": lambda value, asked, _: v.is_within(value, *asked),
    "empty": lambda value, _, __: v.is_empty(value),
    "non_empty": lambda value, _, __: not v.is_empty(value),
    "is_a": lambda value, expected, _: v.is_a(value, expected),
    "format": lambda value, expected, _: v.has_format(value, expected),
    "sorted": lambda value, asked, _: v.is_sorted(value, descending=asked[0], by=asked[1] or ""),
    "unique": lambda value, _, __: v.is_unique(value),
    "called": lambda names, expected, _: tuple(names) == expected,
    "acceptable": lambda names, expected, _: frozenset(names) in map(set_of, expected),
    "not_called": lambda names, expected, _: frozenset(expected).isdisjoint(names),
    "include": lambda names, expected, _: is_more(names, expected),
    "in_order": lambda names, expected, _: is_within_order(expected, names),
    "only": lambda names, expected, _: frozenset(expected).issuperset(names),
    "before": lambda names, expected, _: (
        set(expected) <= set(names) and names.index(expected[0]) < names.index(expected[1])
    ),
}


Kind = Literal["value", "number", "names", "call"]
"""The kind of a subject: a JSON value or a text, a measured number, the names of the tools called, one call."""


@final
class Role(msgspec.Struct, frozen=True, gc=False):
    """The role of a text in a check: how it is filled, and what it names.

    Attributes:
        no_tokens_in: what messages call the text if it must not hold a `{{seed:...}}` (contract, Token Locations);
            empty where tokens are allowed.
        is_pattern: whether it is a regular expression, into which values go escaped.
        json_too: whether a list or a mapping may fill it, as JSON.
        names: what it names, if no template fills it: the file of a schema, the check of a package, a path; a `word`
            of the language is no text at all.
    """

    no_tokens_in: str = ""
    is_pattern: bool = False
    json_too: bool = False
    names: Literal["", "schema", "check", "path", "word"] = ""


TEXT: Final = Role()
VALUE: Final = Role(json_too=True)
"""A text within any JSON value."""
PATTERN: Final = Role("a regular expression", is_pattern=True)
MATCHED: Final = Role(is_pattern=True)
"""A regular expression that may hold tokens."""
TOOL: Final = Role("a tool's name")
PARAM: Final = Role("a parameter's name")
FILE: Final = Role("the path of a file")
HEADING: Final = Role("a heading")
QUESTION: Final = Role("what a judge is asked", json_too=True)
LABEL: Final = Role("a name")
SCHEMA: Final = Role(names="schema")
PACKAGED: Final = Role(names="check")
PATH: Final = Role(names="path")
WORD: Final = Role(names="word")


class Predicate(NamedTuple):
    """A predicate.

    Attributes:
        on: the kinds of subjects that it may be asked of.
        line: how it is written behind its subject, with `{}` for its operand; the first word begins it.
        sentence: what editors and the schema say of it.
        roles: the roles of the texts in its operand: one for all, or one for each part of a tuple.
        examples: lines with it, behind a subject.
        identity: whether it says what the value is, so that it decides every other predicate of that subject.
    """

    on: frozenset[Kind]
    line: str
    sentence: str
    roles: Role | tuple[Role, ...] = TEXT
    examples: tuple[str, ...] = ()
    identity: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The examples, behind the subject that they need to be understood."""
        subject = "any call of book " if "call" in self.on else ""
        if self.line.startswith("{} "):
            subject = "tool book "
        elif "names" in self.on and "tool" not in self.line:
            subject = "tools "
        return tuple(f"{subject}{each}" for each in self.examples)


_VALUE: Final = frozenset[Kind]({"value"})
_NUMBER: Final = frozenset[Kind]({"value", "number"})
_NAMES: Final = frozenset[Kind]({"names"})
_CALL: Final = frozenset[Kind]({"call"})

PREDICATES: Final[Mapping[str, Predicate]] = {
    "contains": Predicate(
        _VALUE,
        "contains {}",
        "It contains the text, case-sensitively; at a list, an item equals the value.",
        examples=('contains "refund"', 'contains "refund" ignoring case', "contains 5"),
    ),
    "contains_any": Predicate(
        _VALUE,
        "contains any of {}",
        "It contains at least one of the values.",
        examples=('contains any of ["rain", "umbrella"]',),
    ),
    "contains_all": Predicate(
        _VALUE, "contains all of {}", "It contains each of the values.", examples=('contains all of ["Paris", "Rome"]',)
    ),
    "occurs": Predicate(
        _VALUE,
        "contains {} times",
        "It contains the text so many times.",
        (TEXT, TEXT),
        examples=('contains "TODO" at most 2 times', 'contains "again" twice'),
    ),
    "matches": Predicate(
        _VALUE,
        "matches {}",
        "It matches the pattern: `new RegExp(pattern, flags).test(text)`.",
        (PATTERN, WORD),
        examples=("matches /^def .*:/m", 'matches "^def"'),
    ),
    "equals": Predicate(
        _VALUE,
        "equals {}",
        "Its text is exactly this text.",
        examples=('equals "42"', '== "yes" ignoring case'),
        identity=True,
    ),
    "is": Predicate(
        _NUMBER,
        "equals {}",
        "It is this JSON value; numbers are compared as numbers.",
        VALUE,
        examples=("equals 30", "== true", "is null"),
        identity=True,
    ),
    "one_of": Predicate(
        _NUMBER, "one of {}", "It equals one of the values.", examples=('one of ["EUR", "USD"]', "in [1, 2]")
    ),
    "starts_with": Predicate(_VALUE, "starts with {}", "It starts with the text.", examples=('starts with "Dear"',)),
    "ends_with": Predicate(_VALUE, "ends with {}", "It ends with the text.", examples=('ends with "Best regards"',)),
    "similar": Predicate(
        _VALUE,
        "similar to {} >= {}",
        "It is similar to the text, by edit distance: 1 is the same text, 0 shares nothing with it.",
        examples=('similar to "It rains in Paris" >= 0.9',),
    ),
    "between": Predicate(
        _NUMBER, "{}", "It is a number within the bounds.", examples=(">= 18", "< 240", "between 1 and 5", "1..5")
    ),
    "within": Predicate(
        _NUMBER, "within {} of {}", "It is a number at most so far from the other.", examples=("within 0.5 of 20",)
    ),
    "exists": Predicate(_VALUE, "exists", "It is there.", examples=("exists", "not exists", "is missing")),
    "empty": Predicate(
        _VALUE,
        "is empty",
        "It is null, a text of white space, an empty list or an empty object.",
        examples=("is empty", "is not empty"),
    ),
    "non_empty": Predicate(
        _VALUE,
        "non-empty",
        "It is more than white space, as JavaScript trims it; at a place, it is not empty.",
        examples=("non-empty",),
    ),
    "is_a": Predicate(_VALUE, "is a {}", "It is of this type.", WORD, examples=("is a number", "is a list")),
    "format": Predicate(_VALUE, "is a {}", "It has this format.", WORD, examples=("is a date", "is an email")),
    "sorted": Predicate(
        _VALUE,
        "is sorted{}",
        "It is a sorted list of numbers or of texts.",
        WORD,
        examples=("is sorted", "is sorted descending by price"),
    ),
    "unique": Predicate(_VALUE, "is unique", "No item of the list is there twice.", examples=("is unique",)),
    "language": Predicate(_VALUE, "is in {}", "It is written in this language.", WORD, examples=("is in English",)),
    "markdown": Predicate(
        _VALUE,
        "has a {}",
        "It has such a part in Markdown.",
        WORD,
        examples=("has a table", "has a code block in python"),
    ),
    "structure": Predicate(
        _VALUE,
        "has {}",
        "It has these JSON fields, or these Markdown headings.",
        (WORD, HEADING),
        examples=("has fields title, items[].id as number", 'has headings "Summary", "Risks"'),
    ),
    "json": Predicate(
        _VALUE,
        "json{}",
        "It is JSON, and valid against the schema if there is one.",
        (WORD, SCHEMA),
        examples=("json", "json lenient", 'json matching "answer.schema.json"'),
    ),
    "numbers_from": Predicate(
        _VALUE,
        "numbers from {}",
        "Every number in it occurs in a source: a result of a tool, or the message that was sent.",
        WORD,
        examples=("numbers from tools",),
    ),
    "quotes_from": Predicate(
        _VALUE,
        "quotes from {}",
        "Every text that it has in double quotes occurs in a source: a result of a tool, or the message.",
        WORD,
        examples=("quotes from tools, message",),
    ),
    "judge": Predicate(
        _VALUE,
        "judge {}",
        "A judge scores it by the criteria, with at least the score required.",
        (LABEL, WORD, QUESTION, WORD),
        examples=('judge "Is the tone kind?"', 'judge "Is it polite?" >= 4/5'),
    ),
    "check": Predicate(
        _VALUE,
        "check {}",
        "A check that an installed package provides (entry point `evalc.checks`), called with JSON values.",
        (PACKAGED, VALUE, VALUE, TEXT),
        examples=('check overlap("the expected text") >= 0.7',),
    ),
    "called": Predicate(
        _NAMES,
        "called {}",
        "Exactly these tools were called, in this order.",
        TOOL,
        examples=("called [get_weather, get_forecast]",),
        identity=True,
    ),
    "acceptable": Predicate(
        _NAMES,
        "one of {}",
        'The tools that were called are one of these sets; `none` is the empty set, `["__none__"]` in JSON.',
        TOOL,
        examples=("one of [[get_weather], [get_weather, get_forecast], none]",),
    ),
    "not_called": Predicate(
        _NAMES, "not called {}", "None of these tools was called.", TOOL, examples=("not called [delete_account]",)
    ),
    "include": Predicate(
        _NAMES,
        "include {}",
        "These tools were called, in any order and among any others. A name that is listed twice requires two calls.",
        TOOL,
        examples=("include [search, search, book]",),
    ),
    "in_order": Predicate(
        _NAMES,
        "in order {}",
        "These tools were called in this order, with any other calls in between.",
        TOOL,
        examples=("in order [search, book]",),
    ),
    "only": Predicate(
        _NAMES,
        "only {}",
        "No tool was called but these, each any number of times.",
        TOOL,
        examples=("only [search, book]",),
    ),
    "before": Predicate(
        _NAMES,
        "{} called before {}",
        "Both were called, the first one first.",
        TOOL,
        examples=("called before pay", "called after search"),
    ),
    "no_errors": Predicate(_NAMES, "no tool errors", "No call of a tool failed.", examples=("no tool errors",)),
    "fails": Predicate(_CALL, "fails", "The call failed.", examples=("fails",)),
}

EXAMINED: Final = frozenset({"matches", "json", "judge", "check"})
"""The predicates with a text that is examined once it is filled: a pattern, a schema, a question or a name."""


def roles_of(test: t.Test, of: t.Call | None = None) -> Role | tuple[Role, ...]:
    """The roles of the texts of a test; of calls, patterns may hold tokens, and texts may be JSON behind `has`."""
    roles = PREDICATES[test.predicate].roles
    if of is None:
        return roles
    if test.predicate == "matches":
        return MATCHED, WORD
    return VALUE if roles is TEXT and of.which != "first" else roles


Change = Callable[[Role, str | t.Blank], Any]
"""Returns the replacement for a text, or for a bare template, that has a role."""


def mapped(check: t.Check, change: Change, of: t.Call | None = None) -> t.Check:
    """The check with its texts changed, in the order in which they are written; the same object if none changes."""
    match check:
        case t.Test():
            operand = _mapped(roles_of(check, of), check.operand, change)
            return check if operand is check.operand else msgspec.structs.replace(check, operand=operand)
        case t.Of():
            step = _mapped_step(check.step, change)
            part = mapped(check.check, change, check.step if isinstance(check.step, t.Call) else of)
            return check if step is check.step and part is check.check else t.Of(step, part)
        case t.Not():
            part = mapped(check.check, change, of)
            return check if part is check.check else t.Not(part)
        case t.All() | t.Some():
            parts = tuple([mapped(part, change, of) for part in check.checks])
            return check if all(map(is_, parts, check.checks)) else type(check)(parts)


def _mapped_step(step: t.Step, change: Change) -> t.Step:
    match step:
        case t.Call(text) | t.Measure(_, text):
            field, role = "tool", TOOL
        case t.Argument(text):
            field, role = "name", PARAM
        case t.At(text):
            field, role = "path", PATH
        case t.File(text):
            field, role = "path", FILE
        case _:
            return step
    changed = text if isinstance(step, t.Measure | t.At) and not text else change(role, text)
    return step if changed is text else msgspec.structs.replace(step, **{field: changed})


def _mapped(role: Role | tuple[Role, ...], value: Any, change: Change) -> Any:
    if role is WORD or (role is SCHEMA and not isinstance(value, str)):
        return value
    match value:
        case str() | t.Blank():
            return change(role if isinstance(role, Role) else role[0], value)
        case tuple() | list():
            roles = (role,) * len(value) if isinstance(role, Role) else role
            items = [_mapped(each, item, change) for each, item in zip(roles, value, strict=True)]
            return value if all(map(is_, items, value)) else type(value)(items)
        case dict():
            changed = {key: _mapped(role, item, change) for key, item in value.items()}
            return value if all(map(is_, changed.values(), value.values())) else changed
        case t.Node():
            parts = {name: _mapped(role, getattr(value, name), change) for name in value.__struct_fields__}
            same = all(part is getattr(value, name) for name, part in parts.items())
            return value if same else msgspec.structs.replace(value, **parts)
        case _:
            return value


def texts_of(check: t.Check) -> list[tuple[Role, str | t.Blank]]:
    """The texts and bare templates of a check, each with its role, in the order in which they are written."""
    found: list[tuple[Role, str | t.Blank]] = []

    def keep(role: Role, text: str | t.Blank) -> str | t.Blank:
        found.append((role, text))
        return text

    mapped(check, keep)
    return found


class Subject(NamedTuple):
    """A subject.

    Attributes:
        line: how a line begins that is about it; capitals stand for what the author writes.
        gives: what it is, by which a predicate may be asked of it.
        sentence: what editors and pages say of it.
    """

    line: str
    gives: Kind
    sentence: str


MEASURES: Final[Mapping[t.Measured, Subject]] = {
    "chars": Subject("length {} chars", "number", "The number of characters of a text, as Unicode code points."),
    "words": Subject("length {} words", "number", "The number of words of a text."),
    "lines": Subject("length {} lines", "number", "The number of lines of a text."),
    "bytes": Subject("length {} bytes", "number", "The number of bytes of a text in UTF-8."),
    "sentences": Subject("sentences {}", "number", "The number of sentences of a text."),
    "items": Subject("count {}", "number", "The number of items of a list."),
    "calls": Subject("tool count {}", "number", "The number of calls of tools."),
    "errors": Subject("tool errors {}", "number", "The number of calls that failed."),
    "ms": Subject("latency {}", "number", "The time that the answer took."),
    "tokens": Subject("tokens {}", "number", "The tokens of the response, estimated as the contract does."),
    "total_tokens": Subject("total tokens {}", "number", "The tokens that the agent reports, of input and output."),
    "input_tokens": Subject("input tokens {}", "number", "The tokens of the input that the agent reports."),
    "output_tokens": Subject("output tokens {}", "number", "The tokens of the output that the agent reports."),
    "dollars": Subject("cost {}", "number", "The price of the answer in US dollars."),
}
"""The measures, each with its bounds in the place of `{}`."""

SUBJECTS: Final[tuple[Subject, ...]] = (
    Subject("response", "value", "The response: a text, or the JSON value that it is."),
    Subject("at PATH", "value", "The value at a place of a JSON response, such as `items[0].price`."),
    Subject("every item of PATH", "value", "Each item of a list; after `has`, the values of its fields."),
    Subject("any item of PATH", "value", "At least one item of a list; after `has`, the values of its fields."),
    Subject("no item of PATH", "value", "None of the items of a list; after `has`, the values of its fields."),
    Subject(
        'file "PATH"', "value", "The text of a file that the agent wrote, by its path in the folder of the attempt."
    ),
    Subject("tool NAME.PARAM", "value", "An argument of the first call of a tool, by its whole name."),
    Subject("any call of TOOL", "call", "At least one call of a tool: its arguments, its result or its error."),
    Subject("every call of TOOL", "call", "Each call of a tool: its arguments, its result or its error."),
    Subject("no call of TOOL", "call", "None of the calls of a tool: its arguments, its result or its error."),
    Subject("call N of TOOL", "call", "The Nth call of a tool: its arguments, its result or its error."),
    Subject("tool NAME called", "number", "The number of calls of a tool; without a number, at least one."),
    Subject("tools", "names", "The names of the tools that were called, in order."),
    *(
        measure._replace(line=of if of in t.OF_TEXT - {"chars", "tokens"} else measure.line.partition(" {}")[0])
        for of, measure in MEASURES.items()
    ),
    Subject("turn N", "value", "What follows, of one turn of a conversation alone."),
)
"""The subjects, in the order of the pages."""

GIVES: Final[Mapping[Kind, str]] = {
    "value": "is a value",
    "number": "is a number",
    "names": "is about the tools called",
    "call": "is a call",
}
"""How messages describe a subject of each kind: `latency` is "a number"."""
ASKS: Final[Mapping[frozenset[Kind], str]] = {
    frozenset({"value"}): "a text or a list",
    frozenset({"value", "number"}): "a value or a number",
    frozenset({"names"}): "which tools were called",
    frozenset({"call"}): "a call",
    frozenset({"value", "call"}): "a value or a call",
}
"""How messages name the kinds of subjects that a predicate or a step takes."""
