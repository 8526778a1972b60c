"""`evalc init`: the project that it writes works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Invoke

NEXT = "  evalc run --agent demo\n  evalc accept    # the baseline for CI: commit evals/baseline.json\n"


def evalc(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_the_project_passes_its_own_evals(tmp_path: Path) -> None:
    begun = evalc("init", "my evals", folder=tmp_path)
    assert begun.returncode == 0
    assert begun.stdout.endswith(f"\n\nNext:\n  cd 'my evals' && evalc check\n{NEXT}")
    project = tmp_path / "my evals"
    checked = evalc("check", "--strict", folder=project)
    assert (checked.returncode, checked.stdout) == (0, "all good: 2 suites\n")
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
    assert outcome.out.endswith(f"Next:\n  evalc check\n{NEXT}")


def test_the_schema_that_the_suites_name_is_there(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    suites = sorted(empty.glob("evals/*.yaml"))
    assert len(suites) == 2
    for suite in suites:
        named = suite.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert "$defs" in json.loads((suite.parent / named).read_text())


def test_nothing_is_overwritten(invoke: Invoke, empty: Path) -> None:
    (empty / "evals").write_text("not a folder")
    before = files_of(empty)
    outcome = invoke("init")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: nothing was written, since this is in the way: `evals`\n"
    assert files_of(empty) == before


def test_missing_files_are_added_beside_a_configuration(invoke: Invoke, empty: Path) -> None:
    (empty / "evalc.toml").write_text("strict = true\n")
    outcome = invoke("init")
    assert outcome.code == 0
    assert "wrote evalc.toml" not in outcome.out
    assert "wrote evals/weather.eval.yaml" in outcome.out
    assert (empty / "evalc.toml").read_text() == "strict = true\n"
    assert invoke("run", "--agent", "demo").code == 0


def test_evals_are_left_alone(invoke: Invoke, empty: Path) -> None:
    (empty / "evals").mkdir()
    (empty / "evals" / "own.eval.yaml").write_text("suite: own\n")
    assert invoke("init").code == 0
    assert [file.name for file in (empty / "evals").iterdir()] == ["own.eval.yaml"]
    assert (empty / "evalc.toml").exists()


def test_a_link_that_leads_nowhere_is_in_the_way(invoke: Invoke, empty: Path) -> None:
    (empty / "evalc.toml").symlink_to(empty / "nowhere")
    assert "`evalc.toml`" in invoke("init").err


def test_a_second_time_nothing_is_missing(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    before = files_of(empty)
    outcome = invoke("init")
    assert (outcome.code, outcome.out) == (0, "nothing is missing: all of it is there\n")
    assert files_of(empty) == before


def test_the_report_of_a_project_is_not_committed(invoke: Invoke, empty: Path) -> None:
    invoke("init")
    invoke("run", "--agent", "demo")
    assert invoke("report").err == "wrote report.html\n"
    assert "report.html" in (empty / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("*.log", "*.log\nevals/build/\nevals/results/\nreport.html\n"),
        ("evals/results/\n", "evals/results/\nevals/build/\nreport.html\n"),
        ("evals/build/\r\nevals/results/\r\nreport.html\r\n", "evals/build/\r\nevals/results/\r\nreport.html\r\n"),
    ],
)
def test_an_existing_gitignore_is_added_to(invoke: Invoke, empty: Path, before: str, after: str) -> None:
    (empty / ".gitignore").write_bytes(before.encode())
    assert invoke("init").code == 0
    assert (empty / ".gitignore").read_bytes().decode() == after


WARNING = (
    "warning: evalc was installed from this machine: say in .github/workflows/evals.yml what CI installs it from\n"
)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("noted", "requirement"),
    [
        (None, "evalc==9.9"),
        ({"url": "https://example.org/evalc-9.9.whl", "archive_info": {}}, "evalc @ https://example.org/evalc-9.9.whl"),
        (
            {"url": "https://example.org/evalc.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"evalc @ git+https://example.org/evalc.git@{COMMIT}",
        ),
        (
            {"url": "ssh://git@example.org/evalc", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"evalc @ git+ssh://git@example.org/evalc@{COMMIT}",
        ),
        ({"url": "file:///home/me/evalc", "dir_info": {"editable": True}}, ""),
        ({"url": "file:///home/me/evalc-9.9.whl", "archive_info": {}}, ""),
        ({"url": 5}, ""),
    ],
)
def test_the_workflow_installs_evalc_from_where_it_came(
    invoke: Invoke, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: Any, requirement: str
) -> None:
    installed = tmp_path / "site" / "evalc-9.9.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: evalc\nVersion: 9.9\n")
    if noted is not None:
        (installed / "direct_url.json").write_text(json.dumps(noted))
    monkeypatch.syspath_prepend(str(installed.parent))
    assert invoke("init").err == ("" if requirement else WARNING)
    workflow = yaml.safe_load((empty / ".github" / "workflows" / "evals.yml").read_text())
    assert workflow["env"] == {"EVALC": requirement}


@pytest.mark.skipif(shutil.which("bash") is None, reason="the step is a script for bash")
@pytest.mark.parametrize(
    ("requirement", "installed", "note"),
    [
        ("evalc @ https://example.org/e.whl", True, "install|evalc @ https://example.org/e.whl|"),
        ("", False, "EVALC: is empty, say above what pip installs evalc from"),
    ],
)
def test_the_workflow_says_where_nobody_has_said_what_to_install(
    invoke: Invoke, empty: Path, requirement: str, installed: bool, note: str
) -> None:
    invoke("init")
    workflow = yaml.safe_load((empty / ".github" / "workflows" / "evals.yml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["evals"]["steps"] if "run" in step]
    pip = empty / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n")
    pip.chmod(0o755)
    environment = {**os.environ, "PATH": f"{pip.parent}{os.pathsep}{os.environ['PATH']}", "EVALC": requirement}
    ended = subprocess.run(["bash", "-e", "-c", steps[0]], env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode == 0) == installed
    assert (ended.stdout + ended.stderr).strip().endswith(note)


def test_a_file_is_no_folder(invoke: Invoke, empty: Path) -> None:
    (empty / "taken").write_text("")
    outcome = invoke("init", "taken")
    assert (outcome.code, outcome.err) == (2, "error: `taken` is not a folder\n")
