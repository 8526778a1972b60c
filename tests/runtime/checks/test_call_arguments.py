"""Checks of the arguments of calls, and which call answers which of several expectations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.check.forms import check_of
from evalc.check.tree import Check, Some
from evalc.grammar.read_check import read_check
from evalc.model.answer import ToolCall
from evalc.model.json import is_same
from evalc.runtime.checks.evaluate import matched
from tests.runtime.checks.conftest import Ask, check_in

CALLS = (
    ToolCall(name="book", params={"city": "Paris", "days": 2, "units": {"temperature": "C"}, "tags": ["a", "b"]}),
    ToolCall(name="other", params={"city": "Rome"}),
    ToolCall(name="book", params={"city": "Oslo", "days": 3.0, "confirmed": True}),
)
Which = Literal["any", "every", "no"] | int


def has(which: Which = "any", **args: Any) -> Check:
    tests = {
        path.replace("__", "."): test if isinstance(test, dict) else {"equals": test} for path, test in args.items()
    }
    return check_of({"type": "call_has", "tool": "book", "which": which, "args": tests})


@pytest.mark.parametrize(
    ("check", "outcome", "words"),
    [
        (has(city="Paris", days=2.0), "passed", None),
        (has(units__temperature="C"), "passed", None),
        (has(days=3), "passed", None),
        (has(days="3"), "passed", None),
        (has(days="4"), "failed", "a call of 'book' but in call 1 days is 2, expected `4`; in call 2 days is 3"),
        (has(confirmed=1), "failed", "in call 1 confirmed is not there; in call 2 confirmed is true, expected 1"),
        (has(city="Rome"), "failed", "a call of 'book' but in call 1 city is `Paris`, expected `Rome`; in call 2"),
        (has(tags=["a", "b"]), "passed", None),
        (has(tags={"contains": "b"}), "passed", None),
        (has(city={"contains": "ar"}, days={"max": 2}), "passed", None),
        (has(city={"matches": "^O"}, days={"min": 3, "max": 3}), "passed", None),
        (has(city={"min": 1}), "failed", "expected a number at city, found the text `Paris`"),
        (has(city={"oneOf": ("Rome", "Oslo")}), "passed", None),
        (has(city={"matches": "("}), "error", "/(/ is not a regular expression"),
        (has(nothing={"exists": False}), "passed", None),
        (has(city={"exists": False}), "failed", "in call 1 city is `Paris`, expected it not to be there"),
        (has("every", days={"min": 2}), "passed", None),
        (has("every", city="Paris"), "failed", "in call 2 city is `Oslo`, expected `Paris`"),
        (has("no", confirmed=True), "failed", "expected no such call of 'book' but call 2 is one"),
        (has("no", confirmed=False), "passed", None),
        (has(2, city="Oslo"), "passed", None),
        (has(1, city="Oslo"), "failed", "city is `Paris`, expected `Oslo`"),
        (has(3, city="Oslo"), "failed", "call 3 of 'book' but it was called 2 times"),
    ],
)
def test_arguments_of_a_call(ask: Ask, check: Check, outcome: str, words: str | None) -> None:
    verdict = ask(check, tool_calls=CALLS)
    assert verdict.outcome == outcome
    assert words is None or words in str(verdict.message)


def test_a_tool_that_was_not_called(ask: Ask) -> None:
    assert ask(has(city="x")).message == "expected a call of 'book' but it was not called"
    assert ask(has("every", city="x")).outcome == "not_applicable"
    assert ask(has("no", city="x")).outcome == "passed"
    assert ask(has(1, city="x")).message == "expected call 1 of 'book' but it was not called"


def test_tokens_keep_their_types_where_they_stand_alone(ask: Ask) -> None:
    seed = {"days": 2, "place": "Par"}
    assert ask(has(days="{{seed:days}}"), tool_calls=CALLS, seed=seed).outcome == "passed"
    assert ask(has(city="{{seed:place}}is"), tool_calls=CALLS, seed=seed).outcome == "passed"
    found = ask(has(city="{{seed:none}}"), tool_calls=CALLS, seed=seed)
    assert (found.outcome, found.skipped_tokens) == ("skipped", ("{{seed:none}}",))


def test_each_of_several_takes_a_call_for_itself(ask: Ask) -> None:
    paris, some = has(city="Paris"), has(city={"exists": True})
    again = has(city="Paris")
    calls = (CALLS[0], CALLS[2])

    def outcomes(*checks: Check) -> list[str]:
        return [ask(check, tool_calls=calls, beside=checks).outcome for check in checks]

    assert outcomes(some, paris) == ["passed", "passed"]
    assert outcomes(paris, some) == ["passed", "passed"]
    assert outcomes(paris, again) == ["passed", "failed"]
    assert outcomes(some, paris, has(city={"exists": True})) == ["passed", "passed", "failed"]
    assert ask(again, tool_calls=calls, beside=(paris, again)).message == (
        "expected a call of 'book' for itself, but other checks take each of the calls that would do: "
        "it was called 2 times"
    )


@pytest.mark.parametrize("which", ["any", "every", "no", 1, 2, 3])
@pytest.mark.parametrize("days", [2, 3, 4])
def test_a_token_that_names_nothing_hides_no_argument_that_decides(ask: Ask, which: Which, days: int) -> None:
    unknown = ask(has(which, days=days, city="{{seed:city}}"), tool_calls=CALLS, seed={}).outcome
    filled = {
        ask(has(which, days=days, city="{{seed:city}}"), tool_calls=CALLS, seed={"city": city}).outcome
        for city in ("Paris", "Oslo", "Bergen")
    }
    assert unknown == (filled.pop() if len(filled) == 1 else "skipped")


@pytest.mark.parametrize(
    "undecided", [has(city="{{seed:none}}"), has(city={"matches": "("})], ids=["unresolved", "broken"]
)
def test_a_line_that_is_undecided_takes_no_call_and_decides_no_other_line(ask: Ask, undecided: Check) -> None:
    lines = (has(city="Paris"), has(city="Paris", days=2), undecided)

    def outcomes(*checks: Check, calls: Sequence[ToolCall]) -> list[str]:
        return [ask(check, tool_calls=tuple(calls), beside=checks).outcome for check in checks]

    for calls in ((CALLS[0],), (CALLS[0], CALLS[0])):
        assert outcomes(*lines, calls=calls)[:2] == outcomes(*lines[:2], calls=calls)
        assert outcomes(*lines, calls=calls)[2] in ("skipped", "error")
    composed = Some((has(city="Paris"), has(city="Rome")))
    assert ask(composed, tool_calls=(CALLS[0],), beside=(composed, undecided)).outcome == "passed"


@given(st.lists(st.lists(st.integers(0, 4), unique=True, max_size=5), max_size=5))
def test_as_many_are_matched_as_any_assignment_can(fits: list[list[int]]) -> None:
    found = matched(fits)
    assert len(found) == max(map(len, _assignments(fits)), default=0)
    assert found in _assignments(fits)


def _assignments(fits: Sequence[Sequence[int]]) -> list[set[int]]:
    """Every set of expectations that calls can be given to, one to each: by trying all orders of the calls."""
    expectations = range(len(fits))
    return [
        {each for each, call in zip(expectations, calls, strict=False) if call in fits[each]}
        for calls in permutations(range(max(5, len(fits))))
    ]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_value_is_the_same_as_itself_and_as_no_other_type(value: Any) -> None:
    assert is_same(value, value)
    assert not is_same(value, [value])
    assert is_same(value, 1) is (value == 1 and not isinstance(value, bool))


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ('"which": 0, "args": {"x": {"min": 1}}', "`which` must be a whole number from 1, not `0`"),
        ('"which": true, "args": {"x": {"min": 1}}', "`which` must be a text, not `true`"),
        ('"which": "some", "args": {"x": {"min": 1}}', "`some` is not a which"),
        ('"args": {"x": {"matches": "("}}', "not a regular expression: `(` is never closed"),
        ('"args": {"x": {"min": "1"}}', "`min` must be a number, not `1`"),
        ('"args": []', "`args` must be an object, not a list"),
    ],
)
def test_invalid_calls_in_eval_json_are_refused(check: str, words: str) -> None:
    text = (
        '[{"id": "s/a", "difficulty": "edge", "description": "d", "input": {"message": "m"}, '
        f'"expect": {{"checks": [{{"type": "call_has", "tool": "t", {check}}}]}}}}]'
    )
    (problem,) = evalc.check(evalc.Source("t.labeled.json", text))
    assert (problem.severity, problem.finding.message()) == ("error", words)


def test_results_are_asked_of_calls_that_others_take(ask: Ask) -> None:
    """Only what a call was given says which expectation it answers."""
    calls = (ToolCall(name="book", params={"city": "Oslo"}, success=True, result={"status": "ok", "id": 7}),)
    lines = ('any call of book returns status "ok"', "any call of book returns id 7", "not any call of book fails")
    checks = (has(city="Oslo"), *map(check_of_line, lines))
    assert [ask(check, tool_calls=calls, beside=checks).outcome for check in checks] == ["passed"] * 4


def check_of_line(line: str) -> Check:
    node = read_check(line).node
    assert node is not None
    return node.check


def test_any_of_several_places_in_an_argument_may_hold(ask: Ask) -> None:
    calls = (ToolCall(name="book", params={"rooms": [{"beds": 1}, {"beds": 2}, {}]}),)

    def asked(path: str, value: int) -> str:
        check = check_of({"type": "call_has", "tool": "book", "args": {path: {"equals": value}}})
        return ask(check, tool_calls=calls).outcome

    assert (asked("rooms[].beds", 2), asked("rooms[].beds", 3), asked("rooms[].baths", 1)) == (
        "passed",
        "failed",
        "failed",
    )


GUESTS = (
    ToolCall(name="book", params={"guests": [{"name": "Ann"}, {"name": "Bob"}]}),
    ToolCall(name="book", params={"guests": []}),
)


@pytest.mark.parametrize(
    ("which", "test", "outcome", "words"),
    [
        ("any", {"equals": "Bob"}, "passed", None),
        (
            "any",
            {"equals": "Eve"},
            "failed",
            "in call 1 guests[].name is `Ann`, expected `Eve`; guests[].name is `Bob`",
        ),
        ("every", {"equals": "Bob"}, "failed", "in call 2 guests[].name is not there"),
        (2, {"exists": False}, "passed", None),
        (1, {"exists": False}, "failed", "expected it not to be there"),
    ],
)
def test_a_path_to_several_places_asks_for_one_of_them(
    which: Which, test: dict[str, Any], outcome: str, words: str | None, ask: Ask
) -> None:
    verdict = ask(has(which, **{"guests[].name": test}), tool_calls=GUESTS)
    assert (verdict.outcome, words is None or words in (verdict.message or "")) == (outcome, True)


@pytest.mark.parametrize("about", ["returns", "not returns"])
def test_a_line_about_a_result_takes_no_call_for_itself(about: str, ask: Ask) -> None:
    by_arguments = has(city="Paris")
    by_result = check_in(f'any call of book {about} id "7"')
    calls = (ToolCall(name="book", params={"city": "Paris"}, result={"id": "7"}),)
    assert ask(by_arguments, beside=(by_result, by_arguments), tool_calls=calls).outcome == "passed"
