"""Matches patterns with QuickJS, in a worker process that can be killed.

A backtracking engine may take longer than anyone will wait, and cannot be stopped from inside. So it runs in one
process of its own, started when first needed, killed at a deadline and then started anew.
"""

from __future__ import annotations

import asyncio
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, final

from evalc.ecma.regexp.nodes import PatternError, RegexpError, RegexpTimeout

_START_TIMEOUT: Final = 20.0
_CHUNK: Final = 1 << 16
_NOT_STARTED: Final = "the worker process for regular expressions did not start"


_TEST: Final = """
((() => {
  const compiled = new Map();
  return (request) => {
    try {
      const [pattern, flags, text] = JSON.parse(request);
      const key = flags + "/" + pattern;
      let regexp = compiled.get(key);
      if (regexp === undefined) {
        if (compiled.size === 256) compiled.clear();
        compiled.set(key, (regexp = new RegExp(pattern, flags)));
      }
      return JSON.stringify(regexp.test(text));
    } catch (error) {
      return JSON.stringify({ error: error.name, message: error.message });
    }
  };
})())
"""


def _serve(folder: str, code: str) -> None:
    """Read a pattern, flags and a text a line, and answer a line each, until there are no more.

    It runs in the worker, of which it is the whole program, so it imports what it needs.
    """
    import signal  # noqa: PLC0415
    import sys  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end, and may still have questions
    # Isolated, the interpreter sees the standard library alone; the engine's folder is all that it needs beside it.
    sys.path.append(folder)
    import quickjs  # type: ignore[import-untyped]  # noqa: PLC0415 - found only now

    context = quickjs.Context()
    context.set_memory_limit(512 * 1024 * 1024)
    test = context.eval(code)
    answers = sys.stdout.buffer
    answers.write(b"ready\n")
    answers.flush()
    for line in sys.stdin.buffer:
        seconds, _, request = line.partition(b" ")
        # The parent ends this process at the deadline. Should the parent be gone by then, the alarm does it.
        signal.setitimer(signal.ITIMER_REAL, float(seconds) + 1)
        answer = test(request.decode("ascii"))
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(answer.encode("utf-8", "backslashreplace") + b"\n")
        answers.flush()


class _WorkerGone(Exception):
    """The worker ended by itself."""


@final
class _Worker:
    """A running worker process: a line in, a line out."""

    def __init__(self) -> None:
        package = importlib.util.find_spec("quickjs")
        if package is None or package.origin is None:
            raise RegexpError("the package `quickjs-ng` is not installed")
        folder = str(Path(package.origin).parent.parent)
        try:
            program = f"{inspect.getsource(_serve)}\n_serve({folder!r}, {_TEST!r})"
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise RegexpError(_NOT_STARTED) from error
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
            raise RegexpError(_NOT_STARTED) from error

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


@final
class QuickJS:
    """The engine: at most one worker, used by one thread at a time; the others wait their turn, off their deadline."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._worker: _Worker | None = None
        self._thread: ThreadPoolExecutor | None = None

    def test(self, pattern: str, flags: str, text: str, timeout: float) -> bool:
        """Whether `new RegExp(pattern, flags).test(text)`.

        Raises:
            PatternError: the engine refuses the pattern, all of it, as it is spelt here.
            RegexpTimeout: no answer within `timeout` seconds.
            RegexpError: the engine ran out of memory, crashed or could not be started.
        """
        # ASCII alone: it carries half a surrogate pair, and `JSON.parse` reads it as it was.
        request = f"{timeout!r} {json.dumps([pattern, flags, text])}\n".encode("ascii")
        try:
            with self._turn:
                answer = json.loads(self._ask(request, timeout))
        except TimeoutError as error:
            raise RegexpTimeout(timeout) from error
        except _WorkerGone as error:
            raise RegexpError("the worker process for regular expressions ended unexpectedly") from error
        if isinstance(answer, bool):
            return answer
        if answer["error"] == "SyntaxError":
            raise PatternError(0, len(pattern), str(answer["message"]))
        raise RegexpError(f"the regular expression failed: {answer['message']}")

    async def test_async(self, pattern: str, flags: str, text: str, timeout: float) -> bool:
        """`test` without blocking the event loop."""
        if self._thread is None:
            # One thread: the worker answers one question at a time, and the loop's own threads stay free.
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evalc-regexp")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.test, pattern, flags, text, timeout)

    @property
    def pid(self) -> int | None:
        """The worker's process id, or None while there is no worker."""
        return self._worker.pid if self._worker else None

    def close(self) -> None:
        """End the worker; the next test starts another."""
        with self._turn:
            self._discard()

    def _ask(self, request: bytes, timeout: float) -> bytes:
        try:
            return self._exchange(request, timeout)
        except _WorkerGone:
            # It may have been killed while it was idle: ask a new one, once.
            return self._exchange(request, timeout)

    def _exchange(self, request: bytes, timeout: float) -> bytes:
        worker = self._worker = self._worker or _Worker()
        try:
            return worker.exchange(request, timeout)
        except BaseException:  # its answer may still be on its way, and must not be taken for the next request's
            self._discard()
            raise

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


_engine = QuickJS()
_left_to_the_parent: Final[list[QuickJS]] = []


def engine() -> QuickJS:
    """The process's engine."""
    return _engine


def _start_afresh() -> None:
    """After a fork the worker is the parent's: the child leaves it alone and, when it needs one, starts its own."""
    global _engine  # noqa: PLW0603
    _left_to_the_parent.append(_engine)
    _engine = QuickJS()


os.register_at_fork(after_in_child=_start_afresh)


@atexit.register
def _close() -> None:
    _engine.close()
