"""Many different mistakes in one file: each is found, in one run, at its line and column.

Below a line of these files stand its problems, as comments: carets under the place, and the code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import evalc

FILES = sorted((Path(__file__).parent / "mistakes").glob("*.yaml"))
_MARK = re.compile(r"#( *)(\^+) (EV\d{3})")


class Mark(NamedTuple):
    """Where a problem stands, how wide it is, and its code."""

    line: int
    column: int
    width: int
    code: str


def taken_apart(text: str) -> tuple[str, list[Mark]]:
    """The text without its marks (in a block scalar they would be content), and the marks in the order of places."""
    kept: list[str] = []
    marks: list[Mark] = []
    for line in text.splitlines():
        match = _MARK.fullmatch(line)
        if match is None:
            kept.append(f"{line}\n")
        else:
            marks.append(Mark(len(kept), len(match[1]) + 2, len(match[2]), match[3]))
    return "".join(kept), sorted(marks)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_mistake_is_found_at_its_place(file: Path) -> None:
    text, expected = taken_apart(file.read_text(encoding="utf-8"))
    problems = evalc.check(evalc.Source(file.name, text))
    found = [Mark(*problem.start, problem.span.end - problem.span.start, problem.code) for problem in problems]
    assert found == expected
    assert len(expected) >= 10
