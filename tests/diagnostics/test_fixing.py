"""The fixes, each proved by a new check, and the laws that all of them keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source, Span
from evalc.config import Settings
from evalc.diagnostics import Edit, Fix, Problem
from evalc.diagnostics.fixing import Fixed, applied, fixed, without_idle_suggestions
from evalc.diagnostics.near import typo_of
from evalc.setup.compile import problems_of


def check(source: Source) -> Sequence[Problem]:
    return evalc.check(source)


def fix(text: str, name: str = "a.eval.yaml", *, unsafe: bool = False) -> Fixed:
    source = Source(name, text)
    return fixed(source, check(source), check, selected=lambda _: True, unsafe=unsafe)


def suite(*checks: str, message: str = "hi", rest: str = "") -> str:
    head = f"eval:\n  test_cases:\n    - name: a\n      message: {message}\n      inputs: {{x: '1'}}\n"
    return head + "      validate:\n" + "".join(f"        - {line}\n" for line in checks) + rest


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ('contains "a: b"', "'contains \"a: b\"'"),
        ('contains "a: b" # why', "'contains \"a: b\"' # why"),
        ('contains "it\'s: b"', "'contains \"it''s: b\"'"),
        ('contains "a #b"', "'contains \"a #b\"'"),
        ('contains "a #b" # why', "'contains \"a #b\"' # why"),
        ("not contains 'a: b'  # why", "'not contains ''a: b'''  # why"),
        ("contains Tokyo", 'contains "Tokyo"'),
        ("{type: tools_called, rule: refund}", "{type: tools_called, rule: [refund]}"),
        ('{any_of: contains "a"}', "{any_of: ['contains \"a\"']}"),
    ],
)
def test_checks(broken: str, sound: str) -> None:
    assert fix(suite(broken)) == Fixed(suite(sound), 1)
    assert check(Source("a.eval.yaml", suite(sound))) == ()


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ('Contains "a"', 'contains "a"'),
        ('not-contains "a"', 'not contains "a"'),
        ("NonEmpty", "non-empty"),
        ("{type: Contains, rule: a}", "{type: contains, rule: a}"),
        ("{type: contains, rule: a, 'Weight': 1}", "{type: contains, rule: a, 'weight': 1}"),
    ],
)
def test_other_words_are_only_put_right_where_somebody_reviews_it(broken: str, sound: str) -> None:
    assert fix(suite(broken)) == Fixed(suite(broken), 0)
    assert fix(suite(broken), unsafe=True) == Fixed(suite(sound), 1)


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ("{{x}}", "'{{x}}'"),
        ("{{x}}, hello # why", "'{{x}}, hello' # why"),
        ("{{x}} isn't \"so", "'{{x}} isn''t \"so'"),
    ],
)
def test_templates(broken: str, sound: str) -> None:
    assert fix(suite("non-empty", message=broken)).text == suite("non-empty", message=sound)


def test_lists_in_brackets() -> None:
    text = "eval: {test_cases: [{name: a, message: hi, validate: [%s]}]}\n"
    assert fix(text % 'contains "a, b", non-empty').text == text % "'contains \"a, b\"', non-empty"
    assert fix(text % "tools called [a], non-empty").text == text % "'tools called [a]', non-empty"
    assert fix(text % "tools called [a], tools not called [b, c]").text == (
        text % "'tools called [a]', 'tools not called [b, c]'"
    )


def test_keys_criteria_and_tiers() -> None:
    text = "eval:\n  Criteria: ['clarity (1): Clear']\n  testCases:\n    - Name: a\n      tier: Golden\n"
    text += "      message: hi\n      validate: [contains 'x' for Clarity]\n"
    sound = text.replace("Criteria", "criteria").replace("testCases", "test_cases").replace("Name", "name")
    sound = sound.replace("Golden", "golden").replace("Clarity", "clarity")
    assert fix(text) == Fixed(text, 0)
    assert fix(text, unsafe=True) == Fixed(sound, 5)


def test_json() -> None:
    text = (
        '{"metadata": {"toolName": "t", "tier": "Labeled"}, "cases": [{"id": "t/a", "description": "a",'
        ' "difficulty": "edge", "input": {"message": "hi"}, "expect": {"response_contains": ["x"]}}]}'
    )
    sound = text.replace("Labeled", "labeled").replace("response_contains", "responseContains")
    assert fix(text, "a.json") == Fixed(text, 0)
    assert fix(text, "a.json", unsafe=True) == Fixed(sound, 2)


@pytest.mark.parametrize(
    "text",
    [
        suite('containz "a"'),
        suite('containz "a: b"'),
        suite('contains "a: b"\n          and so on'),
        suite('contains "a'),
        suite("non-empty", message='{{x "y"}}, z: 1'),
        suite("non-empty", message="{{x}}", rest="  'unclosed\n"),
        suite("non-empty").replace("name:", "Name: b\n      name:"),
        suite("non-empty").replace("message:", "Message: b\n      message:"),
        suite("{type: contains, rule: a, 'Rule': b}"),
        *(
            suite("non-empty", message=f"{text}{sign}b{sign}")
            for text in ("'it is '", '"a"', "'a'")
            for sign in ("*", "&", "@", "%", "`", "!", "|", "{{b}}")
        ),
        *(suite(f"{{type: not_contains, rule: 'a'{sign}b}}") for sign in ("*", "@", "%", "`", "{{b}}")),
        *(suite(f"type: not_contains\n          rule: 'a'{sign}b") for sign in ("*", "@", "%", "`", "{{b}}")),
        suite("non-empty", 'Contains "a"', 'contains "a: b"', rest="\t- x\n"),
        'eval:\n  test_cases:\n    - {name: a, message: {{x "y"}}, skip: no,\n       validate: [non-empty]}\n',
    ],
)
def test_unsure_fixes_are_not_made(text: str) -> None:
    assert fix(text) == Fixed(text, 0)


def test_an_edit_that_does_harm_does_not_keep_the_others_from_being_made() -> None:
    text = suite("contains Tokyo", 'containz "a: b"', 'contains "c: d"')
    sound = suite('contains "Tokyo"', 'containz "a: b"', "'contains \"c: d\"'")
    assert fix(text) == Fixed(sound, 2)


def test_problems_behind_a_fix_are_fixed_too() -> None:
    text = suite('Contains "a"').replace("test_cases", "test-cases")
    assert fix(text, unsafe=True) == Fixed(suite('contains "a"'), 2)


def test_only_selected_problems_are_fixed() -> None:
    source = Source("a.eval.yaml", suite("contains Tokyo", 'contains "c: d"'))
    result = fixed(source, check(source), check, selected=lambda problem: problem.code == "EV131")
    assert result == Fixed(suite('contains "Tokyo"', 'contains "c: d"'), 1)


def test_many_fixes_at_once() -> None:
    text = "suite: a\neval:\n  test_cases:\n" + "".join(
        f'    - {{name: c{number}, message: hi, validate: [contains "a, {number}"]}}\n' for number in range(500)
    )
    assert fix(text).fixes == 500


@pytest.mark.parametrize(
    ("text", "new", "fix"),
    [
        ("a: {{b}}\n", "'{{b}}'", Fix(Edit(3, 8, "'{{b}}'"), "Put `{{b}}` in quotes", is_safe=True)),
        ("a: {{b}}\n", "['{{b}}']", Fix(Edit(3, 8, "['{{b}}']"), "Replace `{{b}}` with `['{{b}}']`", is_safe=True)),
        ("a: {{b}}\n", "{{c}}", Fix(Edit(3, 8, "{{c}}"), "Replace `{{b}}` with `{{c}}`", is_safe=False)),
        ("a: {{b}}\n", "- {{b}}", Fix(Edit(3, 8, "- {{b}}"), "Replace `{{b}}` with `- {{b}}`", is_safe=False)),
        ("a: {{b}}'\n", "'{{b}}'", None),
        ("a:-{{b}}\n", "'{{b}}'", None),
    ],
)
def test_a_fix_is_safe_if_it_only_adds_quotes_brackets_or_commas(text: str, new: str, fix: Fix | None) -> None:
    assert Fix.of(text, 3, 8, new, sure=True) == fix
    assert fix is None or Fix.of(text, 3, 8, new) == fix._replace(is_safe=False)


LINES = st.lists(
    st.sampled_from(
        [
            'contains "a: b"',
            'contains "a #b"',
            "contains Tokyo",
            'Contains "é𝄞"',
            'contains "a: b" # note: "x',
            "contains 'it''s: #'",
            'containz "a: b"',
            'contains "',
            "{type: Length, min: 1}",
            "{Type: regex, pattern: x}",
            "[tools called [a]]",
            "non-empty",
            "'NonEmpty'",
            '"Contains \\"a\\""',
            "|\n          Contains 'b'",
        ]
    ),
    max_size=6,
)
MESSAGES = st.sampled_from(
    ["hi", "{{x}}", "{{x}} # y", '{{x "y"}}', "'{{x}}'", "{{ x: y }}", "{{#if x}}a{{/if}}", "{a: b}"]
)


@given(checks=LINES, message=MESSAGES, crlf=st.booleans())
def test_the_laws_of_fixing(checks: list[str], message: str, crlf: bool) -> None:
    """Twice is once, and nothing changes but lines that have a problem, or are hidden by a syntax error."""
    text = suite(*checks, message=message)
    text = text.replace("\n", "\r\n") if crlf else text
    once = fix(text)
    assert fix(once.text) == Fixed(once.text, 0)
    before = check(Source("a.eval.yaml", text))
    lines, fixed_lines = text.split("\n"), once.text.split("\n")
    assert len(lines) == len(fixed_lines)
    assert sum(old != new for old, new in zip(lines, fixed_lines, strict=True)) <= once.fixes
    at_fault = {problem.start.line for problem in before}
    hidden = any(problem.code.startswith("EV1") for problem in before)
    changed = {number for number, (old, new) in enumerate(zip(lines, fixed_lines, strict=True), 1) if old != new}
    assert hidden or changed <= at_fault


SPANS = st.lists(st.integers(0, 40), unique=True, max_size=12).map(sorted)


@given(text=st.text(min_size=40, max_size=60), cuts=SPANS, news=st.lists(st.text(max_size=4), min_size=6, max_size=6))
def test_edits_change_nothing_outside_themselves(text: str, cuts: list[int], news: list[str]) -> None:
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    edits = [Edit(start, end, new) for (start, end), new in zip(pairs, news, strict=False)]
    rest = applied(text, edits)
    at = 0
    for edit in edits:
        kept = text[at : edit.start] + edit.text
        assert rest.startswith(kept)
        rest = rest[len(kept) :]
        at = edit.end
    assert rest == text[at:]


def test_a_check_that_never_ends_the_search_is_cut_short() -> None:
    """A checker that always sees another harmful place: fixing gives up, and changes nothing."""
    text = suite(*["contains Tokyo"] * 30)
    source = Source("a.eval.yaml", text)
    problems = check(source)
    calls = 0

    def spiteful(after: Source) -> Sequence[Problem]:
        nonlocal calls
        calls += 1
        at = after.text.index('"Tokyo"')
        return [Problem(source=after, span=Span(at, at + 8), finding=problems[0].finding, severity="error")]

    assert fixed(source, problems, spiteful, selected=lambda _: True) == Fixed(text, 0)
    assert calls == 10


@pytest.mark.parametrize(
    "line",
    [
        "no tools",  # `no tool` is no check either
        "containz =",
        'check unheard_of({"a: b": 1})',
    ],
)
def test_a_fix_that_leaves_as_many_errors_is_not_suggested(line: str) -> None:
    problems = check(Source("a.eval.yaml", suite(line)))
    assert problems
    for problem in problems:
        assert not problem.finding.label().startswith("did you mean")
        assert "write it as" not in problem.finding.help()
        assert problem.fix is None


@pytest.mark.parametrize(
    ("text", "meant", "warned_of"),
    [
        (suite('contains "Paris"', 'icontains "paris"'), 'contains "paris" ignoring case', "EV505"),
        (suite('contains "Paris"', 'Contains "Paris"'), 'contains "Paris"', "EV504"),
        (suite("non-empty", rest="      foreach: [{y: '1'}]\n"), "for_each", "EV216"),
    ],
)
def test_a_suggestion_is_made_where_only_a_warning_is_left(text: str, meant: str, warned_of: str) -> None:
    problem, *_ = sorted(check(Source("a.eval.yaml", text)), key=lambda each: each.severity)  # errors first
    assert problem.fix is not None
    assert (problem.fix.edit.text, problem.fix.is_safe) == (meant, False)
    assert f"`{meant}`" in problem.finding.label() or f"`- {meant}`" in problem.finding.help()
    result = fix(text, unsafe=True)
    assert result.fixes == 1
    assert [(left.code, left.severity) for left in check(Source("a.eval.yaml", result.text))] == [
        (warned_of, "warning")
    ]
    assert fix(text) == Fixed(text, 0)


@pytest.mark.parametrize(
    ("line", "meant", "other"),
    [
        ('response.includes("Paris")', 'contains "Paris"', 'not contains "Paris"'),
        ('Contains "Paris"', 'contains "Paris"', 'not contains "Paris"'),
        ("contains Paris", 'contains "Paris"', 'not contains "Paris"'),
        ("responds within 2 seconds", "latency <= 2s", "latency >= 1m"),
        ("toolsCalled [a]", "tools called [a]", "tools one of [[a], [b]]"),
        ("toolsCalled [a]", "tools called [a]", "tools called [b]"),
        ("turn 2 has keys a, b", "turn 2 has fields a, b", "non-empty"),
    ],
)
def test_a_suggestion_is_made_though_the_line_does_not_fit_the_case(line: str, meant: str, other: str) -> None:
    for lines in ([line, other], [other, line]):
        (problem,) = check(Source("a.eval.yaml", suite(*lines)))
        assert problem.fix is not None
        result = fix(suite(*lines), unsafe=True)
        assert result == Fixed(suite(*(meant if each == line else each for each in lines)), 1)
        errors = [each.code for each in check(Source("a.eval.yaml", result.text)) if each.severity == "error"]
        assert errors in (["EV503"], ["EV402"], ["EV412"], ["EV422"])


def test_safe_fixes_that_repeat_one_another_are_all_made() -> None:
    text = suite("contains Tokyo", "contains Tokyo", "not contains 'a: b'", "not contains 'a: b'")
    safe = [problem for problem in check(Source("a.eval.yaml", text)) if problem.fix and problem.fix.is_safe]
    assert len(safe) == fix(text).fixes == 4


def test_as_many_are_fixed_as_are_offered_a_fix_where_they_repeat_one_another() -> None:
    text = suite('Contains "Paris"', 'icontains "paris"', "contains: Paris", 'not-contains "Rome"', "contains hello")
    offered = [problem for problem in check(Source("a.eval.yaml", text)) if problem.fix]
    result = fix(text, unsafe=True)
    assert len(offered) == result.fixes == 4
    assert not [left for left in check(Source("a.eval.yaml", result.text)) if left.severity == "error"]


def test_a_list_of_what_may_not_be_in_it_is_not_suggested() -> None:
    text = suite("non-empty").replace("message: hi", "turns: hello")
    (problem,) = check(Source("a.eval.yaml", text))
    assert (problem.code, problem.finding.help()) == ("EV301", "")


def test_a_suggestion_that_only_helps_beside_another_is_not_made() -> None:
    """`- regex: a: b` is a mapping of its own once its text is in quotes."""
    problems = check(Source("a.eval.yaml", suite("regex: a: b")))
    safe = [problem.fix for problem in problems if problem.fix is not None and problem.fix.is_safe]
    assert (len(problems), safe) == (2, [])


def test_of_many_suggestions_those_that_help_are_kept() -> None:
    lines = ["contains Tokyo", 'containz "x"', "no tools", "contains hello"] * 20
    problems = check(Source("a.eval.yaml", suite(*lines)))
    helped = [problem.fix is not None for problem in problems]
    assert helped == [True, True, False, True] * 20


def test_suggestions_are_not_tried_for_ever(tmp_path: Path) -> None:
    source = Source("a.eval.yaml", suite(*["contains Tokyo"] * 400))
    problems = problems_of(source, settings=Settings(root=tmp_path))
    calls = 0

    def spiteful(_: Source) -> Sequence[Problem]:
        nonlocal calls
        calls += 1
        return problems

    assert not any(problem.fix for problem in without_idle_suggestions(problems, spiteful))
    assert calls <= 120


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_line_ends_of_the_file_are_kept(end: str) -> None:
    text = suite("non-empty", "icontains: hi\n          criterion: c")
    text = text.replace("eval:\n", "eval:\n  criteria: [c]\n").replace("\n", end)
    result = fix(text, unsafe=True)
    assert result.fixes == 1
    assert not set(result.text.replace(end, "")) & {"\n", "\r"}


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("containz", "contains", "contains"),
        ("testCases", "test_cases", "test_cases"),
        ("testcase", "test_cases", "test_cases"),
        ("gold", "golden", "golden"),
        ("get_wether", "get_weather", "get_weather"),
        # A word or what changes one would be dropped, or another one is meant.
        ("icontains", "contains", None),
        ("ncontains", "contains", None),
        ("not_contains", "contains", None),
        ("tool_error_count", "tool_count", None),
        ("total-tokens", "tokens", None),
        ("skip_if", "skip", None),
        ("skipif", "skip", None),
        ("tool_cost", "tool_count", None),
        ("refund_v1", "refund_v2", None),
        ("not", "note", None),
        ("containsa", "contains", None),
        ("tools_called", "tools_not_called", None),
    ],
)
def test_a_near_name_drops_nothing(name: str, known: str, meant: str | None) -> None:
    typo = typo_of(name, [known])
    assert (None if typo is None else typo.meant) == meant


@pytest.mark.parametrize(
    "line",
    [
        f"{words}: {value}"
        for words in ("not contains", "not_contains", "contains", "does not contain", "icontains")
        for value in ("bob ignoring case", "/bob/i", "A for tone", 'a or contains "y"', "A && B", "a, b", "", "# Rome")
    ]
    + [
        "not matches: bob ignoring case",
        "regex: bob ignoring case",
        "not contains: 'a', 'b'",
        "equals: 'Total: 5' not contains 'a'",
        "not equals: # x",
        "no call of book has city: # Rome",
        "{not_contains: bob ignoring case, criterion: c}",
        "not_contains: bob for tone\n          criterion: c",
    ],
)
def test_the_value_of_a_key_is_no_text_where_words_of_the_language_are_in_it(line: str) -> None:
    text = suite(line).replace("eval:\n", "eval:\n  criteria: [c]\n")
    problems = check(Source("a.eval.yaml", text))
    assert problems
    assert [problem.fix for problem in problems] == [None] * len(problems)


@pytest.mark.parametrize(
    "other", ['not contains "x"', 'contains "x"', 'equals "x"', 'contains "x" ignoring case', "matches /x/"]
)
@pytest.mark.parametrize("word", ["and", "or"])
def test_a_check_that_may_be_about_the_parameter_is_not_moved_to_the_response(other: str, word: str) -> None:
    (problem,) = check(Source("a.eval.yaml", suite(f'tool "a.b".c not contains "y" {word} {other}')))
    assert problem.fix is None
    assert "`response`" in problem.finding.label()
    assert '`tool "a.b".c`' in problem.finding.label()


@pytest.mark.parametrize(
    "line",
    [
        "tags: [{{x}} and {{y}}Total: {{x}}]",
        "tags: ['[', {{x}} and {{y}}Total: {{x}}]",
        "description: {{{seed:x}}a: b{{x}}: y",
    ],
)
def test_nothing_is_put_in_quotes_in_a_value_that_stays_wrong(line: str) -> None:
    text = suite("non-empty").replace("      message", f"      {line}\n      message")
    assert fix(text) == Fixed(text, 0)


@pytest.mark.parametrize("sign", ["*b*", "@b", "%b", "`b`", "&b"])
@pytest.mark.parametrize("place", ["{text}", "[{text}]", "[b, {text}, c]"])
def test_a_sign_directly_behind_a_text_is_not_quoted_alone(sign: str, place: str) -> None:
    text = suite("non-empty", message=place.format(text=f"'a'{sign}"))
    problems = check(Source("a.eval.yaml", text))
    assert problems
    assert not any(
        "'" + sign in problem.finding.help() for problem in problems if "whole" not in problem.finding.help()
    )
