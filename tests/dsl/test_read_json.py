"""The JSON reader: data at full speed, and exact places once something is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.dsl.read_json import HOLE, JsonPlaces, _members, _tokenized, read_json
from tests.support.laws import examples


def read(text: str) -> tuple[object, list[tuple[Span, Finding]]]:
    found: list[tuple[Span, Finding]] = []
    return read_json(Source("test", text), lambda span, finding: found.append((span, finding))), found


PROBLEMS = [
    # text, code, the text underlined, its start, words of the message
    ('{"a": 1,}', "EV127", ",", 7, "last item"),
    ("[1,2 , ]", "EV127", ",", 5, "last item"),
    ("{'a': 1}", "EV127", "'", 1, "double quotes"),
    ("['a']", "EV127", "'", 1, "double quotes"),
    ('{"a": 1} // x', "EV127", "/", 9, "comments"),
    ("[1, # x\n2]", "EV127", "#", 4, "comments"),
    ("[1\n/* x */]", "EV127", "/", 3, "comments"),
    ('{"a" 1}', "EV127", "1", 5, "colon"),
    ('{"a": 1 "b": 2}', "EV127", '"', 8, "comma"),
    ("[1 2]", "EV127", "2", 3, "comma"),
    ("[1 true]", "EV127", "t", 3, "comma"),
    ('["a', "EV127", '"', 1, "never closed"),
    ('["a\nb"]', "EV127", "\n", 3, "U+000A"),
    ('["\\q"]', "EV127", "\\q", 2, "escape"),
    ('["x\\u12"]', "EV127", "\\u", 3, "escape"),
    ("", "EV127", "", 0, "empty"),
    ("[1, ", "EV127", "", 3, "ends before"),
    ('{"a":', "EV127", "", 5, "ends before"),
    ("[True]", "EV127", "True", 1, "`True`"),
    ("{a: 1}", "EV127", "a", 1, "keys"),
    ('{"a":1}\n{"b":2}', "EV127", "{", 8, "ended"),
    ("[1]]", "EV127", "]", 3, "ended"),
    ("[1}", "EV127", "}", 2, "`}`"),
    ("[1,,2]", "EV127", ",", 3, "value"),
    ("{1:2}", "EV127", "1", 1, "key"),
    ("[NaN, 1]", "EV128", "NaN", 1, "NaN"),
    ("[-Infinity]", "EV128", "-Infinity", 1, "Infinity"),
    ("[1e400]", "EV128", "1e400", 1, "1e400"),
    (f"[{'1' * 309}]", "EV128", "1" * 309, 1, "111"),
    (f"[-{'1' * 5000}]", "EV128", f"-{'1' * 5000}", 1, "-111"),
    ('["x\\ud800"]', "EV129", "\\ud800", 3, "half"),
    ('["\\ude00\\ud83d"]', "EV129", "\\ude00", 2, "half"),
    ('["\\\\\\ud800"]', "EV129", "\\ud800", 4, "half"),
    ('["\ud800"]', "EV129", "\ud800", 2, "half"),
    ("[" * 101 + "]" * 101, "EV610", "[", 100, "100"),
    ('{"a":' * 50_000, "EV610", "{", 500, "100"),
    ("[" * 100_000, "EV610", "[", 100, "100"),
]


@pytest.mark.parametrize(("text", "code", "underlined", "start", "words"), PROBLEMS)
def test_each_problem_has_its_place(text: str, code: str, underlined: str, start: int, words: str) -> None:
    data, found = read(text)
    assert data is HOLE
    span, finding = found[0]
    assert (finding.code, span.start, text[span.start : span.end]) == (code, start, underlined)
    assert words in finding.message()
    assert not finding.message().endswith(".")


def test_duplicate_keys_are_reported_at_the_second_and_leave_data() -> None:
    text = '{"a": {"b": 1,\n "b": 2, "\\u0062": 3}, "c": [{"b": 1}]}'
    data, found = read(text)
    assert data == {"a": {"b": 3}, "c": [{"b": 1}]}
    assert [(finding.code, text[span.start : span.end]) for span, finding in found] == [
        ("EV111", '"b"'),
        ("EV111", '"\\u0062"'),
    ]
    assert "line 1" in found[0][1].label()


def test_mistakes_before_a_syntax_error_are_reported_too() -> None:
    _, found = read('{"a": 1, "a": NaN, "b": }')
    assert sorted(finding.code for _, finding in found) == ["EV111", "EV127", "EV128"]


@pytest.mark.parametrize("text", ['["\\ud83d\\ude00"]', '["\\\\ud800"]', '["1e400 NaN"]', "[" * 100 + "]" * 100])
def test_texts_that_only_look_wrong_are_read(text: str) -> None:
    assert read(text) == (json.loads(text), [])


_DATA = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text('ab/~"\\ é', max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=examples(200))
@given(_DATA, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_value_is_found_at_its_pointer(data: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    assert read(text) == (data, [])
    places = JsonPlaces(Source("test", text))

    def check(value: object, pointer: str) -> None:
        start, end = places.value(pointer)
        assert json.loads(text[start:end]) == value
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, inner in members:
            inner_pointer = f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}"
            if isinstance(value, dict):
                start, end = places.key(inner_pointer)
                assert json.loads(text[start:end]) == step
            check(inner, inner_pointer)

    check(data, "")


@settings(max_examples=examples(300))
@given(
    st.lists(st.sampled_from([*"{}[]:,\"\\ua1d8 -.e/#\n'", "NaN", "\\ud800", "true", '"a"']), max_size=20).map("".join)
)
def test_whatever_is_read_is_data_or_a_problem_inside_the_text(text: str) -> None:
    data, found = read(text)
    assert (data is HOLE) <= bool(found)
    for span, finding in found:
        assert 0 <= span.start <= span.end <= len(text) + 1
        assert finding.message()


@settings(deadline=None)
@given(_DATA, st.integers(0, 200))
def test_the_members_of_a_text_are_the_same_however_they_are_found(data: object, cut: int) -> None:
    text = json.dumps([data], indent=cut % 3 or None)
    for whole_or_torn in (text, text[: 1 + cut % len(text)]):
        assert _members(whole_or_torn, 0) == dict(_tokenized(whole_or_torn, 0))


def test_a_pointer_into_nothing_gives_the_value_around_it() -> None:
    text = '{"a": [1, 2]}'
    places = JsonPlaces(Source("test", text))
    assert text[slice(*places.value("/a/7/b"))] == "[1, 2]"
    assert text[slice(*places.key("/a/7"))] == '"a"'


class _Counted(str):
    """A text that counts how often it is looked through for white space at its ends."""

    __slots__ = ()
    looks = 0

    def lstrip(self, *arguments: Any) -> str:
        _Counted.looks += 1
        return super().lstrip(*arguments)

    def rstrip(self, *arguments: Any) -> str:
        _Counted.looks += 1
        return super().rstrip(*arguments)


def test_the_ends_of_the_text_are_found_once_however_many_places_are_asked_for() -> None:
    """Each look copies a text that ends in a newline: a look a case took time quadratic in the number of cases."""
    text = _Counted(json.dumps([{"id": n} for n in range(100)]) + "\n")
    places = JsonPlaces(Source("test", text))
    for number in range(100):
        assert text[slice(*places.value(f"/{number}/id"))] == str(number)
    assert _Counted.looks == 2
