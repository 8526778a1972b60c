"""`evalc run --engine ray`: on a cluster that the run starts itself, and what is refused before anything is run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.support.steady import steady_results

SLOW = "import time\n\ndef answer(message):\n    time.sleep(0.05)\n    return message\n"
MANY = "suite: many\neval:\n  test_cases:\n" + "".join(
    f'    - {{name: case_{n}, message: "Question {n}", validate: [contains "{n % 10}"]}}\n' for n in range(40)
)
RUN = (sys.executable, "-m", "evalc", "run", "--engine", "ray", "--concurrency", "2")


def test_a_killed_run_is_resumed(invoke: Invoke, project: Path) -> None:
    pytest.importorskip("ray")
    (project / "evals" / "weather.eval.yaml").write_text(MANY)
    (project / "answers_slowly.py").write_text(SLOW)
    with subprocess.Popen([*RUN, "--agent", "python:answers_slowly:answer"], stderr=subprocess.DEVNULL) as killed:
        journals = "evals/results/*/journal.jsonl"
        while not any(journal.read_bytes().count(b"\n") > 5 for journal in project.glob(journals)):
            assert killed.poll() is None
            time.sleep(0.01)
        killed.kill()
    command = [sys.executable, "-m", "evalc", "run", "--resume", "latest", "--quiet"]
    resumed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert invoke("run", "--agent", "python:answers_slowly:answer", "--output-dir", "local").code == 0
    assert steady_results("evals/results") == steady_results("local")


def test_a_cluster_that_is_not_there(project: Path) -> None:
    pytest.importorskip("ray")
    command = [*RUN, "--engine", "ray:auto", "--agent", "demo"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: the Ray cluster at `auto` cannot be reached: Could not find any")
    assert not (project / "evals" / "results").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--concurrency", "auto"], "the Ray engine needs `--concurrency N`"),
        (["--record", "tape"], "`--record` writes files on this machine: it cannot be used with `--engine ray`"),
        (["--engine", "rays"], "`--engine` must be `local`, `ray` or `ray:ADDRESS`"),
    ],
)
def test_options_that_a_cluster_cannot_have_are_refused(
    invoke: Invoke, project: Path, flags: list[str], words: str
) -> None:
    refused = invoke("run", "--agent", "demo", "--engine", "ray", *flags)
    assert refused.code == 2
    assert words in refused.err
    assert not (project / "evals" / "results").exists()
