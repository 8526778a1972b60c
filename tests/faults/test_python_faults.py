"""A Python agent that raises anything, never returns, or will not be cancelled."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalc.base.errors import AgentError
from evalc.model.case import Case, Input
from evalc.model.suite import LocatedCase
from evalc.runtime.agents.python import PythonAgent
from evalc.runtime.run.case import CaseOptions
from evalc.runtime.run.engine import Worker
from tests.support.asking import PATIENCE, ask, ask_after_timeout, failure, run_out_of_time

MODULE = """
import asyncio, sys, threading

class Unprintable(Exception):
    def __str__(self): raise RuntimeError

class Moody:
    @property
    def response(self): raise ValueError("moody")

def value_error(message):
    raise ValueError("no luck")
async def async_value_error(message):
    raise ValueError("no luck")
def system_exit(message): sys.exit(3)
async def async_system_exit(message): sys.exit(3)
def keyboard_interrupt(message): raise KeyboardInterrupt
def stop_iteration(message): raise StopIteration
def generator_exit(message): raise GeneratorExit
def unprintable(message): raise Unprintable
def unspeakable(message): raise Unspeakable
async def cancels_itself(message): raise asyncio.CancelledError
def recursion(message): return recursion(message)
def moody(message): return Moody()
def from_itself(message):
    try:
        raise ValueError("again")
    except ValueError as error:
        raise error from error

class Unspeakable(BaseException):
    def __str__(self): raise Unspeakable

released = threading.Event()
first = True

def hangs_once(message):
    global first
    if first:
        first = False
        released.wait()
    return message

async def stubborn(message):
    global first
    if not first:
        return message
    first = False
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

async def deaf(message):
    while True:
        try:
            await asyncio.sleep(3600)
        except:
            pass

async def never_suspends(message): return message
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "faulty_agent.py").write_text(MODULE)
    yield tmp_path
    module = sys.modules.pop("faulty_agent", None)
    if module is not None:
        module.released.set()
    sys.path.remove(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("value_error", "ValueError: no luck (faulty_agent.py:12)"),
        ("async_value_error", "ValueError: no luck (faulty_agent.py:14)"),
        ("system_exit", "SystemExit: 3 (faulty_agent.py:15)"),
        ("async_system_exit", "SystemExit: 3 (faulty_agent.py:16)"),
        ("keyboard_interrupt", "KeyboardInterrupt (faulty_agent.py:17)"),
        ("stop_iteration", "StopIteration (faulty_agent.py:18)"),
        ("generator_exit", "GeneratorExit (faulty_agent.py:19)"),
        ("unprintable", "Unprintable (faulty_agent.py:20)"),
        ("unspeakable", "Unspeakable (faulty_agent.py:21)"),
        ("cancels_itself", "the agent cancelled itself"),
        ("moody", "ValueError: moody (faulty_agent.py:9)"),
        ("from_itself", "ValueError: again (faulty_agent.py:27)"),
    ],
)
def test_whatever_it_raises_is_an_agent_error(root: Path, name: str, message: str) -> None:
    raised = failure(PythonAgent(f"faulty_agent:{name}", project_root=root))
    assert type(raised) is AgentError
    assert str(raised) == message


def test_endless_recursion_is_an_agent_error(root: Path) -> None:
    raised = failure(PythonAgent("faulty_agent:recursion", project_root=root))
    assert str(raised).startswith("RecursionError: maximum recursion depth exceeded")


@pytest.mark.parametrize("name", ["hangs_once", "stubborn"])
def test_the_session_outlives_a_call_that_does_not_end(root: Path, name: str) -> None:
    agent = PythonAgent(f"faulty_agent:{name}", project_root=root)
    assert ask_after_timeout(agent, message="again").response == "again"


def test_an_abandoned_thread_ends_when_its_function_returns(root: Path) -> None:
    before = set(threading.enumerate())
    run_out_of_time(PythonAgent("faulty_agent:hangs_once", project_root=root))
    (left,) = [thread for thread in threading.enumerate() if thread.name == "evalc-agent" and thread not in before]
    assert left.daemon
    sys.modules["faulty_agent"].released.set()
    left.join(PATIENCE)
    assert not left.is_alive()


def test_sessions_leave_no_thread_behind(root: Path) -> None:
    before = set(threading.enumerate())
    (root / "faulty_agent.py").write_text("def answer(message): return message")
    ask(PythonAgent("faulty_agent:answer", project_root=root))
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)
    assert set(threading.enumerate()) <= before
    sys.modules["faulty_agent"].released = threading.Event()  # type: ignore[attr-defined]


def test_an_agent_that_never_suspends_does_not_starve_timers(root: Path) -> None:
    async def run() -> int:
        worker = Worker(PythonAgent("faulty_agent:never_suspends", project_root=root), CaseOptions())
        fired: list[int] = []
        count = 0
        asyncio.get_running_loop().call_later(0.01, fired.append, 1)
        while not fired:
            await worker.attempt(LocatedCase(Case(id="a", description="a", input=Input(message="m")), {}))
            count += 1
        await worker.close()
        return count

    assert asyncio.run(run()) > 0


@pytest.mark.parametrize("name", ["hangs_once", "stubborn", "deaf"])
def test_the_process_ends_though_the_agent_does_not(root: Path, name: str) -> None:
    sys.path.insert(0, str(root))  # what the fixture takes off again
    script = f"""
import asyncio, pathlib
from evalc.model.answer import AgentRequest
from evalc.runtime.agents.python import PythonAgent

async def main():
    agent = PythonAgent("faulty_agent:{name}", project_root=pathlib.Path({str(root)!r}))
    async with agent.session() as session:
        try:
            async with asyncio.timeout(0.1):
                await session.send(AgentRequest(message="m"))
        except TimeoutError:
            print("timed out")

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "timed out\n", "")


CLOSING = """
import sys
def closes(message):
    sys.stdout.close()
    sys.stderr.close()
    return message
def deletes(message):
    del sys.stdout, sys.stderr
    return message
"""


@pytest.mark.parametrize("name", ["closes", "deletes"])
def test_the_streams_that_an_agent_takes_away_are_its_own(tmp_path: Path, name: str) -> None:
    (tmp_path / "closing_agent.py").write_text(CLOSING)
    cases = "cases: [{name: a, message: hi, validate: ['contains \"hi\"', 'length >= 0']}]"
    (tmp_path / "s.eval.yaml").write_text(f"suite: s\neval:\n  test_{cases}\n")
    (tmp_path / "evalc.toml").touch()
    command = [sys.executable, "-m", "evalc", "run", "s.eval.yaml", "--agent", f"python:closing_agent:{name}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "1/1 passed" in done.stdout) == (0, True), done.stderr
    assert "warning[" in done.stderr, "what is said at the end of a run needs the stream"
