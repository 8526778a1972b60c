"""Every production of the one-line form, with the places of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from json import loads as json_value

import pytest

from evalc.check.forms import check_of, record_of
from evalc.check.tree import NO_TOOL, Check
from evalc.grammar.nodes import MAX_DEPTH, Atom, PatternAtom, Text, offset_in_text
from evalc.grammar.read_check import odd_readings, read_check
from tests.grammar.build import literal, text
from tests.support.places import atoms_of, placed_at

Expected = tuple[str, Check, Mapping[str, Atom]]

JSON = check_of({"type": "json"})

SIMPLE: list[Expected] = [
    ('contains "a b"', check_of({"type": "contains", "value": "a b"}), {"/value": text(9, 14, "a b")}),
    ("contains 'a' ignoring case", check_of({"type": "icontains", "value": "a"}), {"/value": text(9, 12, "a")}),
    (
        'contains any of ["a", "b"]',
        check_of({"type": "contains_any", "values": ("a", "b")}),
        {"/values/0": text(17, 20, "a"), "/values/1": text(22, 25, "b")},
    ),
    (
        "matches /a\\/[/]b/mi",
        check_of({"type": "regex", "pattern": "a\\/[/]b", "flags": "im"}),
        {"/pattern": literal(8, 19, "a\\/[/]b", "im")},
    ),
    (
        "matches '\\\\d'",
        check_of({"type": "regex", "pattern": "\\d"}),
        {"/pattern": PatternAtom(start=8, end=13, pattern="\\d", pattern_at=9, literal=False)},
    ),
    ("length 10..20", check_of({"type": "length", "min": 10, "max": 20}), {}),
    ("length >= 20 words", check_of({"type": "length", "min": 20, "unit": "words"}), {}),
    ("length<=20lines", check_of({"type": "length", "max": 20, "unit": "lines"}), {}),
    ("length == 3 bytes", check_of({"type": "length", "min": 3, "max": 3, "unit": "bytes"}), {}),
    ("length 20..10 chars", check_of({"type": "length", "min": 20, "max": 10}), {}),
    ("json", JSON, {}),
    ("json strict", JSON, {}),
    ("json lenient", check_of({"type": "json", "mode": "lenient"}), {}),
    ("json object", check_of({"type": "json", "mode": "object"}), {}),
    ("json array", check_of({"type": "json", "mode": "array"}), {}),
    ('json matching "s.json"', check_of({"type": "json", "schema": "s.json"}), {"/schema": text(14, 22, "s.json")}),
    (
        'json lenient matching "s"',
        check_of({"type": "json", "mode": "lenient", "schema": "s"}),
        {"/schema": text(22, 25, "s")},
    ),
    (
        "has fields title as text, tags as list",
        check_of(
            {
                "type": "structure",
                "fields": ({"path": "title", "type": "string"}, {"path": "tags", "type": "array"}),
            }
        ),
        {},
    ),
    (
        'has fields items[].id as number, $a-b[0][1].2, $.b, items[*].c, "x y", "x.y", "$.z", for',
        check_of(
            {
                "type": "structure",
                "fields": (
                    {"path": "items[].id", "type": "number"},
                    {"path": "$a-b[0][1][2]"},
                    {"path": "b"},
                    {"path": "items[].c"},
                    {"path": "x y"},
                    {"path": '["x.y"]'},
                    {"path": '["$.z"]'},
                    {"path": "for"},
                ),
            }
        ),
        {},
    ),
    (
        'has headings "A", "B"',
        check_of({"type": "structure", "headings": ("A", "B")}),
        {"/headings/0": text(13, 16, "A"), "/headings/1": text(18, 21, "B")},
    ),
    ('equals "42"', check_of({"type": "equals", "value": "42"}), {"/value": text(7, 11, "42")}),
    ('starts with "D"', check_of({"type": "starts_with", "value": "D"}), {"/value": text(12, 15, "D")}),
    ('ends with "D"', check_of({"type": "ends_with", "value": "D"}), {"/value": text(10, 13, "D")}),
    ("non-empty", check_of({"type": "non_empty"}), {}),
    ('similar to "x"', check_of({"type": "similar", "value": "x"}), {"/value": text(11, 14, "x")}),
    (
        'similar to "x" >= 0.9',
        check_of({"type": "similar", "value": "x", "threshold": 0.9}),
        {"/value": text(11, 14, "x")},
    ),
    (
        'similar to "x" >= 85 %',
        check_of({"type": "similar", "value": "x", "threshold": 0.85}),
        {"/value": text(11, 14, "x")},
    ),
    (
        'judge "ok?"',
        check_of({"type": "judge", "dimension": "", "criteria": "ok?", "minScore": 1, "maxScore": 1}),
        {"/criteria": text(6, 11, "ok?")},
    ),
    (
        'judge "ok?" >= 4/5',
        check_of({"type": "judge", "dimension": "", "criteria": "ok?", "minScore": 4, "maxScore": 5}),
        {"/criteria": text(6, 11, "ok?")},
    ),
    ("check no_pii()", check_of({"type": "check", "name": "no_pii"}), {"/name": text(6, 12, "no_pii")}),
    ('check "no pii"()', check_of({"type": "check", "name": "no pii"}), {"/name": text(6, 14, "no pii")}),
    (
        'check a.b-c("x", -2.5, true, at=null)',
        check_of({"type": "check", "name": "a.b-c", "args": ("x", -2.5, True), "options": {"at": None}}),
        {"/name": text(6, 11, "a.b-c"), "/args/0": text(12, 15, "x")},
    ),
    (
        'check f(true=[1, {"k/": ["v"]}])',
        check_of({"type": "check", "name": "f", "options": {"true": [1, {"k/": ["v"]}]}}),
        {"/name": text(6, 7, "f"), "/options/true/1/k~1/0": text(25, 28, "v")},
    ),
    (
        "at x >= 18",
        check_of({"type": "at", "path": "x", "check": {"type": "number", "min": 18}}),
        {"/path": text(3, 4, "x")},
    ),
    (
        "at x -1.5..2",
        check_of({"type": "at", "path": "x", "check": {"type": "number", "min": -1.5, "max": 2}}),
        {"/path": text(3, 4, "x")},
    ),
    (
        "at x not == 2",
        check_of(
            {"type": "at", "path": "x", "check": {"type": "not", "check": {"type": "number", "min": 2, "max": 2}}}
        ),
        {"/path": text(3, 4, "x")},
    ),
    ("response <= 3", check_of({"type": "number", "max": 3}), {}),
    (
        "at x count 3",
        check_of({"type": "at", "path": "x", "check": {"type": "count", "min": 3, "max": 3}}),
        {"/path": text(3, 4, "x")},
    ),
    ("response count 2..5", check_of({"type": "count", "min": 2, "max": 5}), {}),
    ("equals true", check_of({"type": "value", "value": True}), {}),
    (
        "at x equals null",
        check_of({"type": "at", "path": "x", "check": {"type": "value", "value": None}}),
        {"/path": text(3, 4, "x")},
    ),
    (
        'at x equals [1, {"k": "v"}]',
        check_of({"type": "at", "path": "x", "check": {"type": "value", "value": [1, {"k": "v"}]}}),
        {"/path": text(3, 4, "x"), "/check/value/1/k": text(22, 25, "v")},
    ),
    ("turn 2 json", check_of({"type": "turn", "turn": 2, "check": {"type": "json"}}), {}),
    (
        'not turn 1 tools called [x] and turn 2 (json or at a contains "b")',
        check_of(
            {
                "type": "all_of",
                "checks": (
                    {
                        "type": "not",
                        "check": {"type": "turn", "turn": 1, "check": {"type": "tools_called", "names": ("x",)}},
                    },
                    {
                        "type": "turn",
                        "turn": 2,
                        "check": {
                            "type": "any_of",
                            "checks": (
                                {"type": "json"},
                                {"type": "at", "path": "a", "check": {"type": "contains", "value": "b"}},
                            ),
                        },
                    },
                ),
            }
        ),
        {
            "/checks/0/check/check/names/0": text(25, 26, "x"),
            "/checks/1/check/checks/1/path": text(51, 52, "a"),
            "/checks/1/check/checks/1/check/value": text(62, 65, "b"),
        },
    ),
    ("numbers from tools", check_of({"type": "numbers_from"}), {}),
    ("response numbers from message, tools", check_of({"type": "numbers_from", "sources": ("message", "tools")}), {}),
    (
        "at x quotes from tools",
        check_of({"type": "at", "path": "x", "check": {"type": "quotes_from"}}),
        {"/path": text(3, 4, "x")},
    ),
    ("tools called []", check_of({"type": "tools_called", "names": ()}), {}),
    (
        'tools called [a-b, for, "x.y"]',
        check_of({"type": "tools_called", "names": ("a-b", "for", "x.y")}),
        {"/names/0": text(14, 17, "a-b"), "/names/1": text(19, 22, "for"), "/names/2": text(24, 29, "x.y")},
    ),
    (
        "tools one of [[a], [], none, [none]]",
        check_of({"type": "tools_acceptable", "sets": (("a",), (NO_TOOL,), (NO_TOOL,), ("none",))}),
        {"/sets/0/0": text(15, 16, "a"), "/sets/3/0": text(30, 34, "none")},
    ),
    (
        "tools include [x, x]",
        check_of({"type": "tools_include", "names": ("x", "x")}),
        {"/names/0": text(15, 16, "x"), "/names/1": text(18, 19, "x")},
    ),
    (
        'any call of x has a.b "y", c 2..3, c exists, d contains "z"',
        check_of(
            {
                "type": "call_has",
                "tool": "x",
                "args": {"a.b": {"equals": "y"}, "c": {"min": 2, "max": 3, "exists": True}, "d": {"contains": "z"}},
            }
        ),
        {"/tool": text(12, 13, "x"), "/args/a.b/equals": text(22, 25, "y"), "/args/d/contains": text(56, 59, "z")},
    ),
    (
        "no call of x has a true",
        check_of({"type": "call_has", "tool": "x", "which": "no", "args": {"a": {"equals": True}}}),
        {"/tool": text(11, 12, "x")},
    ),
    (
        "every call of x has a not exists",
        check_of({"type": "call_has", "tool": "x", "which": "every", "args": {"a": {"exists": False}}}),
        {"/tool": text(14, 15, "x")},
    ),
    (
        "call 2 of x has a one of [1, null], b >= 1.5, c <= 2, d [1]",
        check_of(
            {
                "type": "call_has",
                "tool": "x",
                "which": 2,
                "args": {"a": {"oneOf": (1, None)}, "b": {"min": 1.5}, "c": {"max": 2}, "d": {"equals": [1]}},
            }
        ),
        {"/tool": text(10, 11, "x")},
    ),
    ("tools in order [x]", check_of({"type": "tools_in_order", "names": ("x",)}), {"/names/0": text(16, 17, "x")}),
    ("tools only [x]", check_of({"type": "tools_only", "names": ("x",)}), {"/names/0": text(12, 13, "x")}),
    ("tools not called [x]", check_of({"type": "tools_not_called", "names": ("x",)}), {"/names/0": text(18, 19, "x")}),
    ("tool count 1..3", check_of({"type": "tool_count", "min": 1, "max": 3}), {}),
    ("tool count <= 3", check_of({"type": "tool_count", "max": 3}), {}),
    ("no tool errors", check_of({"type": "no_tool_errors"}), {}),
    ("latency <= 30s", check_of({"type": "latency", "max": 30000}), {}),
    ("latency <= 250 ms", check_of({"type": "latency", "max": 250}), {}),
    ("latency <= 4.35s", check_of({"type": "latency", "max": 4350}), {}),
    ("latency <= 2m", check_of({"type": "latency", "max": 120000}), {}),
    ("tokens <= 500", check_of({"type": "tokens", "max": 500}), {}),
    ("cost <= $0.02", check_of({"type": "cost", "max": 0.02}), {}),
    ("cost <= $0.0000001", check_of({"type": "cost", "max": 1e-07}), {}),
    ("cost <= 1", check_of({"type": "cost", "max": 1}), {}),
    (
        'at items[0].title contains "x"',
        check_of({"type": "at", "path": "items[0].title", "check": {"type": "contains", "value": "x"}}),
        {"/path": text(3, 17, "items[0].title"), "/check/value": text(27, 30, "x")},
    ),
    (
        "at a not json",
        check_of({"type": "at", "path": "a", "check": {"type": "not", "check": record_of(JSON)}}),
        {"/path": text(3, 4, "a")},
    ),
    ("response json", JSON, {}),
    ("response not json", check_of({"type": "not", "check": record_of(JSON)}), {}),
    ("not response json", check_of({"type": "not", "check": record_of(JSON)}), {}),
    ("not not json", check_of({"type": "not", "check": {"type": "not", "check": record_of(JSON)}}), {}),
    (
        "json and json and json",
        check_of({"type": "all_of", "checks": (record_of(JSON), record_of(JSON), record_of(JSON))}),
        {},
    ),
    ("json or json", check_of({"type": "any_of", "checks": (record_of(JSON), record_of(JSON))}), {}),
    (
        '(json and equals "x") or not (json)',
        check_of(
            {
                "type": "any_of",
                "checks": (
                    {"type": "all_of", "checks": (record_of(JSON), {"type": "equals", "value": "x"})},
                    {"type": "not", "check": record_of(JSON)},
                ),
            }
        ),
        {"/checks/0/checks/1/value": text(17, 20, "x")},
    ),
    ("\n json\t\n", JSON, {}),
]


T, P = text(5, 6, "t"), text(7, 8, "p")


def param(assertion: str, value: str | tuple[str, ...] | None = None) -> Check:
    return check_of({"type": "tool_param", "tool": "t", "paramName": "p", "assertion": assertion, "value": value})


PARAMS: list[Expected] = [
    ('tool t.p equals "x"', param("equals", "x"), {"/tool": T, "/paramName": P, "/value": text(16, 19, "x")}),
    ('tool t.p contains "x"', param("contains", "x"), {"/tool": T, "/paramName": P, "/value": text(18, 21, "x")}),
    ('tool t.p one of ["x"]', param("oneOf", ("x",)), {"/tool": T, "/paramName": P, "/value/0": text(17, 20, "x")}),
    ("tool t.p matches /x/", param("matches", "x"), {"/tool": T, "/paramName": P, "/value": literal(17, 20, "x")}),
    ("tool t.p exists", param("exists"), {"/tool": T, "/paramName": P}),
    ("tool t.p not exists", param("notExists"), {"/tool": T, "/paramName": P}),
    (
        'tool t.p not equals "x"',
        check_of({"type": "not", "check": record_of(param("equals", "x"))}),
        {"/check/tool": T, "/check/paramName": P, "/check/value": text(20, 23, "x")},
    ),
    (
        "not tool t.p exists",
        check_of({"type": "not", "check": record_of(param("exists"))}),
        {"/check/tool": text(9, 10, "t"), "/check/paramName": text(11, 12, "p")},
    ),
    (
        "tool count.p exists",
        check_of({"type": "tool_param", "tool": "count", "paramName": "p", "assertion": "exists"}),
        {"/tool": text(5, 10, "count"), "/paramName": text(11, 12, "p")},
    ),
    (
        'tool "a.b".c.d exists',
        check_of({"type": "tool_param", "tool": "a.b", "paramName": "c.d", "assertion": "exists"}),
        {"/tool": text(5, 10, "a.b"), "/paramName": text(11, 14, "c.d")},
    ),
    (
        'tool not-a."b c" exists',
        check_of({"type": "tool_param", "tool": "not-a", "paramName": "b c", "assertion": "exists"}),
        {"/tool": text(5, 10, "not-a"), "/paramName": text(11, 16, "b c")},
    ),
]

LINES = SIMPLE + PARAMS


@pytest.mark.parametrize(("line", "check", "atoms"), LINES, ids=[line for line, _, _ in LINES])
def test_one_check(line: str, check: Check, atoms: Mapping[str, Atom]) -> None:
    node, faults = read_check(line)
    assert faults == ()
    assert node is not None
    assert (record_of(node.check), placed_at(node, atoms)) == (record_of(check), atoms)
    assert node.criterion is None


@pytest.mark.parametrize(("line", "check", "atoms"), LINES, ids=[line for line, _, _ in LINES])
def test_one_check_for_a_criterion(line: str, check: Check, atoms: Mapping[str, Atom]) -> None:
    node, faults = read_check(f"{line} for and-for")
    assert faults == ()
    assert node is not None
    assert (record_of(node.check), placed_at(node, atoms)) == (record_of(check), atoms)
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
    node, _ = read_check(line)
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
    node, faults = read_check(f"equals {written}")
    assert faults == ()
    assert node is not None
    assert node.check == check_of({"type": "equals", "value": value})
    assert atoms_of(node)["/value"] == text(7, 7 + len(written), value)


def test_a_response_check_may_stand_before_a_tool_check_and_in_a_group_after_it() -> None:
    for line in (
        'contains "x" and tool t.p exists',
        'tool t.p exists and (contains "x" or contains "y")',
        'tool t.p exists and response contains "x" and response not contains "y"',
        'tool t.p exists and not response contains "x" and tools called []',
        'tools called [t] and contains "x"',
    ):
        assert read_check(line).faults == ()


def test_nesting_is_free_up_to_its_limit() -> None:
    assert read_check("(" * MAX_DEPTH + "json" + ")" * MAX_DEPTH).faults == ()
    assert read_check("not " * MAX_DEPTH + "json").faults == ()


@pytest.mark.parametrize("written", [r'"a\n\u00e9\ud83d\ude00\{{b"', '"plain"', "bare"])
def test_the_way_back_through_escapes(written: str) -> None:
    source = f"tools called [{written}]"
    node, _ = read_check(source)
    assert node is not None
    name = atoms_of(node)["/names/0"]
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
    node, _ = read_check(source)
    assert node is not None
    regexp = atoms_of(node)["/pattern"]
    assert isinstance(regexp, PatternAtom)
    assert source[offset_in_text(source, regexp, regexp.pattern.index("b"))] == "b"
    assert source[offset_in_text(source, regexp, 0)] == "a"


def test_long_lines_are_searched_for_odd_readings_in_linear_time() -> None:
    for words in ("tool ", "at ", "tool a "):
        assert not odd_readings(f"equals {words * 200_000}")
        assert not odd_readings(f"equals .{words * 200_000}.")


@pytest.mark.parametrize("path", ["toolCalls[0].name", "tool_calls[0].name", "usage.outputTokens", "usage.costUsd"])
def test_calls_and_usage_are_no_places_in_the_json_of_a_response(path: str) -> None:
    assert read_check(f"$.{path} == 1").faults
    assert not read_check(f"at {path} == 1").faults
    assert not read_check("$.usage.credits == 1").faults


def test_a_path_is_expected_once() -> None:
    for line in ("at ", "has fields ", "every item of "):
        (fault,) = read_check(line).faults
        assert (
            fault.finding.message()
            == "expected a path such as `items[0].title` or a text in quotes here, found the end"
        )
