"""Code of others in the process of a run: it blocks the event loop, ends the process, crashes it or holds it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

AGENTS = """
import asyncio, ctypes, os, signal, sys, time
from pathlib import Path

async def sleeps(message):
    if "block" in message:
        Path("blocking").touch()
        time.sleep(600)
    return "hi"

async def loops(message):
    while "block" in message:
        Path("blocking").touch()
    return "hi"

async def catches(message):
    for _ in range(3):
        try:
            if "block" in message:
                time.sleep(600)
        except BaseException:
            pass
    return "hi"

async def slow(message):
    await asyncio.sleep(0.1)
    time.sleep(0.7)
    return "hi"

async def judges(question):
    time.sleep(600)

def exits(message): os._exit(0)
async def exits_async(message): os._exit(0)
def exits_in_c(message): ctypes.CDLL(None)._exit(0)
def replaces(message): os.execv(sys.executable, [sys.executable, "-c", ""])
def crashes(message): os.kill(os.getpid(), signal.SIGSEGV)

def holds(message):
    if "block" in message:
        Path("blocking").touch()
        ctypes.PyDLL(None).sleep(600)
    return "hi"

def forks(message):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "hi"

def forks_and_returns(message):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return "hi"

def forks_and_hangs(message):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            Path("orphans").open("a").write(f"{os.getpid()} ")
            Path("hangs").touch()
        time.sleep(600)
    while not Path("hangs").exists():
        time.sleep(0.01)
    return "hi"

async def forks_and_returns_async(message):
    return forks_and_returns(message)
"""
MEDDLING = """
import asyncio, os, sys

class Raises:
    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")

class Interrupts:
    def __getattr__(self, name):
        raise KeyboardInterrupt

holder = Raises()
def getattr_raises(message): return Raises()
def getattr_interrupts(message): return Interrupts()
async def stops(message): asyncio.get_running_loop().stop()
async def stops_later(message):
    asyncio.get_running_loop().call_soon(asyncio.get_running_loop().stop)
    return "hi"
async def closes(message): asyncio.get_running_loop().close()
async def cancels(message):
    for task in asyncio.all_tasks():
        task.cancel()
    return "hi"
def limits(message):
    sys.setrecursionlimit(30)
    return "hi"
async def limits_async(message):
    sys.setrecursionlimit(45)
    return "hi"
def moves(message):
    os.chdir("/")
    return "hi"
"""
SUITE = """\
suite: s
eval:
  test_cases:
    - {name: a, message: hi, validate: [contains "hi"]}
    - {name: b, message: block, validate: [contains "hi"]}
    - {name: c, message: hi, validate: [contains "hi"]}
"""
HASTY = """\
import sys
from evalc.cli import ending
from evalc.cli.main import main
ending._SILENCE_SECONDS = 1.0
ending._PARTING_SECONDS = 0.5
main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "own_code.py").write_text(AGENTS)
    (tmp_path / "s.eval.yaml").write_text(SUITE)
    (tmp_path / "evalc.toml").touch()
    return tmp_path


def begin(project: Path, *arguments: str, hasty: bool = False) -> subprocess.Popen[str]:
    program = ["-c", HASTY] if hasty else ["-m", "evalc"]
    command = [sys.executable, *program, "run", "s.eval.yaml", *arguments]
    return subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(project: Path, *arguments: str, hasty: bool = False) -> tuple[int, str, str]:
    with begin(project, *arguments, hasty=hasty) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def cases_of(project: Path) -> dict[str, Any]:
    (result,) = project.glob("evals/results/*/s.labeled.json")
    return {case["id"]: case for case in json.loads(result.read_bytes())["cases"]}


