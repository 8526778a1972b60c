"""Lines that are no checks, and the checks that they were probably meant as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.grammar.parse import parse_check
from evalc.grammar.suggestions import Meant, meant_by, meant_by_pair


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("contains Tokyo", 'contains "Tokyo"'),
        ("contains hello world ignoring case for x", 'contains "hello world" ignoring case for x'),
        ('does not contain "x"', 'not contains "x"'),
        ("doesn't contain foo bar", 'not contains "foo bar"'),
        ("must not contain x", 'not contains "x"'),
        ('the answer should mention "x"', 'contains "x"'),
        ("does not match /x/", "not matches /x/"),
        ("equal to 42", "equals 42"),
        ("is json", "json"),
        ("should be valid JSON", "json"),
        ("is not empty", "non-empty"),
        ("tools called x", "tools called [x]"),
        ("tool not called a, b for c", "tools not called [a, b] for c"),
        ("contains 'a' or 'b'", "contains any of ['a', 'b']"),
        ('includes "a", "b" or "c"', 'contains any of ["a", "b", "c"]'),
        ('contains "a" and "b"', 'contains "a" and contains "b"'),
        ("length > 20 words", "length >= 21 words"),
        ("tool count at most 3", "tool count <= 3"),
        ("tokens < 500", "tokens <= 499"),
        ("latency under 30s", "latency <= 30s"),
        ("cost < $0.05", "cost <= $0.05"),
        ("begins with Dear", 'starts with "Dear"'),
        ("tool x.y equals Tokyo", 'tool x.y equals "Tokyo"'),
        ("tool x.y contains new york for a", 'tool x.y contains "new york" for a'),
        ("tool x.y = 'Tokyo'", "tool x.y equals 'Tokyo'"),
        ("tool x.y one of a, b", 'tool x.y one of ["a", "b"]'),
        ("tool x.y matches ^a", "tool x.y matches /^a/"),
        ("at title contains x", 'at title contains "x"'),
        ("tool x was called", "tools called [x]"),
        ("no tool calls", "tools called []"),
        ("no tools called", "tools called []"),
        ("latency <= 30 sec", "latency <= 30s"),
        ("latency < 3 seconds", "latency <= 3s"),
        ("latency under 1.5 minutes for x", "latency <= 1.5m for x"),
        ("latency <= 500 milliseconds", "latency <= 500ms"),
        ("matches hello", "matches /hello/"),
        ("matches ^a/b+$ for x", r"matches /^a\/b+$/ for x"),
        ("end with 'a.'", "ends with 'a.'"),
        ("ends with a.", 'ends with "a."'),
        ("contains one of ['a', b]", "contains any of ['a', \"b\"]"),
        ("contains all of ['a', 'b']", "contains 'a' and contains 'b'"),
        ('starts with "Dear" or "Hi"', 'starts with "Dear" or starts with "Hi"'),
        ("contains “hello”", 'contains "hello"'),
        ("contains `hello` for x", 'contains "hello" for x'),
        ('contains the word "x"', 'contains "x"'),
        ('contains "x" (case insensitive) for y', 'contains "x" ignoring case for y'),
        ('icontains "x"', 'contains "x" ignoring case'),
        ('contains "a&b" && contains "b"', 'contains "a&b" and contains "b"'),
        ('never contains "x"', 'not contains "x"'),
        ('not "x"', 'not contains "x"'),
        ("has keys [title, body]", "has fields title, body"),
        ("has headings Summary, Next steps", 'has headings "Summary", "Next steps"'),
        ("length between 10 and 20 words", "length 10..20 words"),
        ("at most 200 words", "length <= 200 words"),
        ("length <= 200 characters", "length <= 200 chars"),
        ("no errors", "no tool errors"),
        ('judge "kind?" 4/5', 'judge "kind?" >= 4/5'),
        ("judge Is it kind? >= 4/5", 'judge "Is it kind?" >= 4/5'),
        ('similar to "x" > 0.8', 'similar to "x" >= 0.8'),
        ('similar to "x" at 80%', 'similar to "x" >= 80%'),
    ],
)
def test_what_was_meant(written: str, meant: str) -> None:
    assert parse_check(written).faults
    assert meant_by(written) == Meant((meant,), True)


@pytest.mark.parametrize(
    "written",
    ["", "contains", "contains a and json", "contains [a]", "latency <= 30", "containz x", 'contains "a', "x" * 5_000],
)
def test_nothing_is_guessed_where_nobody_can_say(written: str) -> None:
    assert meant_by(written) is None


def test_a_bound_without_a_sign_may_be_any_of_those_that_its_check_has() -> None:
    of_length = ("length >= 3 words", "length <= 3 words", "length == 3 words")
    assert meant_by("length 3 words") == meant_by_pair("length", "3 words") == Meant(of_length, False)
    assert meant_by("tokens: 100") == Meant(("tokens <= 100",), True)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("tool pay.amount > 10", "any call of pay has amount >= 10"),
        ("tool pay.amount >= -1.5 for sums", "any call of pay has amount >= -1.5 for sums"),
        ("tool pay.items.0 at most 3", "any call of pay has items.0 <= 3"),
    ],
)
def test_a_bound_of_a_parameter_is_one_of_a_call(written: str, meant: str) -> None:
    assert meant_by(written) == Meant((meant,), False)


def test_the_scale_of_a_judge_is_guessed() -> None:
    assert meant_by('judge "ok?" >= 4') == Meant(('judge "ok?" >= 4/5',), False)


@pytest.mark.parametrize(
    ("words", "value", "meant"),
    [
        ("contains", '"x"', 'contains "x"'),
        ("contains", "x", 'contains "x"'),
        ("length", "100..200", "length 100..200"),
        ("json", "", "json"),
        ("contains note", "x", 'contains "note: x"'),
        ("matches a", "b", "matches /a: b/"),
        ("tools called", "[a]", "tools called [a]"),
        ("nonsense", "x", None),
    ],
)
def test_a_pair(words: str, value: str, meant: str | None) -> None:
    assert meant_by_pair(words, value) == (None if meant is None else Meant((meant,), True))


_WORDS = st.sampled_from(
    [
        "contains",
        "not",
        "does",
        "is",
        "json",
        "or",
        "and",
        '"a"',
        "'b'",
        "tools",
        "tool x.y",
        "called",
        "one of",
        "[",
        "matches",
        "latency",
        "sec",
        "“",
        "&&",
        "x",
        "length",
        "<",
        "9",
        "for",
    ]
)


@given(st.lists(_WORDS, max_size=9).map(" ".join) | st.text(max_size=40))
def test_what_is_guessed_is_a_check(text: str) -> None:
    for meant in (meant_by(text), meant_by_pair("contains", text)):
        assert meant is None or (meant.lines and not any(parse_check(line).faults for line in meant.lines))
