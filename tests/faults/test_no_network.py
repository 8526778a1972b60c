"""`check`, `compile` and every other command that asks no agent open no socket and start no process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WATCHED = """\
import atexit
import os
import sys

SEEN = []
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "urllib.", "http.client.")

def audit(event, arguments):
    if event.startswith(FORBIDDEN):
        SEEN.append(f"{event} {arguments!r:.200}")

sys.addaudithook(audit)

def report():
    if SEEN:
        sys.stderr.write("FORBIDDEN: " + "; ".join(SEEN))
        sys.stderr.flush()
        os._exit(99)

atexit.register(report)  # the command itself may end the process
from evalc.cli.main import main
main()
"""
SUITE = """\
suite: s
prompt: p
eval:
  criteria: [tone]
  test_cases:
    - {name: a, for_each: rows.csv, inputs: {x: '{{x}}'}, validate: [contains "a", 'judge "kind?" >= 4/5 for tone']}
"""
PROMPT = "id: p\nprompt: 'Hi {{x}}'\ninputs: [x]\nhomepage: https://example.com\n"


@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("check", "--strict", "-v", "."),
        ("check", "--diff"),
        ("check", "--format", "sarif"),
        ("compile", "-o", "out"),
        ("compile", "s.eval.yaml", "--stdout"),
        ("fmt", "--check"),
        ("lock",),
        ("explain", "EV401"),
        ("schema", "case"),
        ("import", "promptfoo.yaml", "-o", "x.eval.yaml"),
        ("run", "--collect-only", "--agent", "http://127.0.0.1:1/"),
        ("run", "--dry-run", "--agent", "http://127.0.0.1:1/", "--judge", "http://127.0.0.1:1/"),
    ],
    ids=" ".join,
)
def test_no_socket_is_opened_and_no_process_started(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "evalc.toml").write_text('snapshot = "http://127.0.0.1:1/"\nprompts = "."\n')
    (tmp_path / "s.eval.yaml").write_text(SUITE)
    (tmp_path / "p.prompt.yaml").write_text(PROMPT)
    (tmp_path / "rows.csv").write_text("x\n1\n")
    (tmp_path / "promptfoo.yaml").write_text(
        "prompts: [Hi]\nproviders: [openai:gpt-4]\ntests:\n  - assert: [{type: contains, value: x}]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "FORBIDDEN" not in done.stderr, done.stderr
    assert done.returncode in {0, 1, 2}, done.stderr


def test_the_watch_sees_a_socket(tmp_path: Path) -> None:
    """Without this, a watch that is broken would pass."""
    (tmp_path / "s.eval.yaml").write_text(
        "suite: s\neval:\n  test_cases: [{name: a, message: hi, validate: [non-empty]}]\n"
    )
    command = [sys.executable, "-c", WATCHED, "run", "--agent", "http://127.0.0.1:1/"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "FORBIDDEN: socket." in done.stderr) == (99, True)
