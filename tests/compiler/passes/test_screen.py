"""The screen that passes over checks which are nothing to each other hides nothing that formulas would find."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalc.check.tree import Bounds, Check, Measure, Not, Of, Test, Tools
from evalc.compiler.passes import check_logic
from evalc.compiler.passes.check_logic import are_unrelated
from tests.compiler.logic.trees import CHECKS, LEAVES, TEXTS
from tests.compiler.passes.test_soundness import found
from tests.support.laws import examples


def _contains(text: str) -> Check:
    return Test("contains", text)


def _lacks(text: str) -> Check:
    return Not(_contains(text))


def _any(*texts: str) -> Check:
    return Test("contains_any", texts)


def _matches(pattern: str, flags: str = "") -> Check:
    return Test("matches", (pattern, flags))


def _measured(of: Any, least: int | None = None, most: int | None = None) -> Check:
    return Of(Measure(of), Test("between", Bounds(least, most)))


def _called(*names: str) -> Check:
    return Of(Tools(), Test("called", names))


_NO_ERRORS = Of(Tools(), Test("no_errors"))
_NON_EMPTY = Test("non_empty")
_WORDS = st.text(alphabet="abA .", min_size=0, max_size=4)
_PATTERNS = st.sampled_from(["(a|b) ab", "ab+c", "^a.*b", "a b$", r"\bab\b", "[ab]ab", "(?:A|b)a", "a|b", "ab", "^ab$"])
_SCREENED: st.SearchStrategy[Check] = st.one_of(
    _WORDS.map(_contains),
    _WORDS.map(_lacks),
    st.lists(_WORDS, max_size=3).map(lambda words: _any(*words)),
    TEXTS.map(_contains),
    st.builds(_matches, _PATTERNS, st.sampled_from(["", "", "i", "m", "s"])),
    st.builds(_measured, st.sampled_from(["ms", "tokens", "dollars"]), st.none(), st.integers(-1, 2)),
    st.builds(_measured, st.sampled_from(["ms", "tokens", "dollars"]), st.integers(-1, 2)),
    st.builds(
        lambda name, least: Test("judge", (name, 1, "x?", least)), st.sampled_from(["a", "b"]), st.integers(0, 2)
    ),
    st.sampled_from(["a", "b"]).map(lambda name: Test("check", (name, (), {}, Bounds()))),
    st.sampled_from([_NO_ERRORS, _NON_EMPTY]),
    st.lists(st.sampled_from(["a", "b"]), max_size=2).map(lambda names: _called(*names)),
    st.builds(_measured, st.just("calls"), st.integers(0, 2)),
    st.builds(_measured, st.just("chars"), *[st.none() | st.integers(0, 5)] * 2),
)


@given(checks=st.lists(st.one_of(_SCREENED, _SCREENED, LEAVES, CHECKS), max_size=5))
@example([_lacks(""), _measured("ms", None, -1)])
@example([_contains("a ab b"), Not(_matches("(a|b) ab"))])
@settings(max_examples=examples(200))
def test_the_screened_pass_finds_what_the_unscreened_one_finds(checks: list[Check]) -> None:
    screened = list(map(str, found(checks)))
    with patch.object(check_logic, "are_unrelated", return_value=False):
        assert screened == list(map(str, found(checks)))


@pytest.mark.parametrize(
    "checks",
    [
        (),
        (_contains("cat"), _lacks("dog"), _matches("(a|b) bird")),
        (_any("cat", "dog"), _measured("ms", None, 1), _NO_ERRORS, _measured("tokens", None, 9)),
        (_matches("(use|try) cats"), _matches("(use|try) dogs")),
        (_called("a"), _NO_ERRORS, _NON_EMPTY, _contains("cat")),
        (_measured("chars", 1, 3), _contains("cat"), _NON_EMPTY),
        (_measured("chars", 4), _contains("cat")),
    ],
)
def test_it_knows_plain_checks(checks: tuple[Check, ...]) -> None:
    assert are_unrelated(checks)


@pytest.mark.parametrize(
    "checks",
    [
        (_contains("cat"), _lacks("at")),
        (_contains("a cat"), _matches("(a|b) cat")),
        (_matches("(use|try) cats"), _matches("(use|try) cats")),
        (_matches("(a|b) cat", "i"), _contains("dog")),
        (_measured("ms", None, 1), _measured("ms", None, 2)),
        (_measured("chars", 3), _contains("cat")),
        (_measured("chars", None, 2), _lacks("cat")),
        (_measured("chars", 1), _NON_EMPTY),
        (_measured("chars", None, 0), _NON_EMPTY),
        (_measured("words", 2), _contains("cat")),
        (_called("a"), _measured("calls", 1)),
        (_NON_EMPTY, _NON_EMPTY),
    ],
)
def test_it_leaves_the_others_to_the_formulas(checks: tuple[Check, ...]) -> None:
    assert not are_unrelated(checks)
