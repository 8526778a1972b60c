"""The rule texts of every type, with their places and faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.grammar.atoms import offset_in_text
from evalc.grammar.lalr import Stumble
from evalc.grammar.lark_tables import read
from evalc.grammar.nodes import (
    Check,
    Cost,
    HasField,
    Json,
    Latency,
    Length,
    Matches,
    Regexp,
    Structure,
    Tokens,
    ToolCount,
)
from evalc.grammar.parse import RULE_TYPES, parse_rule
from tests.grammar.build import number, path, text


def literal(written: str, pattern: str, flags: str = "") -> Matches:
    end = len(written)
    regexp = Regexp(start=0, end=end, pattern=pattern, flags=flags, pattern_at=1, literal=True)
    return Matches(start=0, end=end, regexp=regexp)


def pattern(written: str) -> Matches:
    end = len(written)
    return Matches(start=0, end=end, regexp=Regexp(start=0, end=end, pattern=written, pattern_at=0, literal=False))


RULES: list[tuple[str, str, Check]] = [
    ("length", "min:100", Length(start=0, end=7, min=number(4, 7, 100))),
    ("length", " max : 20 words ", Length(start=1, end=15, max=number(7, 9, 20), unit="words")),
    ("length", "min:2,max:8 bytes", Length(start=0, end=17, min=number(4, 5, 2), max=number(10, 11, 8), unit="bytes")),
    ("length", "max:8, min:2", Length(start=0, end=12, min=number(11, 12, 2), max=number(4, 5, 8))),
    ("tool_count", "min:1,max:3", ToolCount(start=0, end=11, min=number(4, 5, 1), max=number(10, 11, 3))),
    ("json", "strict", Json(start=0, end=6)),
    ("json", "lenient", Json(start=0, end=7, mode="lenient")),
    ("json", "object", Json(start=0, end=6, mode="object")),
    ("json", "array", Json(start=0, end=5, mode="array")),
    ("json", "schema: a b.json ", Json(start=0, end=16, schema=text(8, 16, "a b.json"))),
    (
        "structure",
        "fields:title, meta.title:string,items[].id : number",
        Structure(
            start=0,
            end=51,
            fields=(
                HasField(start=7, end=12, path=path(7, "title", "title")),
                HasField(start=14, end=31, path=path(14, "meta.title", "meta", "title"), type="string"),
                HasField(start=32, end=51, path=path(32, "items[].id", "items", None, "id"), type="number"),
            ),
        ),
    ),
    (
        "structure",
        "headings: Summary , Key Risks ",
        Structure(start=0, end=29, headings=(text(10, 17, "Summary"), text(20, 29, "Key Risks"))),
    ),
    ("regex", "/a\\/b/mi", literal("/a\\/b/mi", "a\\/b", "im")),
    ("regex", "/[/]x/", literal("/[/]x/", "[/]x")),
    ("regex", "/usr/bin/", pattern("/usr/bin/")),
    ("regex", "/x/2", pattern("/x/2")),
    ("regex", "/x/i ", pattern("/x/i ")),
    ("regex", "/x", pattern("/x")),
    ("regex", "//", pattern("//")),
    ("regex", "  ^def .*:\n", pattern("  ^def .*:\n")),
    ("latency", "30s", Latency(start=0, end=3, max=number(0, 3, 30_000))),
    ("latency", "<= 30 ms", Latency(start=0, end=8, max=number(3, 8, 30))),
    ("tokens", "500", Tokens(start=0, end=3, max=number(0, 3, 500))),
    ("tokens", "<=500", Tokens(start=0, end=5, max=number(2, 5, 500))),
    ("cost", "$0.02", Cost(start=0, end=5, max=number(1, 5, 0.02))),
    ("cost", "<= 0.02", Cost(start=0, end=7, max=number(3, 7, 0.02))),
]


@pytest.mark.parametrize(("type_", "rule", "check"), RULES)
def test_one_rule(type_: str, rule: str, check: Check) -> None:
    assert parse_rule(type_, rule) == (check, ())


@pytest.mark.parametrize(
    ("type_", "rule", "start", "end", "message"),
    [
        ("length", "100", 0, 3, "expected `max` or `min` here, found `100`"),
        ("length", "min:1,min:2", 6, 9, "expected `max` here, found `min`"),
        ("length", "min:-1", 4, 6, "`-1` is negative"),
        (
            "length",
            "min:1 word",
            6,
            10,
            "expected `,`, `chars`, `words`, `lines`, `bytes` or the end here, found `word`",
        ),
        ("json", "strickt", 0, 7, "expected `strict`, `lenient`, `object`, `array` or `schema` here, found `strickt`"),
        ("json", "schema:", 7, 7, "expected a path here, found the end"),
        ("structure", "title", 0, 5, "expected `fields` or `headings` here, found `title`"),
        ("structure", "fields:a..b", 8, 10, "expected `:`, `,` or the end here, found `..`"),
        ("tool_count", "1..2", 0, 1, "expected `max` or `min` here, found `1`"),
        ("regex", "/usr/bin", 5, 6, "`b` is not a flag of a regular expression"),
        ("regex", "", 0, 0, "expected a pattern here, found the end"),
        ("latency", "30", 2, 2, "expected `ms`, `s` or `m` here, found the end"),
        ("tokens", "1.5", 0, 3, "`1.5` is not a whole number"),
        ("cost", "-1", 0, 2, "`-1` is negative"),
    ],
)
def test_one_fault(type_: str, rule: str, start: int, end: int, message: str) -> None:
    node, faults = parse_rule(type_, rule)
    assert node is None
    assert (faults[0].start, faults[0].end, faults[0].finding.message()) == (start, end, message)


def test_a_type_whose_rule_is_no_language_is_the_callers_mistake() -> None:
    assert "contains" not in RULE_TYPES
    with pytest.raises(ValueError, match="contains"):
        parse_rule("contains", "x")


def test_quotes_in_a_rule_are_characters_like_any_other() -> None:
    node, _ = parse_rule("regex", "'x'")
    assert isinstance(node, Matches)
    assert [offset_in_text("'x'", node.regexp, index) for index in range(4)] == [0, 1, 2, 3]


@given(st.text(min_size=1).filter(lambda text: text[0] != "/"))
def test_the_grammar_too_takes_for_a_pattern_what_begins_with_no_slash(text: str) -> None:
    tree = read("rule", "regex", text)
    assert not isinstance(tree, Stumble)
    assert tree.children == [text]
    assert parse_rule("regex", text).node == pattern(text)
