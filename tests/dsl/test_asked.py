"""Checks as mappings that name a predicate: each is the check of the line that it means, with its places."""

from __future__ import annotations

import pytest

import evalc
from evalc.check.forms import record_of
from evalc.compiler import ir
from evalc.diagnostics.fixing import applied
from evalc.grammar.read_check import read_check

HEAD = "eval:\n  criteria: [q]\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n        - "
SAME = [
    ("{contains: x}", 'contains "x"'),
    ('{contains: "a\\"b", criterion: q}', 'contains "a\\"b"'),
    ("{contains: 5}", "contains 5"),
    ('{at: $.total, ">=": 3}', "at total >= 3"),
    ("{at: total, not equals: 3}", "at total not equals 3"),
    ("{at: a, exists: true}", "at a exists"),
    ("{at: a, exists: false}", "at a not exists"),
    ("{turn: 1, contains: x}", 'turn 1 contains "x"'),
    ("{length: {min: 10, max: 30}}", "length 10..30"),
    ("{words: {max: 50}}", "words <= 50"),
    ("{latency: {max: 2s}}", "latency <= 2s"),
    ('{"latency <": 2s}', "latency < 2s"),
    ("{between: [1, 5]}", "between 1 and 5"),
    ("{matches: ^a}", 'matches "^a"'),
    ("{matches: /x/i}", "matches /x/i"),
    ("{matches: /api/v1}", 'matches "/api/v1"'),
    ("{equals: {a: [1, b]}}", 'equals {"a": [1, "b"]}'),
    ("{is: null}", "is null"),
    ("{is in: English}", "is in English"),
    ("{has: a table}", "has a table"),
    ("{tools called: [a, b]}", "tools called [a, b]"),
    ("{json: true}", "json"),
    ("{json matching: {type: object}}", 'json matching {"type": "object"}'),
    ("{contains any of: [a, 1]}", 'contains any of ["a", 1]'),
    ("{tool book.city equals: Paris}", 'tool book.city equals "Paris"'),
    ("{type: contains, value: x}", 'contains "x"'),
    ("{type: regex, pattern: ^a}", 'matches "^a"'),
    ("{type: latency, threshold: 3s}", "latency <= 3s"),
]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("expect: [contains x]", "checks in words belong under `validate:`; "),
        ("expect: {contains: x}", "checks in words belong under `validate:`; the keys of `expect` are `toolsCalled`"),
        ("user: Hello there", "it is a simulated user, with a `goal`; a message is `message:`"),
        ("messages: Hello there", "a single message is `message:`"),
    ],
)
def test_a_key_that_holds_something_else_names_the_key_that_was_meant(entry: str, said: str) -> None:
    text = f"suite: s\neval:\n  test_cases:\n    - name: a\n      {entry}\n"
    assert any(said in (problem.finding.help() or "") for problem in evalc.check(evalc.Source("s.eval.yaml", text)))


def checks(written: str) -> tuple[tuple[ir.Check, ...], list[str]]:
    compilation = evalc.compile(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n"))
    cases = [case for suite in compilation.suites for case in suite.ir.cases]
    return cases[0].checks if cases else (), [each.code for each in compilation.problems if each.severity == "error"]


@pytest.mark.parametrize(("written", "line"), SAME, ids=[written for written, _ in SAME])
def test_a_mapping_is_the_line_that_it_means(written: str, line: str) -> None:
    made, problems = checks(written)
    read = read_check(line).node
    assert read is not None
    assert problems == []
    assert [record_of(item.check) for item in made] == [record_of(read.check)]


@pytest.mark.parametrize(
    ("written", "code", "shown"),
    [
        ("{contains: x, equals: y}", "EV170", "equals"),
        ("{foo: bar}", "EV202", "foo"),
        ("{contains: bob ignoring case}", "EV131", "bob ignoring case"),
        ('{contains: "{{gone}}"}', "EV205", "gone"),
        ("{matches: '(a'}", "EV306", "("),
        ("{type: contains, rule: x, value: y}", "EV201", "value"),
    ],
)
def test_a_mistake_is_shown_where_it_is(written: str, code: str, shown: str) -> None:
    text = f"{HEAD}{written}\n"
    (problem,) = [each for each in evalc.check(evalc.Source("s.eval.yaml", text)) if each.severity == "error"]
    assert (problem.code, text[problem.span.start : problem.span.end]) == (code, shown)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("{type: length, rule: 5, at: 'a b'}", ["5", "b"]),
        ("{type: call_has, tool: t, args: {'a..b': 1, c: {min: x}, d: {}}}", ["'a..b'", "x", "{}"]),
        ("{type: judge, rule: Is it kind?, at: 'a b'}", ["at"]),
        ("{type: call_has, tool: t, which: १, args: {a: 1}}", ["१"]),
        (
            "{type: call_has, tool: t, args: {a: {contains: , exists: }, b: {matches: null}}}",
            ["contains", "exists", "matches"],
        ),
        (
            "{type: call_has, tool: t, args: {a: {one_of: , min: , max: ~}, b: {equals: }}}",
            ["one_of", "min", "max", "equals"],
        ),
        ("{type: call_has, tool: t, args: {a: , b: null, c: {equals: null}}}", ["a"]),
    ],
)
def test_each_mistake_of_a_typed_check_is_reported_once(written: str, shown: list[str]) -> None:
    text = f"{HEAD}{written}\n"
    problems = [each for each in evalc.check(evalc.Source("s.eval.yaml", text)) if each.severity == "error"]
    assert [text[slice(*problem.span)] for problem in problems] == shown


