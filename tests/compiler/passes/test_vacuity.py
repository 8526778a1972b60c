"""Checks that decide nothing by themselves or beside others, and those that only look so."""

from __future__ import annotations

import json

import pytest

import evalc
from tests.support.checking import codes


def said(*lines: str, more: str = "") -> list[str]:
    """The codes for a case with these one-line checks, of which nothing need ask for a call."""
    return [code for code in all_said(*lines, more=more) if code != "EV427"]


def all_said(*lines: str, more: str = "") -> list[str]:
    """The codes for a case with these one-line checks."""
    validate = json.dumps(lines)
    found = codes(f"suite: s\neval: {{test_cases: [{{name: a, message: hi, {more}validate: {validate}}}]}}\n")
    return [code for code in found if code != "EV436"]  # what a line meant in earlier versions decides nothing here


@pytest.mark.parametrize(
    "line",
    [
        'contains ""',
        'contains "" ignoring case',
        'starts with ""',
        'ends with ""',
        'contains any of ["x", ""]',
        "length >= 0",
        "length >= 0 words",
        "tool count >= 0",
        "matches /a*/",
        "not matches /a^/",
        'similar to "x" >= 0%',
        'contains "a" or not contains "a"',
        'contains "{{seed:x}}" or not contains "{{ seed:x }}"',
        'contains "a" or not contains "ab"',
        'not contains any of ["a", "b"] or contains "a" or contains "b"',
        "length >= 5 or length <= 10",
        "non-empty or not json",
        "not (json object and json array)",
        "tools called [t] or not tools called [t]",
        "tool t.p exists or tool t.p not exists",
        'tool t.p contains ""',
        'not (contains "a" and not contains "a")',
        "no call of t has p one of []",
        "no call of t has p one of [], q 5",
        "no call of t has q 5, p one of []",
        "exists",
        "not (not exists)",
        'contains all of [""]',
        'contains all of ["", ""] ignoring case',
        'contains "x" at least 0 times',
        'not contains "x" less than 0 times',
        "not words < 0",
        "not within -1 of 5 or exists",
        "turn 1 length >= 0",
    ],
)
def test_it_cannot_fail(line: str) -> None:
    assert said(line, 'contains "other"') == ["EV501"]


@pytest.mark.parametrize(
    "line",
    [
        "turn 1 exists",
        "turn 1 not exists",
        'contains all of ["", "x"]',
        'contains "" 3 times',
        "at a count >= 0",
        'tool t.p contains all of [""]',
        'tool t.p contains "x" at least 0 times',
    ],
)
def test_it_may_fail_or_pass(line: str) -> None:
    assert said(line, 'contains "other"') == []


@pytest.mark.parametrize(
    "line",
    [
        'not contains ""',
        "any call of t has p one of []",
        "any item of x has p one of []",
        "length 5..2",
        "tool count 3..1",
        "matches /a^/",
        'similar to "x" >= 80',
        'not (contains "a" or not contains "a")',
        '(contains "a" and not contains "a") or (json object and json array)',
        'not (not contains "ab" or contains "a")',
        'at a not contains ""',
        "not (tool t.p exists or tool t.p not exists)",
        "not (length >= 5 or length <= 10)",
        'not (contains "" or json)',
        "not exists",
        "response is missing",
        'contains "x" less than 0 times',
        'contains "x" between 2 and 1 times',
        'not contains all of [""]',
        *(f"{of} < 0" for of in ("length", "words", "sentences", "tool count", "cost", "total tokens")),
        "latency < 0s",
        "tool t called less than 0 times",
        "tool t called before t",
        "within -1 of 5",
        "at a within -1 of 5",
        "at a length < 0",
    ],
)
def test_it_cannot_pass(line: str) -> None:
    assert said(line, 'contains "other"') == ["EV502"]


@pytest.mark.parametrize(("least", "found"), [("", ["EV501"]), (", min_score: 1", [])])
def test_a_score_that_nothing_asks_for_cannot_fail(least: str, found: list[str]) -> None:
    rubric = f"rubric: [{{dimension: kind, max_score: 5, criteria: Is it kind?{least}}}]"
    assert said('contains "other"', more=f"{rubric}, ") == found
    assert said('contains "other"', more=f"{rubric}, repeat: often, ") == ["EV301"]  # what is wrong may be more


