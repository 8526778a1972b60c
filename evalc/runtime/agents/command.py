"""The agent `command:...`: a process for each case or conversation, with JSON on its standard streams."""

from __future__ import annotations

import shlex
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import final

from evalc.base.errors import AgentError, AgentUnavailable, UsageError
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import wire
from evalc.runtime.agents.base import Session
from evalc.runtime.agents.process import Completed, Dialogue, run_process


@final
class CommandAgent:
    """An agent that is a program: it reads `{"message": ...}` and prints an answer of the agreed shape (see `wire`).

    For a case it reads to the end of its input. For a conversation it is sent a line a turn and prints a line for each.

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