def warnings(written: str) -> list[str]:
    return [each.code for each in evalc.compile(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n")).problems]


@pytest.mark.parametrize(
    "words", ["is not: empty", "is: missing", "is: a number", "is: sorted by n", "should be: email"]
)
def test_a_text_that_is_a_predicate_on_a_line_is_reported(words: str) -> None:
    name, _, text = words.partition(": ")
    assert warnings(f"{{at: x, {words}}}") == ["EV438"]
    assert warnings(f"{{at: x, {name}: '{text}'}}") == []


@pytest.mark.parametrize("words", ["is: plain", "is in: English", "is: null", "equals: empty", "contains: exists"])
def test_a_text_that_is_none_is_not_reported(words: str) -> None:
    assert "EV438" not in warnings(f"{{at: x, {words}}}")


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("not contains: Paris or Rome", 'not contains any of ["Paris", "Rome"]'),
        ("{contains: not London}", 'not contains "London"'),
        ("contains: no London", 'not contains "London"'),
        ("contains: any of [a, b]", 'contains any of "a", "b"'),
        ("contains: all of Paris, Rome", 'contains all of "Paris", "Rome"'),
        ("contains: either a or b", 'contains any of ["a", "b"]'),
        ("contains: Paris and not London", 'contains "Paris" and not contains "London"'),
        ("not contains: “London”", 'not contains "London"'),
        ("contains: \u2018London\u2019", 'contains "London"'),
        ("contains any of: yes or no", 'contains any of ["yes", "no"]'),
        ("not contains: Paris and Rome", 'not contains "Paris" and not contains "Rome"'),
        ("equals: not Paris", 'not equals "Paris"'),
        ("starts with: Dear or Hello", 'starts with "Dear" or starts with "Hello"'),
        ("{at: city, contains: Paris or Rome}", 'at city contains any of ["Paris", "Rome"]'),
    ],
)
def test_words_that_join_texts_are_reported_in_a_mapping(written: str, line: str) -> None:
    text = f"{HEAD}{written}\n"
    (problem,) = evalc.compile(evalc.Source("s.eval.yaml", text)).problems
    assert (problem.code, problem.severity) == ("EV438", "warning")
    assert problem.fix is not None
    assert applied(text, [problem.fix.edit]) == f"{HEAD}{line}\n"
    assert warnings(line) == []


@pytest.mark.parametrize(
    "words",
    [
        "contains: not found",
        "contains: no refunds",
        "contains: Terms and conditions",
        "contains: 'Paris or Rome'",
        "contains: any of {{a}} or {{b}}",
        "contains: If you have any other questions or comments, let us know",
        "judge: is it kind or not",
        "similar to: Paris or Rome",
        "matches: a or b",
    ],
)
def test_words_of_a_text_are_not_reported(words: str) -> None:
    assert "EV438" not in warnings(words)


def test_words_that_join_texts_are_reported_beside_a_criterion() -> None:
    written = "{not contains: Paris or Rome, criterion: q}"
    (problem,) = evalc.compile(evalc.Source("s.eval.yaml", f"{HEAD}{written}\n")).problems
    assert (problem.code, problem.fix) == ("EV438", None)
    assert "write the check as a line" in problem.finding.help()


def test_a_quantity_that_is_a_path_is_reported_in_a_mapping() -> None:
    assert warnings("{at least one of: [1, 2]}") == ["EV438"]
    assert warnings("{at least: '> 3'}") == ["EV438"]
    assert warnings("{at least: 3 words}") == []
    assert warnings("{at: least, is: 3}") == []


@pytest.mark.parametrize("line", ["at least one of [1, 2]", "at most is 5", "at least >= 5", "json and at most exists"])
def test_a_quantity_that_is_a_path_is_reported(line: str) -> None:
    assert warnings(line) == ["EV438"]
    assert warnings(line.replace("at ", "$.")) == []


@pytest.mark.parametrize(
    "line", ["at least 5 words", "at most {{n}} words", "contains 'at least' and json", "at leastways > 5"]
)
def test_a_quantity_is_not_reported(line: str) -> None:
    assert "EV438" not in warnings(line)


@pytest.mark.parametrize(
    "line", ["tool book.guest.name >= 2", "not tool book.guest.name exists", "json and tool 'a.b'.c.d.e is a text"]
)
def test_an_argument_that_reads_as_a_path_is_reported(line: str) -> None:
    assert "EV439" in warnings(line)
    assert "EV439" not in warnings(line.replace("guest.name", '"guest.name"').replace("c.d.e", "'c.d.e'"))


