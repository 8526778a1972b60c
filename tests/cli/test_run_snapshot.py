"""`evalc run` with a snapshot that code makes: named by the configuration or a flag, captured once, kept, struck."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

SOURCE = """\
import os, pathlib

def capture():
    with pathlib.Path("captured").open("a") as calls:
        calls.write("x")
    return {"city": "Paris", "key": os.environ["MARKET_KEY"]}

def breaks():
    raise OSError("refused: " + os.environ["MARKET_KEY"])
"""
SUITE = """
suite: snap
eval:
  test_cases:
    - {name: a, message: "Weather in Paris?", validate: ['contains "{{snapshot:city}}"']}
    - {name: b, message: "Weather in Paris?", validate: ['contains "{{snapshot:city}}"']}
"""


@pytest.fixture(autouse=True)
def snapping(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in project.rglob("*.eval.yaml"):
        file.unlink()
    (project / "snap.eval.yaml").write_text(SUITE)
    (project / "market.py").write_text(SOURCE)
    (project / "evalc.toml").write_text('secrets = ["MARKET_KEY"]\nsnapshot = "python:market:capture"\n')
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("MARKET_KEY", "a-market-key-1234")


def test_it_is_captured_once_and_kept_without_secrets(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 0, outcome.err
    assert "2/2 passed" in outcome.out
    assert (project / "captured").read_text() == "x"
    (journal,) = project.rglob("journal.jsonl")
    header = json.loads(journal.read_text().splitlines()[0])
    assert header["options"]["snapshot"] == {"city": "Paris", "key": "***"}


def test_a_flag_names_it_too(invoke: Invoke) -> None:
    command = f'command:{sys.executable} -c "print(\'{{\\"city\\": \\"Rome\\"}}\')"'
    outcome = invoke("run", "--agent", "demo", "--snapshot", command)
    assert outcome.code == 1
    assert "expected 'Rome' in response" in outcome.out


def test_one_that_breaks_stops_the_run_before_anything_is_sent(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo", "--snapshot", "python:market:breaks")
    assert outcome.code == 2
    assert outcome.err.endswith(
        "error: the snapshot from `python:market:breaks`: OSError: refused: *** (market.py:9)\n"
    )
    assert not list(project.rglob("journal.jsonl"))


def test_a_suite_cannot_name_one(invoke: Invoke, project: Path) -> None:
    (project / "snap.eval.yaml").write_text('snapshotSource: "python:market:capture"\n' + SUITE)
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 2
    assert "`snapshotSource` is not a key of a suite" in outcome.err
    assert not (project / "captured").exists()


def test_switched_off_it_is_not_captured(invoke: Invoke, project: Path) -> None:
    with (project / "evalc.toml").open("a") as configuration:
        configuration.write("snapshot_enabled = false\n")
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 0
    assert "{{snapshot:city}}" in outcome.out
    assert "2 skipped assertions" in outcome.out
    assert not (project / "captured").exists()
