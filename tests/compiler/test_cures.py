"""Every cure that a message proposes, applied: the mistake is gone, and nothing new stands in its place."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import evalc
from evalc.diagnostics import Problem
from evalc.diagnostics.catalogue import entries
from evalc.diagnostics.fixing import applied, fixed

CHECKS = (
    'matches regex "[0-9]+"',
    'not matches pattern "[0-9]+"',
    "matches [0-9]+",
    'is "x"',
    'is not "x"',
    'isn\'t "x"',
    'must not contain "x"',
    'should contain "x"',
    'no "x"',
    "contains hello",
    "Contains hello",
    "containz hello",
    'containz "x"',
    'contain "x"',
    'contains: "x"',
    "contains: hi",
    "icontains hi",
    'contains at least 1 of ["a", "b"]',
    'contains at least 2 of ["a", "b"]',
    'contains at least 2 of ["a", "b", "c"]',
    'judge "ok?" >= 4',
    "max length 100",
    "max length 100 words",
    "max tokens: 100",
    "min length 3",
    "max cost $0.02",
    "max tool count 3",
    "length under 100",
    "length < 100 words",
    "tokens: 100",
    "latency: 2s",
    "length: 3 sentences",
    "length: 3 words",
    "length 3 words",
    '"tokens: 100"',
    "valid json",
    "not empty",
    "no errors",
    "no tool calls",
    "{cost: 0.02}",
    "{length: 3 sentences}",
    "{contains: hi}",
    "{type: contans, rule: x}",
    "{type: contains, rul: x}",
    "{type: tools_called, rule: refund}",
    '{any_of: contains "a"}',
    '{typ: contains, rule: "a"}',
)
"""Checks as people write them who have not read how."""

WITH_MESSAGE = "message: hi"
WITH_CHECKS = "validate: [non-empty]"
IN_CASES = (
    ("prompt: hi there", WITH_CHECKS),
    ("query: hi there", WITH_CHECKS),
    ("mesage: hi there", WITH_CHECKS),
    ("asserts: [non-empty]", WITH_MESSAGE),
    ("assert: [non-empty]", WITH_MESSAGE),
    ('expect: contains "x"', WITH_MESSAGE),
    ("validate: non-empty", WITH_MESSAGE),
    *(
        (line, f"{WITH_MESSAGE}\n      {WITH_CHECKS}")
        for line in ("tags: smoke", "tier: Labeled", "repeat: '3'", "skip: yes", "dataset: a.csv", "max_turn: 3")
    ),
)
"""Lines of a case, likewise."""

INPUTS = ("{name: x, required: yes}", "{name: x, required: off}", "{name: x, type: sting}", "{name: x, requird: true}")
"""Inputs of a prompt, likewise."""

HEAD = "eval:\n  test_cases:\n    - name: a\n      message: hi\n      validate:\n"
CURED_ELSEWHERE = ("EV153", "EV209")
"""The block of one must still be closed, and the prompt of the other is in another file."""
TEXTS = (
    *(f"{HEAD}        - {line}\n" for line in CHECKS),
    *(f"eval:\n  test_cases:\n    - name: a\n      {line}\n      {rest}\n" for line, rest in IN_CASES),
    *(f"prompt: 'Hi {{{{x}}}}'\ninputs:\n  - {line}\n{HEAD}        - non-empty\n" for line in INPUTS),
    f"prompt: 'Hi {{{{x}}}}'\ninputs: x\n{HEAD}        - non-empty\n",
    f"prompt: Extract from: {{{{text}}}}\ninputs: [text]\n{HEAD}        - non-empty\n",
    *(text for entry in entries().values() if entry.code not in CURED_ELSEWHERE and (text := entry.example)),
)

OFFERS = re.compile(r"write it as `(?![^`]*\.\.\.)|did you mean `")


def problems_of(text: str) -> tuple[evalc.Problem, ...]:
    is_json = text.lstrip().startswith("{")
    return tuple(evalc.check(evalc.Source("a.json" if is_json else "a.eval.yaml", text)))


def cured(problem: Problem) -> str:
    assert problem.fix is not None
    return applied(problem.source.text, [problem.fix.edit])


def codes(problems: tuple[evalc.Problem, ...]) -> Counter[str]:
    return Counter(problem.code for problem in problems)


def is_sound_in_the_end(text: str, before: Counter[str]) -> bool:
    """Whether nothing new is wrong with the syntax, or a further cure leads to where nothing is."""
    problems = problems_of(text)
    new = [problem for problem in problems if problem.code in codes(problems) - before and problem.code[2] in "123"]
    return not new or any(is_sound_in_the_end(cured(problem), before) for problem in new if problem.fix)


CURED = [
    (text, problem.code, cured(problem))
    for text in TEXTS
    for problem in problems_of(text)
    if "\n" in text and problem.source.text == text and problem.fix
]


@pytest.mark.parametrize(("text", "code", "cure"), CURED, ids=lambda value: repr(value)[-60:])
def test_a_cure_cures_what_it_is_proposed_for(text: str, code: str, cure: str) -> None:
    before, after = codes(problems_of(text)), codes(problems_of(cure))
    assert after[code] < before[code], cure
    assert is_sound_in_the_end(cure, before), cure


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text)[-60:])
def test_every_cure_that_a_message_offers_is_an_edit(text: str) -> None:
    for problem in problems_of(text):
        if OFFERS.search(problem.finding.label() + problem.finding.help()) and problem.source.text == text:
            assert problem.fix is not None, str(problem)


@pytest.mark.parametrize("line", CHECKS)
def test_a_check_that_people_write_so_has_a_cure(line: str) -> None:
    problems = problems_of(f"{HEAD}        - {line}\n")
    is_of_language = not any(problem.code[2] in "123" for problem in problems)
    assert is_of_language or any(problem.fix for problem in problems) != (line in WITHOUT_CURE)


WITHOUT_CURE = {
    'isn\'t "x"',
    "length: 3 sentences",
    "{length: 3 sentences}",
    # A word would be dropped.
    'should contain "x"',
    "not empty",
    "no errors",
    "icontains hi",
    # One of several readings would be taken.
    'contains at least 1 of ["a", "b"]',
    'contains at least 2 of ["a", "b"]',
    'contains at least 2 of ["a", "b", "c"]',
    'judge "ok?" >= 0.7',
    'judge "ok?" >= 4',
    "max tokens: 100",
    "max tool count 3",
    "length: 3 words",
    "length 3 words",
    '"tokens: 100"',
}
"""The checks of which only the author can say how they were meant."""

WITHOUT_QUOTES = """\
prompt: Extract from: {{text}}
inputs: [text]
eval:
  test_cases:
    - name: once: upon
      inputs: {text: x}
      mesage: *hi*, Ann
      message: @bot: hi
      validate:
        - contains "a: b" or contains "c: d"
        - containz "x"
      tags:
        - `x`
