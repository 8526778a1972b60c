"""Problems for people: what is shown of a line, and fixes as a diff that `patch` takes."""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.base.terminal import cells
from evalc.diagnostics import Finding, Problem, Severity
from evalc.diagnostics.render import render_diff, render_text, summary_line


def odd(message: str = "this is odd", label: str = "", help: str = "") -> Finding:  # noqa: A002 - as in the catalogue
    """A finding that says what a test wants."""
    return Finding("EV235", message=message, label=label, help=help)


def problem(text: str, start: int, end: int, finding: Finding | None = None, severity: Severity = "error") -> Problem:
    source = Source("a.eval.yaml", text)
    return Problem(source=source, span=Span(start, end), finding=finding or odd(), severity=severity)


def rendered(text: str, start: int, end: int, width: int = 120) -> str:
    return render_text([problem(text, start, end)], width=width)


def excerpt(text: str, start: int, end: int, width: int = 120) -> tuple[str, str]:
    """The source line and the caret line, without what stands before them."""
    line, carets = rendered(text, start, end, width).split("\n")[3:5]
    return line.partition("|")[2][1:], carets.partition("|")[2][1:]


def test_the_whole_form() -> None:
    lines = ["eval:"] * 13 + ["        - type: containz", "          rule: x", ""]
    text = "\n".join(lines)
    at = text.index("containz")
    source = Source("reviews.eval.yaml", text)
    finding = Finding("EV203", name="containz", known=("contains", "regex"))
    found = Problem(source=source, span=Span(at, at + 8), finding=finding, severity="error")
    assert render_text([found]) == (
        "error[EV203]: `containz` is not a check\n"
        "  --> reviews.eval.yaml:14:17\n"
        "   |\n"
        "14 |         - type: containz\n"
        "   |                 ^^^^^^^^ did you mean `contains`?\n"
        "   = help: the checks are contains, regex (evalc explain EV203)\n"
    )


def test_two_problems_have_an_empty_line_between_them() -> None:
    first, second = problem("a", 0, 1), problem("b", 0, 1, severity="warning")
    assert render_text([first, second]) == (
        "error[EV235]: this is odd\n --> a.eval.yaml:1:1\n  |\n1 | a\n  | ^\n"
        "\n"
        "warning[EV235]: this is odd\n --> a.eval.yaml:1:1\n  |\n1 | b\n  | ^\n"
    )


def test_nothing_is_nothing() -> None:
    assert render_text([]) == ""


def test_help_of_several_lines_stands_below_its_beginning() -> None:
    finding = odd(help="write it as\n- 'contains \"a: b\"'")
    assert render_text([problem("x", 0, 1, finding)]).endswith(
        "  = help: write it as\n          - 'contains \"a: b\"' (evalc explain EV235)\n"
    )


def test_colours() -> None:
    text = render_text([problem("x", 0, 1, odd(help="do"))], color=True)
    assert text == (
        "\x1b[1;31merror[EV235]\x1b[0m: \x1b[1mthis is odd\x1b[0m\n"
        " \x1b[1;34m-->\x1b[0m a.eval.yaml:1:1\n"
        "  \x1b[1;34m|\x1b[0m\n"
        "\x1b[1;34m1\x1b[0m \x1b[1;34m|\x1b[0m x\n"
        "  \x1b[1;34m|\x1b[0m \x1b[1;31m^\x1b[0m\n"
        "  \x1b[1;34m=\x1b[0m \x1b[36mhelp\x1b[0m: do (evalc explain EV235)\n"
    )


@pytest.mark.parametrize(
    ("text", "word", "line", "carets"),
    [
        ("\tkey: bad", "bad", "    key: bad", "         ^^^"),
        ("天気: bad", "bad", "天気: bad", "      ^^^"),
        ("key: 天気", "天気", "key: 天気", "     ^^^^"),
        ("e\u0301: bad", "bad", "e\u0301: bad", "   ^^^"),
        ("\x1b[2J: bad", "bad", r"\x1b[2J: bad", "         ^^^"),
        ("k: \x07", "\x07", r"k: \x07", "   ^^^^"),
        ("k: v\u202ebad", "bad", r"k: v\u202ebad", "          ^^^"),
    ],
)
def test_the_caret_stands_under_what_is_shown(text: str, word: str, line: str, carets: str) -> None:
    at = text.index(word)
    assert excerpt(text, at, at + len(word)) == (line, carets)


