"""The streams of a command, and how it ends: problems and messages, its exit code, requests to terminate."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from enum import IntEnum
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, Never, ParamSpec, TextIO, final

from evalc.base.errors import EvalcError, NothingToDo, SourceError, UsageError
from evalc.base.files import LeadsOut, below_working_folder
from evalc.base.terminal import Screen, painted, visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from evalc.compiler.compiled import Inventory
    from evalc.diagnostics.problem import Problem
    from evalc.diagnostics.render import Tried


def print_error(message: str) -> None:
    """Say on standard error why the command does not go on."""
    head = painted("error", "red", on=Screen.of(sys.stderr, os.environ).color)
    sys.stderr.write(f"{head}: {visible(message)}\n")


def print_warning(message: str) -> None:
    """Say on standard error what the user should know, though the command continues."""
    head = painted("warning", "yellow", on=Screen.of(sys.stderr, os.environ).color)
    sys.stderr.write(f"{head}: {visible(message)}\n")


def print_problems(problems: Sequence[Problem], stream: TextIO, *, tried: Tried = "nothing") -> None:
    """Print the problems, how many they are and how many of them can be fixed; nothing if there are none.

    `tried` says which fixes have been tried already.
    """
    # Deferred for start-up: most commands find no problem.
    from evalc.diagnostics.render import render_text, summary_line  # noqa: PLC0415

    if problems:
        screen = Screen.of(stream, os.environ)
        message = render_text(problems, color=screen.color, width=screen.width)
        stream.write(f"{message}\n{summary_line(problems, tried=tried)}\n")


def print_result(result: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result as JSON, or its lines."""
    if as_json:
        from evalc.model.json import to_json  # noqa: PLC0415 - for start-up

        sys.stdout.buffer.write(to_json(result) + b"\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines)


def inventory_lines(inventory: Inventory, *, all_good: bool = False, verbose: bool = False) -> Iterator[str]:
    """The inventory as lines: `all good: 12 suites, 3 prompts; skipped 4 other files`.

    `verbose` names the files that were skipped.
    """
    if inventory.read or inventory.skipped:
        read = inventory.read or "nothing"
        skipped = f"; skipped {inventory.skipped}" if inventory.skipped else ""
        yield f"{'all good: ' if all_good else 'read '}{read}{skipped}\n"
    if verbose:
        yield from (f"skipped {visible(name)}, a compiled copy of suites that were read\n" for name in inventory.copies)
        yield from (f"skipped {visible(name)}\n" for name in inventory.others)
        yield from (f"skipped {visible(name)}, which cannot be parsed\n" for name in inventory.unparsed)
    if inventory.with_examples and not inventory.suites:
        first = visible(inventory.with_examples[0])
        yield f"these prompts have examples and no test cases: `evalc import {first}` makes cases of the examples\n"


def shown_path(path: Path) -> str:
    """The path as the working folder sees it, where it lies below."""
    return visible(str(below_working_folder(path)))


@contextmanager
def lent_streams() -> Iterator[None]:
    """Let other people's code run with `sys.stdout` and `sys.stderr` of its own, both of which are standard error.

    It may close, replace or delete them: that is between one case of its own and the next.
    """
    stdout, stderr = _another(sys.stderr), _another(sys.stderr)
    with redirect_stdout(stdout), redirect_stderr(stderr):
        yield
    for stream in (stdout, stderr):
        with suppress(OSError, ValueError):  # it may be closed
            stream.flush()


def _another(stream: TextIO) -> TextIO:
    """Another stream to the same descriptor, which is not closed with it: loggers may keep the stream for ever."""
    try:
        descriptor = stream.fileno()
    except OSError:  # not a file, as in tests
        return stream
    return os.fdopen(descriptor, "w", buffering=1, encoding=stream.encoding, errors=stream.errors, closefd=False)


@contextmanager
def standard_output_alone() -> Iterator[TextIO]:
    """Standard output, for the report alone: what an agent prints goes to standard error, by whatever way."""
    report = _with_descriptor_of_its_own(sys.stdout)
    with redirect_stdout(sys.stderr):
        yield report
        report.flush()


def _with_descriptor_of_its_own(stdout: TextIO) -> TextIO:
    """The stream, which other programs and extensions that print cannot reach any more.

    What was its descriptor is standard error's to the end of the process: agents may print when they are shut down.
    """
    try:
        shared = stdout.fileno()
        own = os.dup(shared)
        os.dup2(sys.stderr.fileno(), shared)
    except OSError:  # not a file, as in tests
        return stdout
    return os.fdopen(own, "w", encoding=stdout.encoding, errors=stdout.errors)


def standard_input(paths: Sequence[object]) -> str | None:
    """The whole of standard input where `-` is among the paths, without a byte order mark.

    Raises:
        UsageError: when it is closed, not UTF-8, or larger than a file may be.
    """
    if "-" not in paths:
        return None
    from evalc.dsl.sources import YAML_LIMIT  # noqa: PLC0415 - for start-up: only with `-`

    if sys.stdin is None:  # as `<&-` leaves it
        raise UsageError("`-` is standard input, and that is closed")
    data = sys.stdin.buffer.read(YAML_LIMIT + 1)
    if len(data) > YAML_LIMIT:
        raise UsageError(f"standard input is larger than {YAML_LIMIT // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02X}") from None


P = ParamSpec("P")


at_the_end: Final[list[Callable[[int], object]]] = []
"""Functions that get the exit code of a command once all of its output is written."""


class ExitCode(IntEnum):
    """Exit codes of a process."""

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
        for finish in at_the_end:
            finish(code)
        raise SystemExit(code)

    return exiting


def _open_closed_streams() -> None:
    """Give a command that is started without standard output or error (`>&-`) a stream that goes nowhere."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above


@final
class _Forgiving(io.FileIO):
    """A stream that drops output it cannot write: a full disk behind standard error is no reason to end a good run."""

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
    """End the process as Python does, but without taking apart what it holds, which takes a tenth of a small check."""
    threading._shutdown()  # type: ignore[attr-defined] # waits for the threads that agents have started
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # of a stream that is closed, or that nobody reads
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
