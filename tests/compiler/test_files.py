"""Files and folders: what a search finds and passes over, and what a suite may open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import evalc

SUITE = "suite: NAME\neval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n"
BROKEN = "eval: {test_cases: [{name: a, message: hi}]}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(*paths: str) -> list[str]:
    return [f"{problem.source.name}:{problem.start.line} {problem.code}" for problem in evalc.check(paths)]


def test_a_search_passes_over_what_is_ignored_excluded_or_written_by_evalc() -> None:
    write(
        {
            "evalc.toml": 'exclude = ["old/"]\n',
            ".gitignore": "ignored/\n*.skip.eval.yaml\n",
            "sub/.gitignore": "here.eval.yaml\n",
            "a.eval.yaml": BROKEN,
            "ignored/x.eval.yaml": BROKEN,
            "y.skip.eval.yaml": BROKEN,
            "sub/here.eval.yaml": BROKEN,
            "sub/there.eval.yaml": BROKEN,
            "old/x.eval.yaml": BROKEN,
            "node_modules/x.eval.yaml": BROKEN,
            "sub/._there.eval.yaml": BROKEN,
            "evals/build/x.eval.yaml": BROKEN,
            "evals/results/x.eval.yaml": BROKEN,
        }
    )
    Path("sub/.#there.eval.yaml").symlink_to("me@host.123:456")  # of Emacs, for a buffer that is not saved
    expected = ["a.eval.yaml:1 EV401", "sub/there.eval.yaml:1 EV401"]
    assert found(".") == expected
    assert found("sub") == expected[1:]


def test_a_search_is_silent_about_files_of_other_kinds() -> None:
    write({"a.yaml": "foo: [", "b.json": '{"a": 1}', "c.json": '{"a":', "d.yml": "- a\n", "e.json": "[1]"})
    assert found(".") == []
    assert found("a.yaml", "b.json", "c.json", "d.yml", "e.json") == [
        "a.yaml:1 EV104",
        "b.json:1 EV640",
        "c.json:1 EV127",
        "d.yml:1 EV640",
        "e.json:1 EV640",
    ]


def test_a_search_speaks_of_files_that_were_meant_as_evals() -> None:
    write(
        {
            "by-name.eval.yaml": "foo: bar\n",
            "empty.eval.yaml": "",
            "by-key.yaml": "eval: {\n",
            "by-key.json": '{"cases": [\n',
            "misspelt.yaml": "evals: {test_cases: []}\n",
        }
    )
    assert found(".") == [
        "by-key.json:1 EV127",
        "by-key.yaml:1 EV104",
        "by-name.eval.yaml:1 EV640",
        "empty.eval.yaml:1 EV640",
        "misspelt.yaml:1 EV640",
        "misspelt.yaml:1 EV309",
    ]


def test_globs_and_paths_that_do_not_exist() -> None:
    write({"x/a.eval.yaml": BROKEN, "x/b.txt": "text"})
    assert found("x/*.yaml") == ["x/a.eval.yaml:1 EV401"]
    assert found("**/*.yaml", "x", "x/a.eval.yaml") == ["x/a.eval.yaml:1 EV401"]
    assert found("x/*.json", "none.yaml") == ["none.yaml:1 EV600", "x/*.json:1 EV600"]
    assert found("x/b.txt") == ["x/b.txt:1 EV640"]


@pytest.mark.skipif(os.name == "nt", reason="links and pipes are a Unix matter")
def test_links_and_pipes() -> None:
    write({"a.eval.yaml": BROKEN})
    Path("same.eval.yaml").symlink_to("a.eval.yaml")
    Path("self").symlink_to(".")
    Path("loop.yaml").symlink_to("loop.yaml")
    os.mkfifo("pipe.yaml")
    assert found(".") == ["a.eval.yaml:1 EV401", "self:1 EV616"]
    assert found("loop.yaml", "pipe.yaml") == ["loop.yaml:1 EV603", "pipe.yaml:1 EV601"]


def test_suites_of_one_tool_and_tier_collide_across_files() -> None:
    write({"a.yaml": SUITE.replace("NAME", "get_x"), "b.yaml": SUITE.replace("NAME", "get-x")})
    assert found("a.yaml") == []
    assert found(".") == ["b.yaml:1 EV210"]


# --- prompts ---------------------------------------------------------------------------------------------------------

PROMPT = 'id: ID\nprompt: "Hello {{name}}"\ninputs: [{name: name, type: string}]\nmodel_compatibility: [any]\n'
ASKING = "eval: {test_cases: [{name: a, inputs: {name: Bo}, validate: [non-empty]}]}\n"


def messages(path: str) -> list[str]:
    return [case.input.message for suite in evalc.compile(path).suites for case in suite.cases()]


@pytest.mark.parametrize("file", ["p.yaml", "p.txt"])
def test_a_prompt_file(file: str) -> None:
    write({"p.yaml": PROMPT, "p.txt": "Hello {{name}}", "a.eval.yaml": f"prompt_file: {file}\n{ASKING}"})
    assert messages("a.eval.yaml") == ["Hello Bo"]


@pytest.mark.parametrize(("file", "sent"), [("p.txt", "Hello\n Bo"), ("p.md", "\n Hello\n Bo \n")])
def test_white_space_around_a_prompt_of_text(file: str, sent: str) -> None:
    write({file: "\n Hello\n {{name}} \n", "a.eval.yaml": f"prompt_file: {file}\n{ASKING}"})
    assert messages("a.eval.yaml") == [sent]
    write({file: "\n\n Hello\n {{nme}}\n"})
    assert [each.rpartition(":")[2] for each in found("a.eval.yaml")] == ["4 EV205"]


def test_prompt_files_that_cannot_be_used() -> None:
    write({"x.txt": "Hello {{nme}}", "y.yaml": "a: b\n", "folder/z": ""})
    for file in ("none.txt", "../x.txt", "/etc/passwd", "folder", "y.yaml", "x.txt"):
        write({f"{Path(file).stem}.eval.yaml": f"suite: s\nprompt_file: {file}\n{ASKING}"})
    assert found("none.eval.yaml") == ["none.eval.yaml:2 EV600"]
    assert found("passwd.eval.yaml") == ["passwd.eval.yaml:2 EV608"]
    assert found("folder.eval.yaml") == ["folder.eval.yaml:2 EV601"]
    assert found("y.eval.yaml") == ["y.eval.yaml:2 EV202"]
    assert found("x.eval.yaml") == ["x.txt:1 EV205"]


@pytest.mark.skipif(os.name == "nt", reason="links are a Unix matter")
def test_a_link_does_not_lead_out_of_the_project(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("secret")
    Path("p.txt").symlink_to(secret)
    write({"a.eval.yaml": f"prompt_file: p.txt\n{ASKING}"})
    assert found("a.eval.yaml") == ["a.eval.yaml:1 EV608"]


def test_prompts_are_looked_up_by_id() -> None:
    write(
        {
            "prompts/one.yaml": PROMPT.replace("ID", "greet"),
            "prompts/two.yaml": PROMPT.replace("ID", "twice"),
            "prompts/three.yaml": PROMPT.replace("ID", "twice"),
            "a.yaml": "prompt_id: greet\ntest_cases: [{name: a, inputs: {name: Bo}, validate: [non-empty]}]\n",
            "b.yaml": "prompt_id: gret\ntest_cases: [{name: a, inputs: {name: Bo}, validate: [non-empty]}]\n",
            "c.yaml": (
                "prompt_id: greet\ntest_cases:\n"
                "  - {name: a, prompt_id: twice, inputs: {name: Bo}, validate: [non-empty]}\n"
                "  - {name: b, prompt_id: none, inputs: {name: Bo}, validate: [non-empty]}\n"
                "  - {name: c, inputs: {nme: Bo}, validate: [non-empty]}\n"
            ),
        }
    )
    assert messages("a.yaml") == ["Hello Bo"]
    assert found("b.yaml") == ["b.yaml:1 EV209"]
    assert found("c.yaml") == ["c.yaml:3 EV211", "c.yaml:4 EV209", "c.yaml:5 EV207"]


def test_a_prompt_file_with_its_own_eval_block() -> None:
    write({"p.yaml": PROMPT.replace("ID", "greet-v1") + ASKING})
    (suite,) = evalc.compile("p.yaml").suites
    assert (suite.file_name, [case.id for case in suite.cases()]) == ("greet-v1.labeled.json", ["greet-v1/a"])


def test_another_tools_file_with_a_similar_key_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text("prompts: [hi]\ntests:\n  - vars: {a: b}\n")
    (tmp_path / "misspelt.yaml").write_text("evl:\n  test_cases: []\n")
    found = evalc.check(tmp_path)
    assert {problem.source.name for problem in found} == {str(tmp_path / "misspelt.yaml")}
    assert [problem.code for problem in found] == ["EV640", "EV309"]


@pytest.mark.parametrize(
    ("text", "is_theirs"),
    [
        ("prompts: [hi]\nproviders: [x]\ntests:\n  - assert: [{type: equals, value: b}]\n", True),
        ("providers: [x]\nscenarios: []\n", True),
        ("prompts: {a: hi}\ntests:\n  - {name: a, validate: [json]}\n", False),
        ("tests:\n  - {name: a}\n", False),
    ],
)
def test_a_configuration_of_promptfoo_that_is_named_is_to_be_imported(
    text: str, is_theirs: bool, tmp_path: Path
) -> None:
    file = tmp_path / "promptfooconfig.yaml"
    file.write_text(text)
    problem = evalc.check(file)[0]
    assert problem.code == "EV640"
    assert (f"`evalc import {file}`" in problem.finding.help()) == is_theirs


def test_output_beside_its_source_is_no_second_suite(tmp_path: Path) -> None:
    (tmp_path / "w.eval.yaml").write_text("eval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n")
    (suite,) = evalc.compile(tmp_path).suites
    (tmp_path / "build").mkdir()
    output = tmp_path / "build" / suite.file_name
    output.write_bytes(b"".join(suite.encode()))
    assert evalc.check(tmp_path) == ()
    assert [problem.code for problem in evalc.check([tmp_path / "w.eval.yaml", output])] == ["EV210"], "both are named"
    assert len(evalc.compile(tmp_path / "build").suites) == 1, "it is a suite where its source is not"
