"""The sure fixes, each proved by a new check, and the laws that all of them keep."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.diagnostics.catalogue.index import findings
from evalc.diagnostics.catalogue.syntax_yaml import CommentInString, UnquotedTemplate
from evalc.diagnostics.explain import split_docstring
from evalc.diagnostics.fixes import FIXABLE, Edit, edit_for
from evalc.diagnostics.fixing import Fixed, applied, fixed
from evalc.diagnostics.problem import Finding, Problem
from evalc.source import Source, Span
from tests.diagnostics.problems import problem_at


def check(source: Source) -> Sequence[Problem]:
    return evalc.check(source)


def fix(text: str, name: str = "a.eval.yaml") -> Fixed:
    source = Source(name, text)
    return fixed(source, check(source), check, wanted=lambda _: True)


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
        ('Contains "a"', 'contains "a"'),
        ('not-contains "a"', 'not contains "a"'),
        ("NonEmpty", "non-empty"),
        ("{type: Contains, rule: a}", "{type: contains, rule: a}"),
        ("{type: contains, rule: a, 'Weight': 1}", "{type: contains, rule: a, 'weight': 1}"),
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
    result = fix(text)
    assert result == Fixed(sound, 5)


def test_json() -> None:
    text = (
        '{"metadata": {"toolName": "t", "tier": "Labeled"}, "cases": [{"id": "t/a", "description": "a",'
        ' "difficulty": "edge", "input": {"message": "hi"}, "expect": {"response_contains": ["x"]}}]}'
    )
    sound = text.replace("Labeled", "labeled").replace("response_contains", "responseContains")
    assert fix(text, "a.json") == Fixed(sound, 2)


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
        suite("non-empty", 'Contains "a"', 'contains "a: b"', rest="\t- x\n"),
        'eval:\n  test_cases:\n    - {name: a, message: {{x "y"}}, skip: no,\n       validate: [non-empty]}\n',
    ],
)
def test_what_is_not_sure_is_left_as_it_is(text: str) -> None:
    assert fix(text) == Fixed(text, 0)


def test_an_edit_that_does_harm_does_not_keep_the_others_from_being_made() -> None:
    text = suite('Contains "a"', 'containz "a: b"', 'contains "c: d"')
    sound = suite('contains "a"', 'containz "a: b"', "'contains \"c: d\"'")
    assert fix(text) == Fixed(sound, 2)


def test_what_a_fix_brings_to_light_is_fixed_too() -> None:
    text = suite('Contains "a"').replace("test_cases", "test-cases")
    assert fix(text) == Fixed(suite('contains "a"'), 2)


def test_only_what_is_wanted_is_fixed() -> None:
    source = Source("a.eval.yaml", suite('Contains "a"', 'contains "c: d"'))
    result = fixed(source, check(source), check, wanted=lambda problem: problem.code == "EV203")
    assert result == Fixed(suite('contains "a"', 'contains "c: d"'), 1)


def test_many_fixes_at_once() -> None:
    text = "suite: a\neval:\n  test_cases:\n" + "".join(
        f'    - {{name: c{number}, message: hi, validate: [contains "a, {number}"]}}\n' for number in range(500)
    )
    assert fix(text).fixes == 500


def test_a_span_that_does_not_hold_the_text_is_not_edited() -> None:
    source = Source("a.eval.yaml", "a: {{b}}\nc: d\n")
    assert edit_for(problem_at(source, "{{b}}", UnquotedTemplate(quoted="'{{b}}'"))) == Edit(3, 8, "'{{b}}'")
    assert edit_for(problem_at(source, "{{b}}", UnquotedTemplate(quoted="'{{c}}'"))) is None
    assert edit_for(problem_at(source, "{{b}}\nc", UnquotedTemplate(quoted="'{{b}} c'"))) is None
    assert edit_for(problem_at(source, "a", CommentInString(quoted="'longer than all of it'"))) is None


@pytest.mark.parametrize("entry", FIXABLE, ids=lambda entry: str(entry.code))
def test_every_finding_that_says_so_can_be_fixed(entry: type[Finding]) -> None:
    examples = {
        "EV201": suite("non-empty").replace("name", "Name"),
        "EV202": suite("{contains: hi}"),
        "EV203": suite('Contains "a"'),
        "EV204": suite('contains "a" for Clarity').replace("  test", "  criteria: ['clarity (1): C']\n  test"),
        "EV301": suite("non-empty", rest="      tags: smoke\n"),
        "EV302": suite("non-empty", rest="      tier: Labeled\n"),
    }
    text = examples.get(entry.code) or split_docstring(entry).example
    assert entry.code in {problem.code for problem in check(Source("a.eval.yaml", text))}
    result = fix(text)
    assert result.fixes == 1
    assert check(Source("a.eval.yaml", result.text)) == ()


@pytest.mark.parametrize("code", [code for code, entry in findings().items() if split_docstring(entry).example])
def test_a_fix_never_makes_more_errors(code: str) -> None:
    """Of all examples of the catalogue: those that are fixed have fewer problems, the others are left as they are."""
    text = split_docstring(findings()[code]).example
    name = "a.json" if text.startswith("{") else "a.eval.yaml"
    before = len(check(Source(name, text)))
    result = fix(text, name)
    after = len(check(Source(name, result.text)))
    assert (after < before) if result.fixes else (result.text == text)


LINES = st.lists(
    st.sampled_from(
        [
            'contains "a: b"',
            'contains "a #b"',
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
    text = suite(*[f'Contains "{number}"' for number in range(30)])
    source = Source("a.eval.yaml", text)
    problems = check(source)
    calls = 0

    def spiteful(after: Source) -> Sequence[Problem]:
        nonlocal calls
        calls += 1
        at = after.text.index("contains")
        return [Problem(source=after, span=Span(at, at + 8), finding=problems[0].finding, severity="error")]

    assert fixed(source, problems, spiteful, wanted=lambda _: True) == Fixed(text, 0)
    assert calls == 10
