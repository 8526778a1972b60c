"""`trim` against the standard's list of white space, and against Node."""

from __future__ import annotations

import pytest

from evalc.ecma.text import SPACES, trim
from tests.ecma.conftest import Node, drawn


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