@pytest.mark.parametrize(("criterion", "found"), [("kindness", []), (None, ["EV501"])])
def test_a_score_of_a_criterion_counts(criterion: str | None, found: list[str]) -> None:
    criteria = [{"name": "kindness", "checks": [{"at": ["/rubric/0"]}] if criterion else [{"at": ["/rubric/1"]}]}]
    rubric = [{"dimension": "kind", "maxScore": 5, "criteria": "?"}, {"dimension": "fair", "minScore": 1}]
    case = {"id": "s/a", "description": "a", "input": {"message": "hi"}, "rubric": rubric, "criteria": criteria}
    text = json.dumps({"metadata": {"toolName": "s", "tier": "rubric"}, "cases": [case]})
    assert [problem.code for problem in evalc.check(evalc.Source("s.rubric.json", text))] == found


@pytest.mark.parametrize(
    "lines",
    [
        ('contains "rain"', 'not contains "ai"'),
        ('not contains "ai"', 'contains "rain"'),
        ('contains "Rain"', 'not contains "rain" ignoring case'),
        ('contains any of ["dog", "doge"]', 'not contains "dog"'),
        ('contains any of ["cat", "dog"]', 'not contains "cat"', 'not contains "dog"'),
        ('contains any of ["cat", "dog"]', 'not contains any of ["cat", "dog", "cow"]'),
        ('equals "42"', 'contains "x"'),
        ('equals "42"', r"matches /^\d$/"),
        ('equals "42"', "json object"),
        ('equals "42"', "length >= 3"),
        ('equals "42"', 'equals "43"'),
        ('equals " "', "non-empty"),
        ('equals "42"', 'starts with "5"'),
        ('starts with "Dear"', 'starts with "Hello"'),
        ('starts with "Dear {{seed:name}}"', 'starts with "Hello"'),
        ('contains "{{seed:x}}"', 'not contains "{{seed:x}}"'),
        ('contains "a {{seed:x}}"', 'not contains "a "'),
        ('contains "abcdef"', "length <= 5"),
        ("length >= 500", "length <= 100"),
        ("length >= 10 words", "length <= 15 chars"),
        ("length >= 100 bytes", "length <= 20"),
        ("non-empty", "length <= 0 words"),
        (r"matches /foo\d+/", 'not contains "foo"'),
        ("matches /^foo$/", "length >= 4"),
        ("json", 'starts with "Sure"'),
        ("json object", "json array"),
        ("json object", 'starts with "["'),
        ("json array", "has fields title"),
        ("json", "length <= 0 words"),
        ("has fields a as string", "has fields a as number"),
        ("tool errors >= 2", "tool errors <= 1"),
        ('at a contains "x"', 'not at a contains "x"'),
        ('at a contains "xy"', 'at a not contains "x"'),
        ("at a >= 3", "at a <= 2"),
        ('turn 1 contains "x"', 'turn 1 not contains "x"'),
        ("turn 1 tools called [a]", "turn 1 tool count <= 0"),
        ("turn 1 at a >= 3", "turn 1 at a <= 2"),
        ('turn 1 tool t.p equals "a"', 'turn 1 tool t.p equals "b"'),
        ("at a 1..3", "at a equals 4"),
        ("at a equals 1", "at a equals true"),
        ("at a count 2", "at a count 3..4"),
        ("at a count >= 1", "at a >= 1"),
        ("at a equals [1, 2]", "at a count 3"),
        ("tools called [a]", "tools not called [a]"),
        ("tools called [a, b]", "tool count <= 1"),
        ("tools only [a]", "tools include [b]"),
        ("tools only [a]", "tools include [a, b]"),
        ("tools only [a, b]", "tools in order [a, c]"),
        ("tools in order [a, a]", "tool count <= 1"),
        ("tools include [a, a]", "tools called [a, b]"),
        ("tools in order [a, b]", "tools called [b, a]"),
        ("tools one of [[a], [b]]", "tools include [c, a]"),
        ("tools include [a]", "tools not called [a]"),
        ("tools include [a]", "tool count <= 0"),
        ("any call of a has x 1", "tools not called [a]"),
        ("call 2 of a has x 1", "tools only [b]"),
        ("tools one of [[a], [a, b]]", "tools not called [a]"),
        ("tools one of [[a, b], [a, c]]", "tool count <= 1"),
        ("tools called [a]", "tool count >= 2"),
        ('tool t.p equals "a"', 'tool t.p equals "b"'),
        ('tool t.p equals "a"', 'tool t.p one of ["b", "c"]'),
        ('tool t.p equals "ab"', 'tool t.p contains "c"'),
        ("tool t.p exists", "tool t.p not exists"),
        ('tool t.p equals "a"', "tool t.p not exists"),
        ('tool t.p equals "x"', r"tool t.p matches /^\d+$/"),
        ('contains "a" or contains "b"', 'not contains "a"', 'not contains "b"'),
        ('contains "rain" and json', 'not contains "rain"'),
    ],
    ids=" | ".join,
)
def test_they_contradict(lines: tuple[str, ...]) -> None:
    assert said(*lines) == ["EV503"]


