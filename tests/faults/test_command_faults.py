"""A command agent that hangs, forks, floods, or does not listen: nothing of it outlives its case."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents.process import CommandAgent
from tests.support.asking import PATIENCE, ask, ask_after_timeout, failure, run_out_of_time

ANSWER = 'print(\'{"text": "ok"}\', flush=True)\n'

SPAWNS = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"])
with open("pids", "w") as pids:
    print(child.pid, file=pids)
"""

IGNORES_TERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


def script(folder: Path, source: str, *, max_output: int = 16 << 20) -> CommandAgent:
    """An agent that runs a Python program."""
    (folder / "agent.py").write_text(source)
    return CommandAgent(f"{shlex.quote(sys.executable)} -S agent.py", project_root=folder, max_output=max_output)


def gone(folder: Path) -> bool:
    """Whether the process that the program wrote down ends, if only after a while: its parent may reap it late."""
    pid = int((folder / "pids").read_text())
    for _ in range(int(PATIENCE / 0.05)):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    # A killed orphan is a zombie until the system's first process takes note of it.
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def children() -> set[int]:
    """The processes that this one started and that are not reaped yet, zombies included."""
    if Path("/proc/self/stat").exists():
        return {int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if parent_of(stat) == os.getpid()}
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,command="], stdout=subprocess.PIPE, text=True, check=True)
    rows = (line.split(maxsplit=2) for line in listing.stdout.splitlines())
    return {int(pid) for pid, parent, command in rows if int(parent) == os.getpid() and "ps -A" not in command}


def parent_of(stat: Path) -> int | None:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:  # it ended meanwhile
        return None


@pytest.fixture(autouse=True)
def nothing_outlives_the_test() -> Iterator[None]:
    """Other tests may have left a helper of evalc's running, such as the one for regular expressions."""
    before = children()
    yield
    assert children() <= before


@pytest.mark.parametrize("manner", ["", IGNORES_TERM])
def test_a_hanging_command_is_killed_with_its_children(tmp_path: Path, manner: str) -> None:
    run_out_of_time(script(tmp_path, manner + SPAWNS + "time.sleep(3600)"), seconds=1.0)
    assert gone(tmp_path)


def test_children_left_behind_by_an_answer_are_killed(tmp_path: Path) -> None:
    assert ask(script(tmp_path, SPAWNS + ANSWER)).response == "ok"
    assert gone(tmp_path)


def test_a_child_that_left_the_group_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    source = SPAWNS.replace('sleep(3600)"]', 'sleep(3600)"], start_new_session=True') + ANSWER
    assert ask(script(tmp_path, source)).response == "ok"
    os.kill(int((tmp_path / "pids").read_text()), 9)


def test_the_session_outlives_a_hang(tmp_path: Path) -> None:
    source = (
        "import os, time\n"
        "if not os.path.exists('seen'):\n"
        "    open('seen', 'w').close()\n"
        "    time.sleep(3600)\n" + ANSWER
    )
    assert ask_after_timeout(script(tmp_path, source), seconds=1.0).response == "ok"


@pytest.mark.parametrize("manner", ["", "import os; os.close(0)\n"])
def test_a_command_that_ignores_its_input(tmp_path: Path, manner: str) -> None:
    assert ask(script(tmp_path, manner + ANSWER), "x" * 5_000_000).response == "ok"


def test_a_flood_is_cut_off(tmp_path: Path) -> None:
    raised = failure(script(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)", max_output=1_000_000))
    assert isinstance(raised, AgentProtocolError)
    assert str(raised) == "the answer is longer than 1000000 bytes"


def test_twenty_megabytes_are_too_many(tmp_path: Path) -> None:
    raised = failure(script(tmp_path, "print('x' * 20_000_000)"))
    assert str(raised) == "the answer is longer than 16777216 bytes"


def test_a_flood_of_error_output_does_not_matter(tmp_path: Path) -> None:
    flood = "import sys; sys.stderr.write('x' * 5_000_000 + '\\nlast words\\n')\n"
    assert ask(script(tmp_path, flood + ANSWER)).response == "ok"
    assert str(failure(script(tmp_path, flood + "raise SystemExit(3)"))).endswith("exit status 3: last words")


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("'x' * 9000 + 'the rest of a line'", ""),
        ("'x' * 9000 + '\\r100 %'", ": 100 %"),
    ],
)
def test_an_error_output_whose_beginning_is_lost_is_shown_from_its_next_line_on(
    tmp_path: Path, printed: str, shown: str
) -> None:
    raised = failure(script(tmp_path, f"import sys\nsys.stderr.write({printed})\nraise SystemExit(3)"))
    assert str(raised) == f"the command ended with exit status 3{shown}"


def test_a_command_that_closes_its_output_and_hangs(tmp_path: Path) -> None:
    run_out_of_time(script(tmp_path, "import os, time; os.close(1); os.close(2); os.close(0); time.sleep(3600)"))
