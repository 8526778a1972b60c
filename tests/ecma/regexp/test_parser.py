"""The tree of a pattern, its offsets, and the errors with theirs."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.ecma.regexp.nodes import (
    Alternation,
    AnyCharacter,
    Backreference,
    Character,
    CharacterRange,
    CharacterSet,
    Class,
    Group,
    LineEnd,
    LineStart,
    Look,
    Pattern,
    PatternError,
    PatternSequence,
    Property,
    Repeat,
    SetOperation,
    Strings,
    WordBoundary,
)
from evalc.ecma.regexp.parser import MAX_LENGTH, parse


def character(text: str, start: int, length: int = 1) -> Character:
    return Character(start=start, end=start + length, code=ord(text))


def test_a_pattern_is_a_tree_with_offsets() -> None:
    tree = parse(r"^(?<n>a|.)+?\b\d$", "sm")
    assert tree == Pattern(
        source=r"^(?<n>a|.)+?\b\d$",
        flags="ms",
        groups=1,
        body=PatternSequence(
            start=0,
            end=17,
            items=(
                LineStart(start=0, end=1, multiline=True),
                Repeat(
                    start=1,
                    end=12,
                    min=1,
                    max=None,
                    greedy=False,
                    body=Group(
                        start=1,
                        end=10,
                        index=1,
                        name="n",
                        body=Alternation(
                            start=6, end=9, branches=(character("a", 6), AnyCharacter(start=8, end=9, dot_all=True))
                        ),
                    ),
                ),
                WordBoundary(start=12, end=14, negated=False),
                CharacterSet(start=14, end=16, letter="d"),
                LineEnd(start=16, end=17, multiline=True),
            ),
        ),
    )


def test_classes() -> None:
    assert parse(r"[^a-c\]\w-]").body == Class(
        start=0,
        end=11,
        negated=True,
        members=(
            CharacterRange(start=2, end=5, first=ord("a"), last=ord("c")),
            character("]", 5, 2),
            CharacterSet(start=7, end=9, letter="w"),
            character("-", 9),
        ),
    )


def test_classes_with_set_operations() -> None:
    assert parse(r"[\p{L}--[\q{ab|c}]]", "v").body == Class(
        start=0,
        end=19,
        negated=False,
        members=(
            SetOperation(
                start=1,
                end=18,
                operator="--",
                operands=(
                    Property(start=1, end=6, name="L", value=None, negated=False, strings=False),
                    Class(start=8, end=18, negated=False, members=(Strings(start=9, end=17, texts=("ab", "c")),)),
                ),
            ),
        ),
    )


def test_a_class_may_end_in_a_property_with_a_value() -> None:
    assert parse(r"\P{Script=Greek}", "u").body == Property(
        start=0, end=16, name="Script", value="Greek", negated=True, strings=False
    )


@pytest.mark.parametrize(
    ("pattern", "flags", "codes"),
    [
        ("😀", "", [0xD83D, 0xDE00]),
        ("😀", "u", [0x1F600]),
        ("\ud83d\ude00", "u", [0x1F600]),
        (r"\ud83d\ude00", "u", [0x1F600]),
        (r"\u{1F600}\u{0000000061}", "u", [0x1F600, 0x61]),
        (r"\ud83d\ude00", "", [0xD83D, 0xDE00]),
        (r"\x41\u0042\cC\0\t", "u", [0x41, 0x42, 3, 0, 9]),
        (r"\x4\u00\u{2}", "", None),
        (r"\c1", "", [0x5C, 0x63, 0x31]),
        (r"\101\08\8\400", "", [0o101, 0, 0x38, 0x38, 0o40, 0x30]),
        ("]}{a{1,b", "", list(map(ord, "]}{a{1,b"))),
        (r"\a\k\p", "", list(map(ord, "akp"))),
    ],
)
def test_characters(pattern: str, flags: str, codes: list[int] | None) -> None:
    body = parse(pattern, flags).body
    items = body.items if isinstance(body, PatternSequence) else (body,)
    if codes is None:
        assert any(isinstance(item, Repeat) for item in items)
    else:
        assert [item.code for item in items if isinstance(item, Character)] == codes


def test_both_halves_of_a_character_have_its_offsets() -> None:
    body = parse("a😀+b").body
    assert isinstance(body, PatternSequence)
    assert [(item.start, item.end) for item in body.items] == [(0, 1), (1, 2), (1, 3), (3, 4)]


def test_backreferences_reach_forward_and_by_name() -> None:
    body = parse(r"\1\k<b>(?<b>x)\2").body
    assert isinstance(body, PatternSequence)
    assert body.items[:2] == (Backreference(start=0, end=2, to=1), Backreference(start=2, end=7, to="b"))
    assert body.items[-1] == Character(start=14, end=16, code=2)


def test_modifiers_hold_inside_their_group() -> None:
    body = parse("(?s-m:.^).^", "m").body
    assert isinstance(body, PatternSequence)
    assert body.items[0] == Group(
        start=0,
        end=9,
        modifiers="s-m",
        body=PatternSequence(
            start=6,
            end=8,
            items=(AnyCharacter(start=6, end=7, dot_all=True), LineStart(start=7, end=8, multiline=False)),
        ),
    )
    assert body.items[1:] == (AnyCharacter(start=9, end=10, dot_all=False), LineStart(start=10, end=11, multiline=True))


def test_lookahead_can_be_repeated_without_u_only() -> None:
    assert isinstance(parse("(?=a)*").body, Repeat)
    assert isinstance(parse("(?<!a)").body, Look)
    for pattern, flags in (("(?=a)*", "u"), ("(?<=a)*", "")):
        with pytest.raises(PatternError, match=r"nothing before `\*`"):
            parse(pattern, flags)


@pytest.mark.parametrize("pattern", ["(?<n>a)|(?<n>b)", "(?:(?<n>a)|b)|(?<n>c)", r"(?:(?<n>a)|(?<n>b))\k<n>"])
def test_groups_that_exclude_each_other_may_share_a_name(pattern: str) -> None:
    assert parse(pattern).groups == 2


@pytest.mark.parametrize("name", ["a", "$", "_1", "é", "\U0001d49c", r"\u0061", r"\u{1d49c}", r"\ud835\udc9c"])
def test_names_of_groups(name: str) -> None:
    assert parse(f"(?<{name}>a)").groups == 1


@pytest.mark.parametrize(
    ("pattern", "flags", "offset", "end", "message"),
    [
        ("a(b", "", 1, 2, "`(` is never closed"),
        ("a)", "", 1, 2, "`)` closes no group"),
        ("😀)", "", 1, 2, "`)` closes no group"),
        ("a[b", "", 1, 3, "`[` is never closed"),
        ("a\\", "", 1, 2, "a `\\` at the end escapes nothing"),
        ("a|*", "", 2, 3, "there is nothing before `*` to repeat"),
        ("a**", "", 2, 3, "there is nothing before `*` to repeat"),
        ("^{1,2}", "", 1, 6, "there is nothing before `{1,2}` to repeat"),
        ("a{2,1}", "", 1, 6, "the numbers of a quantifier are in the wrong order"),
        ("[z-a]", "", 1, 4, "the ends of a range of characters are in the wrong order"),
        ("[😀-😁]", "", 1, 4, "the ends of a range of characters are in the wrong order"),
        (r"[\d-a]", "u", 1, 5, "a range of characters needs a character at both its ends"),
        ("a{", "u", 1, 2, "`{` must be written `\\{`"),
        (r"\-", "u", 0, 2, "`\\-` means nothing under the flag `u`"),
        (r"\1", "u", 0, 2, "`\\1` is neither a character nor a group of this pattern"),
        (r"\u{110000}", "u", 0, 10, "there is no character beyond `\\u{10FFFF}`"),
        (r"\p{Leter}", "u", 0, 9, "there is no Unicode property `Leter`"),
        (r"\pL", "u", 0, 2, "`\\p` needs a property, as in `\\p{Letter}`"),
        (r"\p{RGI_Emoji}", "u", 0, 13, "there is no Unicode property `RGI_Emoji`"),
        (r"\P{RGI_Emoji}", "v", 0, 13, "`\\P` cannot negate `RGI_Emoji`, which holds texts of several characters"),
        (r"[^\q{ab}]", "v", 0, 9, "a class that holds texts of several characters cannot be negated"),
        ("[a&&b--c]", "v", 5, 6, "expected `&&` or `]`"),
        ("[ab--c]", "v", 3, 5, "`--` needs a single character or set before it"),
        ("[(]", "v", 1, 2, "`(` must be written `\\(` in a class"),
        ("[a!!]", "v", 2, 4, "`!!` is reserved in a class under the flag `v`"),
        ("(?<n>a)(?<n>b)", "", 7, 12, "two groups that can both match are named `n`"),
        (r"(?<n>a)\k<m>", "", 7, 12, "no group is named `m`"),
        (r"(?<n>a)\k", "", 7, 9, "put the name of a group between `<` and `>`"),
        ("(?<1>a)", "", 0, 5, "`1` cannot be the name of a group"),
        ("(?a)", "", 0, 2, "`(?` begins no kind of group"),
        ("(?ii:a)", "", 0, 5, "`(?ii:` does not set or clear each of i, m and s at most once"),
        ("(?-:a)", "", 0, 4, "`(?-:` does not set or clear each of i, m and s at most once"),
        ("a", "g", 1, 1, "unknown flag `g`: the flags are i, m, s, u and v"),
        ("a", "ii", 1, 1, "the flag `i` is given twice"),
        ("a", "uv", 1, 1, "the flags `u` and `v` exclude each other"),
    ],
)
def test_an_error_says_where_and_why(pattern: str, flags: str, offset: int, end: int, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse(pattern, flags)
    assert (caught.value.message, caught.value.offset, caught.value.end) == (message, offset, end)


@pytest.mark.parametrize(
    ("pattern", "flags", "message"),
    [
        ("a" * (MAX_LENGTH + 1), "", "longer than 10000 characters"),
        ("(" * 5000 + ")" * 5000, "", "more than 100 deep"),
        ("[" * 5000 + "]" * 5000, "v", "more than 100 deep"),
        ("()" * 255, "", "at most 254 capturing groups"),
    ],
)
def test_limits(pattern: str, flags: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        parse(pattern, flags)


def test_huge_numbers_are_numbers() -> None:
    body = parse("a{" + "9" * 9000 + ",}").body
    assert isinstance(body, Repeat)
    assert body.min == 10**18


SYNTAX = st.text(alphabet="()[]{}|?*+^$.\\-&<>=!:,/0123abkpPucdqnw_é😀\ud83d\ude00", max_size=30)


@settings(deadline=None)
@given(SYNTAX, st.sampled_from(["", "u", "v", "im"]))
def test_any_text_is_a_tree_or_an_error_inside_it(pattern: str, flags: str) -> None:
    match _parsed(pattern, flags):
        case PatternError() as error:
            assert 0 <= error.offset <= error.end <= len(pattern)
        case Pattern(body=body):
            assert (body.start, body.end) == (0, len(pattern))
            _check_nested(msgspec.to_builtins(body), 0, len(pattern))


def _parsed(pattern: str, flags: str) -> Pattern | PatternError:
    try:
        return parse(pattern, flags)
    except PatternError as error:
        return error


def _check_nested(node: object, start: int, end: int) -> None:
    """Every node lies within the one it is part of."""
    match node:
        case dict():
            if "start" in node:
                assert start <= node["start"] <= node["end"] <= end
                start, end = node["start"], node["end"]
            for part in node.values():
                _check_nested(part, start, end)
        case list() | tuple():
            for part in node:
                _check_nested(part, start, end)
