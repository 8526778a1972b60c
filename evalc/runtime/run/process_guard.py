"""Keeps code of others, an agent's, a judge's or a check's, from holding up the event loop or ending the process.

A coroutine that blocks (`time.sleep`, a loop without an `await`) lets no timer fire, so no time limit holds for it, and
Ctrl-C waits for it. A thread notices that the loop has stopped turning and sends the main thread a signal; the signal's
handler raises where that code is. What no signal interrupts, such as a loop in C, this cannot end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from pathlib import Path
from types import FrameType
from typing import Any, Final, Never, Self, final

_BEAT_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 0.25
"""How long the loop may be blocked, and code overrun its time, before anything is done."""
_OURS: Final = frozenset({"evalc", "asyncio", "contextlib", "contextvars"})

_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)

_CODE: Final = 70
_TOLD: Final = "error: an agent, a judge or a check ended the process (`os._exit`) before there was a report\n"


@final
class LoopBlocked(BaseException):
    """Raised in code that blocks the event loop. No `Exception`, so that few catch it by accident."""


def bounded(deadline: float) -> Token[float | None]:
    """Let what this context calls from now on run until a time of the event loop's clock; `unbounded` ends that."""
    return _deadline.set(deadline)


def unbounded(token: Token[float | None]) -> None:
    """End what `bounded` began."""
    _deadline.reset(token)


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
        self._thread = threading.Thread(target=self._watch, name="evalc-watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._handlers:
            self._thread.join()  # a late signal would find its handler gone
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _watch(self) -> None:
        stands_since = time.monotonic()
        while not self._over.wait(_BEAT_SECONDS):
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


@contextmanager
def exits_told(before: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Let `os._exit`, called in this process, end it with exit code 70 and a sentence on standard error.

    Args:
        before: what is done first, such as to let go of the standard error that is captured.
    """
    leave, process = os._exit, os.getpid()

    def told(status: int = 0) -> Never:
        if os.getpid() != process:  # a child of the code's own, which ends like this in good order
            leave(status)
        try:
            before()
            sys.stderr.write(_TOLD)
            sys.stderr.flush()
        finally:
            leave(_CODE)

    os._exit = told
    try:
        yield
    finally:
        os._exit = leave
