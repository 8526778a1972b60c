"""The selection of cases, by expressions too, and the message if it is empty."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.errors import UsageError
from evalc.model.case import Case, Input
from evalc.model.suite import LocatedCase, Selected, Suite, SuiteKey
from evalc.runtime.run.select import Known, NamedCases, parse_keywords, select_cases, selected_of
from evalc.runtime.store.scope import CaseFilter


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
    assert parse_keywords(" and ".join(words[:3_000]))(words)


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


def case(name: str, *tags: str, **fields: Any) -> LocatedCase:
    return LocatedCase(Case(id=name, description=name, input=Input(message=name), tags=tags or None, **fields), {})


def suite(tool: str, *cases: LocatedCase, tier: str = "labeled") -> Suite:
    return Suite(
        metadata=None,
        name=tool,
        tool_name=tool,
        tier=tier,
        file_hash="0" * 12,
        origin=f"{tool}.yaml",
        cases=cases,
        size=len(cases),
    )


WEATHER = suite(
    "weather",
    case("weather/paris", "smoke", "city"),
    case("weather/rome@short", "city"),
    case("weather/rome@long", "city", "slow"),
    case("weather/help"),
)
REVIEW = suite("review", case("rg-review-001", "smoke"), tier="regression")


def chosen(selection: CaseFilter, known: Known | None = None) -> list[str]:
    suites = select_cases((WEATHER, REVIEW), selection, known or Known())
    assert all(suite.size == len(list(suite.cases)) for suite in suites)
    return [located.case.id for suite in suites for located in suite.cases]


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (CaseFilter(tags=("smoke",)), ["weather/paris", "rg-review-001"]),
        (CaseFilter(tags=("smoke", "slow")), ["weather/paris", "weather/rome@long", "rg-review-001"]),
        (CaseFilter(tags=("!city",)), ["weather/help", "rg-review-001"]),
        (CaseFilter(tags=("city", "!slow")), ["weather/paris", "weather/rome@short"]),
        (CaseFilter(tiers=("regression",)), ["rg-review-001"]),
        (CaseFilter(ids=("weather/rome*",)), ["weather/rome@short", "weather/rome@long"]),
        (CaseFilter(ids=("/rome@s|-0+1$/",)), ["weather/rome@short", "rg-review-001"]),
        (CaseFilter(ids=("*help", "rg-*")), ["weather/help", "rg-review-001"]),
        (CaseFilter(keywords="rome and not slow"), ["weather/rome@short"]),
        (CaseFilter(keywords="review", tags=("smoke",)), ["rg-review-001"]),
    ],
)
def test_selected_cases(selection: CaseFilter, ids: list[str]) -> None:
    assert chosen(selection) == ids


def named(case: str) -> Known:
    return Known(named=(NamedCases(argument=f"weather.yaml::{case}", files=frozenset({"weather.yaml"}), case=case),))


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("weather/paris", ["weather/paris"]),
        ("paris", ["weather/paris"]),
        ("rome", ["weather/rome@short", "weather/rome@long"]),
        ("rome@long", ["weather/rome@long"]),
        ("*e*", ["weather/paris", "weather/rome@short", "weather/rome@long", "weather/help"]),
        ("p*", ["weather/paris"]),
    ],
)
def test_a_case_of_a_file_by_id_name_or_glob(name: str, ids: list[str]) -> None:
    """Other files, which name no case, are run whole."""
    assert chosen(CaseFilter(cases=(f"weather.yaml::{name}",)), named(name)) == [*ids, "rg-review-001"]


def test_a_missing_case_is_reported_with_near_names() -> None:
    with pytest.raises(UsageError) as raised:
        chosen(CaseFilter(cases=("weather.yaml::pariss",)), named("pariss"))
    assert str(raised.value) == "`weather.yaml::pariss` names no case; near are `paris`"


def test_a_named_case_that_another_flag_leaves_out_is_there() -> None:
    assert chosen(CaseFilter(cases=("weather.yaml::paris",), tags=("!city",)), named("paris")) == ["rg-review-001"]


def test_failed_cases_by_suite_and_tier() -> None:
    failed = {
        SuiteKey("weather", "labeled"): frozenset({"weather/help", "gone"}),
        SuiteKey("review", "golden"): frozenset({"rg-review-001"}),
    }
    assert chosen(CaseFilter(failed_from="r"), Known(failed=failed)) == ["weather/help"]


def test_suites_whose_files_have_changed() -> None:
    assert chosen(CaseFilter(changed_since="HEAD"), Known(changed=frozenset({"review.yaml"}))) == ["rg-review-001"]


def test_a_choice_of_nothing_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"^`-k nowhere --tag smoke` selects none of 5 cases$"):
        chosen(CaseFilter(keywords="nowhere", tags=("smoke",)))


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(UsageError, match=r"^`--filter /\(/` is not a valid regular expression: "):
        chosen(CaseFilter(ids=("/(/",)))


def test_a_suite_says_what_was_chosen_of_it() -> None:
    selection = CaseFilter(tags=("smoke",))
    weather, review = select_cases((WEATHER, REVIEW), selection, Known())
    assert weather.selected == Selected(cases=1, of=4, by=("--tag smoke",))
    assert review == msgspec.structs.replace(REVIEW, narrowed=True)
    assert selected_of((weather, review), (WEATHER, REVIEW), selection) == Selected(cases=2, of=5, by=("--tag smoke",))


def test_without_a_choice_suites_are_as_they_were() -> None:
    assert select_cases((WEATHER, REVIEW), CaseFilter(), Known()) == (WEATHER, REVIEW)
    assert selected_of((WEATHER,), (WEATHER,), CaseFilter()) is None


def test_how_often_each_case_is_run_keeps_the_share_that_has_to_pass() -> None:
    one = suite("s", case("a"), case("b", repeat=10, require=8), case("c", repeat=2))
    (repeated,) = select_cases((one,), CaseFilter(repeat=4), Known())
    assert [(located.case.repeat, located.case.require) for located in repeated.cases] == [(4, None), (4, 4), (4, None)]
    assert repeated.selected is None
