"""The streams of a command, and how it ends: problems and messages, its exit code, requests to terminate.

A command that runs code of others goes on in a child process, so that its parent knows how it ended whatever that code
does. It may end the process (`os._exit`), replace it, crash it, or hold Python's interpreter for good. None of that
ends in exit code 0, and none of it lasts for ever: the run itself reports to its parent how it ended, hears it breathe,
hands on what it is asked (Ctrl-C, a request to terminate), and ends it if it does nothing any more.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from enum import IntEnum
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, Never, ParamSpec, TextIO, TypeVar, final

from evalc.base.errors import EvalcError, MachineError, MachineFailed, NothingToDo, SourceError, UsageError
from evalc.base.files import LeadsOut
from evalc.base.source import Source
from evalc.base.terminal import Screen, counted, fitted, painted, visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from evalc.compiler.compiled import Inventory
    from evalc.diagnostics import Problem
    from evalc.diagnostics.render import Tried


def print_lines(lines: Iterable[str], stream: TextIO) -> None:
    """Print lines for people; on a terminal, those that are wider than it are broken between words."""
    if stream.isatty():
        width = Screen.of(stream, os.environ).width
        lines = (part for line in lines for part in fitted(line, width))
    stream.writelines(f"{line}\n" for line in lines)


def print_error(message: str) -> None:
    """Say on standard error why the command does not go on."""
    head = painted("error", "red", on=Screen.of(sys.stderr, os.environ).color)
    print_lines([f"{head}: {visible(message)}"], sys.stderr)


def print_warning(message: str) -> None:
    """Say on standard error what the user should know, though the command continues."""
    head = painted("warning", "yellow", on=Screen.of(sys.stderr, os.environ).color)
    print_lines([f"{head}: {visible(message)}"], sys.stderr)


def print_problems(
    problems: Sequence[Problem], stream: TextIO, *, tried: Tried = "nothing", quiet: bool = False
) -> None:
    """Print the problems, how many they are and how many of them can be fixed; nothing if there are none.

    `tried` says which fixes have been tried already. Warnings of a `quiet` command are only counted.
    """
    # Deferred for start-up: most commands find no problem.
    from evalc.diagnostics.render import render_text, summary_line  # noqa: PLC0415

    shown = [problem for problem in problems if problem.severity == "error"] if quiet else problems
    if shown:
        screen = Screen.of(stream, os.environ)
        text = render_text(shown, color=screen.color, width=screen.width, breaks=stream.isatty())
        stream.write(f"{text}\n")
    if problems:
        hidden = "; `evalc check` shows them" if len(shown) < len(problems) else ""
        print_lines([f"{summary_line(problems, tried=tried)}{hidden}"], stream)


def print_result(result: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result as JSON, or its lines."""
    if as_json:
        from evalc.model.json import to_json  # noqa: PLC0415 - for start-up

        sys.stdout.buffer.write(to_json(result) + b"\n")
    else:
        print_lines(lines, sys.stdout)


