"""Every predicate on every subject: refused with the pair's own message, or evaluated as a plain reference says.

The reference is written from the pages of the language, not from the code. It is slow, and short.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

import pytest

from evalc.check.tree import Check
from evalc.grammar.read_check import read_check
from evalc.model.answer import Question, ToolCall, Usage
from evalc.model.result import JudgedScore
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.verdict import Evidence

# --- values ----------------------------------------------------------------------------------------------------------

TEXTS: Final = [
    "ab",
    "AB",
    "abab",
    "b",
    "5",
    "",
    " \n",
    "null",
    "2026-01-31",
    "99 a",
    "# A\n\n- a",
    "[",
    '["ab"]',
    '"5"',
]
VALUES: Final[list[Any]] = [
    *TEXTS,
    *(5, 5.0, 7, 1, 2.5, 0, True, False, None),
    *([], {}, ["ab"], ["abab", "b"], [5, 7], [7, 5], [5, 5.0], [5, "b"], {"a": 5}, {"a": "ab"}, {"b": ["a"]}),
]
MISSING: Final = object()


class CannotAsk(Exception):
    """The third outcome."""


class Subject(NamedTuple):
    """What is there: the JSON value, what a comparison with a text looks at, and what a predicate of texts looks at."""

    value: Any
    text: Any
    own: Any


def written(value: Any) -> str:
    """`JSON.stringify`, but of a text the text itself."""
    if isinstance(value, str):
        return value
    plain = json.loads(
        json.dumps(value), parse_float=lambda digits: int(float(digits)) if float(digits) % 1 == 0 else float(digits)
    )
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False)


def javascript(value: Any) -> str:
    """`String(value)`."""
    if isinstance(value, list):
        return ",".join("" if item is None else javascript(item) for item in value)
    return "[object Object]" if isinstance(value, dict) else written(value)


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def kind(value: Any) -> str:
    for name, types in (
        ("null", type(None)),
        ("boolean", bool),
        ("number", (int, float)),
        ("string", str),
        ("array", list),
    ):
        if isinstance(value, types):
            return name
    return "object"


def same(one: Any, other: Any) -> bool:
    if kind(one) != kind(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


# --- the reference ---------------------------------------------------------------------------------------------------

Reference = Callable[[Subject], bool]


def equal(subject: Subject, wanted: Any) -> bool:
    return written(subject.text) == wanted if isinstance(wanted, str) else same(subject.value, wanted)


def contains(subject: Subject, wanted: Any, times: int = 1, fold: Callable[[str], str] = str) -> bool:
    there = subject.text if isinstance(wanted, str) else subject.value
    if isinstance(there, list):
        found = [item for item in there if equal(Subject(item, item, item), wanted)]
        if fold is not str:
            found = [item for item in there if fold(written(item)) == fold(wanted)]
        if not found and fold(written(wanted)) in fold(written(there)):
            raise CannotAsk
        return len(found) >= times
    return fold(written(there)).count(fold(written(wanted))) >= times


def decides(asked: Sequence[Callable[[], bool]], by: bool) -> bool:
    """`or` (by true) or `and` (by false) of questions of one list."""
    met: list[Any] = []
    for ask in asked:
        try:
            met.append(ask())
        except CannotAsk:
            met.append(None)
    if by in met:
        return by
    if None in met:
        raise CannotAsk
    return not by


def number(subject: Subject) -> Any:
    if kind(subject.value) != "number":
        raise CannotAsk
    return subject.value


def a_list(subject: Subject) -> list[Any]:
    if not isinstance(subject.value, list):
        raise CannotAsk
    return subject.value


def emptiness(subject: Subject) -> bool:
    if kind(subject.own) in ("number", "boolean"):
        raise CannotAsk
    return not subject.own.strip() if isinstance(subject.own, str) else not subject.own


def is_date(subject: Subject) -> bool:
    if not isinstance(subject.own, str):
        raise CannotAsk
    return subject.own == str(date(2026, 1, 31))


def ordered(subject: Subject, backwards: bool) -> bool:
    items = a_list(subject)
    if len({kind(item) for item in items}) > 1 or not {kind(item) for item in items} <= {"number", "string"}:
        raise CannotAsk
    return items == sorted(items, reverse=backwards)


def distinct(subject: Subject) -> bool:
    return not any(same(*pair) for pair in itertools.combinations(a_list(subject), 2))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, left in enumerate(one, 1):
        before, row[0] = row[0], at
        for index, right in enumerate(other, 1):
            before, row[index] = row[index], min(row[index] + 1, row[index - 1] + 1, before + (left != right))
    return row[-1]


def alike(text: str) -> bool:
    return 1 - distance(text, "abb") / max(len(text), 3) >= 0.5


def has_field(text: str) -> bool:
    return isinstance(parsed(text), dict) and "a" in parsed(text)


PREDICATES: Final[dict[str, Reference]] = {
    'contains "ab"': lambda it: contains(it, "ab"),
    "contains 5": lambda it: contains(it, 5),
    'contains "aB" ignoring case': lambda it: contains(it, "aB", fold=str.casefold),
    'contains any of ["ab", 5]': lambda it: decides([lambda: contains(it, "ab"), lambda: contains(it, 5)], True),
    'contains all of ["a", "b"]': lambda it: decides([lambda: contains(it, "a"), lambda: contains(it, "b")], False),
    'contains "ab" at least 2 times': lambda it: contains(it, "ab", 2),
    "matches /^a/": lambda it: written(it.text).startswith("a"),
    'equals "5"': lambda it: equal(it, "5"),
    "equals 5": lambda it: equal(it, 5),
    "is null": lambda it: equal(it, None),
    'equals ["ab"]': lambda it: equal(it, ["ab"]),
    'one of ["5", 7]': lambda it: equal(it, "5") or equal(it, 7),
    'starts with "a"': lambda it: written(it.text).startswith("a"),
    'ends with "B" ignoring case': lambda it: written(it.text).casefold().endswith("b"),
    'similar to "abb" >= 0.5': lambda it: alike(written(it.text)),
    "> 4": lambda it: number(it) > 4,
    "between 1 and 5": lambda it: 1 <= number(it) <= 5,
    "within 1 of 6": lambda it: 5 <= number(it) <= 7,
    "exists": lambda it: it.value is not MISSING,
    "is empty": emptiness,
    "non-empty": lambda it: not emptiness(it),
    "is a text": lambda it: kind(it.value) == "string",
    "is an integer": lambda it: kind(it.value) == "number" and it.value % 1 == 0,
    "is a list": lambda it: kind(it.value) == "array",
    "is a date": is_date,
    "is sorted": lambda it: ordered(it, False),
    "is sorted descending": lambda it: ordered(it, True),
    "is unique": distinct,
    "has a list": lambda it: re.search(r"^- ", written(it.text), re.MULTILINE) is not None,
    'has headings "A"': lambda it: written(it.text).startswith("# A"),
    "has fields a": lambda it: has_field(written(it.own)),
    "json": lambda it: is_json(written(it.own)),
    'json matching {"type": "array"}': lambda it: isinstance(parsed(written(it.own)), list),
    "numbers from tools": lambda it: "99" not in written(it.text),
    'judge "Is there an a?"': lambda it: "a" in written(it.text),
    "check has_a()": lambda it: "a" in written(it.text),
}
OF_NAMES: Final[dict[str, Callable[[list[str]], bool]]] = {
    'called ["t", "t"]': lambda names: names == ["t", "t"],
    'one of [["t"], none]': lambda names: set(names) in ({"t"}, set()),
    'not called ["u"]': lambda names: "u" not in names,
    'include ["t", "t"]': lambda names: names.count("t") >= 2,
    'in order ["t", "u"]': lambda names: "t" in names and "u" in names[names.index("t") :],
    'only ["t"]': lambda names: set(names) <= {"t"},
}
OF_NUMBERS: Final = ("equals 5", 'one of ["5", 7]', "> 4", "between 1 and 5", "within 1 of 6")
"""The predicates that a measure can be asked."""


def outcome(ask: Reference, subject: Subject, negated: bool) -> bool:
    """Whether a check of one subject passes: what cannot be asked does not, under `not` either."""
    try:
        return ask(subject) is not negated
    except CannotAsk:
        return False


# --- subjects --------------------------------------------------------------------------------------------------------

NUMBERS: Final = {"ok": [5, 7, 1, 2.5, 0, 2026, 1, 31, -1, -31]}


class Asked(NamedTuple):
    """A subject: how a line begins, the answer that has a value there, and what is asked; several are quantified."""

    line: str
    answer: Callable[[Any], Evidence]
    views: Callable[[Any], list[Subject]]
    which: str = ""
    leaves_out: Sequence[str] = ()


def response(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def of_response(value: Any) -> list[Subject]:
    text = response(value)
    return [Subject(parsed(text), text, text)]


def plain(value: Any) -> list[Subject]:
    return [Subject(value, value, value)]


def items(value: Any) -> list[Subject]:
    return [Subject(item, item, item) for item in (value, 5, "b")]


def as_argument(value: Any) -> list[Subject]:
    return [Subject(value, javascript(value), value)]


def evidence(value: Any = None, *, calls: Sequence[dict[str, Any]] = (), text: str = "ab") -> Evidence:
    made = [ToolCall(name="t", success=True, result=NUMBERS, params=params) for params in calls]
    return Evidence(response=text, tool_calls=tuple(made), judge=_Judge(), duration_ms=5, usage=Usage(input_tokens=5))


class _Judge:
    """Finds every text with an `a` in it good."""

    async def score(self, _: Question, text: str | None = None) -> JudgedScore:
        return JudgedScore(score=int("a" in (text or "")), max_score=1)


def calls(value: Any) -> Evidence:
    return evidence(calls=[{"p": value}, {"p": 5}, {"p": "b"}])


def results(value: Any) -> Evidence:
    given = evidence(calls=[{}])
    (call,) = given.tool_calls
    made = (ToolCall(name="t", success=True, result=value), ToolCall(name="other", success=True, result=call.result))
    return Evidence(response="", tool_calls=made, judge=_Judge())


def failures(value: Any) -> Evidence:
    made = (ToolCall(name="t", success=False, error=written(value)), ToolCall(name="o", success=True, result=NUMBERS))
    return Evidence(response="", tool_calls=made, judge=_Judge())


def of_failure(value: Any) -> list[Subject]:
    return plain(written(value))


def at_a(value: Any) -> Evidence:
    return evidence(calls=[{}], text=json.dumps({"a": value}))


def turns(value: Any) -> Evidence:
    first, second = evidence(calls=[{}]), evidence(calls=[{}], text=response(value))
    whole = evidence(calls=[{}, {}])
    replaced = [
        each.__class__(**{**{f: getattr(each, f) for f in each.__struct_fields__}, "turn": n})
        for n, each in ((1, first), (2, second))
    ]
    return Evidence(response=whole.response, tool_calls=whole.tool_calls, turns=tuple(replaced), judge=_Judge())


PARTS: Final = tuple(predicate for predicate in PREDICATES if predicate.startswith(("has", "numbers")))
"""What cannot stand after `has`, nor after an item, whose `has` begins parts."""
FOUND: Final = ("numbers from tools",)
"""What a result says of itself."""


def objects(value: Any) -> Evidence:
    return at_a([{"p": value}, {"p": 5}, {"p": "b"}])


SUBJECTS: Final = [
    Asked("", lambda value: evidence(calls=[{}], text=response(value)), of_response),
    Asked("response", lambda value: evidence(calls=[{}], text=response(value)), of_response),
    Asked("at a", at_a, plain),
    Asked("$.a", at_a, plain),
    Asked("turn 2", turns, of_response),
    Asked("tool t.p", lambda value: evidence(calls=[{"p": value}]), as_argument),
    Asked("call 1 of t has p", calls, plain, leaves_out=PARTS),
    Asked("any call of t returns", results, plain, leaves_out=FOUND),
    Asked("any call of t fails with", failures, of_failure, leaves_out=FOUND),
    *(Asked(f"{which} call of t has p", calls, items, which, PARTS) for which in ("any", "every", "no")),
    *(
        Asked(f"{which} item of a", lambda value: at_a([value, 5, "b"]), items, which, PARTS)
        for which in ("any", "every", "no")
    ),
    Asked("every a[*].p", objects, items, "every"),
    Asked("any item of a has p", objects, items, "any", PARTS),
]
MEASURES: Final[dict[str, Callable[[Any], tuple[Evidence, Any]]]] = {
    "words": lambda value: (evidence(text=response(value)), len(response(value).split())),
    "length": lambda value: (evidence(text=response(value)), len(response(value))),
    "at a length": lambda value: (at_a(value), len(value) if isinstance(value, str) else MISSING),
    "at a count": lambda value: (at_a(value), len(value) if isinstance(value, list) else MISSING),
    "count": lambda value: (
        evidence(text=response(value)),
        len(parsed(response(value))) if isinstance(parsed(response(value)), list) else MISSING,
    ),
    "tool count": lambda value: (evidence(calls=[{}] * len(written(value))), len(written(value))),
    "tool errors": lambda value: (failures(value), 1),
    "input tokens": lambda value: (evidence(text=response(value)), 5),
}


def line_of(subject: str, negated: bool, predicate: str) -> str:
    words = f"{subject} {'not ' * negated}{predicate}".strip()
    return words.replace("not is ", "is not ")


def read(line: str) -> Check | str:
    """The check that a line is, or the message that refuses it."""
    found = read_check(line)
    if found.node is None or found.faults:
        return found.faults[0].finding.message()
    return found.node.check


def passed(asked: Sequence[tuple[Check, Evidence]]) -> list[bool]:
    """Whether each check passes of its answer."""

    async def run() -> list[bool]:
        return [(await evaluate(check, given)).outcome == "passed" for check, given in asked]

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.base.installed.load", lambda *_: lambda answer: "a" in answer.text)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.line or "nothing")
def test_each_predicate_of_a_value_says_what_the_reference_says(subject: Asked) -> None:
    for predicate, ask in PREDICATES.items():
        for negated in (False, True):
            if predicate in subject.leaves_out:
                continue
            line = line_of(subject.line, negated, predicate)
            check = read(line)
            assert not isinstance(check, str), (line, check)
            found = passed([(check, subject.answer(value)) for value in VALUES])
            for value, is_so in zip(VALUES, found, strict=True):
                views = [outcome(ask, view, negated) for view in subject.views(value)]
                expected = {"any": any(views), "every": all(views), "no": not any(views), "": views[0]}[subject.which]
                assert is_so is expected, (line, value)


@pytest.mark.parametrize("measure", MEASURES)
def test_each_predicate_of_a_number_compares_it_and_any_other_is_refused(measure: str) -> None:
    for predicate, ask in PREDICATES.items():
        for negated in (False, True):
            line = line_of(measure, negated, predicate)
            check = read(line)
            if predicate not in OF_NUMBERS:
                assert isinstance(check, str), line
                continue
            assert not isinstance(check, str), (line, check)
            answers = [MEASURES[measure](value) for value in VALUES]
            found = passed([(check, given) for given, _ in answers])
            for (_, size), is_so in zip(answers, found, strict=True):
                assert is_so is (size is not MISSING and outcome(ask, Subject(size, size, size), negated)), (line, size)


def test_a_predicate_that_a_number_cannot_be_asked_is_refused_by_the_names_of_both() -> None:
    for measure in MEASURES:
        for predicate in ("contains", "matches", "similar to", "starts with"):
            operand = "/a/" if predicate == "matches" else '"a"'
            message = read(f"{measure} {predicate} {operand}")
            subject = measure.removeprefix("at a ")
            assert isinstance(message, str)
            assert message.startswith(f"`{subject}` is a number; `{predicate}` asks"), message


def test_each_predicate_of_names_says_what_the_reference_says_and_no_other_is_read() -> None:
    for predicate, holds in OF_NAMES.items():
        check = read(f"tools {predicate}")
        assert not isinstance(check, str)
        for size in range(4):
            for names in itertools.product("tu", repeat=size):
                made = Evidence(response="", tool_calls=tuple(ToolCall(name=name) for name in names))
                assert passed([(check, made)]) == [holds([*names])], (predicate, names)
    for predicate in PREDICATES:
        assert isinstance(read(f"tools {predicate}"), str)
    for predicate in ('called ["t"]', 'not called ["t"]', 'in order ["t"]', 'only ["t"]'):
        for subject in ("at a", "words", "latency"):
            assert isinstance(read(f"{subject} {predicate}"), str)
