"""What is done side by side: whole results, whatever becomes of a process, and none that lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing

import pytest

from evalc.forks import side_by_side

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),  # the workers that run tests have threads
]


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The processes that a test makes; none of them is left at its end, nor waits to be waited for."""
    made: list[int] = []
    fork = os.fork

    def noted() -> int:
        process = fork()
        made.append(process)
        return process

    monkeypatch.setattr(os, "fork", noted)
    yield made
    for process in made:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_results_are_whole() -> None:
    sizes = [3, 1_000_000, 0, 70_000]  # more than a pipe holds
    results = side_by_side(lambda size: b"x" * size, sizes)
    assert sorted(len(result or b"-") for result in results) == sorted(max(size, 1) for size in sizes)


def test_they_come_as_they_are_there() -> None:
    reading, writing = os.pipe()

    def work(piece: str) -> bytes:
        if piece == "waits":
            os.read(reading, 1)
        return piece.encode()

    results = side_by_side(work, ["waits", "quick"])
    assert next(results) == b"quick"
    os.write(writing, b".")
    assert [*results] == [b"waits"]
    os.close(reading)
    os.close(writing)


def test_each_piece_has_a_process_of_its_own(forked: list[int]) -> None:
    pids = {int(pid or b"0") for pid in side_by_side(lambda _: str(os.getpid()).encode(), range(4))}
    assert pids == {*forked}
    assert len(pids) == 4


def test_what_a_process_does_not_finish_has_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    def work(piece: str) -> bytes:
        match piece:
            case "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            case "leaves":
                os._exit(0)
            case "raises":
                raise ValueError
        return piece.encode()

    results = [*side_by_side(work, ["fine", "dies", "leaves", "raises", "well"])]
    assert sorted(result or b"" for result in results) == [b"", b"", b"", b"fine", b"well"]
    assert capfd.readouterr() == ("", "")


def test_none_lives_on_behind_what_has_no_more_use_for_it() -> None:
    def work(piece: bool) -> bytes:
        if not piece:
            signal.pause()
        return b"done"

    with closing(side_by_side(work, [False, True, False])) as results:
        assert next(results) == b"done"


def test_without_processes_to_be_had_there_are_no_results() -> None:
    script = """
    import os
    from evalc import forks
    def refused():
        raise BlockingIOError
    os.fork = refused
    print(*forks.side_by_side(lambda piece: piece, [b"a", b"b"]))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert run.stdout == "None None\n"
