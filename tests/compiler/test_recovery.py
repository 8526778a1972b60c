"""One mistake on which much hangs is reported alone, without follow-on errors."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import evalc

ALONE = {
    "a misspelt list of criteria": (
        "eval: {criterai: [r], test_cases: [{name: a, message: x, validate: [json for r]}]}\n",
        ["1:8 EV201"],
    ),
    "misspelt rules": (
        "rulse: {r: [json]}\neval: {test_cases: [{name: a, message: x, validate: [{use: r}]}]}\n",
        ["1:1 EV201"],
    ),
    "misspelt inputs of a case": (
        "prompt: '{{a}}'\neval: {test_cases: [{name: a, input: {a: x}, validate: ['contains \"{{a}}\"']}]}\n",
        ["2:31 EV201"],
    ),
    "inputs that are no declarations": (
        "inputs: 3\nprompt: '{{a}}'\neval: {test_cases: [{name: a, inputs: {b: 1}, validate: [json]}]}\n",
        ["1:9 EV301"],
    ),
    "a prompt that is nowhere": (
        "prompt_id: no\neval: {test_cases: [{name: a, inputs: {b: x}, validate: ['contains \"{{a}}\"']}]}\n",
        ["1:12 EV209"],
    ),
    "defaults that are not brought": (
        "include: no.yaml\neval: {test_cases: [{name: a, message: '{{x}}'}]}\n",
        ["1:10 EV600"],
    ),
    "a dimension that stands twice as it is": (
        "eval: {test_cases: [{name: a, message: x, rubric: [&d {dimension: d, maxScore: 5, criteria: c}, *d]}]}\n",
        ["1:67 EV206"],
    ),
    "misspelt repetitions": (
        "eval: {test_cases: [{name: a, message: x, reepat: 3, require: 2/3, validate: [json]}]}\n",
        ["1:43 EV201"],
    ),
    "a helper of nobody in a block": (
        (
            "prompt: '{{#if a}}{{#foreach b}}x{{/each}}{{/if}}'\n"
            "eval: {test_cases: [{name: a, inputs: {a: x, b: [y]}, validate: [json]}]}\n"
        ),
        ["1:22 EV153"],
    ),
    "an anchor within a value that is never closed": (
        "rules:\n  r: &r [json\neval:\n  test_cases:\n    - {name: a, message: x, validate: *r}\n",
        ["2:9 EV104"],
    ),
    "an anchor within lines that a tab indents": (
        "rules:\n\tr: &r [json]\neval:\n  test_cases:\n    - {name: a, message: x, validate: *r}\n",
        ["2:1 EV101"],
    ),
    "a tab in a row": (
        (
            "eval:\n  test_cases:\n    - name: a\n      message: '{{q}} {{r}}'\n      validate: [json]\n"
            "      for_each:\n        - {id: x, q: 1, r: 1}\n        - id: y\n          q: 2\n\t\tr: 2\n"
        ),
        ["10:1 EV101"],
    ),
}

BOTH = {
    "a link to nothing beside a criterion whose name is legible": (
        "eval: {criteria: ['a (x)'], test_cases: [{name: a, message: x, validate: [json for a, non-empty for q]}]}\n",
        ["1:23 EV131", "1:101 EV204"],
    ),
    "an input of nobody beside a declaration whose name is legible": (
        (
            "prompt: '{{a}}'\ninputs: {a: {required: perhaps}}\n"
            "eval: {test_cases: [{name: a, inputs: {b: x}, validate: [json]}]}\n"
        ),
        ["2:24 EV301", "3:40 EV207"],
    ),
    "a block too many behind a helper of nobody": (
        (
            "prompt: '{{#iff a}}x{{else}}y{{/if}}{{/if}}'\n"
            "eval: {test_cases: [{name: a, inputs: {a: x}, validate: [json]}]}\n"
        ),
        ["1:13 EV153", "1:37 EV152"],
    ),
}


@pytest.mark.parametrize("name", [*ALONE, *BOTH])
def test_mistakes_beside_a_syntax_error_are_found(name: str) -> None:
    text, expected = (ALONE | BOTH)[name]
    problems = evalc.check(evalc.Source("x.eval.yaml", text))
    assert [f"{problem.start.line}:{problem.start.column} {problem.code}" for problem in problems] == expected


TORN = st.sampled_from(
    (
        "inputs: {q: hi",
        "inputs: {q: [a, {b: c",
        "inputs: {q: hi # x",
        "tags: [x, y",
        "tags: [a, b]]",
        "tags: ['a' 'b']",
        'tags: [a, "b',
        "tags: [a, tools called [b]]",
        "tags:\n      - [x, y",
        "tags: [\n        a, b",
        "tags: [\n        'a' 'b'\n      ]",
        "tags: [\n\n      a,\n      b\n",
        "inputs: {\n      }}",
        'description: "never closed',
        "description: 'it's'",
        "description: 'never\n        closed",
        "description: 'never\n        closed:",
        "tags: [\n        -",
        'description: "over\n        two" lines',
        'description: "a\\d"',
        "description: 'x' y",
        "it's: [a",
    )
)


@given(st.lists(TORN, min_size=1, max_size=3), st.sampled_from(("\n", "\r\n")))
def test_a_value_without_an_end_hides_nothing_below_it(torn: list[str], line_end: str) -> None:
    wrong = '      validate:\n        - contians "x"\n'
    cases = [f"    - name: a{number}\n      message: hi\n      {each}\n{wrong}" for number, each in enumerate(torn)]
    text = "eval:\n  test_cases:\n" + "".join(cases) + "    - name: b\n      message: hi\n" + wrong
    found = [p for p in evalc.check(evalc.Source("x.eval.yaml", text.replace("\n", line_end))) if p.code != "EV201"]
    below = [number for number, line in enumerate(text.split("\n"), 1) if "contians" in line]
    assert [problem.start.line for problem in found if problem.code == "EV203"] == below
    assert len(found) == len(below) + len(torn), "one message for each value"


BELOW = """\
eval:
  tests:
    - name: a
      vars: {q: x}
      message: '{{q}}'
      assert:
        - contians "x"
    - name: b
      turn:
        - user: hi
          expect:
            - contians "x"
      stubs: {t: {wen: {a: 1}, answer: 1}}
