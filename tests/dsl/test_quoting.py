"""The traps that new users meet: found, and put right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.source import Source
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.quoting import goes_on, lost_to_comment, quoted_line, split_at_colon, split_at_comma
from evalc.dsl.read_yaml import read_yaml


def read(text: str) -> tuple[Source, Node]:
    source = Source("test", text)
    (node,) = read_yaml(source, lambda span, finding: pytest.fail(f"{span} {finding}"))
    assert node is not None
    return source, node


@given(
    st.text(
        st.characters(
            codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"
        ),
        max_size=30,
    )
)
def test_a_quoted_line_is_the_text_again(raw: str) -> None:
    _, node = read(quoted_line(raw))
    assert isinstance(node, Scalar)
    assert node.text == raw


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('- contains "a: b"', 'contains "a: b"'),
        ('- contains "a: b" for tone  # why', 'contains "a: b" for tone'),
        ('- contains "a: b #c" for tone  # why', 'contains "a: b #c" for tone'),
        ("- not contains 'a: b'  # why", "not contains 'a: b'"),
        ('- contains "a: #b"', 'contains "a: #b"'),
        ('[{contains "a: b"}]', '{contains "a: b"}'),
        ("- clarity (0.3): Text", None),
        ('- contains "a": b', None),
        ('- "contains": b', None),
        ("- type: contains\n  rule: x", None),
    ],
)
def test_a_colon_inside_a_string(text: str, line: str | None) -> None:
    source, node = read(text)
    assert isinstance(node, Sequence)
    mapping = node.items[0]
    assert isinstance(mapping, Mapping)
    span = split_at_colon(source, mapping)
    assert (source.text[span.start : span.end] if span is not None else None) == line


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ('- contains "a #b"', '#b"'),
        ('- contains "a #b" for tone ', '#b" for tone'),
        ('- contains "a" # b', None),
        ('- contains "a" # say "b"', None),
        ('- contains "a\\" #b"', '#b"'),
        ('- "contains \\"a" #b"', None),
        ("- contains a", None),
    ],
)
def test_a_comment_inside_a_string(text: str, lost: str | None) -> None:
    source, node = read(text)
    assert isinstance(node, Sequence)
    scalar = node.items[0]
    assert isinstance(scalar, Scalar)
    span = lost_to_comment(source, scalar) if goes_on(source, scalar) else None
    assert (source.text[span.start : span.end] if span is not None else None) == lost


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ('[contains "a, b"]', ['contains "a, b"']),
        ('[contains "a, b, c", length > 2, equals "d, e"]', ['contains "a, b, c"', 'equals "d, e"']),
        ('[contains "a", contains "b"]', []),
        ("[contains 'a, b']", []),
        ('- contains "a\n- b"', []),
    ],
)
def test_a_comma_inside_a_string(text: str, stretches: list[str]) -> None:
    source, node = read(text)
    assert isinstance(node, Sequence)
    assert [source.text[start:end] for start, end in split_at_comma(source, node)] == stretches
