"""Values of promptfoo's variables and assertions that are in files, in the environment or made elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Diagnostics
from evalc.extras.importers import import_source
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


def of_file(name: str) -> str:
    return f"prompts: ['{{{{a}}}}']\ntests: [{{vars: {{a: file://{name}}}, assert: [{{type: is-json}}]}}]\n"


@pytest.mark.parametrize("name", ["main.tf", "system.j2", "LICENSE", "a.jsonc"])
def test_a_variable_is_the_text_of_its_file_whatever_its_ending(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("  some text\n")
    suite, _ = imported(of_file(name), tmp_path)
    assert suite is not None
    assert "inputs: {a: some text}" in suite.text


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.py", "in its variable `a`, `a.py` is code, and an eval file runs none"),
        ("a.TS", "in its variable `a`, `a.TS` is code, and an eval file runs none"),
        (".env", "its variable `a` is in a file: `.env` may hold secrets"),
        ("x/.env.local", "its variable `a` is in a file: `x/.env.local` may hold secrets"),
        ("nowhere.txt", "its variable `a` is in a file: there is no file"),
    ],
)
def test_a_variable_of_code_or_secrets_is_not_read(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    if name != "nowhere.txt":
        (tmp_path / name).write_text("SECRET")
    suite, said = imported(of_file(name), tmp_path)
    assert suite is None
    assert any(why in each for each in said)


@pytest.mark.parametrize("name", ["a.PNG", "a.svg", "a.mp3", "a.pdf"])
def test_a_picture_is_sent_as_its_path(name: str, tmp_path: Path) -> None:
    suite, said = imported(of_file(name), tmp_path)
    assert suite is not None
    assert (suite.cases, suite.weaker) == (1, 1)
    assert f"inputs: {{a: {name}}}" in suite.text
    why = "it is the path of a file, of which promptfoo sends what it holds"
    assert f"imported with a difference: the variable `a`: {why}" in said


def test_a_variable_that_cannot_be_filled_is_left_out_with_those_that_use_it(tmp_path: Path) -> None:
    text = """\
prompts: ['{{a}} {{b}} {{c}} {{q}}']
defaultTest: {vars: {a: "{% include 'x' %}", b: 'see {{a}}', c: 'and {{b}}'}}
tests:
  - {vars: {q: 'ask {{a}}'}, assert: [{type: is-json}]}
  - vars: {q: hi}
    assert: [{type: contains, value: x}, {type: contains, value: '{{c}}'}, {type: contains, value: '{{q}}!'}]
"""
    suite, said = imported(text, tmp_path)
    assert suite is not None
    assert (suite.cases, suite.weaker, suite.lost) == (1, 1, 1)
    assert "not imported: a test: in its variable `q`, `include` in a template is not known here" in said
    assert "inputs: {q: hi}" in suite.text
    left_out = [each for each in said if each.startswith("not imported: the variable")]
    assert [each.partition("`: ")[0][-1] for each in left_out] == ["a", "b", "c"]
    assert "not imported: `contains: {{c}}`: `c` is not known here" in said
    assert "contains any of" not in suite.text
    assert "{{q}}!" in suite.text


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
    assert [each for each in said if "`contains: " in each] == [
        "not imported: `contains: file://template.txt`: there is a template inside of `file://template.txt`"
    ]
    assert not [each for each in evalc.check(suite.write(tmp_path)) if each.severity == "error"]


ENVIRONMENT = """\
prompts: ['{{skill}} {{cmd}} {{lang}} {{q}}']
env: {GIVEN: there}
defaultTest:
  vars:
    skill: file://{{env.ROOT}}/SKILL.md
    cmd: say {{ env.WORD }} {{env.GIVEN}}
    lang: "{{ env.LANG | default('en') }}"
tests:
  - vars: {q: one}
    assert:
      - {type: contains, value: x}
      - {type: contains, value: 'of {{skill}}'}
      - {type: javascript, value: context.vars.cmd.length > 1}
      - {type: contains, value: 'of {{q}}'}
  - vars: {q: two, skill: own}
    assert: [{type: contains, value: '{{skill}}'}]
