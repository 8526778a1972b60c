"""What is done side by side: whole results, whatever becomes of a process, and none that lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from evalc.forks import side_by_side

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),  # the workers that run tests have threads
]


def no_process_is_left() -> bool:
    """Whether no child is there, nor one that was not waited for."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def test_results_are_whole() -> None:
    sizes = [3, 1_000_000, 0, 70_000]  # more than a pipe holds
    results = side_by_side(lambda size: b"x" * size, sizes)
    assert sorted(len(result or b"-") for result in results) == sorted(max(size, 1) for size in sizes)
    assert no_process_is_left()


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


def test_each_piece_has_a_process_of_its_own() -> None:
    pids = {*side_by_side(lambda _: str(os.getpid()).encode(), range(4))}
    assert len(pids - {str(os.getpid()).encode()}) == 4


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
    assert no_process_is_left()
    assert capfd.readouterr() == ("", "")


def test_none_lives_on_behind_what_has_no_more_use_for_it() -> None:
    def work(piece: bool) -> bytes:
        if not piece:
            signal.pause()
        return b"done"

    with closing(side_by_side(work, [False, True, False])) as results:
        assert next(results) == b"done"
    assert no_process_is_left()


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
