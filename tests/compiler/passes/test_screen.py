"""The screen that passes over checks which are nothing to each other hides nothing that formulas would find."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.compiler.passes import check_contradictions
from evalc.compiler.passes.check_contradictions import are_unrelated
from evalc.model import checks as c
from tests.compiler.logic.checks import CHECKS, LEAVES, TEXTS
from tests.compiler.passes.test_soundness import found

_WORDS = st.text(alphabet="abA .", min_size=0, max_size=4)
_PATTERNS = st.sampled_from(["(a|b) ab", "ab+c", "^a.*b", "a b$", r"\bab\b", "[ab]ab", "(?:A|b)a", "a|b", "ab", "^ab$"])
_SCREENED: st.SearchStrategy[c.Check] = st.one_of(
    st.builds(c.Contains, value=_WORDS),
    st.builds(c.NotContains, value=_WORDS),
    st.builds(c.ContainsAny, values=st.lists(_WORDS, max_size=3).map(tuple)),
    st.builds(c.Contains, value=TEXTS),
    st.builds(c.Regex, pattern=_PATTERNS, flags=st.sampled_from(["", "", "i", "m", "s"])),
    st.builds(c.Latency, max=st.integers(-1, 2)),
    st.builds(c.Tokens, max=st.integers(-1, 2)),
    st.builds(c.Cost, max=st.integers(-1, 2)),
    st.builds(c.Judge, dimension=st.sampled_from(["a", "b"]), criteria=st.just("x?"), min_score=st.integers(0, 2)),
    st.builds(c.Custom, name=st.sampled_from(["a", "b"])),
    st.builds(c.NoToolErrors),
    st.builds(c.NonEmpty),
    st.builds(c.ToolsCalled, names=st.lists(st.sampled_from(["a", "b"]), max_size=2).map(tuple)),
    st.builds(c.ToolCount, min=st.integers(0, 2)),
    st.builds(lambda low, high: c.Length(unit="chars", min=low, max=high), *[st.none() | st.integers(0, 5)] * 2),
)


@given(checks=st.lists(st.one_of(_SCREENED, _SCREENED, LEAVES, CHECKS), max_size=5))
@example([c.NotContains(value=""), c.Latency(max=-1)])
@example([c.Contains(value="a ab b"), c.Not(check=c.Regex(pattern="(a|b) ab"))])
@settings(max_examples=1000, deadline=None)
def test_the_screened_pass_finds_what_the_unscreened_one_finds(checks: list[c.Check]) -> None:
    screened = list(map(str, found(checks)))
    with patch.object(check_contradictions, "are_unrelated", return_value=False):
        assert screened == list(map(str, found(checks)))


@pytest.mark.parametrize(
    "checks",
    [
        (),
        (c.Contains(value="cat"), c.NotContains(value="dog"), c.Regex(pattern="(a|b) bird")),
        (c.ContainsAny(values=("cat", "dog")), c.Latency(max=1), c.NoToolErrors(), c.Tokens(max=9)),
        (c.Regex(pattern="(use|try) cats"), c.Regex(pattern="(use|try) dogs")),
        (c.ToolsCalled(names=("a",)), c.NoToolErrors(), c.NonEmpty(), c.Contains(value="cat")),
        (c.Length(unit="chars", min=1, max=3), c.Contains(value="cat"), c.NonEmpty()),
        (c.Length(unit="chars", min=4), c.Contains(value="cat")),
    ],
)
def test_it_knows_plain_checks(checks: tuple[c.Check, ...]) -> None:
    assert are_unrelated(checks)


@pytest.mark.parametrize(
    "checks",
    [
        (c.Contains(value="cat"), c.NotContains(value="at")),
        (c.Contains(value="a cat"), c.Regex(pattern="(a|b) cat")),
        (c.Regex(pattern="(use|try) cats"), c.Regex(pattern="(use|try) cats")),
        (c.Regex(pattern="(a|b) cat", flags="i"), c.Contains(value="dog")),
        (c.Latency(max=1), c.Latency(max=2)),
        (c.Length(unit="chars", min=3), c.Contains(value="cat")),
        (c.Length(unit="chars", max=2), c.NotContains(value="cat")),
        (c.Length(unit="chars", min=1), c.NonEmpty()),
        (c.Length(unit="chars", max=0), c.NonEmpty()),
        (c.Length(unit="words", min=2), c.Contains(value="cat")),
        (c.ToolsCalled(names=("a",)), c.ToolCount(min=1)),
        (c.NonEmpty(), c.NonEmpty()),
    ],
)
def test_it_leaves_the_others_to_the_formulas(checks: tuple[c.Check, ...]) -> None:
    assert not are_unrelated(checks)
