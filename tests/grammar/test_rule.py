"""The rule texts of every type, with their places and faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of
from evalc.check.tree import Check
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import Atom, PatternAtom, offset_in_text
from evalc.grammar.parse import parse_rule
from tests.grammar.build import literal, text
from tests.support.places import atoms_of, placed_at


def whole(written: str) -> dict[str, Atom]:
    return {"/pattern": PatternAtom(start=0, end=len(written), pattern=written, pattern_at=0, literal=False)}


RULES: list[tuple[str, str, Check, dict[str, Atom]]] = [
    ("length", "min:100", check_of({"type": "length", "min": 100}), {}),
    ("length", " max : 20 words ", check_of({"type": "length", "max": 20, "unit": "words"}), {}),
    ("length", "min:2,max:8 bytes", check_of({"type": "length", "min": 2, "max": 8, "unit": "bytes"}), {}),
    ("length", "max:8, min:2", check_of({"type": "length", "min": 2, "max": 8}), {}),
    ("tool_count", "min:1,max:3", check_of({"type": "tool_count", "min": 1, "max": 3}), {}),
    ("json", "strict", check_of({"type": "json"}), {}),
    ("json", "lenient", check_of({"type": "json", "mode": "lenient"}), {}),
    ("json", "object", check_of({"type": "json", "mode": "object"}), {}),
    ("json", "array", check_of({"type": "json", "mode": "array"}), {}),
    (
        "json",
        "schema: a b.json ",
        check_of({"type": "json", "schema": "a b.json"}),
        {"/schema": text(8, 16, "a b.json")},
    ),
    (
        "structure",
        "fields:title, meta.title:string,items[].id : number",
        check_of(
            {
                "type": "structure",
                "fields": (
                    {"path": "title"},
                    {"path": "meta.title", "type": "string"},
                    {"path": "items[].id", "type": "number"},
                ),
            }
        ),
        {},
    ),
    (
        "structure",
        'fields:["a.b"][0].c:string, d["e, f"]',
        check_of(
            {"type": "structure", "fields": ({"path": '["a.b"][0].c', "type": "string"}, {"path": 'd["e, f"]'})},
        ),
        {},
    ),
    (
        "structure",
        "headings: Summary , Key Risks ",
        check_of({"type": "structure", "headings": ("Summary", "Key Risks")}),
        {"/headings/0": text(10, 17, "Summary"), "/headings/1": text(20, 29, "Key Risks")},
    ),
    (
        "regex",
        "/a\\/b/mi",
        check_of({"type": "regex", "pattern": "a\\/b", "flags": "im"}),
        {"/pattern": literal(0, 8, "a\\/b", "im")},
    ),
    ("regex", "/[/]x/", check_of({"type": "regex", "pattern": "[/]x"}), {"/pattern": literal(0, 6, "[/]x")}),
    *(
        ("regex", written, check_of({"type": "regex", "pattern": written}), whole(written))
        for written in ("/usr/bin/", "/x/2", "/x/i ", "/x", "//", "  ^def .*:\n")
    ),
    ("latency", "30s", check_of({"type": "latency", "max": 30000}), {}),
    ("latency", "<= 30 ms", check_of({"type": "latency", "max": 30}), {}),
    ("tokens", "500", check_of({"type": "tokens", "max": 500}), {}),
    ("tokens", "<=500", check_of({"type": "tokens", "max": 500}), {}),
    ("cost", "$0.02", check_of({"type": "cost", "max": 0.02}), {}),
    ("cost", "<= 0.02", check_of({"type": "cost", "max": 0.02}), {}),
]


@pytest.mark.parametrize(("type_", "rule", "check", "atoms"), RULES)
def test_one_rule(type_: str, rule: str, check: Check, atoms: dict[str, Atom]) -> None:
    node, faults = parse_rule(type_, rule)
    assert faults == ()
    assert node is not None
    assert (node.check, placed_at(node, atoms)) == (check, atoms)


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
        ("structure", 'fields:a ["b c"]', 9, 10, "expected `:`, `,` or the end here, found `[`"),
        ("structure", 'fields:["["x"]["]', 7, 8, "expected a path such as `items[0].title` here, found `[`"),
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


def test_quotes_in_a_rule_are_characters_like_any_other() -> None:
    node, _ = parse_rule("regex", "'x'")
    assert node is not None
    assert [offset_in_text("'x'", atoms_of(node)["/pattern"], index) for index in range(4)] == [0, 1, 2, 3]


@given(st.text(min_size=1).filter(lambda text: text[0] != "/"))
def test_the_grammar_too_takes_for_a_pattern_what_begins_with_no_slash(text: str) -> None:
    tree = read("rule", "regex", text)
    assert not isinstance(tree, Stumble)
    assert tree.children == [text]
    node = parse_rule("regex", text).node
    assert node is not None
    assert (node.check, atoms_of(node)) == (check_of({"type": "regex", "pattern": text}), whole(text))