@pytest.mark.parametrize(
    "lines",
    [
        ('contains "abc"', 'contains "ab"'),
        ('contains "ab"', 'contains "abc"'),
        ('contains "abc"', 'contains any of ["x", "ab"]'),
        ('contains "ABC"', 'contains "bc" ignoring case'),
        ('contains "stra\u00dfe" ignoring case', 'contains "STRASS" ignoring case'),
        ('contains "abc"', "length >= 3"),
        ('contains "a b"', "length >= 2 words"),
        ('contains "abc"', "matches /b/"),
        ('contains "call 911"', r"matches /\d+/"),
        ('starts with "Dear Ann"', 'starts with "Dear"'),
        ('starts with "Dear Ann"', 'contains "Ann"'),
        ('ends with "Dear Ann"', 'contains "Ann"'),
        ('starts with "Dear"', "matches /^Dear/"),
        ('starts with "Dear {{seed:name}}"', 'starts with "Dear "'),
        ('contains "{{seed:x}}, hello"', 'contains "{{seed:x}}"'),
        ('equals "42"', r"matches /^\d+$/"),
        ('equals "42"', "json"),
        ('equals "42"', 'not contains "x"'),
        ('equals "42"', 'similar to "42"'),
        ('not contains "a"', 'not contains "ab"'),
        ('contains any of ["abc", "xab"]', 'contains "ab"'),
        ("json object", "json"),
        ("json", "json lenient"),
        ("has fields a, b", "has fields a"),
        ("has fields a as integer", "has fields a as number"),
        ('at a contains "xy"', "has fields a"),
        ('not at a contains "x"', "has fields a"),
        ("at a >= 3", "at a >= 2.5"),
        ("at a >= 3", "has fields a"),
        ("at a >= 3", "not at a <= 2"),
        ("at a equals 3", "at a 2..4"),
        ("at a equals 3", "at a equals 3.0"),
        ("at a equals [1, 2]", "at a count 2"),
        ("at a count 2", "at a count 1..3"),
        ('similar to "x" >= 0.9', 'similar to "x" >= 0.8'),
        ("tools called [a, b]", "tool count 2..2"),
        ("tools called []", "tool count <= 0"),
        ("tools in order [a, b, a]", "tools include [a, a]"),
        ("tools in order [a, b, c]", "tools in order [a, c]"),
        ("tools include [a, a]", "tools include [a]"),
        ("any call of a has x 1", "tools include [a]"),
        ("tools include [a, b]", "tool count >= 2"),
        ("tools called [a, b]", "tools only [b, a, c]"),
        ("tools only [a]", "tools only [a, b]"),
        ("tools one of [[a, b]]", "tools include [b, a]"),
        ('tool t.p equals "ab"', 'tool t.p contains "a"'),
        ('tool t.p one of ["a", "b"]', "tool t.p exists"),
        ("length >= 3", "length <= 9", "length 3..9 chars or json"),
        ('contains "a"', 'contains "a" or json'),
        ("latency <= 1s", "latency <= 2s or json"),
    ],
    ids=" | ".join,
)
def test_one_is_implied(lines: tuple[str, ...]) -> None:
    assert said(*lines) == ["EV505"]