def test_an_argument_that_reads_as_a_path_is_reported_in_a_mapping() -> None:
    assert "EV439" in warnings("{tool book.guest.name: {min: 2}}")
    assert "EV439" not in warnings("{tool book.nights: {min: 2}}")


def test_a_place_in_an_argument_is_named() -> None:
    problems = evalc.check(evalc.Source("s.eval.yaml", f"{HEAD}tool book.guest.name >= 2\n"))
    (problem,) = [each for each in problems if each.code == "EV439"]
    assert "`any call of book has guest.name`" in problem.finding.help()


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("latency 2s", "latency <= 2s"),
        ("latency 2 seconds for q", "latency <= 2 seconds for q"),
        ("cost $0.05", "cost <= $0.05"),
        ("json and the response time 100ms", "json and the response time <= 100ms"),
        ("latency: 2s", "latency: <= 2s"),
        ("total tokens 500", "total tokens <= 500"),
        ("tokens: 500", "tokens: <= 500"),
    ],
)
def test_an_exact_limit_is_reported(written: str, line: str) -> None:
    text = f"{HEAD}{written}\n"
    (problem,) = [each for each in evalc.check(evalc.Source("s.eval.yaml", text)) if each.code == "EV440"]
    assert problem.fix is not None
    assert applied(text, [problem.fix.edit]) == f"{HEAD}{line}\n"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "latency <= 2s",
            "latency == 2s",
            "latency 1s..2s",
            "latency 1s and 2s",
            "cost 0",
            "cost $0",
            "tokens == 5",
            "words 5",
        ),
        *("{cost: {max: 5}}", "cost: <= 5", 'contains "latency 2s"', "{type: latency, rule: 2s}", "latency {{n}}s"),
    ],
)
def test_a_limit_is_not_reported(line: str) -> None:
    assert "EV440" not in warnings(line)


@pytest.mark.parametrize(
    "line",
    [
        'at a[*].b contains "x"',
        'not $.a[*].b should contain any of ["x"]',
        "json and at a[*] includes 5",
        "at a[*].b contains: x",
    ],
)
def test_a_place_of_several_that_contains_is_reported(line: str) -> None:
    assert "EV441" in warnings(line)


@pytest.mark.parametrize(
    "line",
    [
        *('every a[*].b contains "x"', 'any $.a[*].b contains "x"', 'every item of a has b contains "x"'),
        *('at a[*].b not contains "x"', 'at a[*].b equals "x"', 'at a[0].b contains "[*]"', "has fields $.a[*].b"),
    ],
)
def test_a_place_of_several_asked_otherwise_is_not_reported(line: str) -> None:
    assert "EV441" not in warnings(line)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('not: [contains "x", contains "y"]', True),
        ('any_of: [json, {not: [contains "x", non-empty]}]', True),
        ('not: [contains "x"]', False),
        ('not: {all_of: [contains "x", contains "y"]}', False),
        ('not: {any_of: [contains "x", contains "y"]}', False),
    ],
)
def test_several_checks_below_not_are_reported(line: str, *, found: bool) -> None:
    assert ("EV442" in warnings(line)) is found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("not: {use: bad}", True),
        ("not: [{use: bad}]", True),
        ("not: {use: worse}", True),
        ("not: {any_of: [{use: bad}, contains 'z']}", True),
        ("any_of: [{not: {use: bad}}, contains 'z']", True),
        ("not: {all_of: [{use: bad}]}", False),
        ("not: {use: one}", False),
        ("any_of: [{use: bad}, contains 'z']", False),
    ],
)
def test_a_rule_of_several_checks_below_not_is_reported(line: str, *, found: bool) -> None:
    """A rule of words that may not be said, denied as a whole, held for an answer with only some of them."""
    rules = "rules: {bad: [contains 'x', contains 'y'], worse: [{use: bad}], one: [contains 'x']}\n"
    problems = evalc.compile(evalc.Source("s.eval.yaml", f"{rules}{HEAD}{line}\n")).problems
    assert ("EV442" in [each.code for each in problems]) is found


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("- [contains 'x']", "behind one dash"),
        ("|\n          contains 'x'\n          json\n", "begins with `- `"),
        ("\n          contains 'x'\n          json\n", "begins with `- `"),
    ],
)
def test_checks_that_are_no_list_have_advice(written: str, advice: str) -> None:
    head = HEAD if written.startswith("-") else HEAD[: HEAD.index("validate:")] + "validate: "
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{head}{written.removeprefix('- ')}"))
    assert problem.code == "EV301"
    assert advice in problem.finding.help()


def test_cases_that_are_no_list_have_advice() -> None:
    text = "suite: s\neval:\n  test_cases:\n    name: a\n    message: hi\n    validate: [json]\n"
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", text))
    assert "begin each item with `- `" in problem.finding.help()
