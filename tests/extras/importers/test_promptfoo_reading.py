"""What promptfoo reads from files and from elsewhere, as values of variables and of assertions."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics
from evalc.extras.importers.imported import Imported
from evalc.extras.importers.promptfoo import import_promptfoo


def imported(text: str, folder: Path, **files: str) -> tuple[Imported | None, list[str]]:
    """The suite of a configuration beside these files, `name__txt` for `name.txt`, and the messages about it."""
    (folder / "evalc.toml").touch()
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    problems = Diagnostics()
    source = Source(str(folder / "promptfooconfig.yaml"), text)
    return import_promptfoo(source, folder, problems), [each.finding.message() for each in problems]


@pytest.mark.parametrize("name", ["main.tf", "system.j2", "LICENSE", "a.jsonc"])
def test_a_variable_is_the_text_of_its_file_whatever_its_ending(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("  some text\n")
    suite, _ = imported(
        f"prompts: ['{{{{a}}}}']\ntests: [{{vars: {{a: file://{name}}}, assert: [{{type: is-json}}]}}]\n", tmp_path
    )
    assert suite is not None
    assert "inputs: {a: some text}" in suite.text


@pytest.mark.parametrize("name", ["a.PNG", "a.svg", "a.mp3", "a.pdf", "a.py", "a.TS", ".env", ".env.local", "x/.env"])
def test_a_variable_of_code_media_or_secrets_is_not_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / name).write_text("SECRET")
    suite, said = imported(
        f"prompts: ['{{{{a}}}}']\ntests: [{{vars: {{a: file://{name}}}, assert: [{{type: is-json}}]}}]\n", tmp_path
    )
    assert suite is None
    assert any(f"its variable `a` is in a file: `{name}` is no text" in each for each in said)


def test_values_of_assertions_are_read_from_files(tmp_path: Path) -> None:
    suite, said = imported(
        """\
prompts: ['Hi']
tests:
  - vars: {a: x}
    assert:
      - {type: llm-rubric, value: file://rubric.txt, threshold: 0.8}
      - {type: contains-any, value: file://words.yaml}
      - {type: contains-all, value: [plain, file://word.txt]}
      - {type: equals, value: file://data.json}
      - {type: is-json, value: file://schema.yml}
      - {type: contains, value: file://template.txt}
""",
        tmp_path,
        rubric__txt="Is polite.\nIs short.\n",
        words__yaml="[a, b]\n",
        word__txt=" word \n",
        data__json='{"k": 1}',
        schema__yml="type: object\nrequired: [k]\n",
        template__txt="Hello {{a}}",
    )
    assert suite is not None
    for line in ("Is polite.\\nIs short.", 'contains any of ["a", "b"]', 'contains all of ["plain", "word"]'):
        assert line in suite.text
    assert [each for each in said if "`contains`" in each] == [
        "not imported: `contains`: there is a template inside of `file://template.txt`"
    ]
    assert not [each for each in evalc.check(suite.write(tmp_path)) if each.severity == "error"]
