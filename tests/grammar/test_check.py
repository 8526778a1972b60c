"""Every production of the one-line form, with the places of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from json import loads as json_value

import pytest

from evalc.grammar.atoms import offset_in_text
from evalc.grammar.check_nodes import MAX_DEPTH
from evalc.grammar.nodes import Atom, PatternAtom, Text
from evalc.grammar.parse import parse_check
from evalc.model import checks as c
from tests.grammar.build import literal, text

Expected = tuple[str, c.Check, Mapping[str, Atom]]

JSON = c.Json()

SIMPLE: list[Expected] = [
    ('contains "a b"', c.Contains(value="a b"), {"/value": text(9, 14, "a b")}),
    ("contains 'a' ignoring case", c.IContains(value="a"), {"/value": text(9, 12, "a")}),
    (
        'contains any of ["a", "b"]',
        c.ContainsAny(values=("a", "b")),
        {"/values/0": text(17, 20, "a"), "/values/1": text(22, 25, "b")},
    ),
    (
        "matches /a\\/[/]b/mi",
        c.Regex(pattern="a\\/[/]b", flags="im"),
        {"/pattern": literal(8, 19, "a\\/[/]b", "im")},
    ),
    (
        "matches '\\\\d'",
        c.Regex(pattern="\\d"),
        {"/pattern": PatternAtom(start=8, end=13, pattern="\\d", pattern_at=9, literal=False)},
    ),
    ("length 10..20", c.Length(min=10, max=20), {}),
    ("length >= 20 words", c.Length(min=20, unit="words"), {}),
    ("length<=20lines", c.Length(max=20, unit="lines"), {}),
    ("length == 3 bytes", c.Length(min=3, max=3, unit="bytes"), {}),
    ("length 20..10 chars", c.Length(min=20, max=10), {}),
    ("json", JSON, {}),
    ("json strict", JSON, {}),
    ("json lenient", c.Json(mode="lenient"), {}),
    ("json object", c.Json(mode="object"), {}),
    ("json array", c.Json(mode="array"), {}),
    ('json matching "s.json"', JSON, {"/schema": text(14, 22, "s.json")}),
    ('json lenient matching "s"', c.Json(mode="lenient"), {"/schema": text(22, 25, "s")}),
    (
        'has fields items[].id as number, $a-b[0][1].2, "x y", "x.y", for',
        c.Structure(
            fields=(
                c.RequiredField(path="items[].id", type="number"),
                c.RequiredField(path="$a-b[0][1].2"),
                c.RequiredField(path="x y"),
                c.RequiredField(path='["x.y"]'),
                c.RequiredField(path="for"),
            )
        ),
        {
            "/fields/0/path": text(11, 21, "items[].id"),
            "/fields/1/path": text(33, 45, "$a-b[0][1].2"),
            "/fields/2/path": text(47, 52, "x y"),
            "/fields/3/path": text(54, 59, "x.y"),
            "/fields/4/path": text(61, 64, "for"),
        },
    ),
    (
        'has headings "A", "B"',
        c.Structure(headings=("A", "B")),
        {"/headings/0": text(13, 16, "A"), "/headings/1": text(18, 21, "B")},
    ),
    ('equals "42"', c.Equals(value="42"), {"/value": text(7, 11, "42")}),
    ('starts with "D"', c.StartsWith(value="D"), {"/value": text(12, 15, "D")}),
    ('ends with "D"', c.EndsWith(value="D"), {"/value": text(10, 13, "D")}),
    ("non-empty", c.NonEmpty(), {}),
    ('similar to "x"', c.Similar(value="x"), {"/value": text(11, 14, "x")}),
    ('similar to "x" >= 0.9', c.Similar(value="x", threshold=0.9), {"/value": text(11, 14, "x")}),
    ('similar to "x" >= 85 %', c.Similar(value="x", threshold=0.85), {"/value": text(11, 14, "x")}),
    (
        'judge "ok?"',
        c.Judge(dimension="", criteria="ok?", min_score=1, max_score=1),
        {"/criteria": text(6, 11, "ok?")},
    ),
    (
        'judge "ok?" >= 4/5',
        c.Judge(dimension="", criteria="ok?", min_score=4, max_score=5),
        {"/criteria": text(6, 11, "ok?")},
    ),
    ("check no_pii()", c.Custom(name="no_pii"), {"/name": text(6, 12, "no_pii")}),
    ('check "no pii"()', c.Custom(name="no pii"), {"/name": text(6, 14, "no pii")}),
    (
        'check a.b-c("x", -2.5, true, at=null)',
        c.Custom(name="a.b-c", args=("x", -2.5, True), options={"at": None}),
        {"/name": text(6, 11, "a.b-c"), "/args/0": text(12, 15, "x")},
    ),
    (
        'check f(true=[1, {"k/": ["v"]}])',
        c.Custom(name="f", options={"true": [1, {"k/": ["v"]}]}),
        {"/name": text(6, 7, "f"), "/options/true/1/k~1/0": text(25, 28, "v")},
    ),
    ("at x >= 18", c.At(path="x", check=c.Number(min=18)), {"/path": text(3, 4, "x")}),
    ("at x -1.5..2", c.At(path="x", check=c.Number(min=-1.5, max=2)), {"/path": text(3, 4, "x")}),
    ("at x not == 2", c.At(path="x", check=c.Not(check=c.Number(min=2, max=2))), {"/path": text(3, 4, "x")}),
    ("response <= 3", c.Number(max=3), {}),
    ("at x count 3", c.At(path="x", check=c.Count(min=3, max=3)), {"/path": text(3, 4, "x")}),
    ("response count 2..5", c.Count(min=2, max=5), {}),
    ("equals true", c.Value(value=True), {}),
    ("at x equals null", c.At(path="x", check=c.Value(value=None)), {"/path": text(3, 4, "x")}),
    (
        'at x equals [1, {"k": "v"}]',
        c.At(path="x", check=c.Value(value=[1, {"k": "v"}])),
        {"/path": text(3, 4, "x"), "/check/value/1/k": text(22, 25, "v")},
    ),
    ("turn 2 json", c.InTurn(turn=2, check=c.Json()), {}),
    (
        'not turn 1 tools called [x] and turn 2 (json or at a contains "b")',
        c.AllOf(
            checks=(
                c.Not(check=c.InTurn(turn=1, check=c.ToolsCalled(names=("x",)))),
                c.InTurn(turn=2, check=c.AnyOf(checks=(c.Json(), c.At(path="a", check=c.Contains(value="b"))))),
            )
        ),
        {
            "/checks/0/check/check/names/0": text(25, 26, "x"),
            "/checks/1/check/checks/1/path": text(51, 52, "a"),
            "/checks/1/check/checks/1/check/value": text(62, 65, "b"),
        },
    ),
    ("numbers from tools", c.NumbersFrom(), {}),
    ("response numbers from message, tools", c.NumbersFrom(sources=("message", "tools")), {}),
    ("at x quotes from tools", c.At(path="x", check=c.QuotesFrom()), {"/path": text(3, 4, "x")}),
    ("tools called []", c.ToolsCalled(names=()), {}),
    (
        'tools called [a-b, for, "x.y"]',
        c.ToolsCalled(names=("a-b", "for", "x.y")),
        {"/names/0": text(14, 17, "a-b"), "/names/1": text(19, 22, "for"), "/names/2": text(24, 29, "x.y")},
    ),
    (
        "tools one of [[a], [], none, [none]]",
        c.ToolsAcceptable(sets=(("a",), (c.NO_TOOL,), (c.NO_TOOL,), ("none",))),
        {"/sets/0/0": text(15, 16, "a"), "/sets/3/0": text(30, 34, "none")},
    ),
    (
        "tools include [x, x]",
        c.ToolsInclude(names=("x", "x")),
        {"/names/0": text(15, 16, "x"), "/names/1": text(18, 19, "x")},
    ),
    (
        'any call of x has a.b "y", c 2..3, d contains "z", c exists',
        c.CallHas(
            tool="x",
            args={
                "a.b": c.ArgTest(equals="y"),
                "c": c.ArgTest(min=2, max=3, exists=True),
                "d": c.ArgTest(contains="z"),
            },
        ),
        {"/tool": text(12, 13, "x"), "/args/a.b/equals": text(22, 25, "y"), "/args/d/contains": text(46, 49, "z")},
    ),
    (
        "no call of x has a true",
        c.CallHas(tool="x", which="no", args={"a": c.ArgTest(equals=True)}),
        {"/tool": text(11, 12, "x")},
    ),
    (
        "every call of x has a not exists",
        c.CallHas(tool="x", which="every", args={"a": c.ArgTest(exists=False)}),
        {"/tool": text(14, 15, "x")},
    ),
    (
        "call 2 of x has a one of [1, null], b >= 1.5, c <= 2, d [1]",
        c.CallHas(
            tool="x",
            which=2,
            args={
                "a": c.ArgTest(one_of=(1, None)),
                "b": c.ArgTest(min=1.5),
                "c": c.ArgTest(max=2),
                "d": c.ArgTest(equals=[1]),
            },
        ),
        {"/tool": text(10, 11, "x")},
    ),
    ("tools in order [x]", c.ToolsInOrder(names=("x",)), {"/names/0": text(16, 17, "x")}),
    ("tools only [x]", c.ToolsOnly(names=("x",)), {"/names/0": text(12, 13, "x")}),
    ("tools not called [x]", c.ToolsNotCalled(names=("x",)), {"/names/0": text(18, 19, "x")}),
    ("tool count 1..3", c.ToolCount(min=1, max=3), {}),
    ("tool count <= 3", c.ToolCount(max=3), {}),
    ("no tool errors", c.NoToolErrors(), {}),
    ("latency <= 30s", c.Latency(max=30_000), {}),
    ("latency <= 250 ms", c.Latency(max=250), {}),
    ("latency <= 4.35s", c.Latency(max=4_350), {}),
    ("latency <= 2m", c.Latency(max=120_000), {}),
    ("tokens <= 500", c.Tokens(max=500), {}),
    ("cost <= $0.02", c.Cost(max=0.02), {}),
    ("cost <= $0.0000001", c.Cost(max=1e-7), {}),
    ("cost <= 1", c.Cost(max=1), {}),
    (
        'at items[0].title contains "x"',
        c.At(path="items[0].title", check=c.Contains(value="x")),
        {"/path": text(3, 17, "items[0].title"), "/check/value": text(27, 30, "x")},
    ),
    ("at a not json", c.At(path="a", check=c.Not(check=JSON)), {"/path": text(3, 4, "a")}),
    ("response json", JSON, {}),
    ("response not json", c.Not(check=JSON), {}),
    ("not response json", c.Not(check=JSON), {}),
    ("not not json", c.Not(check=c.Not(check=JSON)), {}),
    ("json and json and json", c.AllOf(checks=(JSON, JSON, JSON)), {}),
    ("json or json", c.AnyOf(checks=(JSON, JSON)), {}),
    (
        '(json and equals "x") or not (json)',
        c.AnyOf(checks=(c.AllOf(checks=(JSON, c.Equals(value="x"))), c.Not(check=JSON))),
        {"/checks/0/checks/1/value": text(17, 20, "x")},
    ),
    ("\n json\t\n", JSON, {}),
]


T, P = text(5, 6, "t"), text(7, 8, "p")


def param(assertion: c.ParamAssertion, value: str | tuple[str, ...] | None = None) -> c.ToolParam:
    return c.ToolParam(tool="t", param_name="p", assertion=assertion, value=value)


PARAMS: list[Expected] = [
    ('tool t.p equals "x"', param("equals", "x"), {"/tool": T, "/paramName": P, "/value": text(16, 19, "x")}),
    ('tool t.p contains "x"', param("contains", "x"), {"/tool": T, "/paramName": P, "/value": text(18, 21, "x")}),
    ('tool t.p one of ["x"]', param("oneOf", ("x",)), {"/tool": T, "/paramName": P, "/value/0": text(17, 20, "x")}),
    ("tool t.p matches /x/", param("matches", "x"), {"/tool": T, "/paramName": P, "/value": literal(17, 20, "x")}),
    ("tool t.p exists", param("exists"), {"/tool": T, "/paramName": P}),
    ("tool t.p not exists", param("notExists"), {"/tool": T, "/paramName": P}),
    (
        'tool t.p not equals "x"',
        c.Not(check=param("equals", "x")),
        {"/check/tool": T, "/check/paramName": P, "/check/value": text(20, 23, "x")},
    ),
    (
        "not tool t.p exists",
        c.Not(check=param("exists")),
        {"/check/tool": text(9, 10, "t"), "/check/paramName": text(11, 12, "p")},
    ),
    (
        "tool count.p exists",
        c.ToolParam(tool="count", param_name="p", assertion="exists"),
        {"/tool": text(5, 10, "count"), "/paramName": text(11, 12, "p")},
    ),
    (
        'tool "a.b".c.d exists',
        c.ToolParam(tool="a.b", param_name="c.d", assertion="exists"),
        {"/tool": text(5, 10, "a.b"), "/paramName": text(11, 14, "c.d")},
    ),
    (
        'tool not-a."b c" exists',
        c.ToolParam(tool="not-a", param_name="b c", assertion="exists"),
        {"/tool": text(5, 10, "not-a"), "/paramName": text(11, 16, "b c")},
    ),
]

LINES = SIMPLE + PARAMS


@pytest.mark.parametrize(("line", "check", "atoms"), LINES, ids=[line for line, _, _ in LINES])
def test_one_check(line: str, check: c.Check, atoms: Mapping[str, Atom]) -> None:
    node, faults = parse_check(line)
    assert faults == ()
    assert node is not None
    assert (node.check, dict(node.atoms)) == (check, atoms)
    assert node.criterion is None


@pytest.mark.parametrize(("line", "check", "atoms"), LINES, ids=[line for line, _, _ in LINES])
def test_one_check_for_a_criterion(line: str, check: c.Check, atoms: Mapping[str, Atom]) -> None:
    node, faults = parse_check(f"{line} for and-for")
    assert faults == ()
    assert node is not None
    assert (node.check, dict(node.atoms)) == (check, atoms)
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
    assert node.check == c.Equals(value=value)
    assert node.atoms["/value"] == text(7, 7 + len(written), value)


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
    name = node.atoms["/names/0"]
    assert isinstance(name, Text)
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
    regexp = node.atoms["/pattern"]
    assert isinstance(regexp, PatternAtom)
    assert source[offset_in_text(source, regexp, regexp.pattern.index("b"))] == "b"
    assert source[offset_in_text(source, regexp, 0)] == "a"
