"""The law of shapes: a parse by way of a shape is lark's own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.grammar.lark_tables import Stumble, read
from evalc.grammar.shapes import read_check

_WORDS = (
    *("contains", "not", "and", "or", "for", "matches", "matches ", "equals", "any of", "json", "length >=", "judge"),
    *("at", "tool a.b", "one of", "check f", "(", ")", "[", "]", ",", "{", "}", ":", "=", "4/5", "1..2", ">=", "3"),
    *("name", "has fields", '""', "''", '"a"', "'b c'", '"it\'s"', "'say \"x\"'", '"a\\"b"', "'\\'", '"', "'"),
    *("/a/", '/a"b/i', "/[/']/", "/\\//u", "/", "\n"),
)
_LINES = st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)
_CHECKS = st.builds(
    "{} {}{} {} for {}".format,
    st.sampled_from(["contains", "equals", "not contains", "matches", "matches ", "at 'a' contains"]),
    st.sampled_from(["", " ", "\t"]),
    st.one_of(
        st.text("ab\"'\\/[]{} é\n", max_size=8).map('"{}"'.format),
        st.text("ab\"'\\/[]{} é\n", max_size=8).map("'{}'".format),
        st.text("ab\"'\\/[]{} é\n", max_size=8).map("/{}/i".format),
    ),
    st.sampled_from(["", "and json", "or contains 'x'", 'and equals "y" and matches /z"/']),
    st.sampled_from(["name", '"a name"', "'a'", "3"]),
)


def told(tree: Any) -> Any:
    """All that a tree says, tokens with their types and places."""
    if isinstance(tree, Stumble):
        return tree
    if isinstance(tree, str):
        return str(tree), tree.type, tree.start_pos, tree.end_pos  # type: ignore[attr-defined]
    return str(tree.data), [told(child) for child in tree.children]


@given(st.one_of(_LINES, _CHECKS))
@example('matches  /a"b"c/')
@example("matches /a/ and contains 'b/'")
@example('contains "a" and contains "bcd" and contains ""')
@example('judge "q" >= 4/5 or matches /\'/')
@example("contains 'it\"s' for 'b'")
@settings(max_examples=1_000)
def test_a_parse_by_shape_is_the_parse_of_lark(text: str) -> None:
    assert told(read_check(text)) == told(read("check", "line", text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('contains "a" for x', 'contains "docstring" for x'),
        ("matches /a/i and equals ''", "matches /b|c/i and equals 'd'"),
    ],
)
def test_checks_of_one_shape_have_trees_of_one_form(one: str, other: str) -> None:
    first, second = read_check(one), read_check(other)
    assert not isinstance(first, Stumble)
    assert not isinstance(second, Stumble)
    rules = [str(tree.data) for tree in first.iter_subtrees()]
    assert rules == [str(tree.data) for tree in second.iter_subtrees()]
