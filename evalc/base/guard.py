"""Keeps code of others, an agent's, a judge's or a check's, from ending the process or holding up the event loop.

What it raises becomes an AgentError, and the run continues. A failure is returned, not raised: a future cannot carry
StopIteration, and an event loop stops on SystemExit.

A coroutine that blocks (`time.sleep`, a loop without an `await`) lets no timer fire, so no time limit holds for it, and
Ctrl-C waits for it. A thread notices that the loop has stopped turning and sends the main thread a signal; the signal's
handler raises where that code is. What no signal interrupts, such as a loop in C, this cannot end.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, Token
from pathlib import Path
from queue import SimpleQueue
from types import FrameType, ModuleType
from typing import Any, Final, Never, Self, TypeVar, final

from evalc.base.errors import AgentError, AgentUnavailable, MachineFailed, UsageError, causes
from evalc.base.terminal import excerpt

T = TypeVar("T")

# --- code that raises ------------------------------------------------------------------------------------------------

_RECURSION: Final = min(sys.getrecursionlimit(), 1_000)


def guarded_call(function: Callable[[], T]) -> T | AgentError:
    """Call the function in a thread of its own; there, even KeyboardInterrupt can only be its own doing."""
    process = os.getpid()
    try:
        return function()
    except BaseException as error:
        return agent_error(error)
    finally:
        if os.getpid() != process or sys.getrecursionlimit() < _RECURSION:
            _set_right(process)


async def guarded_await(
    outcome: asyncio.Future[T | AgentError],
    function: Callable[[Any], Awaitable[Any]],
    argument: object,
    read: Callable[[Any], T],
) -> None:
    """In a task of its own, await what the function gives, and hand over what `read` makes of it, or the failure.

    This is the loop's thread, where Ctrl-C is the run's and passes.
    """
    process = os.getpid()
    value: T | AgentError
    try:
        value = read(await function(argument))
    except asyncio.CancelledError:
        value = AgentError("the agent cancelled itself")  # else nobody waits any more
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        value = agent_error(error)
    finally:
        if os.getpid() != process or sys.getrecursionlimit() < _RECURSION:
            _set_right(process)
    if not outcome.done():
        outcome.set_result(value)


def begun(coroutine: Coroutine[Any, Any, None], loop: Any) -> asyncio.Task[None]:
    """A task that has taken its first step, as Python 3.12 and later can start one.

    Code that waits for nothing is then done without two turns of the event loop, which take longer than it does.
    """
    if sys.version_info >= (3, 12):
        return asyncio.Task(coroutine, loop=loop, eager_start=True)
    steps: list[tuple[Callable[[], object], Context]] = []
    loop.call_soon = lambda step, *, context: steps.append((step, context))
    try:
        task = asyncio.Task(coroutine, loop=loop)
    finally:
        del loop.call_soon
    ((step, context),) = steps
    current: Any = asyncio.current_task(loop)
    asyncio._leave_task(loop, current)
    try:
        context.run(step)
    finally:
        asyncio._enter_task(loop, current)
    return task


def _set_right(process: int) -> None:
    """End the child that the code has forked and comes back in: a second run would go on there, seen by nobody.

    And take back a limit of recursion below that of the process, with which nothing of ours could go on.
    """
    if os.getpid() != process:
        os._exit(1)
    sys.setrecursionlimit(_RECURSION)


def awaited(value: Any) -> Any:
    """The value, or, in an event loop of its own, what comes of a value that is to be awaited."""

    async def result() -> Any:
        return await value

    return asyncio.run(result()) if inspect.isawaitable(value) else value


_PACKAGE: Final = f"{Path(__file__).parents[1]}{os.sep}"


def agent_error(error: BaseException) -> AgentError:
    """The error as the result says it: `ValueError: text (agent.py:12)`. One of evalc's own stays what it is.

    A connection that could not be made or was lost says that somebody could not be reached.
    """
    if isinstance(error, AgentError):
        return error
    # Frames of evalc call the code, or answer a call of its own; without another, it could not even be called.
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith(_PACKAGE)]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    kind = AgentUnavailable if any(isinstance(each, ConnectionError) for each in causes(error)) else AgentError
    return kind(f"{said_by(error)}{place}")


def said_by(error: BaseException) -> str:
    """`ValueError: text`, or `ValueError` if it has none or cannot say it."""
    try:
        text = excerpt(str(error))
    except BaseException:  # a broken `__str__` is one more mistake of the agent's, whatever it raises
        text = ""
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def imported(name: str, root: Path) -> ModuleType:
    """The module of a name, or of a file such as `app.py`. The folder of its modules stays first on `sys.path`.

    Raises:
        UsageError: it cannot be imported, or is not there.
    """
    folder, file = root.resolve(), None
    if name.endswith(".py"):
        inside, here = Path(os.path.normpath(folder / name)), Path(name).resolve()  # as a shell completes it
        candidates = (inside, here) if inside.is_relative_to(folder) else (here, inside)
        file = next((each for each in candidates if each.is_file()), None)
        if file is None:
            raise UsageError(f"there is no file `{name}`")
        folder, name = file.parent, file.stem
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may do anything when imported, such as exit
        raise UsageError(f"`{name}` cannot be imported: {said_by(error)}") from None
    other = getattr(module, "__file__", None)  # a module in C has none
    if file is not None and (other is None or Path(other).resolve() != file.resolve()):
        raise UsageError(f"`{file}` cannot be imported: another module is called `{name}`; rename the file")
    return module


@final
class DaemonThread:
    """A thread that runs one function after another, started when first needed.

    A call that is cancelled is left behind with its thread, and the next call gets a new thread. Being a daemon, a
    thread whose function never returns keeps neither the run nor the process.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] | None = None

    async def call(self, function: Callable[[], T]) -> T | AgentError:
        """The function's value, or the AgentError that its failure became."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T | AgentError] = loop.create_future()

        def deliver(result: T | AgentError) -> None:
            if not outcome.done():
                outcome.set_result(result)

        def job() -> None:
            result = guarded_call(function)
            # A closed loop says RuntimeError: the run is over, and nobody waits any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(deliver, result)

        try:
            self._queue().put(job)
        except RuntimeError as error:
            if (failed := MachineFailed.of("a thread cannot be started", error)) is None:
                raise
            raise failed from None
        try:
            return await outcome
        except asyncio.CancelledError:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Let the thread end once its function returns, if it ever does."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    def _queue(self) -> SimpleQueue[Callable[[], None] | None]:
        if self._jobs is None:
            jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
            threading.Thread(target=_work, args=(jobs,), name="evalc-agent", daemon=True).start()
            self._jobs = jobs
        return self._jobs


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # What an agent was given and gave is not kept while waiting for the next.


# --- code that blocks ------------------------------------------------------------------------------------------------

_BEAT_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 0.25
"""How long the loop may be blocked, and code overrun its time, before anything is done."""
_OURS: Final = frozenset({"evalc", "asyncio", "contextlib", "contextvars"})

_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)


@final
class LoopBlocked(BaseException):
    """Raised in code that blocks the event loop. No `Exception`, so that few catch it by accident."""


bounded: Final = _deadline.set
"""Lets what this context calls from now on run until a time of the event loop's clock; `unbounded` ends that."""
unbounded: Final = _deadline.reset
"""Ends what `bounded` began, and returned."""