def test_one_is_repeated() -> None:
    assert said('contains "x"', 'contains "x"') == ["EV504"]
    assert said("not (json or non-empty)", "not (json or non-empty)") == ["EV504"]
    assert said('contains "x"', 'contains "x"', 'contains "x"') == ["EV504", "EV504"]


@pytest.mark.parametrize(
    "lines",
    [
        ("tools called []", "tool t.p exists"),
        ("tools not called [t]", 'tool t.p equals "a"'),
        ("tools only [u]", 'tool t.p equals "a"'),
        ("tools one of [[a], none]", "tool t.p not exists"),
        ("tool count <= 0", "tool t.p exists"),
    ],
    ids=" | ".join,
)
def test_a_parameter_of_a_tool_that_must_not_be_called(lines: tuple[str, ...]) -> None:
    assert said(*lines) == ["EV506"]


@pytest.mark.parametrize(
    "lines",
    [
        ('contains "a"', 'not contains "A"'),
        ('contains "a"', 'not contains "ab"'),
        ('contains "rain" ignoring case', 'contains "sun"'),
        ('contains "rain" ignoring case', 'not contains "rain"'),
        ('contains any of ["a", "b"]', 'not contains "a"'),
        ('contains "{{seed:x}}"', 'not contains "{{seed:y}}"'),
        ('contains "{{seed:x}}"', "non-empty"),
        ('equals "{{seed:x}}"', 'equals "{{seed:y}}"'),
        ('equals "{{seed:x}}"', 'contains "a"'),
        ('starts with "{{seed:x}}"', 'starts with "Dear"'),
        ('contains "a{{seed:x}}"', "length <= 1"),
        ('contains "   "', "non-empty"),
        ('starts with "Dear"', "matches /Dear$/"),
        ('contains "abc"', r"matches /\bab/"),
        ('contains "abc"', "matches /^ab/"),
        ('contains "ABC"', "matches /ab/"),
        ("matches /ab/i", 'not contains "ab"'),
        ("matches /fo?o/", 'contains "fao"'),
        ("matches /foo|bar/", 'not contains "foo"'),
        ("matches /(foo)?bar/", 'not contains "foo"'),
        ("matches /(?!foo)bar/", 'not contains "foo"'),
        ("json lenient", 'starts with "Here you are:"'),
        ("json", 'starts with " {"'),
        ("json lenient", 'has headings "Summary"'),
        ("has fields items[].id as string", "has fields items[].id as number"),
        ("json array", "has fields [].id"),
        ('at a contains "x"', 'at b not contains "x"'),
        ('at a contains "x"', 'not contains "x"'),
        ('contains "x"', 'at a contains "x"'),
        ('at a contains "xy"', 'at a contains "x"'),
        ("length >= 5 words", "length <= 9"),
        ("length >= 2 lines", "length <= 2"),
        ("length <= 20 bytes", "length >= 5"),
        ("tools called [a, a]", 'tool a.p equals "x"'),
        ("tools one of [[a], [b]]", "tools not called [a]"),
        ("tools one of [[a], [b]]", "tool count <= 1"),
        ("tools one of [[a], none]", "tool a.p exists"),
        ('tool t.p equals "a"', 'tool t.q equals "b"'),
        ('tool t.p equals "a"', 'tool u.p equals "b"'),
        ('tool t.p equals "undefined"', "tool t.p exists"),
        ("tool t.p exists", "tool t.p not exists or tools not called [t]"),
        ("tool t.p exists", "json or tool t.p exists"),
        ('json or tool t.p equals "a"', 'contains "x" or tool t.p equals "b"'),
        ('contains "a" or contains "b"', 'not contains "a" or not contains "b"'),
        ('contains "a" or json', 'not contains "a"'),
        ('contains "abc"', "non-empty"),
        ("json", "non-empty"),
        ("tools called [a]", "tools not called [b]"),
        ("tools one of [[a], [a, b]]", "tools not called [c]"),
        ("tools only [a]", "tools include [a]"),
        ("at a >= 3", "at b <= 2"),
        ('turn 1 contains "x"', 'not contains "x"'),
        ("turn 1 tools called [a]", "tools called [a, b]"),
        ("turn 1 tool t.p exists", "tools not called [t]"),
        ('turn 1 tool t.p equals "2"', "tools called [t]"),
        ("at a >= 3", "at a >= 4 or at b equals null"),
        ("any call of a has x 1", "any call of a has x 1"),
        ("turn 1 any call of a has x 1", "turn 1 any call of a has x 1"),
        ("any call of a has x 1 and json", "any call of a has x 1"),
        ("no call of a has x 1", "tools include [a]"),
        ("every call of a has x 1", "tools not called [a]"),
        ("tools only [a, b]", "tool count <= 1"),
        ("tools in order [a, b]", "tools in order [b, a]"),
        ("tools include [a, a]", "tools one of [[a], [b]]"),
        ("no tool errors", "tool count >= 1"),
        ('tool t.p equals "a" or not tool t.p equals "a"', 'contains "other"'),
        ('similar to "abc"', "length <= 10"),
        ('similar to "abc" >= 1', 'not contains "x"'),
        ("any call of t returns note not exists", "no call of t returns note exists"),
        ('tool t.p starts with ""', "tool t called"),  # an argument that was not sent is no text
        ('tool t.p ends with ""',),
        ('tool t.p contains "" ignoring case',),
        ('tool t.p similar to "x" >= 0',),
        ('contains "x" or tool errors >= 0',),  # an agent may not say whether its calls failed
        ("tool errors >= 2", 'contains "x" or tool errors >= 1'),
        ('tool u.a contains any of [""]', "tool u called"),
        ("any call of t fails", "no call of t fails"),  # it may not say so of these calls
        ("any call of t fails", "not any call of t fails"),
        ("every call of t fails", "not every call of t fails"),
        ("any item of x is in English", "no item of x is in English"),  # which may be unsure
        ("no call of t has p length < 0",),  # of a number there is no answer
        ("no call of t has q 5, p words < 0",),
    ],
    ids=" | ".join,
)
def test_they_only_look_so(lines: tuple[str, ...]) -> None:
    assert said(*lines) == []


