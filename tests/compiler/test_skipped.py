"""Every way in which a file could be skipped: each is reported at its place, or is rightly ignored and counted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

import evalc
from tests.support.command_line import app

CASE: Final = "{name: a, message: hi, validate: [non-empty]}"
CASES: Final = f"test_cases: [{CASE}]\n"
SUITE: Final = f"suite: s\neval: {{test_cases: [{CASE}]}}\n"
JSON_CASE: Final = {
    "id": "gs-a-001",
    "description": "a",
    "input": {"message": "hi"},
    "expect": {"toolsCalled": ["a"], "noToolErrors": True, "responseNonEmpty": True},
}
ENVELOPE: Final = json.dumps({"metadata": {"toolName": "a", "tier": "golden"}, "cases": [JSON_CASE]})
PROMPT: Final = "id: greet\nprompt: Say hi.\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sound.eval.yaml").write_text(f"suite: sound\neval: {{test_cases: [{CASE}]}}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def codes_of(path: str) -> list[str]:
    return [problem.code for problem in evalc.check(path) if problem.source.name != "sound.eval.yaml"]


def misspelt(key: str, key_as_typed: str) -> str:
    return json.dumps({"metadata": {"toolName": "a", "tier": "golden"}, "cases": [JSON_CASE]}).replace(
        f'"{key}"', f'"{key_as_typed}"'
    )


REPORTED: Final[dict[str, tuple[str, str | bytes, list[str]]]] = {
    # eval JSON, known by its name
    "a trailing comma": ("x.golden.json", ENVELOPE[:-1] + ",}", ["EV127"]),
    "an empty golden file": ("x.golden.json", "", ["EV127"]),
    "a golden file of white space": ("x.golden.json", " \n", ["EV127"]),
    "a truncated golden file": ("x.golden.json", ENVELOPE[:-40], ["EV127"]),
    "a golden file in UTF-16": ("x.golden.json", ENVELOPE.encode("utf-16"), ["EV606"]),
    "a golden file in Latin-1": ("x.golden.json", ENVELOPE.replace('"hi"', '"h\xe9"').encode("latin-1"), ["EV605"]),
    "JSON Lines under the name of JSON": ("x.golden.json", f"{ENVELOPE}\n{ENVELOPE}\n", ["EV127"]),
    "a golden file that begins with a comment": ("x.golden.json", f"// cases\n{ENVELOPE}", ["EV127"]),
    "`case` for `cases`": ("x.golden.json", misspelt("cases", "case"), ["EV640"]),
    "`case` for `cases`, under any name": ("x.json", misspelt("cases", "case"), ["EV640"]),
    "every `expect` misspelt": ("x.golden.json", misspelt("expect", "expct"), ["EV201"]),
    "every `expect` of an array misspelt": (
        "x.golden.json",
        json.dumps([{("expct" if key == "expect" else key): value for key, value in JSON_CASE.items()}]),
        ["EV201"],
    ),
    "an empty array of golden cases": ("x.golden.json", "[]", ["EV309"]),
    "a broken labeled file": ("x.labeled.json", "{", ["EV127"]),
    "a broken regression file": ("x.regression.json", "{", ["EV127"]),
    "a broken rubric file": ("x.rubric.json", "{", ["EV127"]),
    "a broken golden file in capitals": ("X.GOLDEN.JSON", "{", ["EV127"]),
    "broken JSON that begins as an envelope": ("x.json", '{"metadata": {}, "cases": [', ["EV127"]),
    # names in other letters
    "an ending in capitals": ("x.eval.YAML", "eval: {test_cases: [{name: a, message: hi}]}\n", ["EV401"]),
    "an ending with one capital": ("x.eval.Yml", "eval: {test_cases: [{name: a, message: hi}]}\n", ["EV401"]),
    "a prompt file in capitals": ("X.PROMPT.YAML", "id: [", ["EV104"]),
    # YAML, known by how it begins
    "a suite in UTF-16": ("s.yaml", SUITE.encode("utf-16"), ["EV606"]),
    "a suite in UTF-32": ("s.yaml", SUITE.encode("utf-32"), ["EV606"]),
    "a suite with NUL": ("s.yaml", SUITE.replace("hi", "h\0i"), ["EV607"]),
    "a suite in Latin-1": ("s.yaml", SUITE.replace("hi", "h\xe9").encode("latin-1"), ["EV605"]),
    "a suite over the limit": ("s.yaml", SUITE + "#" * 33_000_000, ["EV604"]),
    "a suite indented by tabs": ("s.yaml", f"suite: s\neval:\n\ttest_cases: [{CASE}]\n", ["EV101"]),
    "a suite indented by tabs altogether": ("s.yaml", f"\tsuite: s\n\teval:\n\t\ttest_cases: [{CASE}]\n", ["EV101"]),
    "cases beside a misspelt `suite`": ("s.yaml", f"suit: s\n{CASES}", ["EV640"]),
    "cases beside a misspelt `prompt_id`": ("s.yaml", f"promptid: p\n{CASES}", ["EV209", "EV640"]),
    "cases beside a misspelt `eval`": ("s.yaml", f"evl: s\n{CASES}", ["EV640"]),
    "a broken file with the name of cases": ("x.cases.yaml", "a: [", ["EV104"]),
    "a broken file with the name of a prompt": ("x.prompt.yaml", "a: [", ["EV104"]),
    # parts of files
    "a second document that is no suite": ("s.yaml", f"{SUITE}---\nfoo: bar\n", ["EV640"]),
    "a first document that is no suite": ("s.yaml", f"foo: bar\n---\n{SUITE}", ["EV640"]),
    "a second document with a misspelt `eval`": ("s.yaml", f"{SUITE}---\nsuite: t\nevl: {{{CASES}}}\n", ["EV640"]),
    "`evaluation` for `eval`": ("s.yaml", f"suite: s\nevaluation: {{test_cases: [{CASE}]}}\n", ["EV640"]),
    "`evaluation` in a prompt file": ("p.yaml", f"{PROMPT}evaluation: {{test_cases: [{CASE}]}}\n", ["EV640"]),
    "`evals` in a prompt file": ("p.yaml", f"{PROMPT}evals: {{test_cases: [{CASE}]}}\n", ["EV640"]),
    "`tests` in a suite": ("s.yaml", f"suite: s\ntests: [{CASE}]\n", ["EV640"]),
}

IGNORED: Final[dict[str, tuple[str, str | bytes]]] = {
    "data": ("x.yaml", "a: 1\n"),
    "a list": ("x.yaml", "- a\n"),
    "broken YAML of others": ("x.yaml", "foo: [\n"),
    "a template of others": ("chart.yaml", "a: {{ .Values.a }}\n"),
    "promptfoo's tests": ("x.yaml", "prompts: [hi]\nproviders: [a]\ntests: [{vars: {a: 1}, assert: []}]\n"),
    "another tool's `evaluation`": ("x.yaml", "evaluation: {metric: bleu}\n"),
    "another tool's `tests`": ("x.yaml", "tests: [{name: a, expected: b}]\n"),
    "JSON of others": ("x.json", '{"a": [1]}'),
    "broken JSON of others": ("x.json", '{"a": '),
    "a golden file of others": ("x.golden.json", '{"html": "<p>"}'),
    "the result of a run": ("x.json", '{"runId": "a", "summary": {}, "cases": []}'),
    "rules that nobody includes": ("x.yaml", "rules: {a: [json]}\n"),
    "binary data": ("x.yaml", b"\x00\x01\x02"),
    "an empty file": ("x.yaml", ""),
}


@pytest.mark.parametrize("way", REPORTED)
def test_a_search_reports_it(way: str) -> None:
    name, content, codes = REPORTED[way]
    write(name, content)
    assert sorted(set(codes_of("."))) == codes
    assert not evalc.compile(".").suites


@pytest.mark.parametrize("way", REPORTED)
def test_naming_it_reports_the_same(way: str) -> None:
    name, content, codes = REPORTED[way]
    write(name, content)
    assert sorted(set(codes_of(name))) == codes


@pytest.mark.parametrize("way", IGNORED)
def test_a_search_ignores_it_and_counts_it(way: str) -> None:
    name, content = IGNORED[way]
    write(name, content)
    compilation = evalc.compile(".")
    assert (compilation.problems, compilation.inventory.read) == ((), "1 suite")
    assert (*compilation.inventory.others, *compilation.inventory.unparsed) == (name,)


ARRAY: Final = json.dumps([JSON_CASE])
BROKEN: Final[dict[str, tuple[str, str]]] = {
    "a trailing comma in an array of cases": ("cases.json", ARRAY[:-1] + ",]"),
    "a comment in an array of cases": ("cases.json", f"// cases\n{ARRAY}"),
    "an array of cases that is cut off": ("cases.json", ARRAY[:-9]),
    "a missing comma in an array of cases": ("cases.json", ARRAY.replace('"a", "input"', '"a" "input"')),
    "an array of cases with a rubric": ("cases.json", '[{"input": {}, "rubric": {}},]'),
    "cases behind other keys": ("cases.json", '{"a": {"cases": [}}'),
    "a list of cases in YAML": ("cases.yaml", "- name: a\n  validate: [json\n"),
    "a suite in a list": ("cases.yaml", "- suite: a\n  eval:\n    test_cases: [{name: a}\n"),
    "cases that expect": ("cases.yaml", "a:\n  - expect: {b: [}\n"),
}
"""Files that a search once skipped, since they are broken and not named as evals."""


@pytest.mark.parametrize("way", BROKEN)
@pytest.mark.parametrize("folder", [".", "evals"])
def test_a_broken_file_that_looks_like_cases_is_an_error_under_any_name(way: str, folder: str) -> None:
    name, content = BROKEN[way]
    write(f"evals/{name}", content)
    problems = [problem for problem in evalc.check(folder) if problem.source.name == f"evals/{name}"]
    assert any(problem.severity == "error" for problem in problems)


UNPARSED: Final[dict[str, tuple[str, str | bytes]]] = {
    "YAML": ("x.yaml", "foo: [\n"),
    "JSON": ("x.json", '{"a": '),
    "a file that is not text": ("x.yaml", b"\x00\x01"),
    "Latin-1": ("x.yaml", b"a: \xe9\n"),
}


@pytest.mark.parametrize("way", UNPARSED)
def test_a_broken_file_in_a_folder_that_is_named_is_an_error(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, content = UNPARSED[way]
    path = write(f"evals/{name}", content)
    named = (
        evalc.check("evals"),
        evalc.check(str(path.parent.resolve())),
        evalc.check("e*"),
        evalc.check(f"evals/{name[0]}.*"),
    )
    for problems in named:
        assert {(problem.source.name.endswith(name), problem.severity) for problem in problems} == {(True, "error")}
    assert evalc.check(".") == ()
    Path("evalc.toml").write_text('paths = ["evals"]\n')
    assert CliRunner().invoke(app, ["check"]).exit_code == 2
    monkeypatch.chdir("evals")
    assert evalc.check(".") == ()


OF_OTHER_KINDS: Final = {
    "JSON with comments": ("tsconfig.json", '{\n  // strict\n  "compilerOptions": {}\n}\n'),
    "a template": ("chart.yaml", "a: {{ .Values.a }}\n{{- if .b }}\nc: d\n{{- end }}\n"),
    "tags of others": ("stack.yaml", "a: !Ref b\nc: !Sub d\n"),
}


@pytest.mark.parametrize("way", OF_OTHER_KINDS)
@pytest.mark.parametrize("folder", [".", "evals"])
def test_files_that_only_seem_broken_are_of_another_kind(way: str, folder: str) -> None:
    name, content = OF_OTHER_KINDS[way]
    write(f"evals/{name}", content)
    write("evals/s.eval.yaml", SUITE)
    compilation = evalc.compile(folder)
    assert compilation.problems == ()
    assert compilation.inventory.unparsed == (f"evals/{name}",)


@pytest.mark.parametrize("command", ["check", "run"])
def test_skipped_files_are_counted_and_named(command: str) -> None:
    write("a.yaml", "a: b\n")
    write("b.json", '{"a": ')
    agent = ["--agent", "demo"] if command == "run" else []
    result = CliRunner().invoke(app, [command, *agent, "-v"])
    said = result.stdout + result.stderr
    assert "1 suite; skipped 1 other file, 1 that cannot be parsed\n" in said
    assert "skipped a.yaml\nskipped b.json, which cannot be parsed\n" in said


NEAR: Final[dict[str, tuple[str, str]]] = {
    "cases without a suite": ("x.yaml", "name: x\ntest_cases: [{name: a, message: hi}]\n"),
    "a suite in a list": ("x.yaml", f"- suite: x\n  {CASES}"),
    "a suite with `eval` in a list": ("x.yaml", f"- suite: x\n  eval: {{{CASES.strip()}}}\n"),
    "`tests` beside `metadata`": ("x.json", '{"metadata": {}, "tests": [{}]}'),
    "`inputs` for `input`": ("x.json", '[{"id": "a", "inputs": {"message": "hi"}, "expect": {}}]'),
    "`expects` for `expect`": ("x.json", '[{"id": "a", "input": {"message": "hi"}, "expects": {}}]'),
    "cases under another key": ("x.json", '{"items": [{"input": {"message": "hi"}, "expect": {}}]}'),
    "`Expect` for `expect`": ("x.json", '[{"id": "a", "input": {"message": "hi"}, "Expect": {}}]'),
    "cases in a list in a list": ("x.labeled.json", '[[{"id": "a", "input": {"message": "hi"}, "expect": {}}]]'),
    "suites of JSON in a list": ("x.json", '{"suites": [{"metadata": {}, "cases": [{"input": {}, "expect": {}}]}]}'),
    "suites under another key": ("x.yaml", f"suites:\n  - suite: x\n    {CASES}"),
    "`testCases` without a suite": ("x.yaml", "testCases: [{name: a, message: hi, validate: [length <= 9 words]}]\n"),
    "`testCases` in a list": ("x.yaml", "- suite: x\n  testCases: [{name: a, message: hi, expect: {}}]\n"),
    "such a list in YAML": ("x.yaml", "- {input: {message: hi}, expects: {}}\n"),
    "in a second document": ("x.yaml", f"a: b\n---\nname: x\n{CASES.replace('validate', 'check')}"),
}


@pytest.mark.parametrize("way", NEAR)
def test_a_file_that_nearly_holds_evals_is_reported_and_fails_under_strict(way: str) -> None:
    name, content = NEAR[way]
    write(f"evals/{name}", content)
    write("evals/s.eval.yaml", SUITE)
    for folder in (".", "evals"):
        (problem,) = evalc.check(folder)
        assert (problem.code, problem.severity, problem.source.name) == ("EV619", "warning", f"evals/{name}")
    assert CliRunner().invoke(app, ["check"]).exit_code == 0
    for command in (["check", "--strict"], ["run", "--agent", "demo", "--strict"]):
        assert CliRunner().invoke(app, command).exit_code == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.yaml", "testCases: [{id: 1, steps: [a]}]\n"),
        ("x.json", '{"testCases": 3, "suites": [{"test_cases": []}]}'),
        ("x.json", '{"a": {"input": 1, "expect": 2}}'),
        ("x.json", "[" * 50 + '{"input": 1, "expect": 2}' + "]" * 50),
    ],
)
def test_files_of_other_tools_are_no_near_misses(name: str, content: str) -> None:
    write(f"evals/{name}", content)
    write("evals/s.eval.yaml", SUITE)
    assert evalc.check("evals") == ()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (f"- {CASE}\n", "EV640"),
        ("foo: bar\n", "EV640"),
        (f"{SUITE}---\nfoo: bar\n", "EV640"),
        (f"{SUITE}---\n- {CASE}\n", "EV640"),
    ],
)
def test_a_file_that_is_named_has_to_hold_evals(content: str, code: str) -> None:
    write("named.yaml", content)
    assert codes_of("named.yaml") == [code]


def test_the_cases_of_a_prompt_file_may_stand_at_its_top() -> None:
    write("p.yaml", f"{PROMPT}{CASES}")
    (suite,) = evalc.compile("p.yaml").suites
    assert [case.id for case in suite.cases()] == ["greet/a"]


def test_links_to_folders_are_followed() -> None:
    write("common/a.eval.yaml", SUITE)
    Path("evals").mkdir()
    Path("evals/linked").symlink_to(Path("../common"), target_is_directory=True)
    assert evalc.compile("evals").inventory.read == "1 suite"
    assert evalc.compile(".").inventory.read == "2 suites"  # the file is read once


def test_a_link_back_to_a_folder_above_is_reported() -> None:
    Path("evals").mkdir()
    Path("evals/again").symlink_to(Path(".."), target_is_directory=True)
    (problem,) = evalc.check(".")
    assert (problem.code, problem.severity, problem.source.name) == ("EV616", "warning", "evals/again")


def test_a_link_that_leads_out_of_the_project_is_reported(tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.eval.yaml").write_text(SUITE)
    Path("linked").symlink_to(outside, target_is_directory=True)
    (problem,) = evalc.check(".")
    assert (problem.code, problem.severity, problem.source.name) == ("EV617", "warning", "linked")
    assert [problem.code for problem in evalc.check("linked")] == ["EV618"]
    assert evalc.compile(str(outside)).inventory.read == "1 suite"  # as it is named


@pytest.mark.skipif(os.geteuid() == 0, reason="an administrator can read everything")
@pytest.mark.parametrize("name", ["closed/", "closed.yaml", "closed.eval.yaml"])
def test_unreadable_files_are_reported(name: str) -> None:
    path = write(name.replace("/", "/a.eval.yaml"), SUITE)
    closed = path.parent if name.endswith("/") else path
    closed.chmod(0)
    try:
        assert codes_of(".") == ["EV602"]
    finally:
        closed.chmod(0o700)


def test_a_folder_that_cannot_be_searched_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for an administrator, who may read all folders."""
    write("closed/a.eval.yaml", SUITE)
    scandir = os.scandir

    def refusing(folder: str | Path) -> object:
        if Path(folder).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    (problem,) = evalc.check(".")
    assert str(problem) == "closed:1:1: error[EV602]: `closed` cannot be read: permission denied"


@pytest.mark.parametrize("pattern", ["\\", "!", "a\\"])
def test_an_invalid_pattern_leaves_nothing_out(pattern: str) -> None:
    write(".gitignore", f"{pattern}\nleft-out/\n")
    write("left-out/a.eval.yaml", SUITE)
    assert evalc.compile(".").inventory.read == "1 suite"


def test_a_gitignore_that_is_a_pipe_is_not_waited_for() -> None:
    os.mkfifo(".gitignore")
    assert evalc.compile(".").inventory.read == "1 suite"
