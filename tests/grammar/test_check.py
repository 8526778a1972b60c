"""Every production of the one-line form, with its places."""

from __future__ import annotations

from itertools import pairwise
from json import loads as json_value

import pytest

from evalc.grammar.atoms import offset_in_text
from evalc.grammar.check_nodes import MAX_DEPTH
from evalc.grammar.nodes import (
    AllOf,
    AnyOf,
    Argument,
    Array,
    At,
    Check,
    Constant,
    Contains,
    ContainsAny,
    Cost,
    Custom,
    Equals,
    HasField,
    Json,
    Judge,
    Latency,
    Length,
    Matches,
    Member,
    NonEmpty,
    Not,
    NoToolErrors,
    Object,
    Path,
    Regexp,
    Similar,
    StartsWith,
    Structure,
    Text,
    Tokens,
    ToolCount,
    ToolParam,
    ToolsAcceptable,
    ToolsCalled,
    ToolsNotCalled,
)
from evalc.grammar.parse import parse_check
from tests.grammar.build import number, path, text

SLASHED = Regexp(start=8, end=19, pattern="a\\/[/]b", flags="im", pattern_at=9, literal=True)
QUOTED = Regexp(start=8, end=13, pattern="\\d", pattern_at=9, literal=False)


def json(start: int) -> Json:
    return Json(start=start, end=start + 4)


