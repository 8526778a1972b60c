"""Starts, shares and ends the process that serves a local model."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final, final
from weakref import WeakValueDictionary, finalize

from evalc.base.errors import AgentUnavailable
from evalc.runtime.agents import wire
from evalc.runtime.agents.daemon_thread import DaemonThread
from evalc.runtime.local_model.serving import Serving

_MODULE: Final = "evalc.runtime.local_model.serve"
_LINES_KEPT: Final = 200
_ENDING_SECONDS: Final = 1.0
_LOGGED_ERROR: Final = re.compile(r"^[\d.]+ E +(.+)$")
"""A line of llama.cpp's log: the time since it was started, `E` for errors, and the message."""


@final
class LocalServer:
    """llama.cpp's server for one model. It ends by `close`, and with this process, however that ends.

    Once it has died it is not started again: cases that need it end in `error`.
    """

    def __init__(self, model: Path, serving: Serving) -> None:
        self.model = model
        self._serving = serving
        self._lock = threading.Lock()
        self._process: _Process | None = None

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.model.name.removesuffix(".gguf")

    async def url(self) -> str:
        """Where it answers; it is started if it has not been.

        Raises:
            AgentUnavailable: it could not be started, or has ended since.
        """
        thread = DaemonThread()
        try:
            url = await thread.call(self._started)
        finally:
            thread.abandon()
        if isinstance(url, str):
            return url
        raise url

    async def why_broken(self) -> str | None:
        """Why it has ended, where a connection to it broke; None if it is still running, even after a moment."""
        process = self._process
        return None if process is None else await asyncio.to_thread(process.why_broken)

    def close(self) -> None:
        """End it."""
        # Without the lock, which is held while a model is loaded: that ends with the process.
        if self._process is not None:
            self._process.end()
        self._process = None

    def _started(self) -> str:
        with self._lock:
            if self._process is None:
                self._process = _Process(self.model, self._serving)
                finalize(self, self._process.end)
            return self._process.url()


@final
class _Process:
    """The process, once started, and the last lines that it logged."""

    def __init__(self, model: Path, serving: Serving) -> None:
        self._model = model
        self._load_seconds = serving.load_ms / 1000
        self._log: deque[str] = deque(maxlen=_LINES_KEPT)
        self._url = ""
        self._late = False
        # -P: no module of the working folder runs. In a session of its own Ctrl-C does not reach it before its time.
        command = [sys.executable, "-P", "-m", _MODULE, str(model), str(serving.context_tokens)]
        self._popen = subprocess.Popen(  # noqa: S603 - this interpreter, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._keep_log, daemon=True)
        self._reader.start()

    def url(self) -> str:
        """Where it answers, once the model is loaded.

        Raises:
            AgentUnavailable: it has ended.
        """
        if not self._url:
            self._url = self._announced()
        if (why := self.why_ended()) is not None:
            raise AgentUnavailable(why)
        return self._url

    def why_ended(self) -> str | None:
        """Why it has ended; None while it runs."""
        status = self._popen.poll()
        if status is None:
            return None
        doing = f"the local model `{self._model.name}` {'has ended' if self._url else 'could not be loaded'}"
        if self._late:
            return f"{doing} within {self._load_seconds:.15g} s"
        self._reader.join(timeout=1)
        return f"{doing}: {self._last_words(status)}"

    def why_broken(self) -> str | None:
        """`why_ended`, for a process whose connections may be gone a moment before it is."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_ENDING_SECONDS)
        return self.why_ended()

    def end(self) -> None:
        """End the process, and wait for it."""
        self._popen.kill()
        self._popen.wait()
        self._reader.join()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()

    def _announced(self) -> str:
        def give_up() -> None:
            self._late = True
            self._popen.kill()

        timer = threading.Timer(self._load_seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            line = b"" if self._popen.stdout is None else self._popen.stdout.readline()
            word, _, url = line.decode(errors="replace").partition(" ")
        finally:
            timer.cancel()
        if word == "ready":
            return url.strip()
        with suppress(subprocess.TimeoutExpired):  # it closed its output: so it ends, and its own status says more
            self._popen.wait(_ENDING_SECONDS)
        self._popen.kill()
        self._popen.wait()
        return ""

    def _last_words(self, status: int) -> str:
        """Its first error, which the others follow from; without one the last line, or how it ended."""
        if status == -9:
            return "it was killed, as the system does where memory runs out"
        lines = [line for line in self._log if line.strip()]
        errors = [found[1] for line in lines if (found := _LOGGED_ERROR.match(line))]
        said = (errors or lines[-1:] or [""])[0]
        return wire.shown(said) or (f"signal {-status}" if status < 0 else f"status {status}")

    def _keep_log(self) -> None:
        for line in self._popen.stderr or ():
            self._log.append(line.decode(errors="replace").rstrip())


_SERVERS: Final[WeakValueDictionary[tuple[Path, Serving], LocalServer]] = WeakValueDictionary()
"""Those in use, so that an agent and a judge that name one model share it."""


def server_of(model: Path, serving: Serving) -> LocalServer:
    """The server for a model, not started yet where it is new."""
    server = _SERVERS.get((model, serving))
    if server is None:
        server = _SERVERS[model, serving] = LocalServer(model, serving)
    return server