_SUSPENDED_SECONDS: Final = 1.0
"""How long no thread may go on before the process counts as suspended."""


@final
class _Pulse:
    """How long this process was suspended, by Ctrl-Z or a machine that was frozen, while the watchdog watches.

    Then even the watchdog's thread does not go on. Where it only waits for Python's interpreter, which code of others
    may hold, it looks for it hundreds of times a second, and each time counts as a switch of the process.
    """

    def __init__(self) -> None:
        self.suspended = 0.0  # the seconds so far
        self.beat = math.inf  # when a thread last went on
        self._switches = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        """A thread will go on every now and then from now on."""
        self.beat, self._switches = time.monotonic(), _switches()

    def stop(self) -> None:
        """No thread will any more."""
        self.beat = math.inf

    def note(self) -> None:
        """A thread goes on."""
        with self._lock:
            now, switches = time.monotonic(), _switches()
            gap = now - self.beat
            if gap > _SUSPENDED_SECONDS and switches - self._switches < gap * _SWITCHES_PER_SECOND:
                self.suspended += gap
            self.beat, self._switches = now, switches


_SWITCHES_PER_SECOND: Final = 20


def _switches() -> int:
    """How often the process has let go of the processor; where that is not known, it is never suspended."""
    if sys.platform == "win32":
        return time.perf_counter_ns()
    import resource  # noqa: PLC0415 - not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