"""


def test_the_environment_is_neither_read_nor_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROOT", "WORD", "GIVEN", "LANG"):
        monkeypatch.setenv(name, "SECRET")
    suite, said = imported(ENVIRONMENT, tmp_path)
    assert suite is not None
    assert "SECRET" not in suite.text
    assert (suite.cases, suite.weaker, suite.lost) == (2, 2, 0)
    compiled = evalc.compile(suite.write(tmp_path))
    sent = [case.input.message for each in compiled.suites for case in each.cases()]
    assert sent == [" say  there en one", "own say  there en two"]
    assert suite.text.count("the variable `skill`: the environment is not read, and `{{env.ROOT}}` names its file") == 1
    assert [each for each in said if "is not known here" in each] == [
        "not imported: `contains: of {{skill}}`: `skill` is not known here",
        "not imported: `javascript`: `cmd` is not known here",
    ]
    assert 'contains "of {{q}}"' in suite.text


def test_assertions_that_use_variables_made_by_code_are_left_out(tmp_path: Path) -> None:
    options = "defaultTest: {options: {transformVars: '{ ...vars, b: Date.now() }'}}\n"
    tests = """\
tests:
  - vars: {a: x}
    assert:
      - {type: contains, value: x}
      - {type: contains, value: '{{b}}'}
      - {type: javascript, value: output === context.vars.a}
      - {type: javascript, value: 'file://check.js:of_vars'}
      - {type: javascript, value: file://linked.js}
      - {type: javascript, value: file://plain.js}
"""
    suite, said = imported(
        f"prompts: ['{{{{a}}}} {{{{b}}}}']\n{options}{tests}",
        tmp_path,
        check__js="module.exports = { of_vars: (output, { vars }) => vars.a === output };",
        linked__js="const own = require('./check.js');\nmodule.exports = (text, all) => own.of_vars(text, all);",
        plain__js="module.exports = (output) => output.length > 1;",
    )
    assert suite is not None
    assert (suite.cases, suite.weaker) == (1, 1)
    assert sum("code makes a variable that it may use" in each for each in said) == 4
    assert "- check plain() > 0\n" in suite.text
    assert 'contains "x"' in suite.text
    assert any(each.startswith("not imported: `transformVars`") for each in said)


def test_an_answer_that_is_stored_is_missing_only_where_it_is_used(tmp_path: Path) -> None:
    text = """\
prompts: ['{{q}}']
tests:
  - {vars: {q: one}, options: {storeOutputAs: first}, assert: [{type: contains, value: x}]}
  - {vars: {q: '{{first}}?'}, assert: [{type: contains, value: x}]}
  - {vars: {q: three}, assert: [{type: contains, value: '{{first}}'}, {type: contains, value: y}]}
"""
    suite, said = imported(text, tmp_path)
    assert suite is not None
    assert (suite.cases, suite.weaker, suite.lost) == (2, 1, 1)
    assert "not imported: a test: its variable `q` uses the answer to another test" in said
    assert "not imported: `contains: {{first}}`: `first` is not known here" in said


def test_a_folder_is_sent_as_its_path_where_code_makes_variables(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    options = "defaultTest: {options: {transformVars: 'load(vars)'}}\n"
    suite, _ = imported(options + of_file("fixtures"), tmp_path)
    assert suite is not None
    assert "file://fixtures" in suite.text
    assert imported(of_file("fixtures"), tmp_path)[0] is None


@pytest.mark.parametrize("ending", ["js", "ts", "mjs", "py"])
def test_a_configuration_in_code_is_refused_for_what_it_is(ending: str) -> None:
    problems = Diagnostics()
    source = Source(f"promptfooconfig.{ending}", "export default { prompts: ['Hi'] };\n")
    assert import_source(source, "auto", Path(), problems) is None
    (problem,) = problems
    assert problem.finding.message().endswith("it is code, which is not run; import the JSON that it makes")


def test_files_of_code_that_export_the_same_name_are_not_both_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
prompts: ['Hi {{a}}']
tests:
  - {vars: {a: x}, assert: [{type: javascript, value: 'file://one.js:first'}]}
  - {vars: {a: y}, assert: [{type: javascript, value: 'file://two.js:second'}]}
"""
    code = "exports.NAME = (output) => output === 'NAME';\nexports.same = (output) => output === 'FILE';\n"
    files = {
        f"{file}__js": code.replace("NAME", name).replace("FILE", file)
        for file, name in (("one", "first"), ("two", "second"))
    }
    suite, _ = imported(text, tmp_path, **files)
    assert suite is not None
    suite.write(tmp_path)
    (tmp_path / "evalc.toml").write_text(f"checks = {list(suite.checks)}\n")
    run = evalc.run(str(tmp_path / suite.file_name), agent=lambda message: "first", save=False)
    assert [str(case.status) for case in run.cases] == ["passed", "failed"]
