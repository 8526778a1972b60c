"""Every way in which a file could be skipped: each is told at its place, or is rightly ignored and counted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

import evalc

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


def misspelt(key: str, slip: str) -> str:
    return json.dumps({"metadata": {"toolName": "a", "tier": "golden"}, "cases": [JSON_CASE]}).replace(
        f'"{key}"', f'"{slip}"'
    )


TOLD: Final[dict[str, tuple[str, str | bytes, list[str]]]] = {
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


@pytest.mark.parametrize("way", TOLD)
def test_a_search_tells_of_it(way: str) -> None:
    name, content, codes = TOLD[way]
    write(name, content)
    assert sorted(set(codes_of("."))) == codes
    assert not evalc.compile(".").suites


@pytest.mark.parametrize("way", TOLD)
def test_naming_it_tells_the_same(way: str) -> None:
    name, content, codes = TOLD[way]
    write(name, content)
    assert sorted(set(codes_of(name))) == codes


@pytest.mark.parametrize("way", IGNORED)
def test_a_search_ignores_it_and_counts_it(way: str) -> None:
    name, content = IGNORED[way]
    write(name, content)
    compilation = evalc.compile(".")
    assert (compilation.problems, compilation.inventory.read) == ((), "1 suite")
    assert compilation.inventory.others == (name,)


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


def test_a_link_back_to_a_folder_above_is_told() -> None:
    Path("evals").mkdir()
    Path("evals/again").symlink_to(Path(".."), target_is_directory=True)
    (problem,) = evalc.check(".")
    assert (problem.code, problem.severity, problem.source.name) == ("EV616", "warning", "evals/again")


def test_a_link_that_leads_out_of_the_project_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.eval.yaml").write_text(SUITE)
    Path("linked").symlink_to(outside, target_is_directory=True)
    (problem,) = evalc.check(".")
    assert (problem.code, problem.severity, problem.source.name) == ("EV617", "warning", "linked")
    assert [problem.code for problem in evalc.check("linked")] == ["EV618"]
    assert evalc.compile(str(outside)).inventory.read == "1 suite"  # as it is named


@pytest.mark.skipif(os.geteuid() == 0, reason="an administrator can read everything")
@pytest.mark.parametrize("name", ["closed/", "closed.yaml", "closed.eval.yaml"])
def test_what_may_not_be_read_is_told(name: str) -> None:
    path = write(name.replace("/", "/a.eval.yaml"), SUITE)
    closed = path.parent if name.endswith("/") else path
    closed.chmod(0)
    try:
        assert codes_of(".") == ["EV602"]
    finally:
        closed.chmod(0o700)


def test_a_folder_that_cannot_be_searched_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
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