def inventory_lines(inventory: Inventory, *, all_good: bool = False, verbose: bool = False) -> Iterator[str]:
    """The inventory as lines: `all good: 12 suites, 3 prompts; skipped 4 other files`.

    `verbose` names the files that were skipped, and the sentences that are checks.
    """
    if inventory.read or inventory.skipped:
        read = inventory.read or "nothing"
        skipped = f"; skipped {inventory.skipped}" if inventory.skipped else ""
        yield f"{'all good: ' if all_good else 'read '}{read}{skipped}"
    if inventory.exact:
        judged = f"; a judge decides {counted(inventory.judged, 'other')}" if inventory.judged else ""
        is_listed = "" if verbose else " (-v lists them)"
        yield f"checks were made of {counted(len(inventory.exact), 'sentence')}{is_listed}{judged}"
    if verbose:
        yield from (f"{visible(place)}: {visible(line)}" for place, line in inventory.exact)
        yield from (f"skipped {visible(name)}, a compiled copy of suites that were read" for name in inventory.copies)
        yield from (f"skipped {visible(name)}" for name in inventory.others)
        yield from (f"skipped {visible(name)}, which cannot be parsed" for name in inventory.unparsed)
    if inventory.with_examples and not inventory.suites:
        first = visible(inventory.with_examples[0])
        yield f"these prompts have examples and no test cases: `evalc import {first}` makes cases of the examples"


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
    report = _with_descriptor_of_its_own(stdout := sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield report
            report.flush()
    finally:
        if report is not stdout:
            with suppress(OSError):  # what an exception has left in its buffer, where nobody reads it
                report.close()


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


def with_standard_input(paths: Iterable[T]) -> list[T | Source]:
    """The paths, each once, and standard input in place of `-`."""
    return [standard_input() if path == "-" else path for path in dict.fromkeys(paths)]


def standard_input() -> Source:
    """The whole of standard input, without a byte order mark."""
    from evalc.dsl.sources import YAML_LIMIT  # noqa: PLC0415 - for start-up: only with `-`

    if sys.stdin is None:  # as `<&-` leaves it
        raise UsageError("`-` is standard input, and that is closed")
    data = sys.stdin.buffer.read(YAML_LIMIT + 1)
    if len(data) > YAML_LIMIT:
        raise UsageError(f"standard input is larger than {YAML_LIMIT // 1_000_000} MB")
    try:
        return Source("<stdin>", data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02X}") from None


P = ParamSpec("P")
T = TypeVar("T")


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
        except MachineFailed as failed:
            code = _explained(MachineError(str(failed)))
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


_NOT_ALLOWED: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
"""The errors of places that may not be written to: nothing has broken."""


def _explained(error: Exception) -> ExitCode:
    if os.environ.get("EVALC_DEBUG") == "1":
        import traceback  # noqa: PLC0415 - for start-up

        traceback.print_exception(error)
    match error:
        case SourceError():
            print_problems(error.problems, sys.stderr)
            return ExitCode.USAGE
        case NothingToDo():
            print_lines([visible(str(error))], sys.stderr)
            return ExitCode.OK
        case UsageError():
            print_error(str(error))
            return ExitCode.USAGE
        case MachineError():
            print_error(str(error))
        case EvalcError():
            print_error(str(error))
            return ExitCode.AGENT
        case FileNotFoundError(filename=None, strerror=said) if said == os.strerror(errno.ENOENT):
            # Only the working folder is looked for without a name; `tempfile` has words of its own.
            print_error("the working folder no longer exists")
            return ExitCode.USAGE
        case OSError(strerror=str(reason)):
            print_error(f"`{error.filename}`: {reason}" if error.filename else reason)
            if isinstance(error, LeadsOut) or error.errno in _NOT_ALLOWED:
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


# --- code of others, in a child process ------------------------------------------------------------------------------

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
    """In the child: breathe, and say at the end how it ended. It dies with its parent, and with it what code forks."""
    die_with = _dying_with()
    die_with(parent)
    forking = [os.getpid()]
    os.register_at_fork(before=lambda: forking.__setitem__(0, os.getpid()), after_in_child=lambda: die_with(forking[0]))

    def breathe() -> None:
        while True:
            try:
                os.write(writing, _BREATH)
            except OSError:  # the parent is gone, and with it whoever wants to know
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(_BREATH_SECONDS)

    threading.Thread(target=breathe, name="evalc-breath", daemon=True).start()
    at_the_end.append(lambda code: os.write(writing, bytes([code])))


def _dying_with() -> Callable[[int], None]:
    """Lets the kernel kill a process with its parent, if it can; elsewhere the missing reader is noticed."""
    if not sys.platform.startswith("linux"):
        return lambda _: None
    import ctypes  # noqa: PLC0415 - for start-up: only if a process is doubled

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return lambda _: None

    def die_with(parent: int) -> None:
        prctl(_KILL_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # it was quicker
            os.kill(os.getpid(), signal.SIGKILL)

    return die_with


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
        self._breathed = self._looked = time.monotonic()
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
        looked, self._looked = self._looked, time.monotonic()
        if (lost := self._looked - looked - _BREATH_SECONDS) > _BREATH_SECONDS:
            # Suspended, as the run may have been: it gets its time to breathe again.
            self._breathed += lost
            self._reported_at += lost
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
