"""Asks QuickJS, in a worker process that can be killed: an engine may take longer than anyone will wait.

It cannot be stopped from inside. So it runs in one process of its own, started when first needed, killed at a deadline
and then started anew. It has JavaScript alone: no files, no network, no modules.
"""

from __future__ import annotations

import atexit
import importlib.util
import inspect
import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

_START_TIMEOUT: Final = 20.0
_CHUNK: Final = 1 << 16


class EngineError(Exception):
    """The engine gave no answer: it ran out of memory, crashed or could not be started."""


def _serve(folder: str, code: str) -> None:
    """Read a request a line, and answer a line each, until there are no more; those of one key share a world.

    The code is a function of a request, whose value is the answer, or nothing if the answer will be `$answer` when no
    job is waiting. It runs in the worker, of which it is the whole program, so it imports what it needs.
    """
    import signal  # noqa: PLC0415
    import sys  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end, and may still have questions
    # Isolated, the interpreter sees the standard library alone; the engine's folder is all that it needs beside it.
    sys.path.append(folder)
    import quickjs  # type: ignore[import-untyped]  # noqa: PLC0415 - found only now

    answers = sys.stdout.buffer
    answers.write(b"ready\n")
    answers.flush()
    worlds: dict[bytes, Any] = {}
    for line in sys.stdin.buffer:
        seconds, key, request = line.split(b" ", 2)
        # The parent ends this process at the deadline. Should the parent be gone by then, the alarm does it.
        signal.setitimer(signal.ITIMER_REAL, float(seconds) + 1)
        if key not in worlds:
            if len(worlds) == 16:
                del worlds[next(iter(worlds))]
            context = quickjs.Context()
            context.set_memory_limit(512 * 1024 * 1024)
            worlds[key] = context, context.eval(code)
        context, asked = worlds[key]
        answer = asked(request.decode("ascii"))
        while answer is None and context.execute_pending_job():
            pass
        answer = answer or context.eval("$answer")
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(answer.encode("utf-8", "backslashreplace") + b"\n")
        answers.flush()


class _WorkerGone(Exception):
    """The worker ended by itself."""


class _Worker:
    """A running worker process: a line in, a line out."""

    def __init__(self, purpose: str, code: str) -> None:
        package = importlib.util.find_spec("quickjs")
        if package is None or package.origin is None:
            raise EngineError("the package `quickjs-ng` is not installed")
        not_started = f"the worker process for {purpose} did not start"
        folder = str(Path(package.origin).parent.parent)
        try:
            program = f"{inspect.getsource(_serve)}\n_serve({folder!r}, {code!r})"
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise EngineError(not_started) from error
        self.pid = self._process.pid
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        assert self._process.stdout is not None  # noqa: S101
        self._requests = self._process.stdin
        self._answers = self._process.stdout
        os.set_blocking(self._requests.fileno(), False)
        try:
            self.exchange(b"", _START_TIMEOUT)
        except (TimeoutError, _WorkerGone) as error:
            self.kill()
            raise EngineError(not_started) from error

    def exchange(self, request: bytes, timeout: float) -> bytes:
        """Send a request and wait for the line that answers it.

        Raises:
            TimeoutError: no whole answer within `timeout` seconds.
            _WorkerGone: the process ended.
        """
        deadline = time.monotonic() + timeout
        unsent = memoryview(request)
        answer = bytearray()
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        if unsent:
            poll.register(self._requests, select.POLLOUT)
        while not answer.endswith(b"\n"):
            left = deadline - time.monotonic()
            ready = dict(poll.poll(left * 1000)) if left > 0 else {}
            if not ready:
                raise TimeoutError
            if self._answers.fileno() in ready:
                read = self._answers.read(_CHUNK)
                if not read:
                    raise _WorkerGone
                answer += read
            if self._requests.fileno() in ready:
                unsent = self._send(unsent)
                if not unsent:
                    poll.unregister(self._requests)
        return bytes(answer)

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            written = self._requests.write(unsent[:_CHUNK])
        except BrokenPipeError as error:
            raise _WorkerGone from error
        return unsent[written or 0 :]

    def kill(self) -> None:
        """End the process, wait for its end and close its pipes."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self._answers.close()


class Engine:
    """At most one worker, used by one thread at a time; the others wait their turn, off their deadline.

    Attributes:
        purpose: what it answers, for messages.
        code: what the worker evaluates, as `_serve` says.
    """

    def __init__(self, purpose: str, code: str) -> None:
        self._purpose = purpose
        self._code = code
        self._turn = threading.Lock()
        self._worker: _Worker | None = None
        _engines.append(self)

    def ask(self, asked: object, timeout: float, key: str = "") -> Any:
        """The answer to a request; both are JSON. Requests of one key share a world.

        Raises:
            TimeoutError: no answer within `timeout` seconds.
            EngineError: the engine crashed or could not be started.
        """
        # ASCII alone: it carries half a surrogate pair, and `JSON.parse` reads it as it was.
        request = f"{timeout!r} {key} {json.dumps(asked)}\n".encode("ascii")
        try:
            with self._turn:
                return json.loads(self._ask(request, timeout))
        except _WorkerGone as error:
            raise EngineError(f"the worker process for {self._purpose} ended unexpectedly") from error

    @property
    def pid(self) -> int | None:
        """The worker's process id, or None while there is no worker."""
        return self._worker.pid if self._worker else None

    def close(self) -> None:
        """End the worker; the next request starts another."""
        with self._turn:
            self._discard()

    def start_afresh(self) -> None:
        """After a fork the worker is the parent's: leave it alone, and start another when one is needed."""
        _left_to_the_parent.append(self._worker)
        self._worker = None
        self._turn = threading.Lock()

    def _ask(self, request: bytes, timeout: float) -> bytes:
        try:
            return self._exchange(request, timeout)
        except _WorkerGone:
            # It may have been killed while it was idle: ask a new one, once.
            return self._exchange(request, timeout)

    def _exchange(self, request: bytes, timeout: float) -> bytes:
        worker = self._worker = self._worker or _Worker(self._purpose, self._code)
        try:
            return worker.exchange(request, timeout)
        except BaseException:  # its answer may still be on its way, and must not be taken for the next request's
            self._discard()
            raise

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


_engines: Final[list[Engine]] = []
_left_to_the_parent: Final[list[_Worker | None]] = []


def _after_fork() -> None:
    for engine in _engines:
        engine.start_afresh()


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _close() -> None:
    for engine in _engines:
        engine.close()
