"""Processes that end before their output has been read: the rest is read, and its length is checked, too."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from evalc.base.errors import AgentProtocolError
from evalc.runtime.agents.process import Completed, run_process

# A child in a session of its own, which nobody ends, keeps the pipe open and writes once its parent has exited.
PRINTS_AFTER_THE_EXIT = """
import os, sys, time
parent = os.getpid()
if os.fork() == 0:
    os.setsid()
    while os.getppid() == parent:
        time.sleep(0.005)
    os.write(1, b"x" * int(sys.argv[1]))
    os._exit(0)
time.sleep(0.1)
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.runtime.agents.process._GRACE_SECONDS", 20)


def printed_late(count: int, folder: Path, *, max_output: int) -> Completed:
    argv = [sys.executable, "-S", "-c", PRINTS_AFTER_THE_EXIT, str(count)]
    return asyncio.run(run_process(argv, b"", folder=folder, max_output=max_output))


def test_output_that_arrives_after_the_exit_is_kept(tmp_path: Path) -> None:
    assert printed_late(4000, tmp_path, max_output=4000).stdout == b"x" * 4000


def test_output_that_arrives_after_the_exit_and_is_too_long_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AgentProtocolError, match=r"^the answer is longer than 4000 bytes$"):
        printed_late(4001, tmp_path, max_output=4000)
