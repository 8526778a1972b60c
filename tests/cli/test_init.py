"""`evalc init`: the project that it writes works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke


def evalc(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_the_project_passes_its_own_evals(tmp_path: Path) -> None:
    begun = evalc("init", "my evals", folder=tmp_path)
    assert (begun.returncode, begun.stderr) == (0, "")
    assert begun.stdout.endswith("\n\nNext:\n  cd 'my evals' && evalc check\n  evalc run --agent demo\n")
    project = tmp_path / "my evals"
    checked = evalc("check", "--strict", folder=project)
    assert (checked.returncode, checked.stdout) == (0, "all good: 2 files\n")
    locked = evalc("lock", "--check", folder=project)
    assert (locked.returncode, locked.stdout) == (0, "there are no regression cases to lock\n")
    ran = evalc("run", "--agent", "demo", "--json", folder=project)
    assert ran.returncode == 0
    summary = json.loads(ran.stdout)["summary"]
    assert (summary["totalCases"], summary["passed"], summary["skippedAssertions"], summary["score"]) == (3, 3, 0, 1)


@pytest.fixture
def empty(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_working_folder_is_the_default(invoke: Invoke, empty: Path) -> None:
    outcome = invoke("init")
    assert outcome.code == 0
    written = [line.removeprefix("wrote ") for line in outcome.out.split("\n\n")[0].splitlines()]
    assert sorted(written) == sorted(files_of(empty))
    assert outcome.out.endswith("Next:\n  evalc check\n  evalc run --agent demo\n")


def test_the_schema_that_the_suites_name_is_there(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    suites = sorted(empty.glob("evals/*.yaml"))
    assert len(suites) == 2
    for suite in suites:
        named = suite.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert "$defs" in json.loads((suite.parent / named).read_text())


def test_nothing_is_overwritten(invoke: Invoke, empty: Path) -> None:
    (empty / "evalc.toml").write_text("strict = true\n")
    (empty / "evals").write_text("not a folder")
    before = files_of(empty)
    outcome = invoke("init")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: nothing was written, since this is in the way: `evalc.toml`, `evals`\n"
    assert files_of(empty) == before


def test_a_link_that_leads_nowhere_is_in_the_way(invoke: Invoke, empty: Path) -> None:
    (empty / "evalc.toml").symlink_to(empty / "nowhere")
    assert "`evalc.toml`" in invoke("init").err


def test_a_second_time_everything_is_in_the_way(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    before = files_of(empty)
    assert invoke("init").code == 2
    assert files_of(empty) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("*.log", "*.log\nevals/build/\nevals/results/\n"),
        ("evals/results/\n", "evals/results/\nevals/build/\n"),
        ("evals/build/\r\nevals/results/\r\n", "evals/build/\r\nevals/results/\r\n"),
    ],
)
def test_an_existing_gitignore_is_added_to(invoke: Invoke, empty: Path, before: str, after: str) -> None:
    (empty / ".gitignore").write_bytes(before.encode())
    assert invoke("init").code == 0
    assert (empty / ".gitignore").read_bytes().decode() == after


def test_a_file_is_no_folder(invoke: Invoke, empty: Path) -> None:
    (empty / "taken").write_text("")
    outcome = invoke("init", "taken")
    assert (outcome.code, outcome.err) == (2, "error: `taken` is not a folder\n")
