"""Each character of a scalar's value has its raw characters, in every style."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.places import locate
from evalc.dsl.read_yaml import read_yaml
from tests.support.laws import examples

_PAIR = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..")


def scalars(source: Source) -> list[Scalar]:
    problems: list[object] = []
    documents = read_yaml(source, lambda span, finding: problems.append((span, finding)))
    if problems:
        return []
    found: list[Scalar] = []

    def collect(node: Node | None) -> None:
        match node:
            case Scalar():
                found.append(node)
            case Sequence():
                for item in node.items:
                    collect(item)
            case Mapping():
                for key, value in node.pairs:
                    found.append(key)
                    collect(value)
            case None:
                pass

    for document in documents:
        collect(document)
    return found


def denotes(raw: str, character: str, style: str) -> bool:
    """Whether raw characters of a style mean one character, by other means than the code under test."""
    if raw == character and character not in "\n":
        return True
    if character == "\n" and raw.strip(" \t\r\n") == "" and raw.count("\n") + raw.count("\r") >= 1:
        return True
    if style == "single" and raw == "''":
        return character == "'"
    if style == "double" and raw.startswith("\\"):
        value: str = json.loads(f'"{raw}"') if _PAIR.fullmatch(raw) else yaml.safe_load(f'"{raw}"')
        return value == character
    folds = style in {"plain", "single", "double", "folded"}
    one_break = len(raw.replace("\r\n", "\n").replace("\r", "\n").strip(" \t")) == 1
    return folds and character == " " and raw.strip(" \t\r\n") == "" and one_break


def hold_the_law(text: str) -> int:
    source = Source("test", text)
    checked = 0
    for scalar in scalars(source):
        span = Span(scalar.start, scalar.end)
        behind = scalar.start
        for index, character in enumerate(scalar.text):
            place = locate(source, span, index, index + 1)
            assert behind <= place.start < place.end <= scalar.end
            raw = text[place.start : place.end]
            assert denotes(raw, character, scalar.style), (text, index, raw)
            behind = place.end
            checked += 1
        whole = locate(source, span, 0, len(scalar.text))
        assert scalar.start <= whole.start <= whole.end <= scalar.end
    return checked


TABLE = [
    "k: plain text",
    "k: \xa0",
    "k: plain\n  over  \n  lines\n\n\n  and gaps",
    "k: &a !!str plain",
    "k: &a\n  !!str 'it''s'",
    "k: 'it''s  '",
    "k: 'over\n  \n  lines''\n  '",
    '{"k": "a\\ud83d\\ude00b \\\\\\uD83D\\uDE00{{x}}c"}',
    'k: "a\\tb\\x41\\u00e9\\U0001F600\\N\\L\\P\\_\\0\\"\\\\\\/"',
    'k: "over\n  lines \\\n   joined \\\n\n  \\  x\\\n\n\n y"',
    'k: "  \\t \n  x  "',
    "k: |\n  a\n  b\n",
    "k: |-\n  a\n\n  b\n\n\n",
    "k: |+\n  a\n\n  b\n\n\nl: 1\n",
    "k: |2\n    more\n  less\nl: 1\n",
    "k:\n - l: |2\n      more\n     less\n",
    "- - |1-\n     more\n",
    "k: >\n\n  a\n  b\n\n  c\n    more\n    lines\n\n  d\n\n\n  e\n",
    "k: >\n  a\n\n   more\n\n\n  b\n",
    "k: >-\n  a\n  b",
    "k: | # why\n  a\n  # no comment\n  b\n",
    "k: |\r\n  a\r\n\r\n  b\r\n",
    "k: >\r\n  a\r\n  b\r\n\r\n  c\r\n",
    'k: "a\r\n  b\r\n\r\n  c"',
    "k: |\n  😀 astral 𝄞\n  é\n",
    "k: |\n\n\n  a\n",
    "k: |2\n  \ttab\n   x\n",
    "k: >\n  a\n  \tb\n  c\n",
    "|\n a\n b\n",
    "--- |1\n  a\n",
    "k: [a, 'b', \"c\\n\",\n d\n e]\n",
]


@pytest.mark.parametrize("text", TABLE)
def test_each_character_of_the_value_is_where_it_was_written(text: str) -> None:
    assert hold_the_law(text) > 1


_PIECES = st.one_of(
    st.sampled_from(["a", "bc", "é", "😀", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\n\n\n", "#", "x:y"]),
    st.sampled_from(
        ["''", "'", '\\"', "\\\\", "\\n", "\\x41", "\\u00e9", "\\U0001F600", "\\\n", "\\ ", "\\N", "\\ud83d\\ude00"]
    ),
)


@settings(max_examples=examples(500))
@given(st.sampled_from(["", "'", '"', "&x ", "!!str '"]), st.lists(_PIECES, max_size=14), st.integers(1, 4))
def test_flow_scalars(opening: str, pieces: list[str], indent: int) -> None:
    quote = opening[-1:] if opening[-1:] in {"'", '"'} else ""
    body = "".join(pieces)
    if quote == "'":
        body = body.replace("''", "\x01").replace("'", "").replace("\x01", "''")
    elif quote == '"':
        assume("''" not in body)
    hold_the_law(f"k: {opening}{body.replace(chr(10), chr(10) + ' ' * indent)}{quote}\nl: 1\n")


@settings(max_examples=examples(500))
@given(
    st.sampled_from("|>"),
    st.sampled_from(["", "-", "+", "1", "2-", "+3", " # why"]),
    st.lists(st.sampled_from(["a", "b c", "", "", " ", "  deep", "\ttab", "😀", "# x", "    "]), max_size=8),
    st.sampled_from(["k: ", "- ", "- - ", "k:\n    l: ", "- k: ", "&x "]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_block_scalars(sign: str, header: str, lines: list[str], before: str, newline: str, ends: bool) -> None:
    text = before + sign + header + newline + newline.join("       " + line if line else "" for line in lines)
    hold_the_law(text + newline * ends)


@settings(max_examples=examples(200))
@given(st.text(max_size=40), st.sampled_from([None, "'", '"', "|", ">"]), st.integers(10, 40))
def test_whatever_pyyaml_writes(value: str, style: str | None, width: int) -> None:
    hold_the_law(yaml.safe_dump({"k": value}, default_style=style, width=width, allow_unicode=True))


def test_stretches_and_clamping() -> None:
    source = Source("test", 'k: "a\\tb c"\n')
    raw = Span(3, 11)
    assert locate(source, raw, 0, 2) == Span(4, 7)
    assert locate(source, raw, 1, 4) == Span(5, 9)
    assert locate(source, raw, 2, 2) == Span(7, 7)
    assert locate(source, raw, 5, 5) == Span(10, 10)
    assert locate(source, raw, 50, 99) == Span(10, 10)


def test_empty_scalars_have_their_place() -> None:
    source = Source("test", "a: ''\nb:\n")
    assert locate(source, Span(3, 5), 0, 0) == Span(4, 4)
    assert locate(source, Span(8, 8), 0, 1) == Span(8, 8)