# --- criteria, tiers, shared checks ----------------------------------------------------------------------------------


def linked(*lines: str) -> list[str]:
    head = "suite: s\neval:\n  criteria: ['one (0.5): x', 'two (0.5): y']\n"
    return codes(f"{head}  test_cases: [{{name: a, message: hi, validate: {json.dumps(lines)}}}]\n")


def test_a_check_for_another_criterion_is_not_redundant() -> None:
    assert linked('contains "abc" for one', 'contains "ab" for two') == []
    assert linked('contains "abc" for one', 'contains "ab"') == []
    assert linked('contains "abc" for one', 'contains "abc" for two') == []
    assert linked('contains "abc" for one', 'contains "ab" for one') == ["EV505"]
    assert linked('contains "abc" for one', 'contains "abc" for one') == ["EV504"]


def test_a_contradiction_counts_across_criteria() -> None:
    assert linked("length >= 500 for one", "length <= 100 for two") == ["EV503"]


def test_a_shared_check_is_redundant_only_if_it_is_in_all_cases() -> None:
    head = "suite: s\neval:\n  test_cases:\n"
    implying = "    - {name: a, message: hi, validate: ['contains \"abc\"', &r 'contains \"ab\"']}\n"
    other = "    - {name: b, message: hi, validate: ['contains \"x\"', *r]}\n"
    assert codes(head + implying) == ["EV505"]
    assert codes(head + implying + other) == []


def test_a_contradiction_says_which_check_and_where() -> None:
    text = (
        "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n"
        '        - contains any of ["cat", "dog"]\n        - not contains "dog"\n        - not contains "cat"\n'
    )
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", text))
    others = '`contains any of ["cat", "dog"]` on line 7'
    assert problem.start.line == 9
    assert others in problem.finding.message()
    assert "on line 8" in problem.finding.message()


def test_two_checks_of_one_parameter_can_pass_where_the_tool_is_not_called() -> None:
    text = json.dumps(['tool t.p equals "a"', 'tool t.p equals "b"'])
    _, problem = evalc.check(
        evalc.Source("s.eval.yaml", f"suite: s\neval: {{test_cases: [{{name: a, message: hi, validate: {text}}}]}}\n")
    )
    assert problem.finding.message().endswith("the case can pass only where `t` is not called")