def test_a_span_of_several_lines_is_shown_by_its_first() -> None:
    assert excerpt("key: [a,\n  b]\n", 5, 13) == ("key: [a,", "     ^^^")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_are_not_shown(newline: str) -> None:
    assert excerpt(f"a: b{newline}c: d{newline}", 3, 99) == ("a: b", "   ^")


def test_an_empty_span_has_one_caret() -> None:
    assert excerpt("a: b", 2, 2) == ("a: b", "  ^")


def test_the_end_of_a_line_and_of_the_file_can_be_marked() -> None:
    assert excerpt("a: b", 4, 4) == ("a: b", "    ^")
    assert excerpt("a: b\n", 4, 5) == ("a: b", "    ^")
    assert rendered("a: b\n", 5, 5).split("\n")[1:5] == [" --> a.eval.yaml:2:1", "  |", "2 |", "  | ^"]


def test_an_empty_file_has_no_line_to_show() -> None:
    assert rendered("", 0, 0) == "error[EV235]: this is odd\n --> a.eval.yaml:1:1\n"


def test_of_a_long_line_the_neighbourhood_is_shown() -> None:
    text = "".join(f"{n:04} " for n in range(1000))
    at = text.index("0500")
    line, carets = excerpt(text, at, at + 4, width=44)
    assert line == "...6 0497 0498 0499 0500 0501 0502 05..."
    assert carets == "                    ^^^^"


def test_the_beginning_and_the_end_of_a_long_line_are_cut_on_one_side_only() -> None:
    text = "begin" + "x" * 500 + "end"
    first, _ = excerpt(text, 0, 5, width=44)
    assert first == "begin" + "x" * 32 + "..."
    last, carets = excerpt(text, 505, 508, width=44)
    assert last == "..." + "x" * 34 + "end"
    assert carets == " " * 37 + "^^^"


def test_a_span_longer_than_the_width_is_marked_as_far_as_it_is_shown() -> None:
    line, carets = excerpt("k: " + "x" * 500, 3, 503, width=44)
    assert line == "k: " + "x" * 34 + "..."
    assert carets == "   " + "^" * 34


@given(st.text(), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_any_text_is_shown_harmlessly_within_the_width(text: str, start: int, length: int, width: int) -> None:
    shown = rendered(text, start, start + length, width)
    assert not [c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    if text:
        line, carets = shown.split("\n")[3:5]
        assert cells(line) <= max(width, 20 + 4) + 2
        assert "^" in carets


def test_many_problems_on_one_huge_line_show_only_their_neighbourhoods() -> None:
    text = "x" * 20_000_000
    source = Source("big.json", text)
    problems = [Problem(source=source, span=Span(n, n + 1), finding=odd(), severity="error") for n in range(2000)]
    assert len(render_text(problems, width=80)) < 2000 * 400


def test_hostile_names_and_messages_are_harmless() -> None:
    source = Source("\x1b]0;title\x07.yaml", "x")
    finding = odd(message="`\x1b[2J` is\nodd", label="\x9b?", help="\x1b[H")
    text = render_text([Problem(source=source, span=Span(0, 1), finding=finding, severity="error")])
    assert "\x1b" not in text
    assert text.startswith("error[EV235]: `\\x1b[2J` is\\nodd\n --> \\x1b]0;title\\x07.yaml:1:1\n")


def test_the_closing_lines() -> None:
    a, b = problem("x", 0, 1), problem("x", 0, 1, severity="warning")
    elsewhere = Problem(source=Source("b.yaml", ""), span=Span(0, 0), finding=odd(), severity="error")
    assert summary_line([a, a, elsewhere, b]) == "3 errors, 1 warning in 2 files"
    assert summary_line([a]) == "1 error in 1 file"
    assert summary_line([b, b]) == "2 warnings in 1 file"


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
