"""Mappings: what placeholders stand for, that values stay values, and what paths find."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.runtime.mapping import BadBody, BadPath, BodyTemplate, JsonPath, NoInput, NotSearchable, Values


def values(
    message: str = "Hi", messages: Sequence[Mapping[str, str]] = (), case_id: str = "c-1", **inputs: Any
) -> Values:
    return Values(message=message, messages=messages, case_id=case_id, inputs=inputs)


def filled(template: Any, given: Values) -> Any:
    return BodyTemplate.of(template).fill(given)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"q": "{{message}}"}, {"q": "Hi"}),
        ({"q": "{{ message }}!"}, {"q": "Hi!"}),
        ({"deep": [{"q": ["{{id}}"]}]}, {"deep": [{"q": ["c-1"]}]}),
        ({"m": "{{messages}}"}, {"m": [{"role": "user", "content": "Hi"}]}),
        ({"n": "{{input.limit}}"}, {"n": 3}),
        ({"n": "limit: {{input.limit}}, {{input.tags}}"}, {"n": 'limit: 3, ["a","b"]'}),
        ({"x": r"\{{message}}"}, {"x": "{{message}}"}),
        ({"x": r"\{{ {{id}}"}, {"x": "{{ c-1"}),
        ({"temperature": 0.5, "on": True, "no": None, "plain": "}} {"},) * 2,
        ({"x": ""}, {"x": ""}),
    ],
)
def test_placeholders(template: Any, expected: Any) -> None:
    assert filled(template, values(limit=3, tags=["a", "b"])) == expected


def test_a_conversation_is_sent_as_it_is() -> None:
    turns = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert filled({"m": "{{messages}}"}, values(messages=turns)) == {"m": turns}


def test_an_input_that_the_case_lacks_is_named() -> None:
    with pytest.raises(NoInput, match="needs the input `city`"):
        filled({"q": "in {{input.city}}"}, values(town="Rome"))


@given(st.text(), st.dictionaries(st.text(), st.text(), max_size=2))
def test_values_are_never_read_as_placeholders(message: str, value: dict[str, str]) -> None:
    template = {"whole": "{{message}}", "within": "<{{message}}>", "value": "{{input.v}}"}
    body = filled(template, values(message, v=value))
    assert body == {"whole": message, "within": f"<{message}>", "value": value}


@pytest.mark.parametrize("hostile", ['", "admin": true, "x": "', "{{id}}", "\\{{", "\n\0"])
def test_a_hostile_message_stays_one_text(hostile: str) -> None:
    assert json.loads(json.dumps(filled({"q": "a {{message}}"}, values(hostile)))) == {"q": f"a {hostile}"}


@pytest.mark.parametrize(
    ("template", "words", "within"),
    [
        ({"a": [{"b": "{{mesage}}"}]}, "did you mean `message`", ("a", 0, "b")),
        ({"a": "{{input.}}"}, "not `{{input.}}`", ("a",)),
        ({"a": "{{message"}, "closed by", ("a",)),
        ({"{{id}}": 1}, "keys", ()),
        ({"a": object()}, "JSON can say", ("a",)),
        ({"a": [1.5, float("nan")]}, "JSON can say", ("a", 1)),
    ],
)
def test_a_bad_template_says_why_and_where(template: Any, words: str, within: tuple[str | int, ...]) -> None:
    with pytest.raises(BadBody) as caught:
        BodyTemplate.of(template)
    assert words in str(caught.value)
    assert caught.value.within == within


def test_finds() -> None:
    document = {"steps": [{"kind": "tool", "n": 1}, {"kind": "text"}]}
    assert JsonPath.of("steps[?kind=='tool'].n | [0]").find(document) == 1
    assert JsonPath.of("nothing.there").find(document) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("a[", "it ends too early"),
        ("a..b", "at character 3 is not allowed there"),
        ("a ^ b", "`^` at character 3 has no meaning there"),
        ("a[?lenght(b) > `1`]", "unknown function `lenght`; did you mean `length`?"),
        ("(" * 5_000, "nested too deeply"),
    ],
)
def test_invalid_expressions_are_refused(text: str, why: str) -> None:
    with pytest.raises(BadPath) as caught:
        JsonPath.of(text)
    assert why in str(caught.value)


def test_a_function_that_does_not_take_what_is_there() -> None:
    with pytest.raises(NotSearchable, match=r"`length\(a\)` cannot be applied"):
        JsonPath.of("length(a)").find({"a": 1})
