"""Patterns that match every text or none, and those that only look so."""

from __future__ import annotations

import pytest

from evalc.ecma.regexp import matches_everything, matches_nothing, parse


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        *(
            (pattern, "")
            for pattern in ("", "^", "$", "()", "|", "(x|)", "a?", "a*", ".*", "^.*", ".*$", "(?:a*)+", "a{0}")
        ),
        *(
            (pattern, "")
            for pattern in (r"[\s\S]*", r"^[\s\S]*$", r"^(?:[\d\D]*)$", "^[^]*$", "^a*(?:[^])*?b?$", "x|^", "a|b?")
        ),
        *(
            (pattern, "")
            for pattern in ("(?=)", "(?=a*)", "(?![])", "(?!$a)", "(^)(a?)", "(a?)(b?)$", "a?^", "$a?", "(?:a|^)^")
        ),
        ("^.*$", "s"),
        ("^.*$", "m"),
        ("(?s:^.*$)", ""),
        ("^.*$", "ms"),
    ],
)
def test_everything(pattern: str, flags: str) -> None:
    assert matches_everything(parse(pattern, flags))
    assert not matches_nothing(parse(pattern, flags))


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        *(
            (pattern, "")
            for pattern in ("[]", "(?!)", "a^", "$a", "(a+)^", "$(b|c)", "a(?:b*)^", "(?:$)a", "x[]", "([]|a^)")
        ),
        *(
            (pattern, "")
            for pattern in (r"[^\s\S]", "[]+", "(?=[])", "(?!a*)", "(?<!)", "a(?:^)", "$.", "(?:^|a)$a?.*b")
        ),
        ("[]", "v"),
        ("(?-m:$)a", "m"),
    ],
)
def test_nothing(pattern: str, flags: str) -> None:
    assert matches_nothing(parse(pattern, flags))
    assert not matches_everything(parse(pattern, flags))


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        *(
            (pattern, "")
            for pattern in ("a", ".", "^.*$", "^$", "^a*$", "a+", r"\b", r"\B", "(?!a)", "(?=a)", r"(a?)\1b", "[^a]*b")
        ),
        *((pattern, "") for pattern in ("[]*a", "a?^b", "a$b?", "(?:a|^)$", "[]?b", "^.*.$", "(?:^|a)$b?", r"^\s\S*$")),
        ("a^", "m"),
        ("$a", "m"),
        ("(?m:$)\n", ""),
        (r"$[\q{}]b?", "v"),
    ],
)
def test_neither(pattern: str, flags: str) -> None:
    assert not matches_everything(parse(pattern, flags))
    assert not matches_nothing(parse(pattern, flags))
