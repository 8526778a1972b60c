"""Runs a command in a child process, so that its parent knows how it ended whatever an agent does.

Code in the process of a run may end it (`os._exit`), replace it, crash it, or hold Python's interpreter for good. None
of that ends in exit code 0, and none of it lasts for ever: the run itself reports to its parent how it ended, hears it
breathe, hands on what it is asked (Ctrl-C, a request to terminate), and ends it if it does nothing any more.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final, Never, final

from evalc.cli.ending import ExitCode, at_the_end, print_error, print_warning

_BREATH_SECONDS: Final = 0.5
_SILENCE_SECONDS: Final = 10.0
"""How long beyond the time of a case the interpreter may be held."""
_PARTING_SECONDS: Final = 5.0
"""How long, once the run is to end."""
_BREATH: Final = b"."
_KILL_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG of prctl(2)
_HANDED_ON: Final = (signal.SIGINT, signal.SIGTERM)

_is_allowed = False


def allow_supervision() -> None:
    """Say that this process is evalc's own, and may fork; a process that calls the command as a function may not."""
    global _is_allowed  # noqa: PLW0603 - it says something of the process
    _is_allowed = hasattr(os, "fork") and threading.active_count() == 1


def supervise(timeout_ms: float, advice: Callable[[], str]) -> None:
    """Go on in a child; the parent waits for it, and exits as it does.

    Args:
        timeout_ms: how long a case may take.
        advice: what to do next where the run has no report.
    """
    if not _is_allowed:
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    # A terminal sends Ctrl-C to parent and child, stops and continues both, and lets both read what is typed.
    shares_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    child = os.fork()
    if child == 0:
        os.close(reading)
        if not shares_terminal:
            os.setpgid(0, 0)  # so that a signal to the parent's group reaches the child once, from the parent
        _go_on(writing, parent)
        return
    os.close(writing)
    os.set_blocking(reading, False)
    silence = timeout_ms / 1000 + _SILENCE_SECONDS
    _Parent(child, reading, silence=silence, advice=advice, shares_terminal=shares_terminal).wait()


def _go_on(writing: int, parent: int) -> None:
    """In the child: breathe, and say at the end how it ended."""
    _die_with(parent)

    def breathe() -> None:
        while True:
            try:
                os.write(writing, _BREATH)
            except OSError:  # the parent is gone, and with it whoever wants to know
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(_BREATH_SECONDS)

    threading.Thread(target=breathe, name="evalc-breath", daemon=True).start()
    at_the_end.append(lambda code: os.write(writing, bytes([code])))


def _die_with(parent: int) -> None:
    """Let the kernel kill this process with its parent, if it can; elsewhere the missing reader is noticed."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 - for start-up: only if a process is doubled

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_KILL_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it was quicker
        os.kill(os.getpid(), signal.SIGKILL)


@final
class _Parent:
    def __init__(
        self, child: int, reading: int, *, silence: float, advice: Callable[[], str], shares_terminal: bool
    ) -> None:
        self._shares_terminal = shares_terminal
        self._child = child
        self._reading = reading
        self._silence = silence
        self._advice = advice
        self._breathed = time.monotonic()
        self._to_end_since: float | None = None
        self._reported: int | None = None
        self._reported_at = 0.0
        self._given_up: str | None = None

    def wait(self) -> Never:
        """Wait for the child, and exit."""
        for number in _HANDED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._hand_on)
        status = self._status()
        self._listen()
        code = self._code(status)
        sys.stderr.flush()
        os._exit(code)

    def _status(self) -> int:
        """How the child ended, looked after on the way."""
        while True:
            ready, _, _ = select.select([self._reading], [], [], _BREATH_SECONDS)
            if ready and not self._listen():
                # The writing end is closed: the child is ending, or one of its children holds nothing any more.
                return self._ended(os.waitpid(self._child, 0))
            if (ended := os.waitpid(self._child, os.WNOHANG))[0]:
                return self._ended(ended)
            self._look_after()

    @staticmethod
    def _ended(ended: tuple[int, int]) -> int:
        return os.waitstatus_to_exitcode(ended[1])

    def _listen(self) -> bool:
        """Take in what the child has written; False if nothing will come any more."""
        with suppress(BlockingIOError):
            while True:
                said = os.read(self._reading, 4096)
                if not said:
                    return False
                self._breathed = time.monotonic()
                if report := said.replace(_BREATH, b""):
                    self._reported, self._reported_at = report[-1], self._breathed
        return True

    def _look_after(self) -> None:
        if self._reported is not None:
            if time.monotonic() - self._reported_at > _SILENCE_SECONDS:
                self._give_up(
                    f"an agent, a judge or a check went on for {_SILENCE_SECONDS:.0f} s after it, and was ended"
                )
            return
        silent = time.monotonic() - self._breathed
        since = self._to_end_since
        if since is not None and min(silent, time.monotonic() - since) > _PARTING_SECONDS:
            self._give_up("the run did not end when it was asked to, and was killed")
        elif silent > self._silence:
            self._give_up(
                f"an agent, a judge or a check has held Python's interpreter for {silent:.0f} s, so the run was ended"
            )

    def _give_up(self, why: str) -> None:
        self._given_up = why
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)

    def _hand_on(self, number: int, _frame: FrameType | None) -> None:
        self._to_end_since = self._to_end_since or time.monotonic()
        if number == signal.SIGINT and self._shares_terminal:
            return  # the terminal has sent it to the child, too
        with suppress(ProcessLookupError):
            os.kill(self._child, number)

    def _code(self, status: int) -> int:
        if self._reported is not None:
            if self._given_up is not None:
                print_warning(self._given_up)
            return self._reported
        if self._given_up is not None:
            print_error(f"{self._given_up}{self._advice()}")
            return ExitCode.INTERRUPTED if self._to_end_since is not None else ExitCode.BROKEN
        if status < 0:
            name = signal.Signals(-status).name
            print_error(f"the run was ended by {name} before it had a report{self._advice()}")
            return 128 - status
        if status == ExitCode.BROKEN:  # the reason has been reported
            print_error(f"the run has no report{self._advice()}")
        else:
            print_error(
                f"an agent, a judge or a check ended its process, with exit code {status}, before there was a report"
                f"{self._advice()}"
            )
        return ExitCode.BROKEN