SIMPLE: list[tuple[str, Check]] = [
    ('contains "a b"', Contains(start=0, end=14, text=text(9, 14, "a b"))),
    ("contains 'a' ignoring case", Contains(start=0, end=26, text=text(9, 12, "a"), ignore_case=True)),
    ('contains any of ["a", "b"]', ContainsAny(start=0, end=26, texts=(text(17, 20, "a"), text(22, 25, "b")))),
    ("matches /a\\/[/]b/mi", Matches(start=0, end=19, regexp=SLASHED)),
    ("matches '\\\\d'", Matches(start=0, end=13, regexp=QUOTED)),
    ("length 10..20", Length(start=0, end=13, min=number(7, 9, 10), max=number(11, 13, 20))),
    ("length >= 20 words", Length(start=0, end=18, min=number(10, 12, 20), unit="words")),
    ("length<=20lines", Length(start=0, end=15, max=number(8, 10, 20), unit="lines")),
    ("length == 3 bytes", Length(start=0, end=17, min=number(10, 11, 3), max=number(10, 11, 3), unit="bytes")),
    ("length 20..10 chars", Length(start=0, end=19, min=number(7, 9, 20), max=number(11, 13, 10))),
    ("json", json(0)),
    ("json strict", Json(start=0, end=11)),
    ("json lenient", Json(start=0, end=12, mode="lenient")),
    ("json object", Json(start=0, end=11, mode="object")),
    ("json array", Json(start=0, end=10, mode="array")),
    ('json matching "s.json"', Json(start=0, end=22, schema=text(14, 22, "s.json"))),
    ('json lenient matching "s"', Json(start=0, end=25, mode="lenient", schema=text(22, 25, "s"))),
    (
        'has fields items[].id as number, $a-b[0][1].2, "x y", for',
        Structure(
            start=0,
            end=57,
            fields=(
                HasField(start=11, end=31, path=path(11, "items[].id", "items", None, "id"), type="number"),
                HasField(start=33, end=45, path=path(33, "$a-b[0][1].2", "$a-b", 0, 1, "2")),
                HasField(start=47, end=52, path=Path(start=47, end=52, steps=("x y",), text="x y")),
                HasField(start=54, end=57, path=path(54, "for", "for")),
            ),
        ),
    ),
    ('has headings "A", "B"', Structure(start=0, end=21, headings=(text(13, 16, "A"), text(18, 21, "B")))),
    ('equals "42"', Equals(start=0, end=11, text=text(7, 11, "42"))),
    ('starts with "D"', StartsWith(start=0, end=15, text=text(12, 15, "D"))),
    ("non-empty", NonEmpty(start=0, end=9)),
    ('similar to "x"', Similar(start=0, end=14, text=text(11, 14, "x"))),
    ('similar to "x" >= 0.9', Similar(start=0, end=21, text=text(11, 14, "x"), threshold=number(18, 21, 0.9))),
    ('similar to "x" >= 85 %', Similar(start=0, end=22, text=text(11, 14, "x"), threshold=number(18, 22, 0.85))),
    ('judge "ok?"', Judge(start=0, end=11, question=text(6, 11, "ok?"))),
    (
        'judge "ok?" >= 4/5',
        Judge(start=0, end=18, question=text(6, 11, "ok?"), min=number(15, 16, 4), scale=number(17, 18, 5)),
    ),
    ("check no_pii()", Custom(start=0, end=14, name=text(6, 12, "no_pii"))),
    ('check "no pii"()', Custom(start=0, end=16, name=text(6, 14, "no pii"))),
    (
        'check a.b-c("x", -2.5, true, at=null)',
        Custom(
            start=0,
            end=37,
            name=text(6, 11, "a.b-c"),
            arguments=(
                Argument(start=12, end=15, value=text(12, 15, "x")),
                Argument(start=17, end=21, value=Constant(start=17, end=21, value=-2.5)),
                Argument(start=23, end=27, value=Constant(start=23, end=27, value=True)),
                Argument(start=29, end=36, name=text(29, 31, "at"), value=Constant(start=32, end=36, value=None)),
            ),
        ),
    ),
    (
        'check f(true=[1, {"k": []}])',
        Custom(
            start=0,
            end=28,
            name=text(6, 7, "f"),
            arguments=(
                Argument(
                    start=8,
                    end=27,
                    name=text(8, 12, "true"),
                    value=Array(
                        start=13,
                        end=27,
                        items=(
                            Constant(start=14, end=15, value=1),
                            Object(
                                start=17,
                                end=26,
                                members=(
                                    Member(
                                        start=18, end=25, key=text(18, 21, "k"), value=Array(start=23, end=25, items=())
                                    ),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        ),
    ),
    ("tools called []", ToolsCalled(start=0, end=15, names=())),
    (
        'tools called [a-b, for, "x.y"]',
        ToolsCalled(start=0, end=30, names=(text(14, 17, "a-b"), text(19, 22, "for"), text(24, 29, "x.y"))),
    ),
    (
        "tools one of [[a], [], none, [none]]",
        ToolsAcceptable(start=0, end=36, sets=((text(15, 16, "a"),), (), (), (text(30, 34, "none"),))),
    ),
    ("tools not called [x]", ToolsNotCalled(start=0, end=20, names=(text(18, 19, "x"),))),
    ("tool count 1..3", ToolCount(start=0, end=15, min=number(11, 12, 1), max=number(14, 15, 3))),
    ("tool count <= 3", ToolCount(start=0, end=15, max=number(14, 15, 3))),
    ("no tool errors", NoToolErrors(start=0, end=14)),
    ("latency <= 30s", Latency(start=0, end=14, max=number(11, 14, 30_000))),
    ("latency <= 250 ms", Latency(start=0, end=17, max=number(11, 17, 250))),
    ("latency <= 4.35s", Latency(start=0, end=16, max=number(11, 16, 4_350))),
    ("latency <= 2m", Latency(start=0, end=13, max=number(11, 13, 120_000))),
    ("tokens <= 500", Tokens(start=0, end=13, max=number(10, 13, 500))),
    ("cost <= $0.02", Cost(start=0, end=13, max=number(9, 13, 0.02))),
    ("cost <= $0.0000001", Cost(start=0, end=18, max=number(9, 18, 1e-7))),
    ("cost <= 1", Cost(start=0, end=9, max=number(8, 9, 1))),
    (
        'at items[0].title contains "x"',
        At(
            start=0,
            end=30,
            path=path(3, "items[0].title", "items", 0, "title"),
            check=Contains(start=18, end=30, text=text(27, 30, "x")),
        ),
    ),
    ("at a not json", At(start=0, end=13, path=path(3, "a", "a"), check=Not(start=5, end=13, check=json(9)))),
    ("response json", json(9)),
    ("response not json", Not(start=9, end=17, check=json(13))),
    ("not response json", Not(start=0, end=17, check=json(13))),
    ("not not json", Not(start=0, end=12, check=Not(start=4, end=12, check=json(8)))),
    ("json and json and json", AllOf(start=0, end=22, checks=(json(0), json(9), json(18)))),
    ("json or json", AnyOf(start=0, end=12, checks=(json(0), json(8)))),
    (
        "(json and json) or not (json)",
        AnyOf(
            start=0,
            end=29,
            checks=(
                AllOf(start=1, end=14, checks=(json(1), json(10))),
                Not(start=19, end=29, check=json(24)),
            ),
        ),
    ),
    ("\n json\t\n", json(2)),
]


T, P = text(5, 6, "t"), text(7, 8, "p")

PARAMS: list[tuple[str, Check]] = [
    ('tool t.p equals "x"', ToolParam(start=0, end=19, tool=T, param=P, op="equals", value=text(16, 19, "x"))),
    ('tool t.p contains "x"', ToolParam(start=0, end=21, tool=T, param=P, op="contains", value=text(18, 21, "x"))),
    ('tool t.p one of ["x"]', ToolParam(start=0, end=21, tool=T, param=P, op="oneOf", values=(text(17, 20, "x"),))),
    (
        "tool t.p matches /x/i",
        ToolParam(
            start=0,
            end=21,
            tool=T,
            param=P,
            op="matches",
            regexp=Regexp(start=17, end=21, pattern="x", flags="i", pattern_at=18, literal=True),
        ),
    ),
    ("tool t.p exists", ToolParam(start=0, end=15, tool=T, param=P, op="exists")),
    ("tool t.p not exists", ToolParam(start=0, end=19, tool=T, param=P, op="notExists")),
    (
        'tool t.p not equals "x"',
        Not(
            start=0,
            end=23,
            check=ToolParam(start=0, end=23, tool=T, param=P, op="equals", value=text(20, 23, "x")),
        ),
    ),
    (
        "not tool t.p exists",
        Not(
            start=0,
            end=19,
            check=ToolParam(start=4, end=19, tool=text(9, 10, "t"), param=text(11, 12, "p"), op="exists"),
        ),
    ),
    (
        "tool count.p exists",
        ToolParam(start=0, end=19, tool=text(5, 10, "count"), param=text(11, 12, "p"), op="exists"),
    ),
    (
        'tool "a.b".c.d exists',
        ToolParam(start=0, end=21, tool=text(5, 10, "a.b"), param=text(11, 14, "c.d"), op="exists"),
    ),
    (
        'tool not-a."b c" exists',
        ToolParam(start=0, end=23, tool=text(5, 10, "not-a"), param=text(11, 16, "b c"), op="exists"),
    ),
]

LINES = SIMPLE + PARAMS


@pytest.mark.parametrize(("line", "check"), LINES, ids=[line for line, _ in LINES])
def test_one_check(line: str, check: Check) -> None:
    node, faults = parse_check(line)
    assert faults == ()
    assert node is not None
    assert node.check == check
    assert node.criterion is None


@pytest.mark.parametrize(("line", "check"), LINES, ids=[line for line, _ in LINES])
def test_one_check_for_a_criterion(line: str, check: Check) -> None:
    node, faults = parse_check(f"{line} for and-for")
    assert faults == ()
    assert node is not None
    assert node.check == check
    assert node.criterion == text(len(line) + 5, len(line) + 12, "and-for")
    assert (node.start, node.end) == (len(line) - len(line.lstrip()), len(line) + 12)


@pytest.mark.parametrize(
    ("line", "criterion"),
    [
        ('json for "my criterion"', text(9, 23, "my criterion")),
        ("json for for", text(9, 12, "for")),
        ("json for not", text(9, 12, "not")),
        ("json for \n ünder_1", None),
    ],
)
def test_criteria(line: str, criterion: Text | None) -> None:
    node, _ = parse_check(line)
    assert (node.criterion if node else None) == criterion


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
        (r"'\'\"'", "'\""),
        (r'"\u00e9\ud83d\ude00"', "é😀"),
        ('"two\nlines"', "two\nlines"),
        (r'"\{{x}}"', r"\{{x}}"),
        (r'"\\{{x}}"', r"\{{x}}"),
        ('"é\ud800\x00"', "é\ud800\x00"),
        ('""', ""),
    ],
)
def test_texts_and_their_escapes(written: str, value: str) -> None:
    node, faults = parse_check(f"equals {written}")
    assert faults == ()
    assert node is not None
    assert node.check == Equals(start=0, end=7 + len(written), text=text(7, 7 + len(written), value))


def test_a_response_check_may_stand_before_a_tool_check_and_in_a_group_after_it() -> None:
    for line in (
        'contains "x" and tool t.p exists',
        'tool t.p exists and (contains "x" or contains "y")',
        'tool t.p exists and response contains "x" and response not contains "y"',
        'tool t.p exists and not response contains "x" and tools called []',
        'tools called [t] and contains "x"',
    ):
        assert parse_check(line).faults == ()


def test_nesting_is_free_up_to_its_limit() -> None:
    assert parse_check("(" * MAX_DEPTH + "json" + ")" * MAX_DEPTH).faults == ()
    assert parse_check("not " * MAX_DEPTH + "json").faults == ()


@pytest.mark.parametrize("written", [r'"a\n\u00e9\ud83d\ude00\{{b"', '"plain"', "bare"])
def test_the_way_back_through_escapes(written: str) -> None:
    source = f"tools called [{written}]"
    node, _ = parse_check(source)
    assert node is not None
    assert isinstance(node.check, ToolsCalled)
    (name,) = node.check.names
    offsets = [offset_in_text(source, name, index) for index in range(len(name.value) + 1)]
    pieces = [source[here:after] for here, after in pairwise(offsets)]
    quote = "" if written == "bare" else '"'
    assert quote + "".join(pieces) + quote == written
    for piece, character in zip(pieces, name.value, strict=True):
        assert piece == character or json_value(f'"{piece}"') == character


@pytest.mark.parametrize("written", [r"/a\/b/i", r'"a\/b"', r"'a\\/b'"])
def test_the_way_back_to_a_place_in_a_pattern(written: str) -> None:
    source = f"matches {written}"
    node, _ = parse_check(source)
    assert node is not None
    assert isinstance(node.check, Matches)
    regexp = node.check.regexp
    assert source[offset_in_text(source, regexp, regexp.pattern.index("b"))] == "b"
    assert source[offset_in_text(source, regexp, 0)] == "a"