"""


def test_a_text_without_its_quotes_hides_no_other_mistake() -> None:
    problems = [(problem.start.line, problem.code) for problem in problems_of(WITHOUT_QUOTES)]
    expected = [(1, "EV102"), (5, "EV102"), (7, "EV201"), (7, "EV124"), (8, "EV106"), (10, "EV120"), (11, "EV203")]
    assert problems == [*expected, (13, "EV106")]


def test_a_text_without_its_quotes_is_fixed() -> None:
    text = WITHOUT_QUOTES.replace("      mesage: *hi*, Ann\n", "").replace('containz "x"', "contains Tokyo")
    fixed = evalc_fixed(text)
    assert problems_of(fixed) == ()
    assert "prompt: 'Extract from: {{text}}'\n" in fixed
    assert "      message: '@bot: hi'\n" in fixed
    assert '        - \'contains "a: b" or contains "c: d"\'\n' in fixed


@pytest.mark.parametrize(
    ("written", "sound"),
    [
        ("contains Tokyo", 'contains "Tokyo"'),
        ("contains Tokyo # why", 'contains "Tokyo" # why'),
        ("contains any of Tokyo, Paris", 'contains any of ["Tokyo", "Paris"]'),
    ],
)
def test_a_check_that_is_surely_meant_is_written_by_fix(written: str, sound: str) -> None:
    head = in_a_case("message: hi\n      validate:")
    assert evalc_fixed(f"{head}        - {written}\n") == f"{head}        - {sound}\n"


@pytest.mark.parametrize(
    "written", ["contains hello", "contains: Tokyo", "tools called x", "message: - hi", "a: b # c"]
)
def test_guesses_are_left_to_the_author(written: str) -> None:
    text = in_a_case(f"message: hi\n      validate:\n        - {written}")
    assert evalc_fixed(text) == text


def evalc_fixed(text: str) -> str:
    def check(source: evalc.Source) -> tuple[evalc.Problem, ...]:
        return tuple(evalc.check(source))

    source = evalc.Source("a.eval.yaml", text)
    return fixed(source, check(source), check, selected=lambda _: True).text


def in_a_case(line: str) -> str:
    return f"eval:\n  test_cases:\n    - name: a\n      {line}\n"


@pytest.mark.parametrize(("separator", "called"), [(";", "`;`"), ("\t", "tabs")])
def test_a_table_of_another_separator_is_reported_at_its_header(separator: str, called: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"city{separator}word\nParis{separator}mild\n")
    suite = tmp_path / "a.eval.yaml"
    suite.write_text(in_a_case("for_each: rows.csv\n      message: '{{city}}'\n      validate: [non-empty]"))
    (problem,) = evalc.check(suite)
    assert (problem.code, problem.source.name.endswith("rows.csv"), problem.span) == ("EV613", True, (0, 9))
    assert f"its columns are separated by {called}: use commas" in problem.finding.message()


def test_a_missing_table_is_one_error_however_many_templates_it_would_fill(tmp_path: Path) -> None:
    suite = tmp_path / "a.eval.yaml"
    suite.write_text(
        "prompt: 'Tell {{city}} of {{word}}'\n"
        "eval:\n  test_cases:\n    - name: a\n      for_each: gone.csv\n"
        "      message: 'In {{city}} and {{word}}'\n      validate: ['contains \"{{word}}\"']\n"
    )
    assert [problem.code for problem in evalc.check(suite)] == ["EV600"]


def test_criteria_without_weights_are_not_asked_to_sum_to_anything() -> None:
    case = "{name: a, validate: ['non-empty for tone', 'json for clarity']}"
    text = f"prompt: hi\neval:\n  criteria: [clarity, tone]\n  test_cases: [{case}]\n"
    assert "EV305" not in codes(problems_of(text))
    assert "EV305" in codes(problems_of(text.replace("[clarity, tone]", "['clarity (30%)', 'tone (40%)']")))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("tone 40%", "tone (40%)"),
        ("tone 0.4", "tone (0.4)"),
        ("'tone = 40%: Is it kind?'", "'tone (40%): Is it kind?'"),
        ("tone 40%: Is it kind?", "tone (40%): Is it kind?"),
    ],
)
def test_a_weight_without_brackets_is_no_part_of_a_name(written: str, meant: str) -> None:
    case = "{name: a, validate: ['non-empty']}"
    text = f"prompt: hi\neval:\n  criteria:\n    - {written}\n    - rest (60%)\n  test_cases: [{case}]\n"
    problem, of_their_sum = [each for each in problems_of(text) if each.code == "EV305"]
    assert problem.fix is not None
    assert of_their_sum.fix is None
    mended = applied(text, [problem.fix.edit])
    assert mended == text.replace(written, meant)
    assert "EV305" not in codes(problems_of(mended))


@pytest.mark.parametrize("name", ["level 2", "GPT 4", "top 10", "version 1.2", "'tone (40%)'", "tone: 40%"])
def test_a_number_in_a_name_is_no_weight(name: str) -> None:
    text = f"prompt: hi\neval:\n  criteria:\n    - {name}\n  test_cases: [{{name: a, validate: ['non-empty']}}]\n"
    assert "is part of the name" not in "".join(each.finding.message() for each in problems_of(text))


def test_a_rule_that_cannot_pass_is_pointed_at_rather_than_its_type() -> None:
    text = f'{HEAD}        - {{type: length, rule: "min:500,max:10"}}\n'
    (problem,) = problems_of(text)
    assert (problem.code, text[slice(*problem.span)].strip('"')) == ("EV502", "min:500,max:10")


def test_a_misspelt_key_of_a_long_table_names_the_nearest_keys_alone() -> None:
    (problem,) = problems_of(in_a_case("mesage2: hi\n      message: hi\n      validate: [non-empty]"))
    assert problem.finding.help() == "the nearest keys of a test case are `message`, `messages`"
