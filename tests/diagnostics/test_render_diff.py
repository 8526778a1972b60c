"""Diffs that `patch` applies."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.diagnostics.render_diff import render_diff


def test_a_diff() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))
    after = before.replace("5\n6\n", "five\nsix\n", 1).replace("20\n", "twenty\n")
    assert render_diff("a.yaml", before, after) == (
        "--- a.yaml\n+++ a.yaml\n"
        "@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n-6\n+five\n+six\n 7\n 8\n 9\n"
        "@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+twenty\n"
    )


def test_no_difference_is_no_diff() -> None:
    assert render_diff("a.yaml", "a\nb\n", "a\nb\n") == ""
    assert render_diff("a.yaml", "", "") == ""


def test_neighbours_that_meet_are_shown_together() -> None:
    before = "a\n1\n2\n3\n4\n5\n6\nb\n"
    assert render_diff("x", before, before.upper()).count("@@ -") == 1
    assert render_diff("x", "a\n" + "-\n" * 7 + "b\n", "A\n" + "-\n" * 7 + "B\n").count("@@ -") == 2


LINES = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=30)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_applies_it(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for before, after in (("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"), ("a\nb", "a\nB"), ("a\n\tb\nc", "A\n\tb\nc")):
        file.write_bytes(before.encode())
        diff = render_diff("a/a.yaml", before, after).encode()
        subprocess.run(["git", "apply", "-"], input=diff, cwd=tmp_path, check=True)
        assert file.read_bytes() == after.encode()


@given(lines=LINES, end=st.sampled_from(["\n", "\r\n"]), ended=st.booleans())
def test_the_diff_holds_both_texts(lines: list[tuple[str, bool]], end: str, ended: bool) -> None:
    """Taking the hunks' lines with one sign, in place of those with the other, gives the other text."""
    before = end.join(line for line, _ in lines) + (end if ended else "")
    after = end.join(line.upper() if change else line for line, change in lines) + (end if ended else "")
    diff = render_diff("x", before, after)
    old, new = before.split("\n"), after.split("\n")
    at = 0
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            at = int(line.split(",")[0].removeprefix("@@ -")) - 1
        elif line.startswith("-"):
            assert old[at] == line[1:]
            old[at] = new[at]
            at += 1
        elif line.startswith(" "):
            assert old[at] == line[1:]
            at += 1
    assert old == new
