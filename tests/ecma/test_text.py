"""`trim` against the standard's list of white space, and against Node."""

from __future__ import annotations

import pytest

from evalc.ecma.text import SPACES, trim
from tests.ecma.conftest import Node


@pytest.mark.parametrize("space", list(SPACES), ids=lambda space: f"U+{ord(space):04X}")
def test_white_space_is_removed_at_both_ends_only(space: str) -> None:
    assert trim(f"{space}{space}a{space}b{space}") == f"a{space}b"


@pytest.mark.parametrize("other", ["\x85", "\u180e", "\u200b", "\x1c", "\x1d", "\x1e", "\x1f", "\0", "\u2060"])
def test_other_characters_stay(other: str) -> None:
    assert trim(f"{other}a{other}") == f"{other}a{other}"


def test_every_character_is_white_space_where_node_says_so(node: Node) -> None:
    spaces = node("[...Array(0x10000).keys()].filter((c) => String.fromCharCode(c).trim() === '')", None)
    assert spaces == [code for code in range(0x10000) if trim(chr(code)) == ""]
