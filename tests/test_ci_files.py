"""The GitHub Action and the hooks of pre-commit: what they say is what the command line takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.weather import FAILING

ROOT = Path(__file__).parent.parent


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "rome and more.eval.yaml").write_text(FAILING)
    return tmp_path


def run_action(project: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The last step of the action, as GitHub's runner starts it."""
    action = read("action.yml")
    step = action["runs"]["steps"][-1]
    names = {name: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value) for name, value in step["env"].items()}
    given = {
        name: inputs.get(found[1], action["inputs"][found[1]]["default"]) for name, found in names.items() if found
    }
    assert given.keys() == step["env"].keys()
    environment = {
        **os.environ,
        **given,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
    }
    script = project / "step.sh"
    script.write_text(step["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="the step is a script for bash")
def test_the_action_checks_and_runs(project: Path) -> None:
    checked = run_action(project)
    assert (checked.returncode, checked.stdout) == (0, "")
    ended = run_action(
        project,
        agent="demo",
        paths="rome and more.eval.yaml\n",
        arguments="--output=junit:out/a b.xml\n--min-pass-rate=0.5\n",
    )
    assert ended.returncode == 1
    assert "\n::error file=rome and more.eval.yaml,line=9,col=11,title=" in ended.stdout
    assert (project / "summary.md").read_text(encoding="utf-8").startswith("## ❌ evalc: 0 of 1 case passed")
    assert (project / "out" / "a b.xml").exists()
    (project / "rome and more.eval.yaml").write_text(FAILING.replace("criteria", "criteriaa"))
    refused = run_action(project, agent="demo")
    assert refused.returncode == 2
    assert refused.stdout.startswith("::error file=rome and more.eval.yaml,line=3,")


@pytest.mark.skipif(shutil.which("bash") is None, reason="the step is a script for bash")
def test_the_action_runs_single_cases_and_takes_no_path_for_an_option(project: Path) -> None:
    ended = run_action(project, agent="demo", paths="rome and more.eval.yaml::*\n")
    assert (ended.returncode, "FILE" in ended.stdout) == (1, False)
    assert run_action(project, paths="-h\n").returncode == 2
    shutil.copy(project / "rome and more.eval.yaml", project / "a::b.eval.yaml")
    (project / "rome and more.eval.yaml").unlink()
    assert run_action(project, paths="a::b.eval.yaml\n").returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="the step is a script for bash")
def test_no_file_of_the_repository_takes_the_place_of_evalc(project: Path) -> None:
    for name in ("msgspec.py", "evalc.py", "pip.py"):
        (project / name).write_text("import os; os._exit(0)")
    (project / "rome and more.eval.yaml").write_text(FAILING.replace("criteria", "criteriaa"))
    assert run_action(project).returncode == 2
    starts = re.findall(r"\bpython .*", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert starts
    assert all(start.startswith("python -P -m ") for start in starts)


def test_evalc_starts_itself_without_importing_from_the_working_folder() -> None:
    started = re.compile(r"\[\s*sys\.executable,\s*\"(-\w)\"")
    flags = [flag for file in (ROOT / "evalc").rglob("*.py") for flag in started.findall(file.read_text("utf-8"))]
    assert len(flags) >= 4
    assert set(flags) <= {"-P", "-I"}


def test_the_hooks_are_commands_for_eval_files(project: Path) -> None:
    for hook in read(".pre-commit-hooks.yaml"):
        assert re.search(hook["files"], "evals/weather.eval.yaml")
        assert not re.search(hook["files"], "docker-compose.yaml")
        names = ["rome and more.eval.yaml"] if hook.get("pass_filenames", True) else []
        command = [sys.executable, "-m", *hook["entry"].split(), *names]
        ended = subprocess.run(
            command, cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60, check=False
        )
        assert ended.returncode == 0


def test_the_hook_checks_the_project_where_anything_is_staged_that_evals_are_made_of() -> None:
    check = next(hook for hook in read(".pre-commit-hooks.yaml") if hook["id"] == "evalc-check")
    for name in ("evals/shared.yaml", "evals/t.labeled.json", "evals/rows.csv", "t.golden.json", "evalc.toml"):
        assert re.search(check["files"], name)
    assert not re.search(check["files"], "src/evals.py")
    assert check["pass_filenames"] is False  # staged files may break others
