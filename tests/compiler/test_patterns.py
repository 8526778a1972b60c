"""The law of shapes: what is known of a pattern's shape is known of the pattern."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.compiler.examine import Examined, examine, shape_of
from evalc.ecma.regexp import escape
from evalc.ecma.regexp.nodes import PatternError
from evalc.ecma.regexp.parser import parse
from evalc.ecma.regexp.vacuity import is_local, literal_text, matches_everything, matches_nothing, required_texts
from tests.support.laws import examples

_PIECES = (
    *("a", "bc", "de f", "1", "23", "_", " ", ".", "*", "+", "?", "{2}", "{2,3}", "{", "}", "{a}", "(", ")", "|"),
    *("^", "$", "[ab]", "[^a-z]", "[]", "[^]", "[\\]]", "[\\s\\S]", "\\d", "\\b", "\\B", "\\w", "\\n", "\\."),
    *(
        "\\1",
        "\\12",
        "\\x41",
        "\\u0041",
        "\\cA",
        "\\k<n>",
        "(?<n>",
        "(?:",
        "(?=",
        "(?!",
        "\\p{L}",
        "\\0",
        "\\",
        "/",
        "é",
    ),
    *("\ue000", "\n", "-", ",", "]", "\\_", "\\-"),
)
_PATTERNS = st.lists(st.sampled_from(_PIECES), max_size=10).map("".join)
_FLAGS = st.sampled_from(["", "i", "m", "s", "u", "v", "im"])


def summary(examined: Examined) -> object:
    """The result, an error by its place and words."""
    error = examined.error
    return (error and error.args, *msgspec.structs.astuple(examined)[1:])


def by_itself(pattern: str, flags: str) -> object:
    """The result for a pattern without its shape."""
    try:
        node = parse(pattern, flags)
    except PatternError as error:
        return summary(Examined(error, None))
    always = "matches" if matches_everything(node) else "fails" if matches_nothing(node) else None
    local = is_local(node), is_local(node, at_start=True)
    return (None, always, literal_text(node), required_texts(node), local)


@given(_PATTERNS, _FLAGS)
@example("abc*", "")
@example("ab{2}c", "")
@example("\\123", "")
@example("ab|cd", "")
@example("\\x41bc*", "")
@example("\\x41{2}bc", "i")
@example("[\\x41-\\x5a]bc", "u")
@example("\\x4gbc", "")
@settings(max_examples=examples(2_000))
def test_facts_about_a_shape_hold_for_its_patterns(pattern: str, flags: str) -> None:
    assert summary(examine(pattern, flags)) == by_itself(pattern, flags)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(consider|suggest) type1", "(use|try) name 2"),
        (r"\d+ hints?", r"\d+ points?"),
        ("^Dear [A-Z]", "^Hello [A-Z]"),
        (escape("word 1 and more"), escape("wall 23 and less")),
    ],
)
def test_patterns_that_differ_in_their_plain_characters_have_one_shape(one: str, other: str) -> None:
    assert shape_of(one)[0] == shape_of(other)[0]


@pytest.mark.parametrize("pattern", [r"\x4gb", r"\u0041b", r"\12", "(?<a>b)", r"\cAb", "café", "a" * 2_000])
def test_an_odd_pattern_is_its_own_shape(pattern: str) -> None:
    assert shape_of(pattern) == (pattern, ())
