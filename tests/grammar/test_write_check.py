"""Each form of a check is written on one line as an author would write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evalc.check.forms import check_of
from evalc.check.predicates import PREDICATES
from evalc.check.tree import (
    All,
    Argument,
    At,
    Blank,
    Bounds,
    Call,
    Failure,
    File,
    Items,
    Measure,
    Not,
    Of,
    Result,
    Some,
    Test,
    Turn,
)
from evalc.grammar.read_check import read_check
from evalc.grammar.write_check import AS_TEMPLATES, NoLine, Speller, describe, line_of, quoted
from tests.check.test_forms import RECORDS

LINES = """\
contains "a"
contains 5
not contains "a"
not contains 5
contains "a" ignoring case
contains any of ["a", "b"]
contains any of ["a"] ignoring case
contains all of ["a", 2, [3]]
contains "a" 2..3 times
matches /a/i
equals "a"
equals "a" ignoring case
starts with "a"
ends with "a"
non-empty
is empty
exists
similar to "a" >= 0.8
similar to "a" >= 0.5
has a code block in python
is in English
json
json lenient matching a schema
has fields a, b[].c as string
has headings "A", "B"
response >= 1
response > 1 and < 2.5
response count == 2
equals null
equals {"a": [1, "b", true]}
within 0.5 of 20
one of ["a", 1, null]
is an integer
is a date
is sorted
is sorted descending by price
is unique
numbers from tools
quotes from tools, message
tools called []
tools one of [[a], none]
tools not called [a]
tools include [a, a]
tools in order [a, b]
tools only [a]
tool a called before b
tool t.p equals "a"
tool t.p contains "a"
tool t.p one of ["a", "b"]
tool t.p matches "a"
tool t.p exists
tool t.p not exists
tool t.p >= 2
any call of t has a "x", b.c exists, b.c 1..2
call 2 of t has a one of ["x", 1], b not exists
no call of t has a matches "x", b contains "y"
every call of t has a is empty
any call of t returns contains "a"
any call of t fails with contains "a"
every call of t fails
fails
result contains "a"
failure contains "a"
no tool errors
tool count >= 1
tool t called 2 times
tool errors <= 1
length 3..10 words
length < 10 chars
latency <= 2s
latency < 2s
tokens <= 5
cost <= $0.5
total tokens <= 500
words one of [5, 10]
tool t called within 1 of 5
check overlap("a", 1, b=[2])
check overlap() >= 0.7
at a.b not contains "x"
file "out/a.md" not contains "x"
every item of items > 0
turn 2 non-empty
contains "a" or is unique
contains "a" and is unique
is not unique
judge "Is it kind?"
""".splitlines()


@pytest.mark.parametrize(("record", "line"), list(zip(RECORDS, LINES, strict=True)), ids=LINES)
def test_each_form_is_written_on_one_line(record: dict[str, Any], line: str) -> None:
    assert describe(check_of(record)) == line


WITHIN: dict[str, Callable[[Any], Any]] = {
    "the response": lambda check: check,
    "a place": lambda check: Of(At("a"), check),
    "a place, negated": lambda check: Of(At("a"), Not(check)),
    "an argument": lambda check: Of(Call("t", "first"), Of(Argument("p.q"), check)),
    "calls": lambda check: Of(Call("t", "every"), Of(At("p"), check)),
    "a result": lambda check: Of(Call("t", 2), Of(Result(), Of(At("p"), check))),
    "an error": lambda check: Of(Call("t", "no"), Of(Failure(), check)),
    "a file": lambda check: Of(File("out/a.md"), check),
    "a place in a file": lambda check: Of(File("a.json"), Of(At("p"), check)),
    "items of a file": lambda check: Of(File("a.json"), Of(Items("a[].b", "every"), check)),
    "items": lambda check: Of(Items("a[]", "no"), check),
    "places in items": lambda check: Of(Items("a[].b", "any"), check),
    "parts of items": lambda check: Of(Items("a[]", "every"), All((Of(At("p"), check), Of(At("q"), Test("exists"))))),
    "a turn": lambda check: Of(Turn(2), check),
    "a negation": Not,
    "a choice": lambda check: Some((check, Test("unique"))),
    "a conjunction": lambda check: All((Test("exists"), check)),
}
SPELLER = Speller(
    text=quoted,
    pattern=lambda pattern, flags: f"/{pattern}/{flags}",
    schema=lambda schema: quoted(str(schema)),
    exact=True,
)


@pytest.mark.parametrize("within", WITHIN)
def test_a_line_of_each_predicate_of_each_subject_is_read_as_the_same_check(within: str) -> None:
    """Where the reader refuses a line, the predicate is not one of the subject."""
    read = 0
    for record in RECORDS:
        check = WITHIN[within](_unread(check_of(record)))
        try:
            line = SPELLER.line(check)
        except NoLine:
            continue
        node = read_check(line).node
        if node is not None:
            read += 1
            assert node.check == check, line
    assert read >= 20


def _unread(check: Any) -> Any:
    """The check as a line has it: with the path of its schema, and without a judge's dimension."""
    match check:
        case Test("json", (mode, schema)) if schema is not None:
            return Test("json", (mode, "a.json"))
        case Test("judge", (_, most, question, least)):
            return Test("judge", ("", most, question, least))
        case _:
            return check


def test_each_example_of_a_predicate_is_read() -> None:
    for row in PREDICATES.values():
        for line in row.lines:
            assert read_check(line).node is not None, line


def test_a_template_in_the_place_of_a_value_is_written_with_its_unit() -> None:
    bounds = Bounds(below=Blank("{{n}}", "number", 1000))
    assert describe(Of(Measure("ms"), Test("between", bounds))) == "latency < {{n}}s"
    assert describe(Of(At("total"), Test("is", Blank("{{total}}", "any")))) == "at total equals {{total}}"


@pytest.mark.parametrize(
    "line", ["tools include [a, {{t}}]", "tool {{t}} called 2 times", "no call of {{t}} has a >= 2"]
)
def test_a_template_in_the_place_of_a_tool_is_written_as_it_is(line: str) -> None:
    node = read_check(line).node
    assert node is not None
    assert describe(node.check) == line_of(node.check, AS_TEMPLATES, str) == line


def test_a_negation_stands_where_the_check_has_it() -> None:
    empty = Test("empty")
    assert describe(Of(At("a"), Not(empty))) == "at a is not empty"
    assert describe(Not(Of(At("a"), empty))) == "not at a is empty"


def test_a_check_that_no_line_says_has_none() -> None:
    between = Test("between", Bounds(above=1, below=2))
    for check in (Of(At("a"), between), Of(At("a"), Of(Turn(1), Test("exists"))), Test("is_a", "null")):
        assert line_of(check, AS_TEMPLATES, str) is None