"""


def test_below_a_key_of_other_tools_mistakes_are_found() -> None:
    problems = evalc.check(evalc.Source("x.eval.yaml", BELOW))
    assert [f"{problem.start.line} {problem.code}" for problem in problems] == [
        "2 EV201",
        "4 EV201",
        "6 EV201",
        "7 EV203",
        "9 EV201",
        "10 EV201",
        "11 EV201",
        "12 EV203",
        "13 EV201",
    ]


@pytest.mark.parametrize(
    "lines", ["asserting: [contians]", "timeout: [x]", "env: {x: y}", "assert: contians", "turn: {}"]
)
def test_nothing_is_said_of_what_is_below_a_key_that_may_mean_anything(lines: str) -> None:
    text = f"eval:\n  test_cases:\n    - name: a\n      message: hi\n      {lines}\n      validate: [json]\n"
    assert [problem.code for problem in evalc.check(evalc.Source("x.eval.yaml", text))] == ["EV201"]


WHOLE = """\
suite: s
prompt: "{{q}}"
inputs:
  q: {required: true}
  tone: {default: kind}
rules:
  polite: &polite
    - contains "please"
    - length <= 9
defaults:
  inputs:
    tone: rude
  stubs:
    book: {rooms: 3}
eval:
  criteria:
    - "facts (0.5): Right."
    - "style (0.5): Kind."
  test_cases:
    - name: a
      inputs:
        q: one
      validate:
        - use: polite
        - contains "x" for facts
        - json for style
    - name: b
      for_each:
        - {id: x, city: Rome}
        - id: y
          city: Oslo
      turns:
        - say: "{{city}}"
          validate: *polite
        - say: |
            and
            then
          validate:
            - tools called [book]
      validate:
        - contains "{{city}}"
    - name: c
      inputs: {q: x}
      expected: over
        two lines
      repeat: 3
      require: 2/3
      validate: [length <= 9]
