"""An import names each change at its place: nothing is dropped or read otherwise in silence."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics, Problem
from evalc.extras.importers import import_prompt_spec
from evalc.extras.importers.promptfoo import import_promptfoo
from evalc.extras.importers.promptfoo_assertions import TYPES
from evalc.extras.importers.promptfoo_tests import rows_of
from evalc.model.case import Case


def imported(text: str, folder: Path = Path()) -> tuple[list[Case], list[Problem], str]:
    problems = Diagnostics()
    suite = import_promptfoo(Source(str(folder / "promptfooconfig.yaml"), dedent(text)), folder, problems)
    assert suite is not None, [str(problem) for problem in problems]
    compilation = evalc.compile(Source(str(folder / "s.eval.yaml"), suite.text))
    cases = [case for compiled in compilation.suites for case in compiled.cases()]
    return cases, list(problems), suite.text


def of_table(rows: list[dict[str, str]], folder: Path) -> tuple[list[Case], list[Problem], str]:
    written = io.StringIO()
    table = csv.DictWriter(written, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "t.csv").write_text(written.getvalue())
    return imported("prompts: ['{{q}}']\ntests: file://t.csv\n", folder)


def messages(problems: list[Problem]) -> list[str]:
    return [problem.finding.message() for problem in problems]


def test_all_types_of_assertions_are_known() -> None:
    assert len(TYPES) == 66


@pytest.mark.parametrize("written", sorted(f"{negation}{type_}" for type_ in TYPES for negation in ("", "not-")))
@pytest.mark.parametrize("behind", ["", ": x", "(0.5): x"])
def test_no_type_is_read_as_a_text_to_equal(written: str, behind: str) -> None:
    ((row, _),) = rows_of(Source("t.csv", f"q,__expected\na,{written}{behind}\n"), ",")
    ((_, _, fields),) = row.assertions
    assert fields["type"] == written
    assert fields.get("value") in (None, "x")


@given(
    st.sampled_from(sorted(TYPES)), st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
)
def test_any_other_text_is_what_the_output_has_to_equal(type_: str, behind: str) -> None:
    text = f"{type_}-{behind}"
    written = text.replace('"', '""')
    ((row, _),) = rows_of(Source("t.csv", f'q,__expected\na," {written} "\n'), ",")
    ((_, _, fields),) = row.assertions
    if fields["type"] == "equals":
        assert fields["value"] == text.strip()
    else:
        assert text.startswith(fields["type"])


def test_a_type_that_no_check_means_is_named(tmp_path: Path) -> None:
    cases, problems, _ = of_table([{"q": "a", "__expected": "bleu(0.5): x", "__expected2": "contains: y"}], tmp_path)
    assert [case.expect.response_contains for case in cases] == [("y",)]
    assert messages(problems) == [
        "not imported: `bleu: x`: words that are shared are not counted; nearest is `similar to`"
    ]
    assert problems[0].start.line == 2


def test_quotes_and_spaces_in_a_table_are_read_as_promptfoo_does(tmp_path: Path) -> None:
    rows = [{"q": "a", "__expected": ' contains-any: "a,b", foo'}, {"q": "b", "__expected": "  Hello  "}]
    _, problems, text = of_table(rows, tmp_path)
    assert not problems
    assert '- contains any of ["a,b", "foo"]\n' in text
    assert '[equals "Hello"]\n' in text


def test_metadata_of_a_table_is_kept(tmp_path: Path) -> None:
    row = {"q": "a", "__expected": "x", "__metadata:topic": "t", "__metadata:labels[]": r"a, b\,c", "__metadata": "z"}
    cases, problems, text = of_table([row], tmp_path)
    assert len(cases) == 1
    assert "topic: t" in text
    assert 'labels: [a, "b,c"]' in text or "labels:" in text
    assert messages(problems) == ["not imported: `__metadata`: it names no key"]


def test_cells_without_effect_are_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "t.csv").write_text("q,__expected, __threshold\na,x,half,more\n")
    cases, problems, _ = imported("prompts: ['{{q}}']\ntests: file://t.csv\n", tmp_path)
    assert len(cases) == 1
    assert messages(problems) == [
        "not imported: `__threshold`: `half` is not a number",
        "not imported: `more`: it has no heading",
    ]


def test_a_threshold_of_a_table_that_no_test_reaches_loses_the_test(tmp_path: Path) -> None:
    rows = [{"q": "a", "__expected": "x", "__threshold": "1e999"}, {"q": "b", "__expected": "x", "__threshold": ""}]
    cases, problems, _ = of_table(rows, tmp_path)
    assert [case.input.message for case in cases] == ["b"]
    assert messages(problems) == ["not imported: a test: with `threshold: inf`, promptfoo passes it always, or never"]


@pytest.mark.parametrize(("says", "expected"), [("true", ("own",)), ("false", ("all", "own")), ("x", ("all", "own"))])
def test_a_test_may_do_without_the_default_assertions(says: str, expected: tuple[str, ...]) -> None:
    cases, problems, _ = imported(f"""\
        prompts: ['{{{{q}}}}']
        defaultTest: {{vars: {{q: hi}}, assert: [{{type: contains, value: all}}]}}
        tests:
          - {{options: {{disableDefaultAsserts: {says}}}, assert: [{{type: contains, value: own}}]}}
          - {{assert: [{{type: contains, value: own}}]}}
        """)
    assert not problems
    assert [case.expect.response_contains for case in cases] == [expected, ("all", "own")]
    assert [case.input.message for case in cases] == ["hi", "hi"]


def test_a_number_that_promptfoo_never_passes_is_named() -> None:
    _, problems, text = imported(
        "prompts: [Hi]\ntests: [{assert: [{type: starts-with, value: 42}, {type: contains, value: 4}]}]\n"
    )
    assert "starts with" not in text
    assert messages(problems) == ["not imported: `starts-with`: promptfoo takes only a text here, and never passes it"]


def test_folding_of_letters_is_named_once() -> None:
    _, problems, text = imported("""\
        prompts: [Hi]
        tests:
          - assert: [{type: icontains, value: fine}, {type: not-icontains, value: x}]
          - assert: [{type: icontains-all, value: [a, b]}]
        """)
    assert [(problem.code, problem.start.line) for problem in problems] == [("EV655", 3)]
    assert text.count("# imported with a difference: `icontains`") == 1


def test_a_variable_loses_its_last_line_break() -> None:
    cases, _, _ = imported("""\
        prompts: ['<{{q}}>']
        tests:
          - vars:
              q: |+
                two
                lines

            assert: [{type: contains, value: x}]
        """)
    assert [case.input.message for case in cases] == ["<two\nlines\n>"]


def test_keys_of_prompts_scenarios_and_members_of_sets_are_named() -> None:
    _, problems, _ = imported("""\
        prompts: [{raw: Hi, label: greeting}]
        scenarios:
          - description: all
            config: [{vars: {q: a}}]
            tests:
              - assert: [{type: assert-set, assert: [{type: contains, value: x, metric: m, provider: p}]}]
        """)
    assert [(problem.start.line, problem.finding.message().split(":")[1].strip()) for problem in problems] == [
        (3, "`description` of the scenario"),
        (6, "`metric` of `assert-set`"),
        (6, "`provider` of `assert-set`"),
    ]


def of_examples(text: str) -> list[str]:
    problems = Diagnostics()
    assert import_prompt_spec(Source("p.yaml", f"id: p\nprompt: '{{{{q}}}}'\nexamples:\n{dedent(text)}"), problems)
    return messages(list(problems))


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("{name: a, inputs: {q: 1}, expected_output: x}", []),
        ("{inputs: {q: 1}, description: d, expected_output: x}", []),
        ("{input: {q: 1}, expected_output: x}", ["not imported: `input` of example 1: an example has `inputs`"]),
        ("{inputs: [1], expected_output: x}", ["not imported: `inputs` of example 1: inputs are a mapping"]),
        ("{inputs: , expected_output: x}", []),
        (
            "{zzz: 1, expected_output: x}",
            ["not imported: `zzz` of example 1: it has no counterpart here"],
        ),
    ],
)
def test_keys_of_an_example_that_are_not_read_are_named(example: str, expected: list[str]) -> None:
    assert of_examples(f"- {example}\n") == expected
