"""The law of lines: what is read line by line is what the events of YAML's parser give, and without a complaint."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evalc.base.source import Source
from evalc.dsl import read_yaml as module
from evalc.dsl.nodes import Node, YamlLimits
from evalc.dsl.read_events import read_events
from evalc.dsl.read_lines import read_lines
from evalc.dsl.read_yaml import read_yaml
from tests.dsl.commented_yaml import eval_files
from tests.support.laws import examples


def read_by_events(text: str, depth: int) -> list[Node | None]:
    """The documents, None in place of each finding."""
    found: list[None] = []
    documents = read_events(Source("test", text), lambda _span, _finding: found.append(None), YamlLimits(depth=depth))
    return [*documents, *found]


def assert_same(text: str, depth: int = 100) -> None:
    root = read_lines(text, depth=depth)
    if root is not None:
        assert [root] == read_by_events(text, depth)


USUAL = """\
# A comment.
suite: s  # another
empty:
nothing: ~

prompt: |
  Review {{language}}:
    # {{code}}

  Well.

again: |-
    one
eval:
  criteria:
  - {name: a, weight: 0.5, description: "x, y: z"}
  - "b (0.4): B"
  - plain
  test_cases:
    - name: it's
      inputs: {}
      tags: [ a, 'b''s' , "c\\n\\"d\\"" ]
      validate:
        - type: regex
          rule: (a|b)#c http://x -y "z"
        - contains "a" for x
        -   not contains "b"   # for y
      last:
    - name: -1
"""


def test_text_of_the_usual_form_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_lines(USUAL, depth=100) is not None
    assert_same(USUAL)
    monkeypatch.setattr(module, "_LONG", 0)
    monkeypatch.setattr("evalc.dsl.read_events.read_events", None)
    assert read_yaml(Source("test", USUAL), lambda _span, _finding: None) == [read_lines(USUAL, depth=100)]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "a: &x b",
            "a: *x",
            "a: !!str b",
            "a: b: c",
            "a: b:",
            "a: 'b' c",
            'a: "\\x41"',
            "a: >",
            "a: |+",
            "a: [b, [c]]",
        ),
        *("a: {b: c, b: d}", "a: b\n  c", "a: b\na: c", "- a\nb: c", "a: b\n- c", "a:\n   b: c\n  d: e", "a: |\n\n b"),
        *("- - a", "-\n  a: b", "? a", '"a": b', "a: @b", "a: %b", "---\na: b", "a: b\n...", "a:\tb", "<<: b", "a", ""),
        *("a: |\n  b\n \nc: d", "a: |\nb: c", "a: b\r"),
    ],
)
def test_any_other_text_is_left_to_the_parser(line: str) -> None:
    assert read_lines(line + "\n", depth=100) is None


@pytest.mark.parametrize("depth", range(7))
def test_the_depth_limit_is_that_of_the_parser(depth: int) -> None:
    assert (read_lines(USUAL, depth=depth) is None) == (depth < 6)
    assert_same("a:\n  b:\n  - c: [d]\n", depth)


_INDENTS = st.sampled_from(["", "", "  ", "  ", "    ", "      ", " ", "- ", "- ", "  - ", "  - ", "    - ", "-   "])
_KEYS = st.sampled_from(["a: ", "a: ", "b: ", "c: ", "d:  ", "", "", "e:", "'f': ", "<<: ", "1: ", "a.b-c: ", "a:b"])
_VALUES = st.one_of(
    st.sampled_from(
        ["", "", "x", "x y", "x  # c", "x #", "x#y", "x:y", "x: y", "x:", "|", "|-", ">", "| # c", "#", " # c"]
    ),
    st.sampled_from(
        ["-1", "- x", "-", "?x", ":x", "(x)", "{{x}}", "x {{y: z}}", "x {{#if y}}", "{x: y}", "{x: y, x: z}"]
    ),
    st.sampled_from(
        ["[]", "{}", "[x, 'y', \"z\"]", "[ x ,y ]", "[x: y]", "[x,]", "{x}", "{x: 'y, z' , z: \"}\"}", "[x]]"]
    ),
    st.sampled_from(
        ["'x'", "'x''y'", "'x", '"x"', '"x\\ny"', '"\\q"', '"x" # c', "'x' y", "&x y", "*x", "!x y", "~", "é\xa0"]
    ),
    st.text("ab'\"\\:#,-?[]{}|>&*!%@` ._/()é\xa0", max_size=8),
)
_LINES = st.tuples(_INDENTS, _KEYS, _VALUES, st.sampled_from(["", "", "", " "])).map("".join)
_PLAIN_LINES = st.tuples(_INDENTS, st.sampled_from(["a: ", "b: ", "c:", "d: |"]), st.sampled_from(["", "x"])).map(
    "".join
)


@given(st.lists(st.one_of(_LINES, _PLAIN_LINES, _PLAIN_LINES), max_size=8).map("\n".join))
@example("a:\n- b\n- c: d\ne:\n")
@example("a: |\n  b\n\n\n# c\nd: e")
@example("- a:\n  - b\n  c:\n- |-\n d")
@example("a: x {{ #y }}")
@settings(max_examples=examples(1_000))
def test_lines_are_read_as_the_parser_reads_them(text: str) -> None:
    assert_same(text + "\n")


@given(eval_files())
def test_files_as_people_write_them_are_read_as_the_parser_reads_them(text: str) -> None:
    assume("\t" not in text)
    assert_same(text)
