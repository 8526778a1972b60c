"""Links and paths that lead out of the project: nothing there is read, shown or written."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final

import pytest
from typer.testing import CliRunner

from evalc.base.files import link_out, open_file
from tests.support.command_line import app

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links are a Unix matter")

SECRET: Final = "tok_live_51HxQ"
SUITE: Final = """\
suite: s
eval:
  test_cases:
    - {name: a, message: hi, validate: [non-empty]}
"""
UGLY: Final = SUITE.replace("suite: s", f"suite:   {SECRET}")
WITH: Final[Mapping[str, str]] = {
    "table": SUITE.replace("message: hi", "for_each: NAME, message: '{{x}}'"),
    "schema": SUITE.replace("non-empty", "matches schema NAME"),
    "include": "include: NAME\n" + SUITE,
    "prompt_file": SUITE.replace("eval:", "prompt_file: NAME\neval:").replace("message: hi", "inputs: {}"),
}
COMMANDS: Final = (
    ("check",),
    ("check", "."),
    ("check", "evals", "--fix", "--unsafe-fixes"),
    ("fmt", "."),
    ("fmt", "--check", "--diff", "."),
    ("compile", "evals", "-o", "built"),
    ("lock",),
    ("run", "--agent", "demo"),
    ("run", "--agent", "demo", "--fail-on-regression"),
    ("accept",),
    ("coverage",),
    ("history",),
    ("report", "latest"),
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "evals").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "evals" / "sound.eval.yaml").write_text(SUITE.replace("suite: s", "suite: sound"))
    return folder


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def evalc(folder: Path, *arguments: str) -> tuple[int, str]:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout + result.stderr


def state_of(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def texts_in(folder: Path) -> str:
    """Texts that a command has left in the project, in files that are not links."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


