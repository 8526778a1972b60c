"""Named pipes and devices where files are expected: nothing waits for them, and nothing reads them without end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """\
suite: s
eval:
  test_cases:
    - {name: a, message: hi, validate: [non-empty]}
"""
WITH_TABLE = SUITE.replace("message: hi", "for_each: rows.csv, message: '{{x}}'")
WITH_JUDGE = SUITE.replace("non-empty", "'judge \"kind?\" >= 1/1'")
JUDGE = "def judges(question):\n    return 1\n"


def evalc(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "evalc", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(params=["pipe", "device"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "s.eval.yaml").write_text(SUITE)
    (tmp_path / "evalc.toml").write_text('agent = "demo"\n')
    return tmp_path


def make(path: Path, kind: str) -> None:
    """A pipe that nobody writes to, or a device without end, in the place of whatever is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


def test_files_beside_evals_as_pipes(project: Path, kind: str) -> None:
    for name in (".gitignore", "evals/.gitignore", "pyproject.toml", "evals/baseline.json"):
        make(project / name, kind)
    (project / "evalc.toml").unlink()
    assert evalc(project, "check")[0] == 0
    assert evalc(project, "run", "--agent", "demo")[0] == 0


@pytest.mark.parametrize(
    ("name", "flags", "code"),
    [
        ("evalc.lock", ("check",), 2),
        ("evalc.toml", ("check", "--config", "evalc.toml"), 2),
        ("evals/s.eval.yaml", ("check", "evals/s.eval.yaml"), 2),
        ("evals/rows.csv", ("check", "evals/table.eval.yaml"), 2),
        ("seed.json", ("run", "--seed-manifest", "seed.json"), 2),
        ("snapshot.json", ("run", "--snapshot", "snapshot.json"), 2),
        ("tools.json", ("run", "--tools", "tools.json"), 2),
        ("vars.env", ("run", "--env-file", "vars.env"), 2),
        ("base.json", ("run", "--baseline", "base.json"), 2),
        ("labels.csv", ("judge", "--calibrate", "labels.csv", "--judge", "python:judging:judges"), 2),
        ("promptfoo.yaml", ("import", "promptfoo.yaml"), 2),
        ("evals/results/history.db", ("history",), 0),
        ("recordings/agent.json", ("run", "--agent", "replay:recordings"), 2),
        ("report.json", ("run", "-o", "report.json"), 2),
        ("evals/s.eval.yaml", ("fmt", "evals/s.eval.yaml"), 2),
    ],
)
def test_named_files_as_pipes(project: Path, kind: str, name: str, flags: tuple[str, ...], code: int) -> None:
    (project / "evals" / "table.eval.yaml").write_text(WITH_TABLE)
    (project / "judging.py").write_text(JUDGE)
    make(project / name, kind)
    ended, message = evalc(project, *flags)
    assert ended == code, message
    assert code == 0 or "evalc broke" not in message


@pytest.mark.parametrize("name", ["journal.jsonl", "closing.jsonl", "s.labeled.json"])
def test_files_of_a_past_run_as_pipes(project: Path, kind: str, name: str) -> None:
    assert evalc(project, "run")[0] == 0
    (run,) = (path for path in (project / "evals" / "results").iterdir() if path.is_dir())
    make(run / name, kind)
    for command in (("show",), ("history",), ("rescore", "latest"), ("run", "--resume", run.name), ("report",)):
        ended, message = evalc(project, *command)
        assert ended in {0, 2, 70}, message
        assert "evalc broke" not in message


def test_recordings_as_pipes(project: Path, kind: str) -> None:
    assert evalc(project, "run", "--record", "recordings")[0] == 0
    for file in (project / "recordings").rglob("*.json"):
        if file.name != "agent.json":
            make(file, kind)
    ended, message = evalc(project, "run", "--agent", "replay:recordings")
    assert ended == 3, message
    assert ("it is a named pipe" if kind == "pipe" else "leads out of the project") in message
