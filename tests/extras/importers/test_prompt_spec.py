"""The examples of PromptOS prompt files become cases that compile and run."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalc
from evalc.diagnostics import Diagnostics
from evalc.extras.importers import import_source
from evalc.extras.importers.imported import Imported

PROMPT = """\
id: summary-v1
prompt: Summarise {{text}}.
inputs: [{name: text}]
examples:
  - name: A greeting
    inputs: {text: Hello}
    expected_output: Hi
  - inputs: {text: "Use {{braces}}"}
    expected_output: "Says {{seed:a}} and {{if}}"
"""


def imported(text: str) -> tuple[Imported | None, list[str]]:
    problems = Diagnostics()
    made = import_source(evalc.Source("summary.yaml", text), "auto", Path(), problems)
    return made, [str(problem) for problem in problems]


def test_examples_become_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "summary.yaml").write_text(PROMPT)
    made, notes = imported(PROMPT)
    assert made is not None
    assert (made.file_name, made.cases, notes) == ("summary-v1.cases.yaml", 2, [])
    assert made.text.startswith("# Imported from the examples of summary.yaml.\n")
    compilation = evalc.compile(made.write(tmp_path))
    assert not compilation.has_errors
    (suite,) = compilation.suites
    assert [(case.id.partition("/")[2], case.input.message, case.expected) for case in suite.cases()] == [
        ("a_greeting", "Summarise Hello.", "Hi"),
        ("example_2", "Summarise Use {{braces}}.", "Says {{seed:a}} and {{if}}"),
    ]


def test_an_example_without_an_output_is_reported() -> None:
    made, notes = imported(PROMPT.replace("    expected_output: Hi\n", ""))
    assert made is not None
    assert "non-empty" in made.text
    assert notes == [
        "summary.yaml:5:5: warning[EV651]: not imported: what example 1 expects: it has no `expected_output`"
    ]


def test_an_output_that_is_data_becomes_its_json() -> None:
    made, notes = imported(PROMPT.replace("expected_output: Hi", "expected_output: {a: [1, true]}"))
    assert made is not None
    assert '{"a":[1,true]}' in made.text.replace(" ", "")
    assert notes == []


def test_a_prompt_without_examples_is_nothing_to_import() -> None:
    made, notes = imported(PROMPT.partition("examples:")[0])
    assert made is None
    assert "EV652" in notes[0]


def test_an_example_that_is_no_mapping_is_reported() -> None:
    made, notes = imported(PROMPT + "  - just a text\n")
    assert made is not None
    assert made.cases == 2
    assert notes == ["summary.yaml:10:5: warning[EV651]: not imported: example 3: it is not a mapping"]
