"""Patterns that match every text or none, and those that only look so."""

from __future__ import annotations

import pytest

from evalc.ecma.regexp.parser import parse
from evalc.ecma.regexp.vacuity import is_local, literal_text, matches_everything, matches_nothing, required_texts


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


@pytest.mark.parametrize(
    ("pattern", "flags", "literal"),
    [
        ("foo", "", ("foo", "has")),
        ("(?:fo)(o)", "m", ("foo", "has")),
        (r"a\.b", "u", ("a.b", "has")),
        ("^foo", "", ("foo", "begins")),
        ("^foo$", "", ("foo", "is")),
        *(
            (pattern, "", None)
            for pattern in ("", "^", "^$", "foo$", "fo+", "a|b", ".", "a^b", "🎉", r"\bfoo", "(?i:a)b")
        ),
        ("foo", "i", None),
        ("^foo", "m", None),
    ],
)
def test_another_spelling_of_a_text(pattern: str, flags: str, literal: tuple[str, str] | None) -> None:
    assert literal_text(parse(pattern, flags)) == literal


@pytest.mark.parametrize(
    ("pattern", "flags", "texts"),
    [
        (r"foo\d+bar", "", ("foo", "bar")),
        (r"^foo.*(bar)baz$", "", ("foo", "barbaz")),
        ("foo|bar", "", ()),
        ("(foo)?bar", "", ("bar",)),
        ("(?=foo)(?!bar)(?<=baz)", "", ()),
        ("(?i:foo)bar", "", ("bar",)),
        ("foo", "i", ("foo",)),
    ],
)
def test_texts_that_a_match_needs(pattern: str, flags: str, texts: tuple[str, ...]) -> None:
    assert required_texts(parse(pattern, flags)) == texts


def test_the_surroundings_of_a_match() -> None:
    assert all(is_local(parse(pattern)) for pattern in ("a", "a|b+", r"(a)\1", "[^a]", ""))
    assert not any(is_local(parse(pattern)) for pattern in ("^a", "a$", r"\ba", "(?=a)", "(?<!a)b", "(a|^b)*"))
    assert is_local(parse("^a|b"), at_start=True)
    assert not is_local(parse("^a$"), at_start=True)