_PULSE: Final = _Pulse()


@final
class TimeLimit:
    """The time that a task may take for what it awaits, again and again: between `begin` and `end`.

    When the time is up, the task is cancelled, as by `asyncio.timeout`, and the watchdog interrupts code that blocks.
    There is one timer: it stays when the task is done in time, and is set anew when it rings. Time in which the process
    was suspended is not the task's; `suspended` is how many seconds that was, once it has ended.
    """

    def __init__(self, milliseconds: float) -> None:
        self.milliseconds = milliseconds
        self.suspended = 0.0
        self._suspended_before = 0.0
        self._task: asyncio.Task[Any] | None = None
        self._deadline = self._started = 0.0
        self._bound: Token[float | None] | None = None
        self._expired = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # asking for it is a call of the system

    def begin(self) -> float:
        """The time runs from now on; when it ends, by the event loop's clock."""
        loop = self._loop = self._loop or asyncio.get_running_loop()
        self._task = asyncio.current_task(loop)
        self._expired = False
        self._deadline = loop.time() + self.milliseconds / 1000
        self._bound = bounded(self._deadline)
        if self._timer is None:
            self._timer = loop.call_at(self._deadline, self._ring)
        self._started = time.monotonic()
        if self._started - _PULSE.beat > _SUSPENDED_SECONDS:
            _PULSE.note()
        self._suspended_before = _PULSE.suspended
        return self._deadline

    def end(self) -> bool:
        """Whether the time was up; if so, the task is no longer asked to cancel, unless by others."""
        if self._bound is not None:
            unbounded(self._bound)
        task, self._task, self._bound = self._task, None, None
        if self._expired and task is not None:
            task.uncancel()
        # Code that blocked the event loop comes back before the timer has its turn.
        now = time.monotonic()
        if now - _PULSE.beat > _SUSPENDED_SECONDS:
            _PULSE.note()
        self.suspended = _PULSE.suspended - self._suspended_before
        return self._expired or now - self._started - self.suspended > self.milliseconds / 1000

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        rang_at = 0.0 if self._timer is None else self._timer.when()
        self._timer = None
        if self._task is None:
            return
        if time.monotonic() - _PULSE.beat > _SUSPENDED_SECONDS:
            _PULSE.note()
        latest = self._deadline + _PULSE.suspended - self._suspended_before
        if rang_at < latest:
            self._timer = asyncio.get_running_loop().call_at(latest, self._ring)
        else:
            self._expired = True
            self._task.cancel()


def is_of_the_run(error: BaseException) -> bool:
    """Whether an error ends the run, whatever code of others it came through.

    That is Ctrl-C, a cancelled task, or a machine that lacks something. If the error is a cancellation and the task is
    not cancelled, the code has cancelled itself, or something that it waits for.
    """
    if isinstance(error, asyncio.CancelledError):
        return (task := asyncio.current_task()) is None or task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | GeneratorExit | MachineFailed)


