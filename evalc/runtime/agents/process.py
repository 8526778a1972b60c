"""The agent `command:...`: a process group for each case or conversation, with bounded input, output and time."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, cast, final

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable, UsageError
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import Session, wire

_STDOUT: Final = 1
_GRACE_SECONDS: Final = 0.5
_STDERR_KEPT: Final = 8 * 1024
_LINE_END: Final = re.compile(rb"[\r\n]")


@final
class Completed(msgspec.Struct, frozen=True, kw_only=True):
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
        """Write a line, and wait for the next line; or how the process ended.

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
                self._output.exited.exception()  # which whoever asked knows
            else:
                await _stop_group(self._group, self._output)
        finally:
            _signal_group(self._group, signal.SIGKILL)
            self._transport.close()


@final
class _Output(asyncio.SubprocessProtocol):
    """The output of a process, and its two ends: its own, and that of the last holder of its pipes."""

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
                # A line without its beginning may be the rest of a secret, which nobody could recognise.
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


@final
class CommandAgent:
    """An agent that is a program: it reads `{"message": ...}` and prints an answer of the agreed shape (see `wire`).

    For a case it reads to the end of its input. For a conversation it gets one line per turn, and prints one for each.

    Args:
        command: the program and its arguments, quoted as in a shell; no shell reads it.
        project_root: the folder it runs in, and from which a program with a `/` in its name is found.
        max_output: bytes of an answer that are read at most.

    Raises:
        UsageError: when the command cannot be read, or there is no such program.
    """

    def __init__(self, command: str, *, project_root: Path, max_output: int = wire.MAX_BODY) -> None:
        self._command = command.strip()
        self._folder = project_root
        self._argv = argv_of(command, project_root)
        self._max_output = max_output

    @property
    def endpoint(self) -> str:
        """`command:` and the command as it was given."""
        return f"command:{self._command}"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; between cases it holds nothing."""
        session = _CommandSession(self._argv, self._folder, self._max_output)
        try:
            yield session
        finally:
            await session.end()


@final
class _CommandSession:
    def __init__(self, argv: tuple[str, ...], folder: Path, max_output: int) -> None:
        self.argv = argv
        self.folder = folder
        self.max_output = max_output
        self._dialogue: Dialogue | None = None

    async def send(self, request: AgentRequest) -> AgentResponse:
        return await (self._alone(request) if request.conversation is None else self._in_turn(request))

    @property
    def holds(self) -> bool:
        """Yes: the process."""
        return True

    async def end(self) -> None:
        """End the process of the conversation that is over."""
        dialogue, self._dialogue = self._dialogue, None
        if dialogue is not None:
            await dialogue.close()

    async def _in_turn(self, request: AgentRequest) -> AgentResponse:
        if self._dialogue is None:
            try:
                self._dialogue = await Dialogue.begin(self.argv, folder=self.folder, max_output=self.max_output)
            except OSError as error:
                raise AgentUnavailable(f"`{self.argv[0]}` cannot be started: {error.strerror or error}") from None
        answer = await self._dialogue.ask(wire.encode_request(request))
        if isinstance(answer, Completed):
            raise AgentError(_ending_in_turn(answer))
        return wire.decode_answer(answer)

    async def _alone(self, request: AgentRequest) -> AgentResponse:
        try:
            completed = await run_process(
                self.argv, wire.encode_request(request), folder=self.folder, max_output=self.max_output
            )
        except OSError as error:
            raise AgentUnavailable(f"`{self.argv[0]}` cannot be started: {error.strerror or error}") from None
        if completed.status != 0:
            raise AgentError(ending_of(completed))
        return wire.decode_answer(completed.stdout)


def _ending_in_turn(completed: Completed) -> str:
    """How a process ended that had to answer a line with a line."""
    if completed.status:
        return ending_of(completed)
    printed = excerpt(completed.stdout)
    return "the command ended before it answered with a line" + (f": {printed}" if printed else "")


def ending_of(completed: Completed) -> str:
    """How a process ended that did not end well, and the last line that it printed to standard error."""
    if completed.status > 0:
        ending = f"the command ended with exit status {completed.status}"
    else:
        ending = f"the command was ended by {_signal_name(-completed.status)}"
    last_line = excerpt(completed.stderr.rstrip().rpartition(b"\n")[2])
    return f"{ending}: {last_line}" if last_line else ending


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has a number only
        return f"signal {number}"


def argv_of(command: str, project_root: Path) -> tuple[str, ...]:
    """A command as the program's path and its arguments.

    Raises:
        UsageError: when it cannot be read, or there is no such program.
    """
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the command cannot be read: {error}") from None
    if not argv or "\0" in command:
        raise UsageError("the command names no program")
    name = argv[0]
    # As the shell does it: a name with a slash is a path, any other is looked for on PATH.
    program = shutil.which(str((project_root / name).resolve()) if "/" in name else name)
    if program is None:
        raise UsageError(f"the program `{name}` does not exist or cannot be run")
    return (program, *argv[1:])
