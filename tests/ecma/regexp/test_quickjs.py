"""The worker process: started when needed, replaced when it ends, never outliving its parent."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalc.ecma.regexp.nodes import PatternError, RegexpError, RegexpTimeout
from evalc.ecma.regexp.quickjs import QuickJS, engine


@pytest.fixture
def quickjs() -> Iterator[QuickJS]:
    own = QuickJS()
    yield own
    own.close()


def test_one_worker_answers_many_requests(quickjs: QuickJS) -> None:
    assert quickjs.pid is None
    assert quickjs.test("a", "", "cat", 30)
    first = quickjs.pid
    assert not quickjs.test("a", "", "dog", 30)
    assert quickjs.pid == first


def test_a_refused_pattern_leaves_the_worker_as_it_was(quickjs: QuickJS) -> None:
    with pytest.raises(PatternError):
        quickjs.test("(", "", "", 30)
    first = quickjs.pid
    assert quickjs.test("a", "", "a", 30)
    assert quickjs.pid == first


def test_a_worker_past_its_deadline_is_gone(quickjs: QuickJS) -> None:
    assert quickjs.test("a", "", "a", 30)
    first = quickjs.pid
    assert first is not None
    with pytest.raises(RegexpTimeout):
        quickjs.test("^(a+)+$", "", "a" * 40 + "b", 0.05)
    assert quickjs.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert quickjs.test("a", "", "a", 30)


def test_a_worker_that_was_killed_is_replaced(quickjs: QuickJS) -> None:
    assert quickjs.test("a", "", "a", 30)
    first = quickjs.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert quickjs.test("a", "", "a", 30)
    assert quickjs.pid not in {None, first}


def test_a_worker_that_is_stopped_cannot_hold_a_long_text_up(quickjs: QuickJS) -> None:
    assert quickjs.test("a", "", "a", 30)
    assert quickjs.pid is not None
    os.kill(quickjs.pid, signal.SIGSTOP)
    with pytest.raises(RegexpTimeout):
        quickjs.test("a", "", "b" * 1_000_000, 0.1)


def test_an_interrupt_from_the_keyboard_is_not_the_workers(quickjs: QuickJS) -> None:
    assert quickjs.test("a", "", "a", 30)
    first = quickjs.pid
    assert first is not None
    os.kill(first, signal.SIGINT)
    assert quickjs.test("a", "", "a", 30)
    assert quickjs.pid == first


def test_a_worker_that_cannot_start_is_an_error(quickjs: QuickJS, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    with pytest.raises(RegexpError, match="did not start"):
        quickjs.test("a", "", "a", 30)
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with pytest.raises(RegexpError, match="did not start"):
        quickjs.test("a", "", "a", 30)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("exit 1", "ended unexpectedly"),
        ("""echo '{"error": "InternalError", "message": "out of memory"}'""", "failed: out of memory"),
    ],
)
def test_a_worker_that_fails_is_an_error(
    quickjs: QuickJS, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, message: str
) -> None:
    failing = tmp_path / "python"
    failing.write_text(f"#!/bin/sh\necho ready\nread request\n{answer}\n")
    failing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(failing))
    with pytest.raises(RegexpError, match=message):
        quickjs.test("a", "", "a", 30)


def test_the_engine_is_the_processes() -> None:
    assert engine() is engine()


@pytest.mark.parametrize("text", ["a", "a" * 40 + "b"], ids=["idle", "busy"])
def test_a_worker_does_not_outlive_a_parent_that_is_killed(text: str) -> None:
    script = f"""
import threading, time
from evalc.ecma.regexp.quickjs import engine
engine().test("a", "", "a", 30)
threading.Thread(target=engine().test, args=("^(a+)+$", "", {text!r}, 0.5), daemon=True).start()
time.sleep(0.1)
print(engine().pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    assert _ends(worker)


def test_a_process_that_ends_takes_its_worker_with_it() -> None:
    script = """
from evalc.ecma.regexp.quickjs import engine
engine().test("a", "", "a", 30)
print(engine().pid)
"""
    finished = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert finished.stderr == ""
    assert _ends(int(finished.stdout))


def test_a_forked_child_has_a_worker_of_its_own() -> None:
    script = """
import os
import shutil
from evalc.ecma.regexp.quickjs import engine
assert engine().test("a", "", "a", 30)
parents = engine().pid
child = os.fork()
if child == 0:
    own = engine().test("b", "", "b", 30) and engine().pid != parents
    engine().close()
    os._exit(0 if own else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert engine().test("a", "", "a", 30) and engine().pid == parents
print(status)
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert finished.stdout == "0\n"


def _ends(pid: int) -> bool:
    """Whether the process ends before patience does; a dead process that init has not collected yet counts as ended."""
    if shutil.which("ps") is None:
        pytest.skip("ps is not on PATH")
    for _ in range(1000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if state.stdout.strip() in {"", "Z"}:
            return True
        time.sleep(0.02)
    return False
