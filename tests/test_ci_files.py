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

from evalc import __version__
from tests.support.forge import TOKEN, Forge, opened
from tests.support.pages import PAGES, blocks
from tests.support.servers import serving
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
    """The step of the action that checks and runs, as GitHub's runner starts it."""
    return run_step("Check and run", project, inputs)


def run_step(
    name: str, project: Path, inputs: dict[str, str], environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A step of the action with these inputs, as GitHub's runner starts it."""
    action = read("action.yml")
    [step] = [each for each in action["runs"]["steps"] if each["name" if "name" in each else "uses"] == name]
    names = {name: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value) for name, value in step["env"].items()}
    given = {
        name: inputs.get(found[1], action["inputs"][found[1]]["default"]) for name, found in names.items() if found
    }
    assert step["env"].keys() <= given.keys() | (environ or {}).keys()
    environment = {
        **os.environ,
        **given,
        **(environ or {}),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "GITHUB_OUTPUT": str(project / "outputs.txt"),
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
def test_the_action_writes_one_comment_with_a_token_that_no_agent_sees(project: Path) -> None:
    steps = {step.get("name"): step for step in read("action.yml")["runs"]["steps"]}
    assert [name for name, step in steps.items() if "GITHUB_TOKEN" in step.get("env", {})] == ["Comment"]
    forge = Forge("GitHub")
    with serving(forge.answer) as forge.server:
        opened(forge, project)
        for times in (1, 2):
            assert run_step("Check and run", project, {"agent": "demo"}).returncode == 1
            outputs = dict(line.split("=") for line in (project / "outputs.txt").read_text().splitlines())
            environ = {"EVALC_COMMENT": "null", "EVAL_RESULTS": outputs["results"], **forge.environ}
            commented = run_step("Comment", project, {"token": TOKEN}, environ)
            assert (commented.returncode, commented.stdout) == (0, "")
            assert (len(forge.own), (project / "summary.md").read_text().count("## ❌")) == (1, times)
        assert commented.stderr.startswith("updated the comment https://code/12#100")


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


def test_jobs_of_the_guide_may_comment() -> None:
    named = {block.title: block.text for block in blocks(ROOT / "docs" / "guides" / "ci.md")}
    github, gitlab = (yaml.safe_load(named[name]) for name in (".github/workflows/evals.yml", ".gitlab-ci.yml"))
    run = github["jobs"]["evals"]["steps"][-1]
    assert "-o pr-comment" in run["run"]
    assert run["env"]["GITHUB_TOKEN"] == read("action.yml")["inputs"]["token"]["default"]
    assert github["permissions"]["pull-requests"] == "write"
    assert "merge_request_event" in gitlab["evals"]["rules"][0]["if"]
    assert "-o pr-comment" in gitlab["evals"]["script"][-1]


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


def test_pages_and_the_changelog_are_of_this_version() -> None:
    texts = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}
    installed = {name: set(re.findall(r"\bevalc==([\w.]+)", text)) for name, text in texts.items() if "evalc==" in text}
    assert installed == {"ci": {__version__}, "scale": {__version__}}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)[0] == __version__