PLACES: Final[Mapping[str, str]] = {
    "evals/x.eval.yaml": UGLY,
    "evals/x.yaml": UGLY,
    "evals/x.golden.json": f'{{"metadata": {{"toolName": "{SECRET}"',
    "evals/x.json": f'["{SECRET}"',
    "evals/p.prompt.yaml": f"id: {SECRET}\nprompt:   hi\n",
    "evals/baseline.json": f'{{"baseline": 1, {SECRET}',
    "evals/seed-manifest.json": f"{SECRET} = 1",
    "evals/.gitignore": f"{SECRET}\n",
    "evalc.lock": f"aws_secret = {SECRET}\n",
    "evalc.toml": f"aws_secret = {SECRET}\n",
    "pyproject.toml": f"[tool.evalc]\naws_secret = {SECRET}\n",
    "evals/results/history.db": SECRET,
    "evals/results/r1/journal.jsonl": f'{{"{SECRET}"',
    "evals/results/r1/s.labeled.json": f'{{"runId": "{SECRET}"',
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", ["the file", "a link to a link", "a folder"])
def test_no_command_reads_shows_or_writes_what_a_link_leads_to(
    project: Path, outside: Path, place: str, way: str
) -> None:
    path = project / place
    target = outside / "folder" / path.name
    target.parent.mkdir()
    target.write_text(PLACES[place])
    path.parent.mkdir(parents=True, exist_ok=True)
    if way == "the file":
        path.symlink_to(target)
    elif way == "a link to a link":
        (project / "between").symlink_to(os.path.relpath(target, project))
        path.symlink_to(os.path.relpath(project / "between", path.parent))
    elif path.parent == project:
        pytest.skip("the folder is the project")
    else:
        for other in path.parent.iterdir():
            (target.parent / other.name).write_bytes(other.read_bytes())
            other.unlink()
        path.parent.rmdir()
        path.parent.symlink_to(target.parent, target_is_directory=True)
    before = state_of(outside)
    for command in COMMANDS:
        _, said = evalc(project, *command)
        assert SECRET not in said, command
        assert state_of(outside) == before, command
    assert SECRET not in texts_in(project)


def test_the_journal_of_a_run_is_not_read_behind_a_link(
    project: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evalc(project, "run", "--agent", "demo")[0] == 0
    (journal,) = project.glob("evals/results/*/journal.jsonl")
    journal.rename(outside / "journal.jsonl")
    journal.symlink_to(outside / "journal.jsonl")
    opened: list[Path] = []

    def opening(path: Path) -> BinaryIO:
        opened.append(path)
        return open_file(path)

    monkeypatch.setattr("evalc.base.files.open_file", opening)
    for command in (("show", "latest"), ("report", "latest"), ("history",), ("rescore", "latest"), ("merge", "latest")):
        evalc(project, *command)
    assert opened
    assert not [path for path in opened if path.name == "journal.jsonl"]


def test_a_baseline_behind_a_link_is_refused_as_a_mistake(project: Path, outside: Path) -> None:
    assert evalc(project, "run", "--agent", "demo")[0] == 0
    (project / "evals" / "baseline.json").symlink_to(outside / "new.json")
    code, said = evalc(project, "accept")
    assert code == 2
    assert "leads out of the project" in said
    assert state_of(outside) == {}


@pytest.mark.parametrize(
    "command", [("check",), ("check", "evals/e.eval.yaml"), ("fmt", "."), ("run", "--agent", "demo")]
)
def test_the_environment_of_the_process_is_no_eval_file(project: Path, command: tuple[str, ...]) -> None:
    (project / "evals" / "e.eval.yaml").symlink_to("/proc/self/environ")
    done = subprocess.run(
        [sys.executable, "-m", "evalc", *command], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "EV618" in said
    assert SECRET not in said


SETTINGS: Final = {
    "toolRegistryPath": '"PATH"',
    "seedManifestPath": '"PATH"',
    "snapshotSource": '"PATH"',
    "outputDir": '"PATH"',
    "prompts": '"PATH"',
    "paths": '["PATH"]',
}


@pytest.mark.parametrize("key", SETTINGS)
@pytest.mark.parametrize("path", ["/proc/self/environ", "../outside/x", "evals/../../outside/x", "linked"])
def test_a_configuration_of_the_project_names_nothing_outside(
    project: Path, outside: Path, key: str, path: str
) -> None:
    (outside / "x").write_text(f"aws_secret = {SECRET}\n")
    (project / "linked").symlink_to("../outside/x")
    (project / "evalc.toml").write_text(f"{key} = {SETTINGS[key].replace('PATH', path)}\n")
    before = state_of(outside)
    for command in (("check",), ("run", "--agent", "demo")):
        code, said = evalc(project, *command)
        assert code != 0
        assert "evalc.toml:1:" in said
        assert "error[EV626]" in said
        assert SECRET not in said
    assert state_of(outside) == before


@pytest.mark.parametrize("pattern", ["../outside/*.yaml", "*/../../outside/*.yaml", "linked/**/*.yaml"])
def test_a_pattern_of_the_configuration_finds_nothing_outside(project: Path, outside: Path, pattern: str) -> None:
    (outside / "x.eval.yaml").write_text(UGLY)
    (project / "linked").symlink_to(outside, target_is_directory=True)
    (project / "evalc.toml").write_text(f'paths = ["{pattern}"]\n')
    code, said = evalc(project, "check")
    assert code != 0
    assert "EV626" in said
    assert SECRET not in said


def test_named_files_may_lie_anywhere(project: Path, outside: Path) -> None:
    (outside / "x.eval.yaml").write_text(SUITE)
    (outside / "tools.json").write_text("[]")
    (outside / "evalc.toml").write_text('tools = "tools.json"\noutput_dir = "results"\n')
    assert evalc(project, "check", "../outside")[0] == 0
    assert evalc(project, "check", str(outside / "x.eval.yaml"), "--tools", "../outside/tools.json")[0] == 0
    assert evalc(project, "run", "../outside", "--agent", "demo", "--config", "../outside/evalc.toml")[0] == 0
    assert (outside / "results").is_dir()


@pytest.mark.parametrize("name", ["evals/x.eval.yaml", "evals/../evals/x.eval.yaml", "evals/*.eval.yaml", "linked"])
def test_naming_a_link_on_the_command_line_does_not_follow_it(project: Path, outside: Path, name: str) -> None:
    """A shell that fills in `evals/*.eval.yaml`, or a hook with the files of a change, names links as well."""
    (outside / "x.eval.yaml").write_text(UGLY)
    (project / "evals" / "x.eval.yaml").symlink_to("../../outside/x.eval.yaml")
    (project / "linked").symlink_to(outside, target_is_directory=True)
    for command in ("check", "compile", "fmt"):
        code, said = evalc(project, command, name)
        assert code != 0
        assert "EV618" in said
        assert SECRET not in said
    assert (outside / "x.eval.yaml").read_text() == UGLY


def test_a_parent_of_a_linked_folder_is_where_the_system_finds_it(project: Path, outside: Path) -> None:
    (outside / "sub").mkdir()
    (outside / "x.eval.yaml").write_text(UGLY)
    (project / "linked").symlink_to("../outside/sub", target_is_directory=True)
    code, said = evalc(project, "check", "linked/../x.eval.yaml")
    assert code != 0
    assert SECRET not in said


@pytest.mark.parametrize("kind", WITH)
def test_no_suite_names_a_file_behind_a_link(project: Path, outside: Path, kind: str) -> None:
    name = {"table": "t.csv", "schema": "t.json", "include": "t.yaml", "prompt_file": "t.txt"}[kind]
    (outside / name).write_text(f"x\n{SECRET}\n")
    (project / "evals" / name).symlink_to(f"../../outside/{name}")
    (project / "evals" / "s.eval.yaml").write_text(WITH[kind].replace("NAME", name))
    code, said = evalc(project, "check")
    assert code != 0
    assert SECRET not in said


@pytest.mark.parametrize("link", ["root", "above"])
def test_a_project_that_is_reached_by_a_link_is_as_any_other(tmp_path: Path, project: Path, link: str) -> None:
    """As `/tmp` is a link on a Mac, and as people keep their work on another disk."""
    if link == "root":
        (tmp_path / "way").symlink_to(project, target_is_directory=True)
        by_link = tmp_path / "way"
    else:
        (tmp_path / "way").symlink_to(tmp_path, target_is_directory=True)
        by_link = tmp_path / "way" / "project"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder in (by_link, elsewhere, tmp_path):
        assert evalc(folder, "check", str(by_link / "evals"))[0] == 0
        assert evalc(folder, "fmt", str(by_link))[0] == 0
    assert evalc(by_link, "run", "--agent", "demo")[0] == 0
    assert evalc(tmp_path, "check", os.path.relpath(by_link / "evals", tmp_path))[0] == 0


def test_links_within_the_project_are_followed(project: Path) -> None:
    (project / "store").mkdir()
    (project / "store" / "one.eval.yaml").write_text(SUITE)
    (project / "evals" / "again.eval.yaml").symlink_to("../store/one.eval.yaml")
    (project / "evals" / "round").symlink_to("../../project/store", target_is_directory=True)
    assert evalc(project, "check", "evals")[0] == 0
    assert link_out(project / "evals" / "round" / "one.eval.yaml") is None


def test_a_written_file_that_is_a_link_out_is_refused(project: Path, outside: Path) -> None:
    """Reports, recordings, compiled files and what an import makes."""
    (outside / "kept.txt").write_text("")
    (outside / "t.json").write_text(json.dumps({"tests": []}))
    (project / "report.html").symlink_to("../outside/kept.txt")
    (project / "new.md").symlink_to("../outside/new.md")
    (project / "folder").symlink_to("../outside", target_is_directory=True)
    before = state_of(outside)
    for command in (
        ("run", "--agent", "demo", "-o", "html:report.html"),
        ("run", "--agent", "demo", "-o", "markdown:new.md"),
        ("run", "--agent", "demo", "-o", "json:folder/new.json"),
        ("run", "--agent", "demo", "--record", "folder/recorded"),
        ("run", "--agent", "demo", "--output-dir", "folder/results"),
        ("compile", "evals", "-o", "folder/built"),
        ("schema", "-o", "folder/schema"),
        ("init", "folder/new"),
    ):
        code, said = evalc(project, *command)
        # A report that cannot be written is no mistake in the command: the run is over by then.
        assert code == 2 or (code != 0 and command[0] == "run"), command
        assert "leads out of the project" in said, command
        assert state_of(outside) == before, command
    assert sorted(path.name for path in outside.iterdir()) == ["kept.txt", "t.json"]
