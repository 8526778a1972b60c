"""New YAML: it means what was written, for other readers too, and is in the canonical style."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from evalc.dsl.format import format_text
from evalc.dsl.write_yaml import Noted, NotWritable, write_yaml

ODD = (
    "",
    "yes",
    "n",
    "~",
    "1.5",
    "0x1",
    "a: b",
    "a #b",
    "- a",
    "it's",
    'say "a"',
    "\\",
    "a?",
    "{{x}}",
    "[a]",
    " a",
    "a ",
)
LONG = "word " * 40
BLOCKS = ("a\nb", "a\n\nb\n", "a \nb", " a\nb", "a\n\n", "\ta\nb", "# a\nb", "---\na", f"{LONG}\na", f"{LONG}end")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from((*ODD, *BLOCKS, LONG, "\x85"))
scalars = (
    texts | st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
)
keys = st.sampled_from(("name", "validate", "test_cases", "eval", "n", "a: b", "x", "0", "null")) | texts
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
)
documents = st.dictionaries(keys, data, max_size=5)


def loaded(text: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    return reader.load(text)


@given(documents)
def test_it_reads_back_in_the_canonical_style(document: dict[str, Any]) -> None:
    text = write_yaml(document)
    assert format_text(text) == text
    assert loaded(text) == document


@given(documents, st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=3))
def test_comments_change_nothing(document: dict[str, Any], comments: list[str]) -> None:
    noted = {key: Noted(value, tuple(comments)) for key, value in document.items()}
    listed = {"items": [Noted(noted, tuple(comments)), Noted(1, tuple(comments))]}
    text = write_yaml(listed, head=comments)
    assert format_text(text) == text
    assert loaded(text) == {"items": [document, 1]}


def test_it_is_what_a_person_would_write() -> None:
    case = {"name": "a", "message": "Which flights go to Rome, and when do the last three of them begin?" * 2}
    text = write_yaml(
        {
            "suite": "desk",
            "gates": {"min_pass_rate": 0.5},
            "eval": {
                "criteria": ["short (1): Brief"],
                "test_cases": [
                    {**case, "tags": ["smoke"], "validate": ["json", 'contains "a: b"', 'at "$.a" >= 3']},
                    Noted({"name": "b", "turns": [{"say": "hi\nthere", "validate": ["json"]}]}, ("Of its own.",)),
                    {"name": "c", "validate": [Noted("json", ("Why.",))]},
                    {"name": "d", "validate": ['contains "a, b"']},
                    {"name": "e", "validate": [{"not": ["json"]}]},
                    {"name": "f", "validate": ["json", "non-empty"]},
                ],
            },
        },
        head=["Made."],
    )
    assert (
        text
        == """\
# Made.
suite: desk
gates: {min_pass_rate: 0.5}
eval:
  criteria:
    - "short (1): Brief"
  test_cases:
    - name: a
      message: >-
        Which flights go to Rome, and when do the last three of them begin?Which flights go to Rome, and when do the
        last three of them begin?
      tags: [smoke]
      validate:
        - json
        - 'contains "a: b"'
        - at "$.a" >= 3

    # Of its own.
    - name: b
      turns:
        - say: |-
            hi
            there
          validate: [json]

    - name: c
      validate:
        # Why.
        - json

    - name: d
      validate:
        - contains "a, b"

    - name: e
      validate:
        - not: [json]

    - name: f
      validate: [json, non-empty]
"""
    )


def test_lines_end_before_column_120_and_data_stay_on_one() -> None:
    prose, record = "a word " * 30 + "end", '{"id": "' + "a b " * 40 + '"}'
    row = {"city": "Paris", "question": "Is it warm enough to swim in the river today, or in the lake?", "age": 1}
    text = write_yaml({"rows": [row, {**row, "more": "x" * 20}, {"a": record}, {"b": prose}, {"c": prose * 5}]})
    assert text.split("\n")[:6] == [
        "rows:",
        '  - {city: Paris, question: "Is it warm enough to swim in the river today, or in the lake?", age: 1}',
        "  - city: Paris",
        "    question: Is it warm enough to swim in the river today, or in the lake?",
        "    age: 1",
        "    more: xxxxxxxxxxxxxxxxxxxx",
    ]
    assert [len(line) > 120 for line in text.splitlines()[6:]] == [True, False, False, False, True]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("\ud800", "half of a surrogate pair"),
        (float("nan"), "`nan` is no number"),
        ([float("inf")], "`inf` is no number"),
        ({1, 2}, "a `set` is no value"),
        ({"x": b"x"}, "a `bytes` is no value"),
    ],
)
def test_yaml_has_no_way_to_say_it(value: Any, why: str) -> None:
    with pytest.raises(NotWritable, match=why):
        write_yaml({"a": value})