@pytest.mark.parametrize(
    ("lines", "unless"),
    [
        (("tool errors 4..5", "not tool errors > 1"), "the agent does not say whether its calls failed"),
        (("not tool errors <= 3", "not tool errors > 1"), "the agent does not say whether its calls failed"),
        (("turn 1 tool errors > 3", "turn 1 tool errors < 2"), "the agent does not say whether its calls failed"),
        (("total tokens > 300", "total tokens <= 200"), "the agent does not report its tokens"),
        (("not output tokens > 300", "output tokens > 400"), "the agent does not report its tokens"),
    ],
)
def test_two_checks_of_a_number_can_pass_where_the_agent_does_not_report_it(
    lines: tuple[str, ...], unless: str
) -> None:
    text = f"suite: s\neval: {{test_cases: [{{name: a, message: hi, validate: {json.dumps(lines)}}}]}}\n"
    (problem,) = [each for each in evalc.check(evalc.Source("s.eval.yaml", text)) if each.code == "EV503"]
    assert problem.severity == "warning"
    assert problem.finding.message().endswith(f"the case can pass only where {unless}")


def test_a_threshold_of_zero() -> None:
    assert said('contains "x"', more="threshold: 0, ") == ["EV501"]
    assert said('contains "x"', more="threshold: 0.1, ") == ["EV419"]


def test_many_checks_and_deep_ones_take_no_time_that_doubles() -> None:
    deep = 'contains "x"'
    for _ in range(15):
        deep = f'(not ({deep}) and json) or contains "y"'
    assert said(deep, deep.replace('"y"', '"z"')) == []
    many = [f'contains any of ["{number}", "x{number}", "y"]' for number in range(300)]
    assert "EV503" not in said(*many)


@pytest.mark.parametrize(
    "lines",
    [
        ('tool t.p equals "a"',),
        ('tool t.p equals "a"', 'tool t.q equals "a"', "tool count >= 1"),
        ('tool t.p equals "a"', "tools one of [[t], [t, u], [u]]"),
        ('tool t.p equals "a"', "tools include [t] or json"),
        ('tool t.p equals "a"', "every call of t has q 1"),
        ('tool t.p exists and tool t.q equals "a"',),
        ('turn 1 tool t.p equals "a"', "tools include [u]"),
    ],
    ids=" | ".join,
)
def test_a_call_is_not_asked_for(lines: tuple[str, ...]) -> None:
    assert all_said(*lines) == ["EV427"]


@pytest.mark.parametrize(
    "lines",
    [
        ('tool t.p equals "a"', "tools called [t]"),
        ('tool t.p equals "a"', "tools include [u, t]"),
        ('tool t.p equals "a"', "tools in order [t, u]"),
        ('tool t.p equals "a"', "tools one of [[t], [t, u]]"),
        ('tool t.p equals "a"', "any call of t has q 1"),
        ('tool t.p equals "a"', "call 2 of t has q 1"),
        ('tool t.p equals "a"', "json and tools include [t]"),
        ('turn 1 tool t.p equals "a"', "turn 1 tools include [t]"),
        ('turn 1 tool t.p equals "a"', "tools called [t]"),
        ('tool t.p not equals "a"',),
        ('not tool t.p equals "a"',),
        ('json or tool t.p equals "a"',),
        ("every call of t has q 1",),
    ],
    ids=" | ".join,
)
def test_a_call_is_asked_for_or_need_not_be(lines: tuple[str, ...]) -> None:
    assert all_said(*lines) == []


def test_a_call_in_the_conversation_is_not_yet_a_call_in_the_turn() -> None:
    head = "eval:\n  test_cases:\n    - name: a\n      validate: ['tools called [t]']\n"
    turns = "      turns:\n        - {say: hi, validate: ['tool t.p equals \"2\"']}\n"
    assert codes(f"{head}{turns}") == []
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{head}{turns}        - say: and then\n"))
    assert problem.code == "EV427"
    assert "not called in turn 1" in problem.finding.message()
