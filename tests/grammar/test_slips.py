"""Lines that are no checks, and the checks that they were probably meant as."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc import grammar as grammar_package
from evalc.grammar.parse import parse_check
from evalc.grammar.suggestions import Meant, keywords, meant_by, meant_by_pair

SAFE = [
    ("contains Tokyo", 'contains "Tokyo"'),
    ("not contains New York", 'not contains "New York"'),
    ("contains 東京", 'contains "東京"'),
    ("at title contains Tokyo", 'at title contains "Tokyo"'),
    ("tool x.y equals Tokyo", 'tool x.y equals "Tokyo"'),
    ("matches Tokyo", 'matches "Tokyo"'),
    ("contains any of Secret, Password", 'contains any of ["Secret", "Password"]'),
    ("has headings Summary, Risks", 'has headings "Summary", "Risks"'),
    ("tools called search, book", "tools called [search, book]"),
    ("tools called lookup_order, book", "tools called [lookup_order, book]"),
    ("tools not called delete_user", "tools not called [delete_user]"),
    ("judge Is it kind?", 'judge "Is it kind?"'),
]

UNSAFE = [
    ("contains hello", 'contains "hello"'),
    ("contains OK", 'contains "OK"'),
    ("not contains Q&A", 'not contains "Q&A"'),
    ("matches ^a+$", "matches /^a+$/"),
    ("not matches ssn|password", "not matches /ssn|password/"),
    ("contains any of secret, password", 'contains any of ["secret", "password"]'),
    ("has headings Summary, Next steps", 'has headings "Summary", "Next steps"'),
    ("tools called x", "tools called [x]"),
    ('does not contain "x"', 'not contains "x"'),
    ("doesn't contain foo bar", 'not contains "foo bar"'),
    ("must not contain x", 'not contains "x"'),
    ('never contains "x"', 'not contains "x"'),
    ("does not match /x/", "not matches /x/"),
    ('mentions "x"', 'contains "x"'),
    ("equal to 42", "equals 42"),
    ("begins with Dear", 'starts with "Dear"'),
    ("end with 'a.'", "ends with 'a.'"),
    ("tool x.y = 'Tokyo'", "tool x.y equals 'Tokyo'"),
    ("contains 'a' or 'b'", "contains 'a' or contains 'b'"),
    ('contains "a&b" && contains "b"', 'contains "a&b" and contains "b"'),
    ('contains "x" && !contains "y"', 'contains "x" and not contains "y"'),
    ("contains “hello”", 'contains "hello"'),
    ("contains `hello` for x", 'contains "hello" for x'),
    ('contains "x" (case insensitive) for y', 'contains "x" ignoring case for y'),
    ('icontains "x"', 'contains "x" ignoring case'),
    ("length > 20 words", "length >= 21 words"),
    ("tokens < 500", "tokens <= 499"),
    ("tool count at most 3", "tool count <= 3"),
    ("length between 10 and 20 words", "length 10..20 words"),
    ("length <= 200 characters", "length <= 200 chars"),
    ("latency <= 30 seconds", "latency <= 30 s"),
    ("max 30 words", "length <= 30 words"),
    ('containz "x"', 'contains "x"'),
    ("containz x", 'contains "x"'),
    ('not-contains "x"', 'not contains "x"'),
    ("NonEmpty", "non-empty"),
]


@pytest.mark.parametrize(
    ("written", "meant", "is_sure"), [*((*each, True) for each in SAFE), *((*each, False) for each in UNSAFE)]
)
def test_meant_checks(written: str, meant: str, is_sure: bool) -> None:
    assert parse_check(written).faults
    assert meant_by(written) == Meant(meant, is_sure)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "contains",
        "contains [a]",
        'contains "a',
        "latency <= 30",
        "x" * 5_000,
        # The rest may belong to the language.
        "contains a and json",
        "contains thanks for waiting",
        "contains hello ignoring case",
        "contains text message",
        "contains one moment",
        "has headings Summary and Risks",
        "contains Tokyo, Paris",
        "contains A|B",
        "tools called search&book",
        "matches schema a.json",
        "match response.name == '#string'",
        # The rest may describe a text.
        "contains an email address",
        "ends with a question mark",
        "starts with a capital letter",
        "similar to a polite refusal",
        "tools called once",
        # The words before are not all that a text needs.
        "tool x.q is not empty",
        "tool book.date is date",
        "any call of book has guest present",
        # The nearest name is another check, or a form to fill in.
        "total-tokens < 500",
        "tool_error_count == 0",
        "iequals 'x'",
        "word-count between 5 and 10",
        "no tools",
        # The nearest bound is a weaker one.
        "latency < 2s",
        "cost < $0.05",
        "tool book.nights > 1",
        "at total > 0",
        "length < 0",
        'similar to "x" > 0.8',
    ],
)
def test_nothing_is_guessed_where_nobody_can_say(written: str) -> None:
    assert meant_by(written) is None


@pytest.mark.parametrize(
    ("words", "rule", "meant"),
    [
        ("contains", '"x"', 'contains "x"'),
        ("contains", "x", 'contains "x"'),
        ("not contains", "Q&A", 'not contains "Q&A"'),
        ("does not contain", "x", 'not contains "x"'),
        ("length", "100..200", "length 100..200"),
        ("length", "at most 5 words", "length <= 5 words"),
        ("json", "", "json"),
        ("contains note", "x", 'contains "note: x"'),
        ("tools called", "[a]", "tools called [a]"),
        ("not contains 'Total", "5'", None),
        ("matches /a", "b/k", None),
        ("length", "3 words", None),
        ("nonsense", "x", None),
    ],
)
def test_a_pair(words: str, rule: str, meant: str | None) -> None:
    assert meant_by_pair(words, rule, rule, f"{words}: {rule}") == meant


def test_a_pair_whose_value_is_in_quotes_is_a_text() -> None:
    assert meant_by_pair("contains", None, "a: b", "contains: 'a: b'") == 'contains "a: b"'
    assert meant_by_pair("length", None, "5", "length: '5'") is None


def test_a_list_is_not_a_text() -> None:
    assert meant_by_pair("contains", "[a, b]", None, "contains: [a, b]") is None


def test_the_keywords_are_the_words_of_the_grammar() -> None:
    grammar = (Path(grammar_package.__file__).parent / "check.lark").read_text(encoding="utf-8")
    of_terminals = re.findall(r"^[A-Z_]+(?:\.\d)?: (?:/|\")(.*)(?:/|\")$", grammar, re.MULTILINE)
    named = {part for each in of_terminals for part in re.split(r"-|\|", re.sub(r"\(\?!.*|\(\?:|\)", "", each))}
    assert {each for each in named if each.isalpha() and each.islower()} <= keywords()
    assert {"contains", "for", "not", "chars", "ms", "strict"} <= keywords()


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
def test_guessed_lines_are_checks(text: str) -> None:
    meant = meant_by(text)
    for line in (None if meant is None else meant.line, meant_by_pair("contains", text, text, f"contains: {text}")):
        assert line is None or not parse_check(line).faults