@final
class Watchdog:
    """Watches the running event loop, from its own thread, while it is entered.

    Only the main thread gets signals: in another thread, or where signals cannot be sent, nothing is watched.

    Attributes:
        blocked: where the loop was blocked, each place once, in words.
    """

    def __init__(self) -> None:
        self.blocked: list[str] = []
        self._loop = asyncio.get_running_loop()
        self._main = threading.get_ident()
        self._turned = True
        self._interrupted = False
        self._over = threading.Event()
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_kill"):
            return self
        self._handlers[signal.SIGURG] = signal.signal(signal.SIGURG, self._on_signal)
        if callable(signal.getsignal(signal.SIGINT)):
            self._handlers[signal.SIGINT] = signal.signal(signal.SIGINT, self._on_interrupt)
        _PULSE.start()
        self._thread = threading.Thread(target=self._watch, name="evalc-watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._handlers:
            self._thread.join()  # a late signal would find its handler gone
            _PULSE.stop()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _watch(self) -> None:
        stands_since, suspended = time.monotonic(), _PULSE.suspended
        while not self._over.wait(_BEAT_SECONDS):
            _PULSE.note()
            if _PULSE.suspended > suspended:  # which another thread may have noted before
                stands_since, suspended = time.monotonic(), _PULSE.suspended
            if self._turned:
                self._turned = False
                stands_since = time.monotonic()
                try:
                    self._loop.call_soon_threadsafe(self._turn)
                except RuntimeError:  # the loop is closed
                    return
            elif time.monotonic() - stands_since > _PATIENCE_SECONDS:
                signal.pthread_kill(self._main, signal.SIGURG)

    def _turn(self) -> None:
        self._turned = True

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        self._handlers[signal.SIGINT](number, frame)

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        deadline = _deadline.get()
        if deadline is None or (not self._interrupted and self._loop.time() < deadline + _PATIENCE_SECONDS):
            return
        blocking = _outermost(frame)
        if blocking is None:
            return
        if not self._interrupted and (place := _place(blocking)) not in self.blocked:
            self.blocked.append(place)
        raise LoopBlocked("it blocked the event loop")


@contextmanager
def watched(blocked: list[str]) -> Iterator[None]:
    """Watch the running loop; what blocks it is added to `blocked` as a warning."""
    watchdog = Watchdog()
    try:
        with watchdog:
            yield
    finally:
        blocked += [
            f"{place} blocks the event loop, so that no other case could go on until its time was up: let it await, or "
            "make it a function that is not async, which runs in a thread of its own"
            for place in watchdog.blocked
        ]


def _outermost(frame: FrameType | None) -> FrameType | None:
    """The frame of others' code that the event loop, or code of ours, has called; None if there is only ours.

    A module that our code imports when it is first needed is not the agent's, however long that takes.
    """
    found: FrameType | None = None
    importing = False
    while frame is not None and not (frame.f_code.co_name == "_run" and _module(frame) == "asyncio.events"):
        package = _module(frame).partition(".")[0]
        if package not in _OURS:
            found = frame
        elif importing:
            found = None
        importing = package == "importlib"
        frame = frame.f_back
    return found


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(frame: FrameType) -> str:
    return f"`{frame.f_code.co_qualname}` ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"


# --- exits -----------------------------------------------------------------------------------------------------------

_EXIT_CODE: Final = 70
_EXIT_MESSAGE: Final = "error: an agent, a judge or a check ended the process (`os._exit`) before there was a report\n"


@contextmanager
def exits_reported(before: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Let `os._exit`, called in this process, end it with exit code 70 and a sentence on standard error.

    Args:
        before: what is done first, such as to let go of the standard error that is captured.
    """
    leave, process = os._exit, os.getpid()

    def reported_exit(status: int = 0) -> Never:
        if os.getpid() != process:  # a child of the code's own, which ends like this in good order
            leave(status)
        try:
            before()
            sys.stderr.write(_EXIT_MESSAGE)
            sys.stderr.flush()
        finally:
            leave(_EXIT_CODE)

    os._exit = reported_exit
    try:
        yield
    finally:
        os._exit = leave
