"""Tokens: where they are found, what they resolve to, and what stays unresolved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.ecma import UNDEFINED, Unresolved, ValueToken, find_tokens, resolve, token_text, walk

SEED = {
    "holdings": {"equities": [{"symbol": "AAPL", "shares": 150.0}], "matrix": [[1, 2], [3, 4]]},
    "price": 178.50,
    "big": 1e21,
    "open": True,
    "nothing": None,
    "empty": "",
    "odd-key with space": "odd",
    "a:b": "colon",
    "0": "zero",
    "": {"": "nameless"},
    "text": "{{seed:price}}",
    "name[x]": "brackets",
    "by_number": {"7": "seven"},
}


def test_a_token_is_found_with_its_place_and_path() -> None:
    assert find_tokens("a {{ seed: x.y[0] }}!{{snapshot:z}}") == [
        ValueToken(start=2, end=20, text="{{ seed: x.y[0] }}", source="seed", path="x.y[0]"),
        ValueToken(start=21, end=35, text="{{snapshot:z}}", source="snapshot", path="z"),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "{", "{{", "{{seed:a", "{{seed:a}", "{{name}}", "{{seeds:a}}", "{{Seed:a}}", "{{seed :a}}", "{ {seed:a}}"],
)
def test_other_texts_hold_no_token_and_are_their_own_meaning(text: str) -> None:
    assert find_tokens(text) == []
    assert resolve(text, SEED, None) == text


def test_a_token_ends_at_the_first_pair_of_braces() -> None:
    assert [token.path for token in find_tokens("{{{seed:a}}}{{seed:b {{seed:c}} }}")] == ["a", "b {{seed:c"]


def test_many_openings_take_linear_time() -> None:
    assert find_tokens("{{seed:" * 100_000) == []
    assert find_tokens("{{" + " " * 100_000 + "{{ " * 100_000) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("holdings.equities[0].symbol", "AAPL"),
        ("holdings.equities.0.symbol", "AAPL"),
        ("holdings.equities[0].shares", "150"),
        ("holdings.equities[0]", '{"symbol":"AAPL","shares":150}'),
        ("holdings.matrix[1][0]", "3"),
        ("holdings.matrix.0[1]", "2"),
        ("holdings.matrix[00]", "[1,2]"),
        ("price", "178.5"),
        (" price\n", "178.5"),
        ("big", "1e+21"),
        ("open", "true"),
        ("empty", ""),
        ("odd-key with space", "odd"),
        ("a:b", "colon"),
        ("0", "zero"),
        (".", "nameless"),
        ("text", "{{seed:price}}"),
        ("name[x]", "brackets"),
        ("by_number[7]", "seven"),
    ],
)
def test_a_path_leads_to_a_value(path: str, text: str) -> None:
    assert resolve(f"<{{{{seed:{path}}}}}>", SEED, None) == f"<{text}>"


@pytest.mark.parametrize(
    "path",
    [
        "missing",
        "nothing",
        "nothing.x",
        "price.x",
        "empty.length",
        "empty[0]",
        "holdings.equities.length",
        "holdings.equities[1]",
        "holdings.equities.00",
        "holdings.equities.-1",
        "holdings.equities[-1]",
        "holdings.equities[" + "9" * 5000 + "]",
        "holdings.equities.\u0660",
        "holdings.constructor",
        "holdings.__proto__",
        "holdings..equities",
        "open.toString",
    ],
)
def test_a_path_that_leads_nowhere_is_unresolved(path: str) -> None:
    token = f"{{{{seed:{path}}}}}"
    assert resolve(token, SEED, None) == Unresolved((token,))


def test_one_unresolved_token_leaves_the_whole_text_unresolved() -> None:
    unresolved = resolve("{{seed:price}} {{seed:no}} {{ snapshot:a }}", SEED, None)
    assert unresolved == Unresolved(("{{seed:no}}", "{{ snapshot:a }}"))


def test_seed_and_snapshot_are_distinguished() -> None:
    assert resolve("{{seed:a}}/{{snapshot:a}}", {"a": 1}, {"a": 2}) == "1/2"


@settings(deadline=None)
@given(before=st.text(), value=st.text() | st.integers() | st.booleans() | st.lists(st.text()), after=st.text())
def test_text_around_a_token_stays_and_its_value_is_not_read_again(before: str, value: object, after: str) -> None:
    before, after = before.replace("{", ""), after.replace("{", "")
    assert resolve(f"{before}{{{{seed:v}}}}{after}", {"v": value}, None) == before + token_text(value) + after


@settings(deadline=None)
@given(st.text(alphabet="{} seed:snapshot.[]0a\n"), st.dictionaries(st.text("a0["), st.integers()))
def test_any_text_is_resolved_or_not_without_error(text: str, seed: dict[str, int]) -> None:
    tokens = find_tokens(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert isinstance(resolve(text, seed, None), str | Unresolved)


@pytest.mark.parametrize("data", ["text", 5, None, True, {"b": 1}, [1]])
def test_a_path_that_leads_nowhere_is_undefined_and_not_null(data: object) -> None:
    assert walk(data, "a") is UNDEFINED
    assert walk({"a": None}, "a") is None
