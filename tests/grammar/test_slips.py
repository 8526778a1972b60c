"""Lines that are no checks, and the checks that they were probably meant as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.grammar.parse import parse_check
from evalc.grammar.slips import line_of_pair, meant_line


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
        ("equal to 42", 'equals "42"'),
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
        ("ends with 'a.'", r"matches /a\.$/"),
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
    ],
)
def test_what_was_meant(written: str, meant: str) -> None:
    assert parse_check(written).faults
    assert meant_line(written) == meant


@pytest.mark.parametrize(
    "written",
    ["", "contains", "contains a and json", "contains [a]", "latency <= 30", "containz x", 'contains "a', "x" * 5_000],
)
def test_nothing_is_guessed_where_nobody_can_say(written: str) -> None:
    assert meant_line(written) is None


@pytest.mark.parametrize(
    ("words", "value", "meant"),
    [
        ("contains", '"x"', 'contains "x"'),
        ("contains", "x", 'contains "x"'),
        ("length", "100..200", "length 100..200"),
        ("json", "", "json"),
        ("tools called", "[a]", "tools called [a]"),
        ("nonsense", "x", None),
    ],
)
def test_a_pair(words: str, value: str, meant: str | None) -> None:
    assert line_of_pair(words, value) == meant


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
    for line in (meant_line(text), line_of_pair("contains", text)):
        assert line is None or not parse_check(line).faults
