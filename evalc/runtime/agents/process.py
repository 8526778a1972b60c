"""Runs a command in its own process group, with bounded input, output and time."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast, final

from evalc.base.errors import AgentProtocolError

_STDOUT = 1
_GRACE_SECONDS = 0.5
_STDERR_KEPT = 8 * 1024
_LINE_END = re.compile(rb"[\r\n]")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A process that has ended: its status (negative: the signal that ended it), output, and last error output.

    The error output begins with a whole line.
    """

    status: int
    stdout: bytes
    stderr: bytes


async def run_process(argv: Sequence[str], stdin: bytes, *, folder: Path, max_output: int) -> Completed:
    """Run a command, without a shell, in a process group of its own, and leave nothing of it behind.

    Raises:
        OSError: when it cannot be started.
        AgentProtocolError: when it prints more than `max_output` bytes.
    """
    loop = asyncio.get_running_loop()
    transport, output = await loop.subprocess_exec(
        lambda: _Output(loop, max_output), *argv, cwd=folder, start_new_session=True
    )
    group = transport.get_pid()
    try:
        _feed(transport, stdin)
        await output.exited
        # Children that it left running would hold the pipes open, and nothing should outlive its case.
        _signal_group(group, signal.SIGKILL)
        await asyncio.wait({output.closed}, timeout=_GRACE_SECONDS)
        if output.too_long:
            raise output.too_long
        status = cast(int, transport.get_returncode())
        return Completed(status=status, stdout=bytes(output.stdout), stderr=bytes(output.stderr))
    except BaseException:
        await _stop_group(group, output)
        raise
    finally:
        _signal_group(group, signal.SIGKILL)
        transport.close()


@final
class Dialogue:
    """A process that is asked line by line. It has a process group of its own, which `close` ends completely."""

    def __init__(self, transport: asyncio.SubprocessTransport, output: _Output) -> None:
        self._transport = transport
        self._output = output
        self._group = transport.get_pid()

    @classmethod
    async def begin(cls, argv: Sequence[str], *, folder: Path, max_output: int) -> Dialogue:
        """Start the process, without a shell.

        Raises:
            OSError: when it cannot be started.
        """
        loop = asyncio.get_running_loop()
        transport, output = await loop.subprocess_exec(
            lambda: _Output(loop, max_output), *argv, cwd=folder, start_new_session=True
        )
        return cls(transport, output)

    async def ask(self, line: bytes) -> bytes | Completed:
        """Write a line, and wait for the next one that is printed; or how the process ended.

        Raises:
            AgentProtocolError: when the line is longer than may be read.
        """
        output = self._output
        pipe = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        if not output.exited.done():
            pipe.write(line + b"\n")
        while b"\n" not in output.stdout:
            if output.too_long:
                raise output.too_long
            if output.exited.done():
                await asyncio.wait({output.closed}, timeout=_GRACE_SECONDS)
                if b"\n" in output.stdout:
                    break
                status = cast(int, self._transport.get_returncode())
                return Completed(status=status, stdout=bytes(output.stdout), stderr=bytes(output.stderr))
            await output.next_line()
        answer, _, rest = bytes(output.stdout).partition(b"\n")
        output.stdout[:] = rest
        return answer

    async def close(self) -> None:
        """Close its input, and end whatever does not end by itself."""
        pipe = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        pipe.close()
        try:
            await asyncio.wait({self._output.exited}, timeout=_GRACE_SECONDS)
            if self._output.exited.done():
                self._output.exited.exception()  # which whoever asked has been told
            else:
                await _stop_group(self._group, self._output)
        finally:
            _signal_group(self._group, signal.SIGKILL)
            self._transport.close()


@final
class _Output(asyncio.SubprocessProtocol):
    """What a process prints, and the two ends it has: its own, and that of the last holder of its pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, max_output: int) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.too_long: AgentProtocolError | None = None
        self._max_output = max_output
        self._line: asyncio.Future[None] | None = None

    async def next_line(self) -> None:
        """Wait until a line may have been printed, or the process has ended."""
        self._line = asyncio.get_running_loop().create_future()
        await asyncio.wait({self._line, self.exited}, return_when=asyncio.FIRST_COMPLETED)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _STDOUT:
            self.stderr += data
            if len(self.stderr) > _STDERR_KEPT:
                del self.stderr[:-_STDERR_KEPT]
                # A line without its beginning may be the rest of a secret, which nobody could tell.
                del self.stderr[: _after_line_end(self.stderr)]
        elif len(self.stdout) + len(data) <= self._max_output:
            self.stdout += data
            if self._line is not None and b"\n" in data and not self._line.done():
                self._line.set_result(None)
        else:
            self.too_long = AgentProtocolError(f"the answer is longer than {self._max_output} bytes")
            # The last output of a process may arrive after the news that it has exited.
            if not self.exited.done():
                self.exited.set_exception(self.too_long)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if not self.closed.done():
            self.closed.set_result(None)


def _after_line_end(text: bytearray) -> int:
    """Where the second line begins; the end if there is only one. A progress bar ends its lines with CR."""
    found = _LINE_END.search(text)
    return found.end() if found else len(text)


def _feed(transport: asyncio.SubprocessTransport, stdin: bytes) -> None:
    # The pipe's transport bears a process that does not read: it buffers, and drops what nobody will take.
    pipe = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
    pipe.write(stdin)
    pipe.close()


async def _stop_group(group: int, output: _Output) -> None:
    """End the group: ask, wait a little, then insist; return once its processes let go of the pipes."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if output.closed.done():
            return
        _signal_group(group, number)
        await asyncio.wait({output.closed}, timeout=_GRACE_SECONDS)


def _signal_group(group: int, number: signal.Signals) -> None:
    # A group whose processes have all ended is gone; on macOS it is not ours to signal while its leader is a zombie.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
