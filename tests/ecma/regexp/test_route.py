"""The choice of RE2 by pattern and text."""

from __future__ import annotations

import pytest

from evalc.ecma.regexp import compile_pattern, matcher, translate
from evalc.ecma.regexp.parser import parse


@pytest.mark.parametrize(
    ("pattern", "flags", "translated"),
    [
        ("a1-", "", r"a1\x{2d}"),
        ("^a$", "", r"\Aa\z"),
        ("^a$", "m", r"(?m:^)a(?m:$)"),
        (r"\d\b\w", "", r"[\d]\b[\w]"),
        ("(a)(?:b|c)(?<n>d)", "", "(?:a)(?:b|c)(?:d)"),
        ("a*b{2}c{1,3}?", "", "(?:a){0,}(?:b){2,2}(?:c){1,3}"),
        ("[^a-z\\d]", "i", r"(?i)[^a-z\d]"),
        ("[]", "", r"[^\x{0}-\x{10ffff}]"),
        ("[^]", "", r"[\x{0}-\x{10ffff}]"),
        (".", "", r"[^\x{a}\x{d}\x{2028}\x{2029}]"),
        (r"\u00e9\t", "u", r"\x{e9}\x{9}"),
    ],
)
def test_translation(pattern: str, flags: str, translated: str) -> None:
    translation = translate(parse(pattern, flags))
    assert translation is not None
    assert translation.pattern == translated


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        *(
            (pattern, "")
            for pattern in ("(?=a)", "(?<!a)", r"(a)\1", "a{1001}", "a{0,1001}", "😀", r"\ud83d", "(?i:a)")
        ),
        ("é", "i"),
        ("[a-é]", "i"),
        (r"\u{1f600}", "u"),
        (r"\p{L}", "u"),
        (r"[\p{L}]", "u"),
        (r"[a--b]", "v"),
        (r"[[a]b]", "v"),
    ],
)
def test_other_patterns_are_left_to_the_other_engine(pattern: str, flags: str) -> None:
    assert translate(parse(pattern, flags)) is None


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "asked"),
    [
        ("a", "", "é\r\u2028", True),
        ("a", "", "😀", False),
        ("a", "", "\ud83d", False),
        ("a", "i", "A", True),
        ("a", "i", "é", False),
        (r"\B", "", "é", False),
        ("^a", "m", "é\na", True),
        ("^a", "m", "\ra", False),
        ("^a", "m", "\u2028a", False),
        ("a", "m", "\ra", True),
    ],
)
def test_only_texts_on_which_both_agree_are_asked_about(pattern: str, flags: str, text: str, asked: bool) -> None:
    assert (compile_pattern(pattern, flags).by_re2(text) is not None) == asked


def test_patterns_too_big_for_re2_are_refused_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    translation = translate(parse("(?:(?:a{500}){500}){500}"))
    assert translation is not None
    assert matcher(translation) is None
    assert capfd.readouterr() == ("", "")


def test_a_match_of_too_much_work_is_left_to_the_engine_with_a_deadline(capfd: pytest.CaptureFixture[str]) -> None:
    regexp = compile_pattern(r"(?:a|b)*a(?:a|b){900}c")
    assert regexp.by_re2("ab" * 1000) is False
    assert regexp.by_re2("ab" * 1_000_000) is None
    assert capfd.readouterr() == ("", "")
