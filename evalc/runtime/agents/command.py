"""From a command line to an agent: one process a case, JSON on its standard input and output."""

from __future__ import annotations

import shlex
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from evalc.errors import AgentError, AgentUnavailable, UsageError
from evalc.runtime.agents import wire
from evalc.runtime.agents.base import AgentRequest, AgentResponse, Session
from evalc.runtime.agents.process import Completed, run_process


@final
class CommandAgent:
    """An agent that is a program: it reads `{"message": ...}` and prints an answer of the agreed shape (see `wire`).

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
        """Open a session; it holds nothing between cases."""
        yield _CommandSession(argv=self._argv, folder=self._folder, max_output=self._max_output)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandSession:
    argv: tuple[str, ...]
    folder: Path
    max_output: int

    async def send(self, request: AgentRequest) -> AgentResponse:
        try:
            completed = await run_process(
                self.argv, wire.encode_request(request), folder=self.folder, max_output=self.max_output
            )
        except OSError as error:
            raise AgentUnavailable(f"`{self.argv[0]}` cannot be started: {error.strerror or error}") from None
        if completed.status != 0:
            raise AgentError(ending_of(completed))
        return wire.decode_answer(completed.stdout)


def ending_of(completed: Completed) -> str:
    """How a process ended that did not end well, and the last line that it printed to standard error."""
    if completed.status > 0:
        ending = f"the command ended with exit status {completed.status}"
    else:
        ending = f"the command was ended by {_signal_name(-completed.status)}"
    last_line = wire.shown(completed.stderr.rstrip().rpartition(b"\n")[2])
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
        raise UsageError(f"there is no program `{name}` that can be run")
    return (program, *argv[1:])