def runs(process: int) -> bool:
    """Whether a process has not ended; a process that nobody has waited for yet has ended."""
    listed = subprocess.run(["ps", "-o", "state=", "-p", str(process)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] not in {"", "Z"}


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("agent", ["sleeps", "loops", "catches"])
def test_a_case_whose_agent_blocks_the_loop_times_out_and_the_run_goes_on(project: Path, agent: str) -> None:
    code, out, _ = run(project, "--agent", f"python:own_code:{agent}", "--timeout", "1500ms")
    assert code == 1
    statuses = {id_: case["status"] for id_, case in cases_of(project).items()}
    assert statuses == {"s/a": "passed", "s/b": "failed", "s/c": "passed"}
    assert cases_of(project)["s/b"]["error"] == "timeout: no complete answer within 1500 ms"
    assert out.count("blocks the event loop") == 1
    assert f"⚠ `{agent}` (own_code.py:" in out


def test_an_agent_that_blocks_for_less_than_its_time_is_left_alone(project: Path) -> None:
    code, out, _ = run(project, "--agent", "python:own_code:slow", "--timeout", "5000ms", "--concurrency", "3")
    assert (code, "blocks the event loop" in out) == (0, False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("agent", ["sleeps", "loops"])
def test_a_blocked_loop_hears_the_first_interrupt(project: Path, agent: str, number: signal.Signals) -> None:
    with begin(project, "--agent", f"python:own_code:{agent}") as process:
        wait_for(project / "blocking")
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "1 of 3 cases finished" in err
    assert "evalc run --resume" in err


def test_a_judge_that_blocks_the_loop_is_an_error_of_its_case(project: Path) -> None:
    script = (
        "import evalc.setup.runner as run\n"
        "made = run.panel_of\n"
        "from msgspec.structs import replace\n"
        "run.panel_of = lambda *a: replace(made(*a), timeout_ms=1500)\n"
        "from evalc.cli.main import main; main()\n"
    )
    (project / "s.eval.yaml").write_text(SUITE.replace('contains "hi"', "'judge \"kind?\" >= 1/1'"))
    command = [sys.executable, "-c", script, "run", "--agent", "demo", "--judge", "python:own_code:judges"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    errors = {case["error"] for case in cases_of(project).values()}
    assert errors == {"judge: python:own_code:judges: no score within 1500 ms"}
    assert done.stdout.count("`judges` (own_code.py:") == 1


@pytest.mark.parametrize("agent", ["exits", "exits_async", "exits_in_c", "replaces"])
def test_a_run_without_its_report_never_exits_with_0(project: Path, agent: str) -> None:
    code, out, err = run(project, "--agent", f"python:own_code:{agent}")
    assert (code, out) == (70, "")
    assert "error: an agent, a judge or a check ended" in err
    assert "what was finished is kept, and `evalc run --resume" in err


@pytest.mark.parametrize("judge", ["exits", "exits_in_c"])
def test_a_calibration_without_its_figures_never_exits_with_0(project: Path, judge: str) -> None:
    (project / "labels.csv").write_text("response,label,criterion\nhi,1,kind\n")
    command = [
        sys.executable,
        "-m",
        "evalc",
        "judge",
        "--calibrate",
        "labels.csv",
        "--judge",
        f"python:own_code:{judge}",
    ]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (70, ""), done.stderr
    assert "error: an agent, a judge or a check ended" in done.stderr


def test_a_run_that_crashes_says_so(project: Path) -> None:
    code, out, err = run(project, "--agent", "python:own_code:crashes")
    assert (code, out) == (128 + signal.SIGSEGV, "")
    assert "error: the run was ended by SIGSEGV before it had a report" in err


@pytest.mark.parametrize("agent", ["forks", "forks_and_returns", "forks_and_returns_async"])
def test_a_child_of_the_agent_ends_as_it_likes_and_goes_on_with_no_run(project: Path, agent: str) -> None:
    """The agent waits for its child, which would never end with a run of its own."""
    code, out, _ = run(project, "--agent", f"python:own_code:{agent}", "--timeout", "20000ms")
    assert (code, "3/3 passed" in out) == (0, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends them")
def test_no_child_of_the_agent_outlives_the_run(project: Path) -> None:
    code, out, _ = run(project, "--agent", "python:own_code:forks_and_hangs", "--concurrency", "1")
    assert (code, "3/3 passed" in out) == (0, True)
    deadline = time.monotonic() + 30
    while any(runs(int(orphan)) for orphan in (project / "orphans").read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_agent_that_holds_the_interpreter_is_late_and_not_suspended(project: Path) -> None:
    (project / "late.py").write_text(
        "import ctypes\n\ndef ask(message):\n    ctypes.PyDLL(None).sleep(4)\n    return 'hi'\n"
    )
    code, out, _ = run(project, "--agent", "python:late:ask", "--timeout", "2s", "--concurrency", "1", "--json")
    assert code == 1
    cases = [case for suite in json.loads(out)["suites"] for case in suite["cases"]]
    assert [case["error"].partition(":")[0] for case in cases] == ["timeout"] * 3


def stop_for(seconds: float, *processes: int) -> None:
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    time.sleep(seconds)
    for process in processes:
        os.kill(process, signal.SIGCONT)


def test_a_process_that_is_suspended_is_no_fault_of_the_agent(project: Path) -> None:
    (project / "slow.py").write_text(
        "import os, time\nfrom pathlib import Path\n\ndef ask(message):\n"
        "    Path('asked').write_text(str(os.getpid()))\n    time.sleep(1)\n    return 'hi'\n"
    )
    with begin(project, "--agent", "python:slow:ask", "--timeout", "3s", "--json", hasty=True) as process:
        wait_for(project / "asked")
        time.sleep(0.3)
        stop_for(6, int((project / "asked").read_text()), process.pid)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    cases = [case for suite in json.loads(out)["suites"] for case in suite["cases"]]
    assert [case["status"] for case in cases] == ["passed"] * 3
    assert max(case["durationMs"] for case in cases) < 5000


def test_code_that_holds_the_interpreter_is_ended(project: Path) -> None:
    code, _, err = run(project, "--agent", "python:own_code:holds", "--timeout", "300ms", hasty=True)
    assert code == 70
    assert re.search(r"has held Python's interpreter for \d s, so the run was ended; what was finished is kept", err)


def test_a_check_that_holds_the_interpreter_is_ended(project: Path) -> None:
    (project / "held.py").write_text(
        "import ctypes, evalc\n@evalc.custom_check\ndef held(answer):\n    ctypes.PyDLL(None).sleep(600)\n"
    )
    (project / "evalc.toml").write_text('checks = ["held.py"]\n')
    suite = {"suite": "s", "eval": {"test_cases": [{"name": "a", "message": "hi", "validate": ["check held()"]}]}}
    (project / "s.eval.yaml").write_text(json.dumps(suite))
    code, _, err = run(project, "--agent", "demo", "--timeout", "300ms", hasty=True)
    assert (code, "has held Python's interpreter" in err) == (70, True)


def test_code_that_holds_the_interpreter_does_not_keep_ctrl_c_waiting(project: Path) -> None:
    with begin(project, "--agent", "python:own_code:holds", hasty=True) as process:
        wait_for(project / "blocking")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the run did not end when it was asked to, and was killed" in err


def test_ctrl_c_in_a_terminal_is_heard_once(project: Path) -> None:
    ours, terminal = pty.openpty()

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    command = [sys.executable, "-m", "evalc", "run", "s.eval.yaml", "--agent", "python:own_code:sleeps"]
    with subprocess.Popen(
        command, cwd=project, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=take_terminal,  # noqa: PLW1509 - nothing else gives a child its terminal
    ) as process:  # fmt: skip
        wait_for(project / "blocking")
        os.write(ours, b"\x03")
        _, err = process.communicate(timeout=30)
    os.close(ours)
    os.close(terminal)
    assert process.returncode == 130
    assert err.count("error: interrupted; what was finished is kept") == 1
    assert "1 of 3 cases finished" in err


def test_a_run_does_not_outlive_whoever_waits_for_it(project: Path) -> None:
    (project / "own_code.py").write_text(
        "import os, time\nfrom pathlib import Path\n"
        "def waits(message):\n    Path('blocking').write_text(str(os.getpid()))\n    time.sleep(600)\n"
    )
    with begin(project, "--agent", "python:own_code:waits") as process:
        wait_for(project / "blocking")
        time.sleep(0.1)
        child = int((project / "blocking").read_text())
        assert child != process.pid
        process.kill()
    deadline = time.monotonic() + 10
    while runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("agent", "code", "words"),
    [
        ("getattr_raises", 3, "agent: RuntimeError: no response"),
        ("getattr_interrupts", 3, "agent: KeyboardInterrupt"),
        ("holder", 2, "`python:odd:holder` cannot be looked at: RuntimeError: no run"),
        ("stops", 3, "the agent stopped the event loop; what was finished is in the journal, if the run is saved"),
        (
            "stops_later",
            3,
            "the agent stopped the event loop; what was finished is in the journal, if the run is saved",
        ),
        ("closes", 3, "agent: RuntimeError: Cannot close a running event loop"),
        ("cancels", 3, "the run was cancelled by the agent; what was finished is in the journal, if the run is saved"),
        ("limits", 0, "3/3 passed"),
        ("limits_async", 0, "3/3 passed"),
        ("moves", 0, "3/3 passed"),
    ],
)
def test_an_agent_that_meddles_with_the_process_is_reported(project: Path, agent: str, code: int, words: str) -> None:
    (project / "odd.py").write_text(MEDDLING)
    ended, out, err = run(project, "--agent", f"python:odd:{agent}")
    assert (ended, words in out + err) == (code, True), out + err
    assert "evalc broke" not in err


@pytest.mark.parametrize("agent", ["exits", "exits_async"])
def test_an_agent_that_ends_the_process_of_pytest_leaves_no_green_session(project: Path, agent: str) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "s.eval.yaml", "--evalc-agent"]
    done = subprocess.run(
        [*command, f"python:own_code:{agent}"], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 70
    assert "error: an agent, a judge or a check ended the process (`os._exit`)" in done.stderr


def test_an_agent_that_blocks_the_loop_of_pytest_fails_its_case(project: Path) -> None:
    (project / "evalc.toml").write_text('timeout = "1500ms"\n')
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "s.eval.yaml", "--evalc-agent"]
    done = subprocess.run(
        [*command, "python:own_code:sleeps"], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stdout
    assert "1 failed, 2 passed" in done.stdout
    assert "`sleeps` (own_code.py:" in done.stdout
