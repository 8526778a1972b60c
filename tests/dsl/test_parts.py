"""Parts of a text: each has what stands above the cases and some of them, and what is no plain list stays whole."""

from __future__ import annotations

import pytest

from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import Compiler, Text
from evalc.compiler.sound import find_sound
from evalc.dsl.parts import parts_of
from evalc.source import Source

HEAD = "suite: s\ntest_cases:\n"
CASES = [f"  - name: case {n}\n    message: Hi\n    validate:\n      - contains {n}\n" for n in range(10)]
TEXT = HEAD + "".join(CASES)


@pytest.mark.parametrize("count", [2, 3, 4, 10])
def test_the_cases_are_shared_out_in_their_order(count: int) -> None:
    parts = parts_of(TEXT, count)
    assert len(parts) == count
    assert all(part.startswith(HEAD) for part in parts)
    assert "".join(part.removeprefix(HEAD) for part in parts) == "".join(CASES)
    assert max(map(len, parts)) <= len(TEXT) / count + len(HEAD) + len(CASES[0])


def test_there_are_no_more_parts_than_cases() -> None:
    assert len(parts_of(HEAD + CASES[0] + CASES[1], 5)) == 2
    assert parts_of(HEAD + CASES[0], 5) == [HEAD + CASES[0]]


WHOLE = {
    "one part": (TEXT, 1),
    "no list": ("suite: s\n", 3),
    "brackets": ("suite: s\ntest_cases: [{name: a}, {name: b}]\n", 3),
    "a key below": (TEXT + "threshold: 0.5\n", 3),
    "a key below, where dashes stand right under theirs": ("test_cases:\n- name: a\n- name: b\nsuite: s\n", 3),
    "an anchor": (TEXT.replace("name: case 3", "name: &three case 3"), 3),
    "two lists": (TEXT + "---\n" + TEXT, 3),
    "a dash alone": (TEXT + "  -\n    name: last\n", 3),
    "the key in a text": ("prompt: |\n  my test_cases:\n    - a\n    - b\n", 3),
    "tabs": (TEXT + "\t# note\n", 3),
}


@pytest.mark.parametrize(("text", "count"), WHOLE.values(), ids=WHOLE)
def test_what_cannot_be_cut_stays_whole(text: str, count: int) -> None:
    assert parts_of(text, count) == [text]


def test_comments_and_empty_lines_are_no_obstacle() -> None:
    text = TEXT.replace("test_cases:\n", "test_cases:  # all of them\n\n  # first\n")
    text = text.replace("  - name: case 5", "# half\n\n  - name: case 5")
    assert len(parts_of(text, 3)) == 3


def test_a_dash_right_under_its_key_begins_a_case() -> None:
    assert parts_of("suite: s\ntest_cases:\n- name: a\n- name: b\n", 2) == [
        "suite: s\ntest_cases:\n- name: a\n",
        "suite: s\ntest_cases:\n- name: b\n",
    ]


def test_a_cut_within_quotes_is_a_mistake_in_the_part() -> None:
    text = HEAD + CASES[0] + '  - name: "a\n  - name: b\n  - name: c"\n    message: Hi\n    validate: [non-empty]\n'
    assert '  - name: "a\n' in parts_of(text, 4)[1]
    assert find_sound([Text(Source("s.eval.yaml", text), named=True)], Compiler(CompileOptions()), 4) == {}
