"""Agents that write into the journal of their own run: nothing is lost that can be kept, and the run names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, Outcome, invoke, project

__all__ = ["invoke", "project"]

SUITE = """\
suite: three
eval:
  test_cases:
    - {name: a, message: a, validate: [contains "a"]}
    - {name: b, message: b, validate: [contains "b"]}
    - {name: c, message: c, validate: [contains "c"]}
"""
AGENT = """\
import os, pathlib, shutil


def agent(message):
    if message == "b":
        (journal,) = pathlib.Path("evals/results").glob("*/journal.jsonl")
        %s
    return message
"""
Meddle = Callable[[str], Outcome]


@pytest.fixture
def meddle(invoke: Invoke, project: Path) -> Meddle:
    """Run three cases; before it answers the second one, the agent does something to the journal."""
    (project / "evals" / "weather.eval.yaml").unlink()
    (project / "evals" / "three.eval.yaml").write_text(SUITE)

    def run(statement: str) -> Outcome:
        (project / "agent.py").write_text(AGENT % statement)
        return invoke("run", "--agent", "python:agent:agent", "--concurrency", "1")

    return run


def ids(outcome: Outcome) -> list[str]:
    (suite,) = json.loads(outcome.out)["suites"]
    return [case["id"] for case in suite["cases"]]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("os.write(os.open(journal, os.O_WRONLY | os.O_APPEND), b'{}')", "has written to the run's journal"),
        ("os.write(os.open(journal, os.O_WRONLY | os.O_APPEND), b'{}\\n')", "has written to the run's journal"),
        ("journal.unlink()", "had removed the run's journal"),
        ("shutil.rmtree(journal.parent)", "had removed the run's journal"),
        ("journal.unlink(); journal.write_text('another')", "had removed the run's journal"),
        ("journal.unlink(); journal.symlink_to('../../../agent.py')", "had removed the run's journal"),
        ("journal.unlink(); journal.symlink_to('/dev/null')", "had removed the run's journal"),
    ],
)
def test_cases_that_can_be_kept_are(invoke: Invoke, project: Path, meddle: Meddle, statement: str, said: str) -> None:
    outcome = meddle(statement)
    assert outcome.code == 0
    assert f"something else, such as the agent, {said}" in " ".join(outcome.out.split())
    assert (project / "agent.py").read_text() == AGENT % statement
    shown = invoke("show", "latest", "--json")
    assert ids(shown) == ["three/a", "three/b", "three/c"]
    assert "3 of 3 cases were done" in (again := invoke("run", "--resume", "latest")).out or "was complete" in again.out


@pytest.mark.parametrize(
    "statement",
    [
        "os.truncate(journal, 0)",
        "os.truncate(journal, journal.stat().st_size - 9)",
        "os.write(os.open(journal, os.O_WRONLY), b'x' * (journal.stat().st_size - 1))",
        "journal.write_bytes(b''.join(journal.read_bytes().splitlines(True)[:1]) + b'{}' + b' ' * 5_000)",
    ],
)
def test_a_run_whose_cases_are_gone_says_what_happened(meddle: Meddle, project: Path, statement: str) -> None:
    outcome = meddle(statement)
    assert outcome.code == 70
    assert "error: something else, such as the agent, has changed the run's journal `" in outcome.err
    assert "evalc broke" not in outcome.err
    assert not [*project.glob("evals/results/*/*.json")]
