"""The formatter: its laws over generated files, and its style on files written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from hypothesis import given, settings
from ruamel.yaml import YAML

import evalc
from evalc.base.source import Source
from evalc.dsl.format import Unformattable, format_text, same_documents
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.write_yaml import write_yaml
from tests.dsl.commented_yaml import eval_files
from tests.support.laws import examples

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.yaml"))
_COMMENT = re.compile(r"#[^\r\n#]*§[^\r\n]*")


def read(text: str) -> list[Node | None]:
    broken: list[object] = []
    nodes = read_yaml(Source("t", text), lambda span, finding: broken.append(finding))
    assert not broken
    return nodes


def walk(nodes: Iterable[Node | None]) -> Iterator[Node]:
    for node in nodes:
        if isinstance(node, Mapping):
            yield from walk(part for pair in node.pairs for part in pair)
        elif isinstance(node, Sequence):
            yield from walk(node.items)
        if node is not None:
            yield node


def comments(text: str) -> list[str]:
    """The comments of a generated file, each of which holds a `§`."""
    return [match.rstrip() for match in _COMMENT.findall(text)]


def compiled(text: str) -> bytes:
    compilation = evalc.compile(Source("generated.eval.yaml", text))
    assert not compilation.has_errors
    return b"".join(piece for suite in compilation.suites for piece in suite.encode())


def formatted(text: str) -> str:
    return format_text(dedent(text).lstrip("\n"))


# --- laws ------------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(300))
@given(eval_files())
def test_idempotent_and_nothing_is_lost(text: str) -> None:
    once = format_text(text)
    assert format_text(once) == once
    assert same_documents(read(text), read(once))
    assert comments(once) == comments(text)


@settings(max_examples=examples(100))
@given(eval_files())
def test_no_compiled_byte_changes(text: str) -> None:
    assert compiled(format_text(text)) == compiled(text)


@settings(max_examples=examples(60))
@given(eval_files())
def test_another_reader_of_yaml_sees_the_same(text: str) -> None:
    once = format_text(text)
    oracle = YAML(typ="safe", pure=True)
    assert oracle.load(once) == oracle.load(text)


@settings(max_examples=examples(60))
@given(eval_files())
def test_no_space_at_the_end_of_a_line_outside_of_texts(text: str) -> None:
    once = format_text(text.replace("a: b  ", "a: b"))
    texts = [
        (node.start, node.end) for node in walk(read(once)) if isinstance(node, Scalar) and node.style == "literal"
    ]
    for trailing in re.finditer(r"[ \t]\r?$", once, re.MULTILINE):
        assert any(start <= trailing.start() < end for start, end in texts), once
    assert once.endswith(("\n", "\r\n")) or once.splitlines()[-1].lstrip()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_in_the_style(path: Path) -> None:
    text = path.read_text()
    assert format_text(text) == text


# --- the style -------------------------------------------------------------------------------------------------------


def test_indentation_dashes_and_spaces() -> None:
    text = """
        suite:   shipping
        eval:
         criteria: [ speed,facts ]
         test_cases:
         -   name:  one
             message : Hello
             validate:
             - contains "a"
             -   any_of:
                   - { type: contains,rule: x }
                   - non-empty
    """
    assert formatted(text) == dedent("""\
        suite: shipping
        eval:
          criteria: [speed, facts]
          test_cases:
            - name: one
              message: Hello
              validate:
                - contains "a"
                - any_of:
                    - {type: contains, rule: x}
                    - non-empty
    """)


def test_quotes_that_nothing_needs_are_removed_and_the_others_stay() -> None:
    text = r"""
        "a": "type hint"
        b: 'contains "docstring"'
        c: "contains \"a: b\""
        d: "not contains \"it's #1\""
        e: ["yes", 'no', "1.50", "null", '007', "a, b", "plain", ""]
        f: "tab\there"
        g: "clarity (0.3): Clear"
        h: "{{name}}"
        i: "On"
    """
    assert formatted(text) == dedent(r"""
        a: type hint
        b: contains "docstring"
        c: 'contains "a: b"'
        d: 'not contains "it''s #1"'
        e: ["yes", 'no', "1.50", "null", '007', "a, b", plain, ""]
        f: "tab\there"
        g: "clarity (0.3): Clear"
        h: "{{name}}"
        i: "On"
    """).lstrip("\n")


def test_comments_move_with_what_they_are_about() -> None:
    text = """
        # the suite

        suite: s  # its name
        eval:
            # the cases
            test_cases:
            # the first
            - name: one   # here
                # why
              message: Hello
              validate:
                # a disabled one: - contains "x"
            # the second
            - name: two
              validate:
                  - non-empty
                  # last of its list
              # last of its case
        # last of all
    """
    assert formatted(text) == dedent("""\
        # the suite

        suite: s  # its name
        eval:
          # the cases
          test_cases:
            # the first
            - name: one   # here
              # why
              message: Hello
              validate:
                # a disabled one: - contains "x"

            # the second
            - name: two
              validate:
                - non-empty
                # last of its list
              # last of its case
        # last of all
    """)


def test_blank_lines() -> None:
    text = """


        suite: s



        eval:
          test_cases:
            - {name: a, message: x}
            - {name: b, message: x}
            - name: c
              message: x
            # about d
            - name: d
              message: x


    """
    assert formatted(text) == dedent("""\
        suite: s

        eval:
          test_cases:
            - {name: a, message: x}
            - {name: b, message: x}

            - name: c
              message: x

            # about d
            - name: d
              message: x
    """)


def test_texts_of_several_lines_keep_their_inside() -> None:
    text = """
        prompt: |
              Review this.

                - {{code}}
        keep: |+
            ends in blank lines


        exact: |1-
           two spaces
        folded: >
             one
             paragraph
        long: "begins
               and ends"
        list:
         - |
          item
    """
    result = formatted(text)
    assert result == dedent("""\
        prompt: |
          Review this.

            - {{code}}
        keep: |+
          ends in blank lines


        exact: |1-
           two spaces
        folded: >
          one
          paragraph
        long: "begins
               and ends"
        list:
          - |
            item
    """)


def test_anchors_aliases_merge_keys_and_documents() -> None:
    text = """
        %YAML 1.2
        ---
        base: &base
            a:   1
        one: {<<: *base,  b: 2}
        two:
            <<: *base
            list: &list
            - x
        three: *list
        ---
        - !!str   5
        ...
    """
    assert formatted(text) == dedent("""\
        %YAML 1.2
        ---
        base: &base
          a: 1
        one: {<<: *base,  b: 2}
        two:
          <<: *base
          list: &list
            - x
        three: *list
        ---
        - !!str   5
        ...
    """)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a: 1\r\nb:  2\r\n", "a: 1\r\nb: 2\r\n"),
        ("a: 1\nb:  2\r\n", "a: 1\nb: 2\n"),
        ("a:  1", "a: 1\n"),
        ("a: |\n   no break at the end", "a: |\n  no break at the end"),
        ("? a\n:   - b\n    - c\n", "? a\n: - b\n  - c\n"),
        ("", ""),
        ("# only a comment", "# only a comment\n"),
        ("a:\n- - x\n  - y\n-\n    b: 1\n", "a:\n  - - x\n    - y\n  -\n    b: 1\n"),
        ("a: {\"b\":1, 'c': 2}\n", 'a: {"b":1, c: 2}\n'),
        ("a:\n    [\n      1,\n    ]\n", "a:\n  [\n    1,\n  ]\n"),
    ],
)
def test_small_ones(text: str, result: str) -> None:
    assert format_text(text) == result
    assert format_text(result) == result


@pytest.mark.parametrize("text", ["a: [1", "a: 1\na: 2\n", "a: {{x}}\n", "[" * 200, "a: \x07\n", "a: *b\n"])
def test_unsound_yaml_is_refused(text: str) -> None:
    with pytest.raises(Unformattable):
        format_text(text)


QUESTIONS = """\
suite: s
eval:
  test_cases:
    - {name: a, message: Where is it?, tags: [why?, "what?"], validate: ['contains "Is it?"']}
    - name: b
      message: Where is it?
      inputs: {Really?: 'say "why?"'}
"""


def test_a_question_mark_in_a_flow_collection_is_quoted_for_other_readers() -> None:
    formatted = format_text(QUESTIONS)
    assert yaml.safe_load(formatted) == YAML(typ="safe").load(QUESTIONS)
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(QUESTIONS)
    assert '{name: a, message: "Where is it?", tags: ["why?", "what?"]' in formatted
    assert "      message: Where is it?\n" in formatted
    written = write_yaml({"suite": "s", "inputs": {"question": "Where is it?", "tags": ["why?"]}})
    assert yaml.safe_load(written)["inputs"] == {"question": "Where is it?", "tags": ["why?"]}
