"""The texts of JSON values: a table, the case of deep nesting, and the same values in Node. `trim` as in Node."""

from __future__ import annotations

import json
import struct
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.ecma import SPACES, UNDEFINED, to_json, to_string, token_text, trim
from tests.ecma.conftest import Node, drawn

NUMBERS: list[tuple[float, str]] = [
    (0, "0"),
    (-0.0, "0"),
    (150.0, "150"),
    (178.50, "178.5"),
    (-1.5, "-1.5"),
    (1e21, "1e+21"),
    (123456789012345680000.0, "123456789012345680000"),
    (1e-6, "0.000001"),
    (1e-7, "1e-7"),
    (1.25e-9, "1.25e-9"),
    (-1.5e300, "-1.5e+300"),
    (5e-324, "5e-324"),
    (2**53, "9007199254740992"),
    (2**53 + 1, "9007199254740993"),
    (-(2**64), "-18446744073709551616"),
    (10**21, "1" + "0" * 21),
    (float("nan"), "NaN"),
    (float("inf"), "Infinity"),
]


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_string_of_a_number(number: float, text: str) -> None:
    assert to_string(number) == text


def test_a_number_of_more_digits_than_python_writes_is_infinite() -> None:
    assert [to_string(value) for value in (10**5000, -(10**5000))] == ["Infinity", "-Infinity"]


@given(st.integers(2**53, 10**300), st.sampled_from([1, -1]))
def test_whole_numbers_have_all_of_their_digits(size: int, sign: int) -> None:
    assert to_string(sign * size) == to_json(sign * size) == token_text(sign * size) == str(sign * size)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (UNDEFINED, "undefined"),
        ({}, "[object Object]"),
        ({"a": 1}, "[object Object]"),
        ([], ""),
        ([None], ""),
        ([[], []], ","),
        ([1, [2.0, [None, "x"]], {"a": 1}, True], "1,2,,x,[object Object],true"),
        ([UNDEFINED, 1], ",1"),
    ],
)
def test_string_of_other_values(value: object, text: str) -> None:
    assert to_string(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([], "[]"),
        ([[], {}], "[[],{}]"),
        ({"a": [1.0, 1e21, None], "b": {"c": True}}, '{"a":[1,1e+21,null],"b":{"c":true}}'),
        ({"b": 1, "10": 2, "9": 3, "01": 4, "4294967295": 5}, '{"9":3,"10":2,"b":1,"01":4,"4294967295":5}'),
        ([float("nan"), float("inf"), -(10**5000)], "[null,null,null]"),
        ("Infinity", '"Infinity"'),
        ('"\\/\b\f\n\r\t\x01\x7f', '"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f"'),
        ("\u2028é😀", '"\u2028é😀"'),
        ("\ud83d \ude00", '"\\ud83d \\ude00"'),
        ("\ud83d\ude00", '"😀"'),
    ],
)
def test_json(value: object, text: str) -> None:
    assert to_json(value) == text


def test_the_largest_array_index_comes_first_and_a_larger_key_in_its_place() -> None:
    assert to_json({"b": 1, "4294967294": 2}) == '{"4294967294":2,"b":1}'
    assert to_json({"b": 1, "4294967295": 2}) == '{"b":1,"4294967295":2}'


def test_a_token_is_a_plain_text_or_json() -> None:
    values = ["a", 150.0, True, [1.0, "a"], {"a": None}]
    assert [token_text(value) for value in values] == ["a", "150", "true", '[1,"a"]', '{"a":null}']


def test_deep_nesting_is_no_recursion() -> None:
    array: list[object] = []
    members: dict[str, object] = {}
    for _ in range(100_000):
        array = [array]
        members = {"a": members}
    assert to_string(array) == ""
    assert to_json(array) == "[" * 100_001 + "]" * 100_001
    assert to_json(members) == '{"a":' * 100_000 + "{}" + "}" * 100_000


def test_values_that_json_lacks_are_refused() -> None:
    with pytest.raises(TypeError, match="complex"):
        to_string(1j)
    with pytest.raises(TypeError, match="set"):
        to_json([set()])


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(JSON_VALUES)
def test_json_reads_back_as_the_same_texts(value: object) -> None:
    assert to_json(json.loads(to_json(value))) == to_json(value)


TEXTS = """data.map((line) => {
    const value = JSON.parse(line);
    // Contract, Resolution Algorithm, 4: null is no value.
    const token = value === null ? null : typeof value === "object" ? JSON.stringify(value) : String(value);
    return [String(value), JSON.stringify(value), token];
})"""


def test_values_have_the_texts_that_node_gives_them(node: Node) -> None:
    random = drawn(1)
    # Whole numbers beyond 2^53 are exact here, and rounded there.
    values: list[object] = [number for number, _ in NUMBERS[:-2] if type(number) is not int]
    while len(values) < 10_000:
        values += (
            _double(random),
            random.randint(-(2**53), 2**53),
            random.randint(-(10**12), 10**12) / 10 ** random.randint(0, 20),
            _value(random, 3),
        )
    # As a text in the text: `JSON.parse` must round integers itself.
    theirs = node(TEXTS, map(json.dumps, values))
    ours = [[to_string(value), to_json(value), None if value is None else token_text(value)] for value in values]
    differences = [(value, our, their) for value, our, their in zip(values, ours, theirs, strict=True) if our != their]
    assert differences == []


def _double(random: Random) -> float:
    (value,) = struct.unpack("<d", random.randbytes(8))
    return value if abs(value) < float("inf") else 0.5


def _value(random: Random, depth: int) -> object:
    match random.randint(0, 6 if depth else 3):
        case 0:
            return random.choice((None, True, False))
        case 1:
            return random.choice((0, -0.0, 1.0, 2**53, 1e21, -1e-7))
        case 2 | 3:
            return _text(random)
        case 4 | 5:
            return [_value(random, depth - 1) for _ in range(random.randint(0, 3))]
        case _:
            return {_text(random): _value(random, depth - 1) for _ in range(random.randint(0, 4))}


def _text(random: Random) -> str:
    alphabet = 'ab"\\\n\x00\x1f\x7f\u2028é' + random.choice(("", "0123456789", "😀", "\ud83d"))
    return "".join(random.choice(alphabet) for _ in range(random.randint(0, 4)))


# --- white space -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", list(SPACES), ids=lambda space: f"U+{ord(space):04X}")
def test_white_space_is_removed_at_both_ends_only(space: str) -> None:
    assert trim(f"{space}{space}a{space}b{space}") == f"a{space}b"


@pytest.mark.parametrize("other", ["\x85", "\u180e", "\u200b", "\x1c", "\x1d", "\x1e", "\x1f", "\0", "\u2060"])
def test_other_characters_stay(other: str) -> None:
    assert trim(f"{other}a{other}") == f"{other}a{other}"


def test_every_character_is_white_space_where_node_says_so(node: Node) -> None:
    spaces = node("data.filter((c) => String.fromCharCode(c).trim() === '')", range(0x10000))
    assert spaces == [code for code in range(0x10000) if trim(chr(code)) == ""]


def test_texts_are_trimmed_as_node_trims_them(node: Node) -> None:
    random = drawn(1)
    alphabet = SPACES + "\x85\u180e\u200b\u2060\x1c\0ab😀\ud83d"
    texts = ["".join(random.choices(alphabet, k=random.randint(0, 9))) for _ in range(10_000)]
    assert [trim(text) for text in texts] == node("data.map((text) => text.trim())", texts)
