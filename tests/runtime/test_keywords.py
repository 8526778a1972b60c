"""Expressions of `-k`: what they mean, and what is wrong with those that mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.errors import UsageError
from evalc.runtime.run.select import parse_keywords


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("paris", True),
        ("PARIS", True),
        ("par", True),
        ("rome", False),
        ("not rome", True),
        ("not not paris", True),
        ("paris and smoke", True),
        ("rome or paris and smoke", True),
        ("(rome or paris) and slow", False),
        ("not rome and paris", True),
        ("not (rome or paris)", False),
        ("weather/paris", True),
        ('"hot day"', True),
        ('"and"', False),
    ],
)
def test_words_are_looked_for_in_all_texts(expression: str, holds: bool) -> None:
    assert parse_keywords(expression)(("weather/paris@short", "smoke", "hot day")) is holds


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "expected a word, `not` or `(`, found its end at column 1"),
        ("paris and", "expected a word, `not` or `(`, found its end at column 10"),
        ("paris rome", "expected `and` or `or`, found `rome` at column 7"),
        ("and paris", "expected a word, `not` or `(`, found `and` at column 1"),
        ("(paris", "expected `)`, `and` or `or`, found its end at column 7"),
        ("paris)", "expected `and` or `or`, found `)` at column 6"),
        ('a and "b', "a closing quote is missing at column 7"),
        ("()", "expected a word, `not` or `(`, found `)` at column 2"),
    ],
)
def test_mistakes_are_reported_with_their_column(expression: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_keywords(expression)
    assert str(raised.value) == f"`-k {expression}`: {message}"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(" * 3000, f"`-k …{'(' * 80}…`: it is nested too deep at column 52"),
        ("not " * 1000, f"`-k …{'not ' * 20}…`: it is nested too deep at column 205"),
        ("a or " * 1000, f"`-k …{'a or ' * 8}`: expected a word, `not` or `(`, found its end at column 5001"),
        (f"a {'b' * 1000}", f"`-k a {'b' * 78}…`: expected `and` or `or`, found `{'b' * 79}…` at column 3"),
    ],
)
def test_of_a_long_expression_the_place_is_shown(expression: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_keywords(expression)
    assert str(raised.value) == message


def test_an_expression_may_have_any_number_of_words() -> None:
    words = [f"w{number}" for number in range(20_000)]
    assert parse_keywords(" or ".join(words))(("w19999",))
    assert parse_keywords(" and ".join(words))(words)


WORDS = st.sampled_from(["a", "b", "c"])
EXPRESSIONS = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), WORDS).map(" ".join),
        WORDS.map(lambda word: f"not {word}"),
        inner.map(lambda text: f"not ({text})"),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.sets(WORDS))
def test_an_expression_means_what_it_means_in_python(expression: str, there: set[str]) -> None:
    expected = eval(expression, {word: word in there for word in "abc"})
    assert parse_keywords(expression)(tuple(there)) is expected
