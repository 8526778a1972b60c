"""Messages and places of one-line checks that do not parse."""

# ruff: noqa: E501 - the table holds a fault a line

from __future__ import annotations

import pytest

from evalc.diagnostics import Fault
from evalc.grammar.nodes import MAX_FAULTS
from evalc.grammar.read_check import read_check

# line, the stretch, the code, message, label
FAULTS = [
    ('containz "x"', 0, 8, 'EV203', '`containz` is not a check', ''),
    ('Contains "x"', 0, 8, 'EV203', '`Contains` is not a check', ''),
    ("json and regex /x/", 9, 14, 'EV203', '`regex` is not a check', ''),
    ("(jsn)", 1, 4, 'EV203', '`jsn` is not a check', ''),
    ("tool_count 1..2", 0, 10, 'EV203', '`tool_count` is not a check', ''),
    ('no_pii("x")', 0, 6, 'EV203', '`no_pii` is not a check', ''),
    ('containz ("x")', 0, 8, 'EV203', '`containz` is not a check', ''),
    ("frobnicate", 0, 10, 'EV203', '`frobnicate` is not a check', ''),
    ("latency <= >= 30s", 11, 13, 'EV131', 'expected a number here, found `>=`', ''),
    ("any call of t > 5", 14, 15, 'EV160', '`any call of t` is a call; `>` asks a value or a number', ''),
    ('tool "" not called', 5, 7, 'EV131', 'expected the name of a tool here, found `""`', ''),
    ('tools not called [""]', 18, 20, 'EV131', 'expected the name of a tool here, found `""`', ''),
    ("at $ is missing", 3, 4, 'EV131', 'expected a place such as `$.total` here, found `$`', ''),
    ("at a is sorted by b[]", 18, 21, 'EV131', 'expected one place in each item here, found `b[]`', ''),
    ('similar "x"', 8, 11, 'EV131', 'expected to here, found `"x"`', ''),
    ('judge "x" >= 4', 14, 14, 'EV131', 'expected `/` here, found the end', ''),
    ("check f", 7, 7, 'EV131', 'expected `(` here, found the end', ''),
    ('check ("x")', 6, 7, 'EV131', 'expected the name of a check or a text in quotes here, found `(`', ''),
    ("check f(", 8, 8, 'EV131', 'expected a value, a name or `)` here, found the end', ''),
    ("check f(x)", 8, 9, 'EV131', 'expected a value here, found `x`', ''),
    ("check f(a=1, 2)", 13, 14, 'EV131', 'expected a name here, found `2`', ''),
    ("check f({a: 1})", 9, 10, 'EV131', 'expected `}` or a text in quotes here, found `a`', ''),
    ("check f(a=1, a=2)", 13, 14, 'EV206', 'the argument `a` is repeated here', ''),
    ('check f({"a": 1, "a": 2})', 17, 20, 'EV206', 'the key `a` is repeated here', ''),
    ("check f(-1234567890123456)", 8, 25, 'EV136', 'this number has more than 15 digits', ''),
    ("check f(" + "[" * 51 + "]" * 51 + ")", 58, 59, 'EV139', 'this is nested more than 50 levels deep', ''),
    ("check f(" + "[" * 10_000, 10008, 10008, 'EV131', 'expected a value or `]` here, found the end', ''),
    ('similar to "x" >= -1', 18, 20, 'EV136', '`-1` is negative', 'expected zero or more'),
    ('tool a.b exists and similar to "y"', 20, 27, 'EV138', 'a check of the response that follows a `tool` check must begin with `response`', 'write `response` before it, or `tool a.b` if it is about the parameter'),
    ("", 0, 0, 'EV131', 'expected contains, not, is, equals, matches, at, tool, tools, `>=` or exists here, found the end', ''),
    ("  ", 2, 2, 'EV131', 'expected contains, not, is, equals, matches, at, tool, tools, `>=` or exists here, found the end', ''),
    ("not", 3, 3, 'EV131', 'expected contains, not, is, equals, matches, at, tool, tools, `>=` or exists here, found the end', ''),
    ("and json", 0, 3, 'EV131', 'expected contains, not, is, equals, matches, at, tool, tools, `>=` or exists here, found `and`', ''),
    ("contains x", 9, 10, 'EV131', 'expected a value, all, any, none or one of here, found `x`', ''),
    ("contains “x”", 9, 10, 'EV131', 'expected a value, all, any, none or one of here, found `“`', ''),
    ("(json", 5, 5, 'EV131', 'expected `)` here, found the end', ''),
    ("latency <= 30", 13, 13, 'EV131', 'expected ms, s or m here, found the end', ''),
    ("tools calld [x]", 6, 11, 'EV131', 'expected not, is, called, in, include, should, must, does, one of or only here, found `calld`', ''),
    ("contains any of []", 17, 18, 'EV131', 'expected a value here, found `]`', ''),
    ("json for a for b", 11, 14, 'EV131', 'expected the end here, found `for`', ''),
    ("(json for a)", 6, 9, 'EV131', 'expected `)` here, found `for`', ''),
    ("response tool a.b exists", 9, 13, 'EV131', 'expected contains, not, is, equals, matches, at, `>=`, exists, has or json here, found `tool`', ''),
    ("length 1..\x00", 10, 11, 'EV131', 'expected a number here, found `U+0000`', ''),
    ("has fields a as \ud800", 16, 17, 'EV131', 'expected string, number, integer, boolean, array, object or null here, found `U+D800`', ''),
    ('contains "x', 9, 10, 'EV132', 'this text has no closing `"`', 'opened here'),
    ("tools called ['a]", 14, 15, 'EV132', "this text has no closing `'`", 'opened here'),
    (r'contains "a\q"', 11, 13, 'EV133', '`\\q` is not an escape', 'a backslash is written `\\\\q`'),
    (r'tool "a\q" called', 7, 9, 'EV133', '`\\q` is not an escape', 'a backslash is written `\\\\q`'),
    (r'contains "\ud83d"', 10, 16, 'EV133', '`\\ud83d` is half of a surrogate pair, not a character', 'its other half must be next to it'),
    ("matches /x", 8, 9, 'EV134', 'this pattern has no closing `/`', 'opened here'),
    ("matches /[/", 8, 9, 'EV134', 'this pattern has no closing `/`', 'opened here'),
    ("matches /x/g", 11, 12, 'EV135', 'the flag `g` makes a regular expression remember where it stopped', 'leave it out'),
    ("matches /x/ii", 12, 13, 'EV135', 'the flag `i` is repeated', 'leave it out'),
    ("numbers from tools, tools", 20, 25, 'EV206', 'the source `tools` is repeated here', ''),
    ("numbers from tool", 13, 17, 'EV131', 'expected tools or message here, found `tool`', ''),
    ("tool t.p exists and numbers from tools", 20, 27, 'EV138', 'a check of the response that follows a `tool` check must begin with `response`', 'write `response` before it, or `tool t.p` if it is about the parameter'),
    ("tool was not called", 5, 8, 'EV131', 'expected the name of a tool here, found `was`', ''),
    ("tools called zero", 13, 17, 'EV131', 'expected the name of a tool here, found `zero`', ''),
    ("no call of it fails", 11, 13, 'EV131', 'expected the name of a tool here, found `it`', ''),
    ("tool a called before nothing", 21, 28, 'EV131', 'expected the name of a tool here, found `nothing`', ''),
    ('tool not.x exists', 5, 8, 'EV131', 'expected the name of a tool here, found `not`', ''),
    ("turn 0 json", 5, 6, 'EV131', 'expected a number from 1 here, found `0`', ''),
    ("turn json", 5, 9, 'EV131', 'expected a number here, found `json`', ''),
    ("call 0 of t has p 1", 5, 6, 'EV131', 'expected a number from 1 here, found `0`', ''),
    ("any call of t has p null, p 1", 26, 29, 'EV206', 'the test `p` is repeated here', ''),
    ("any call of t has p 1, p 2", 23, 26, 'EV206', 'the test `p` is repeated here', ''),
    ("matches /x/k", 11, 12, 'EV135', '`k` is not a flag of a regular expression', 'leave it out'),
    ("matches /x/uv", 12, 13, 'EV135', 'the flags `u` and `v` exclude each other', 'leave it out'),
    ("length >= -5", 10, 12, 'EV136', '`-5` is negative', 'expected zero or more'),
    ("tool count <= 1.5", 14, 17, 'EV136', '`1.5` is not a whole number', 'expected a whole number'),
    ("words >= 1.000", 9, 14, 'EV136', '`1.000` is not a whole number', 'expected a whole number'),
    ("tokens <= 1234567890123456", 10, 26, 'EV136', 'this number has more than 15 digits', ''),
    ("json and json or json", 14, 16, 'EV137', 'this `or` follows an `and` without parentheses', 'put parentheses around one of the groups'),
    ("(json or json and json)", 14, 17, 'EV137', 'this `and` follows an `or` without parentheses', 'put parentheses around one of the groups'),
    ('tool a.b exists and not contains "y"', 20, 23, 'EV138', 'a check of the response that follows a `tool` check must begin with `response`', 'write `response` before it, or `tool a.b` if it is about the parameter'),
    ('tool a.b exists or json or response json', 19, 23, 'EV138', 'a check of the response that follows a `tool` check must begin with `response`', 'write `response` before it, or `tool a.b` if it is about the parameter'),
    ("(" * 51 + "json" + ")" * 51, 50, 51, 'EV139', 'this is nested more than 50 levels deep', ''),
    ("not " * 10_000 + "json", 200, 201, 'EV139', 'this is nested more than 50 levels deep', ''),
    ("(" * 10_000, 10000, 10000, 'EV131', 'expected contains, not, is, equals, matches, at, tool, tools, `>=` or exists here, found the end', ''),
    ('tools contains "x"', 6, 14, 'EV160', '`tools` is about the tools called; `contains` asks a text or a list', ''),
    ('any call of t contains "x"', 14, 22, 'EV160', '`any call of t` is a call; `contains` asks a text or a list', ''),
    ('at x called [a]', 5, 11, 'EV160', '`at x` is a value; `called` asks which tools were called', ''),
    ('latency contains "x"', 8, 20, 'EV160', '`latency` is a number; `contains` asks a text or a list', ''),
    ('tool count matches /x/', 11, 22, 'EV160', '`tool count` is a number; `matches` asks a text or a list', ''),
    ('latency words <= 5', 8, 13, 'EV160', '`latency` is a number; `words` asks a text or a list', ''),
    ('at price <= $5', 12, 13, 'EV131', 'expected a number here, found `$`', ''),
    ('words <= 50 %', 12, 13, 'EV131', 'expected the end here, found `%`', ''),
    ('length <= 5s', 11, 12, 'EV131', 'expected the end here, found `s`', ''),
    ('is in Klingon', 6, 13, 'EV161', '`Klingon` is not a language that evalc tells apart', ''),
    ('should must contain "x"', 7, 11, 'EV131', 'expected a predicate here, found `must`', ''),
    ('every item of x', 15, 15, 'EV131', 'expected contains, not, is, equals, matches, `>=`, exists, has, json or length here, found the end', ''),
    ('at x foo', 5, 8, 'EV131', 'expected contains, not, is, equals, matches, `>=`, exists, has, json or length here, found `foo`', ''),
    ('any call of b', 13, 13, 'EV131', 'expected not, has, fails, should, must, does or returns here, found the end', ''),
    ('tools called once', 13, 17, 'EV131', 'expected a name, `[` or a text in quotes here, found `once`', ''),
    ('contains 5 2 times', 9, 10, 'EV131', 'expected a text in quotes here, found `5`', ''),
    ('words is "x"', 9, 12, 'EV131', 'expected a number here, found `"x"`', ''),
    ('json matching {"a": {{x}}}', 20, 25, 'EV131', 'expected a value here, found `{{x}}`', ''),
    ('at a one of []', 13, 14, 'EV131', 'expected a value here, found `]`', ''),
    ('tool count 2 words', 13, 18, 'EV131', 'expected the end here, found `words`', ''),
    ('cost < 5 foo', 9, 12, 'EV131', 'expected and, for, or or the end here, found `foo`', ''),
    ('cost 1..2 foo', 10, 13, 'EV131', 'expected and, for, or or the end here, found `foo`', ''),
    ('latency < 5 foo', 12, 15, 'EV131', 'expected and, ms, s, m, for, or or the end here, found `foo`', ''),
    ('tool count < 5 foo', 15, 18, 'EV131', 'expected and, for, or or the end here, found `foo`', ''),
    ('total tokens < 5 foo', 17, 20, 'EV131', 'expected and, for, or or the end here, found `foo`', ''),
    ('length < 5 foo', 11, 14, 'EV131', 'expected and, words, chars, lines, sentences, items, for, or or the end here, found `foo`', ''),
    ('any call of t has p > 5 foo', 24, 27, 'EV131', 'expected and, `,`, words, chars, lines, sentences, items, for, or or the end here, found `foo`', ''),
    ('similar to "x" >= 5 foo', 20, 23, 'EV131', 'expected and, for, or, `%` or the end here, found `foo`', ''),
]  # fmt: skip


@pytest.mark.parametrize("case", FAULTS, ids=[case[0][:30] for case in FAULTS])
def test_one_fault(case: tuple[str, int, int, str, str, str]) -> None:
    line, *said = case
    node, faults = read_check(line)
    assert node is None
    assert [_said(fault) for fault in faults] == [said]


def test_independent_faults_are_all_reported() -> None:
    faults = read_check(r'contains "a\q" and matches /x/gi and length >= -1').faults
    assert [(fault.start, fault.finding.code) for fault in faults] == [(11, "EV133"), (30, "EV135"), (47, "EV136")]


def test_faults_are_counted_out() -> None:
    assert len(read_check('contains "' + "\\q" * 1_000 + '"').faults) == MAX_FAULTS


def test_curly_quotes_are_explained() -> None:
    (fault,) = read_check("contains “x”").faults
    assert fault.finding.help() == "put texts in straight quotes, `\"` or `'`"


def _said(fault: Fault) -> list[object]:
    finding = fault.finding
    return [fault.start, fault.end, finding.code, finding.message(), finding.label()]