"""
MOST = WHOLE.count("\n")


@given(st.sets(st.integers(0, MOST - 1), min_size=1, max_size=4), st.sampled_from(("\n", "\r\n")))
@example(set(), "\n")
def test_a_tab_brings_about_no_other_error(tabs: set[int], line_end: str) -> None:
    whole = WHOLE.split("\n")
    columns = {at: len(whole[at]) - len(whole[at].lstrip()) for at in tabs}
    # Lines in a row that the same tabs indent are of one block.
    assume(all(columns.get(at + 1, column) == column for at, column in columns.items()))
    lines = [f"\t{line.lstrip()}" if at in tabs else line for at, line in enumerate(whole)]
    found = evalc.check(evalc.Source("x.eval.yaml", line_end.join(lines)))
    assert {problem.code for problem in found if problem.severity == "error"} <= {"EV101"}


@pytest.mark.parametrize("torn", ["\t  validate:\n\t\t- json", "\ttags: [a]", "      validate:\n\t- json", "\t- json"])
def test_a_tab_hides_nothing_below_its_case(torn: str) -> None:
    wrong = '      validate:\n        - contians "x"\n'
    text = f"eval:\n  test_cases:\n    - name: a\n      message: hi\n{torn}\n    - name: b\n      message: hi\n{wrong}"
    found = [problem.code for problem in evalc.check(evalc.Source("x.eval.yaml", f"{text}rulse: 3\n"))]
    assert found == ["EV101", "EV203", "EV201"]


@pytest.mark.parametrize("by", [-1, 1])
def test_a_line_that_is_indented_otherwise_brings_about_no_other_error(by: int) -> None:
    lines = WHOLE.split("\n")
    lost = 0
    for at, line in enumerate(lines):
        moved = f" {line}" if by > 0 else line.removeprefix(" ")
        text = "\n".join([*lines[:at], moved, *lines[at + 1 :]])
        found = [each.code for each in evalc.check(evalc.Source("x.eval.yaml", text)) if each.severity == "error"]
        assert "EV105" not in found or found == ["EV105"]
        lost += found == ["EV105"]
    assert lost > 10


WRONG = """\
    - name: b
      message: hi
      tgs: [x]
      validate:
        - contians "x"
rulse: 3
"""


@pytest.mark.parametrize(
    ("torn", "code"),
    [
        ("     validate:\n        - json", "EV105"),
        ("     validate:\n     - json", "EV105"),
        ("     validate: [json]", "EV105"),
        ("      validate:\n       - json\n      - json\n        - json", "EV105"),
        ("   - name: c\n      message: hi\n      validate:\n        - json", "EV105"),
        ("     - name: c\n       message: |\n        - x\n       validate:\n        - json", "EV105"),
        ("\tvalidate:\n        - json", "EV101"),
        ("\ttags: [a]\n      skip: no", "EV101"),
    ],
)
def test_a_line_that_fits_nowhere_hides_nothing_of_other_cases(torn: str, code: str) -> None:
    text = f"eval:\n  test_cases:\n    - name: a\n      message: hi\n{torn}\n{WRONG}"
    found = [problem.code for problem in evalc.check(evalc.Source("x.eval.yaml", text))]
    assert found == [code, "EV201", "EV203", "EV201"]


@pytest.mark.parametrize(
    "outer",
    [
        "eval:\n\ttest_cases:",
        "eval: # cases\n\n\tcriteria: ['a (1): b']\n\ttest_cases:",
        "eval:\n\tcriteria:\n\t\t- 'a (1): b'\n\ttest_cases:",
        "eval:\n\tcriteria:\n\t- 'a (1): b'\n\ttest_cases:",
        "eval:\n\tcriteria:\n    - 'a (1): b'\n  test_cases:",
        "suite: s\n\ttier: golden\neval:\n  test_cases:",
    ],
)
def test_a_tab_before_a_key_of_an_outer_level_hides_no_case(outer: str) -> None:
    found = [problem.code for problem in evalc.check(evalc.Source("x.eval.yaml", f"{outer}\n{WRONG}"))]
    assert found == ["EV101", "EV201", "EV203", "EV201"]


def test_a_file_whose_lines_tabs_indent_is_read_as_if_each_were_a_space() -> None:
    text = WRONG.replace("    ", "\t\t").replace("\t\t\t\t", "\t\t\t\t\t")
    found = [problem.code for problem in evalc.check(evalc.Source("x.eval.yaml", f"eval:\n\ttest_cases:\n{text}"))]
    assert found == ["EV101", "EV201", "EV203", "EV201"]
