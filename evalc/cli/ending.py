"""How a command ends: its exit code, a word about what broke, and requests to terminate as interrupts."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, Never, ParamSpec, final

from evalc.base.errors import EvalcError, NothingToDo, SourceError, UsageError
from evalc.base.terminal import visible
from evalc.cli.streams import print_error, print_problems

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

P = ParamSpec("P")


at_the_end: Final[list[Callable[[int], object]]] = []
"""What is told the exit code of a command once all of its output is written."""


class ExitCode(IntEnum):
    """What the exit code of a process says."""

    OK = 0
    FAILED = 1
    USAGE = 2
    AGENT = 3
    BROKEN = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


def exits(command: Callable[P, int]) -> Callable[P, None]:
    """The command as the command line calls it: it ends in an exit code, never in a traceback."""

    @wraps(command)
    def exiting(*args: P.args, **kwargs: P.kwargs) -> None:
        _open_closed_streams()
        _let_standard_error_fail()
        for stream in (sys.stdout, sys.stderr):
            # What the encoding of a terminal or pipe lacks is written as an escape, rather than breaking the command.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            _let_go_of_output()
            code = ExitCode.CLOSED_PIPE
        except KeyboardInterrupt:
            print_error("interrupted")
            code = ExitCode.INTERRUPTED
        except Exception as error:
            code = _explained(error)
        for tell in at_the_end:
            tell(code)
        raise SystemExit(code)

    return exiting


def _open_closed_streams() -> None:
    """Give a command that is started without standard output or error (`>&-`) a stream that goes nowhere."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above


@final
class _Forgiving(io.FileIO):
    """What cannot be written to it is lost: a full disk behind standard error is not a reason to end a good run."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def _let_standard_error_fail() -> None:
    stream = sys.stderr
    if stream is not sys.__stderr__ or not isinstance(stream, io.TextIOWrapper):
        return  # somebody else's, such as pytest's
    with suppress(OSError, ValueError):
        raw = _Forgiving(stream.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=stream.encoding, line_buffering=True, write_through=True
        )


def leave(code: int) -> Never:
    """End the process at once, all that it holds with it: taking that apart is a tenth of what a small check takes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # there is nobody left to tell
            stream.flush()
    os._exit(code)


def _explained(error: Exception) -> ExitCode:
    if os.environ.get("EVALC_DEBUG") == "1":
        import traceback  # noqa: PLC0415 - for start-up

        traceback.print_exception(error)
    match error:
        case SourceError():
            print_problems(error.problems, sys.stderr)
            return ExitCode.USAGE
        case NothingToDo():
            sys.stderr.write(f"{visible(str(error))}\n")
            return ExitCode.OK
        case UsageError():
            print_error(str(error))
            return ExitCode.USAGE
        case EvalcError():
            print_error(str(error))
            return ExitCode.AGENT
        case FileNotFoundError(filename=None):  # nothing else is looked for without a name
            print_error("the working folder no longer exists")
            return ExitCode.USAGE
        case OSError(strerror=str(reason)):
            from evalc.base.files import LeadsOut  # noqa: PLC0415 - for start-up

            print_error(f"`{error.filename}`: {reason}" if error.filename else reason)
            if isinstance(error, LeadsOut):
                return ExitCode.USAGE
        case _:
            # Not its message, which may quote anything, secrets included.
            name = type(error).__name__
            print_error(f"evalc broke ({name}); please report it, with what EVALC_DEBUG=1 makes this command print")
    return ExitCode.BROKEN


def _let_go_of_output() -> None:
    """Nobody reads the output any more: let what is still in its buffer go nowhere when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let a request to terminate end the run as Ctrl-C does: in order, and with a word about finished work.

    Where Ctrl-C is ignored, as in what a shell's script runs with `&`, it stays ignored.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        # An event loop hears of interrupts only where Python would: so it may, and none gets that far.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _interrupt(_: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
