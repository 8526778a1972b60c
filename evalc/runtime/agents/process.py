"""The agent `command:...`: a process group for each case or conversation, with bounded input, output and time.

A case with files or a skill has a folder of its own, in which the program runs; it is removed after the attempt.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final, cast, final

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable, MachineFailed, UsageError
from evalc.base.terminal import excerpt, well_formed
from evalc.model.answer import AgentRequest, AgentResponse, WrittenFile
from evalc.runtime import MAX_BODY
from evalc.runtime.agents import Session, wire
from evalc.runtime.agents.trace import environment_of

if TYPE_CHECKING:
    from evalc.runtime.agents.coding import Profile

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


async def run_process(
    argv: Sequence[str], stdin: bytes, *, folder: Path, max_output: int, environment: Mapping[str, str] | None = None
) -> Completed:
    """Run a command, without a shell, in a process group of its own, and leave nothing of it behind.

    Raises:
        OSError: when it cannot be started.
        AgentProtocolError: when it prints more than `max_output` bytes.
    """
    process = await Process.begin(argv, folder=folder, max_output=max_output, environment=environment)
    try:
        # The pipe's transport bears a process that does not read: it buffers, and drops what nobody will take.
        process.pipe.write(stdin)
        process.pipe.close()
        await process.output.exited
        # Children that it left running would hold the pipes open, and nothing should outlive its case.
        process.send_signal(signal.SIGKILL)
        return await process.completed()
    except BaseException:
        await process.stop()
        raise
    finally:
        process.abandon()


@final
class Process:
    """A running process, with a process group of its own."""

    def __init__(self, transport: asyncio.SubprocessTransport, output: _Output) -> None:
        self.output = output
        self.pipe = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
        self._transport = transport
        self._group = transport.get_pid()

    @classmethod
    async def begin(
        cls, argv: Sequence[str], *, folder: Path, max_output: int, environment: Mapping[str, str] | None = None
    ) -> Process:
        """Start the process, without a shell; without an environment of its own it has this process's.

        Raises:
            OSError: when it cannot be started.
        """
        loop = asyncio.get_running_loop()
        transport, output = await loop.subprocess_exec(
            lambda: _Output(loop, max_output), *argv, cwd=folder, env=environment, start_new_session=True
        )
        return cls(transport, output)

    async def ask(self, line: bytes) -> bytes | Completed:
        """Write a line, and wait for the next line; or how the process ended.

        Raises:
            AgentProtocolError: when the line is longer than may be read.
        """
        output = self.output
        if not output.exited.done():
            self.pipe.write(line + b"\n")
        while b"\n" not in output.stdout:
            if output.too_long:
                raise output.too_long
            if output.exited.done():
                completed = await self.completed()
                if b"\n" in output.stdout:
                    break
                return completed
            await output.next_line()
        answer, _, rest = bytes(output.stdout).partition(b"\n")
        output.stdout[:] = rest
        return answer

    async def completed(self) -> Completed:
        """How it ended; the last of its output may come after that.

        Raises:
            AgentProtocolError: when it printed more than may be read.
        """
        output = self.output
        await asyncio.wait({output.closed}, timeout=_GRACE_SECONDS)
        if output.too_long:
            raise output.too_long
        status = cast(int, self._transport.get_returncode())
        return Completed(status=status, stdout=bytes(output.stdout), stderr=bytes(output.stderr))

    async def close(self) -> None:
        """Close its input, and end whatever does not end by itself."""
        self.pipe.close()
        try:
            await asyncio.wait({self.output.exited}, timeout=_GRACE_SECONDS)
            # An answer that was too long, as whoever asked knows, says nothing of the process.
            if not self.output.exited.done() or self.output.exited.exception() is not None:
                await self.stop()
        finally:
            self.abandon()

    async def stop(self) -> None:
        """End the group: ask, wait a little, then insist; return once its processes let go of the pipes."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.output.closed.done():
                return
            self.send_signal(number)
            await asyncio.wait({self.output.closed}, timeout=_GRACE_SECONDS)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the group."""
        # A group whose processes have all ended is gone; on macOS it is not ours while its leader is a zombie.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)

    def abandon(self) -> None:
        """Leave nothing of it behind."""
        self.send_signal(signal.SIGKILL)
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


@final
class CommandAgent:
    """An agent that is a program: it reads `{"message": ...}` and prints an answer of the agreed shape (see `wire`).

    For a case it reads to the end of its input. For a conversation it gets one line per turn, and prints one for each.

    Args:
        command: the program and its arguments, quoted as in a shell; no shell reads it.
        project_root: the folder it runs in, and from which a program with a `/` in its name is found.
        max_output: bytes of an answer that are read at most.
        profile: the coding agent that the program is, which has a folder for each attempt, and what `endpoint` says.
        skills: the skills that it is given; None for the skill that a case is about.

    Raises:
        UsageError: when the command cannot be read, or there is no such program.
    """

    def __init__(
        self,
        command: str,
        *,
        project_root: Path,
        max_output: int = MAX_BODY,
        profile: tuple[str, Profile] | None = None,
        skills: Sequence[Path] | None = None,
    ) -> None:
        self.root = project_root
        self.argv = argv_of(command, project_root)
        self.max_output = max_output
        self.skills = skills
        self.profile = None if profile is None else profile[1]
        self._endpoint = f"command:{command.strip()}" if profile is None else profile[0]

    @property
    def endpoint(self) -> str:
        """`command:` and the command as it was given, or the name of the coding agent."""
        return self._endpoint

    @property
    def open_files(self) -> int:
        """How many files a session holds open: the pipes of its process, and what waits for that."""
        return 4

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; between cases it holds nothing."""
        session = _CommandSession(self)
        try:
            yield session
        finally:
            await session.end()


@final
class _CommandSession:
    def __init__(self, agent: CommandAgent) -> None:
        self.agent = agent
        self._dialogue: Process | None = None
        self._folder: Path | None = None
        self._before: Mapping[str, object] = {}  # what was in it at first

    async def send(self, request: AgentRequest) -> AgentResponse:
        agent, profile = self.agent, self.agent.profile
        if profile is not None and (request.messages or request.conversation is not None):
            raise AgentError(f"{profile.title} is sent one message, and the case is a conversation")
        try:
            if self._folder is None and (skills := self._skills(request)) is not None:
                self._folder = _new_folder()
                self._before = await asyncio.to_thread(self._fill, self._folder, request, skills)
            answer = await self._asked(request, profile)
            files = None if self._folder is None else await asyncio.to_thread(self._files, self._folder)
        except (OSError, RuntimeError) as error:  # or no thread can be started, which would wait for it
            what = f"`{agent.argv[0]}` cannot be started"
            said = getattr(error, "strerror", None) or error
            raise MachineFailed.of(what, error) or AgentUnavailable(f"{what}: {said}") from None
        finally:
            if request.conversation is None:
                self._remove()
        if isinstance(answer, Completed):
            if profile is not None and answer.stdout.strip():
                profile.answer_in(answer.stdout)  # which says why it failed, if the events do
            raise AgentError(ending_of(answer))
        response = wire.decode_answer(answer) if profile is None else profile.answer_in(answer)
        if files is None:
            return response
        return msgspec.structs.replace(response, took_files=True, written=files[0], unchanged=files[1])

    async def _asked(self, request: AgentRequest, profile: Profile | None) -> bytes | Completed:
        """The output of the program, or how it ended without an answer."""
        sent = wire.encode_request(request) if profile is None else well_formed(request.message).encode()
        environment = None if request.trace is None else environment_of(request.trace)
        if profile is not None:
            without = os.environ if environment is None else environment
            environment = {name: value for name, value in without.items() if name not in profile.without}
        folder, argv = self._folder or self.agent.root, self.agent.argv
        if self._folder is not None and profile is None:
            argv = (argv[0], *(_from_anywhere(each, self.agent.root) for each in argv[1:]))
        run: dict[str, Any] = {"folder": folder, "max_output": self.agent.max_output, "environment": environment}
        if request.conversation is None:
            ended = await run_process(argv, sent, **run)
            return ended if ended.status else ended.stdout
        if self._dialogue is None:
            self._dialogue = await Process.begin(argv, **run)
        return await self._dialogue.ask(sent)

    def _skills(self, request: AgentRequest) -> Sequence[Path] | None:
        """The skills for the folder of the attempt; None if it needs none, and the program runs in the project."""
        agent = self.agent
        own = () if request.skill is None else (agent.root / request.skill,)
        skills = own if agent.skills is None else agent.skills
        has_folder = agent.profile is not None or agent.skills is not None or request.files is not None or skills
        return skills if has_folder else None

    def _fill(self, folder: Path, request: AgentRequest, skills: Sequence[Path]) -> Mapping[str, object]:
        """Fill the folder; what is in it then."""
        from evalc.runtime.agents.coding import SKILLS, fill, stamps_in  # noqa: PLC0415 - for start-up

        profile = self.agent.profile
        fill(folder, request.files or {}, self.agent.root, skills, SKILLS if profile is None else profile.skills)
        return stamps_in(folder)

    def _files(self, folder: Path) -> tuple[tuple[WrittenFile, ...], tuple[str, ...]]:
        from evalc.runtime.agents.coding import files_in  # noqa: PLC0415 - as above

        return files_in(folder, self._before)

    def _remove(self) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def holds(self) -> bool:
        """Yes: the process."""
        return True

    async def end(self) -> None:
        """End the process of the conversation that is over."""
        dialogue, self._dialogue = self._dialogue, None
        try:
            if dialogue is not None:
                await dialogue.close()
        finally:
            self._remove()


def _new_folder() -> Path:
    """A folder for an attempt; no agent is to blame if there is no place for it."""
    try:
        return Path(mkdtemp(prefix="evalc-")).resolve()
    except OSError as error:
        raise MachineFailed(f"the folder of the attempt cannot be made: {error.strerror}") from None


def _from_anywhere(argument: str, root: Path) -> str:
    """An argument that names a file of the project, by its whole path."""
    path = root / argument
    return str(path.resolve()) if not argument.startswith("-") and path.is_file() else argument


def coding_agent(spec: str, root: Path, skills: tuple[Path, ...] | None, max_output: int) -> CommandAgent:
    """The agent of a kind such as `claude-code`, perhaps with arguments for its program behind a colon.

    Raises:
        UsageError: its program is not installed.
    """
    from evalc.runtime.agents.coding import profiles  # noqa: PLC0415 - for start-up

    kind, _, arguments = spec.partition(":")
    profile = profiles()[kind.lower()]
    program = profile.command[0]
    if shutil.which(program) is None:
        raise UsageError(f"{profile.title} is not installed: there is no program `{program}`")
    command = profile.call(arguments)
    return CommandAgent(command, project_root=root, max_output=max_output, profile=(spec, profile), skills=skills)


def ending_of(completed: Completed) -> str:
    """How a process ended that did not end well, and the last line that it printed to standard error.

    One that ended well should have answered a line with a line.
    """
    if completed.status == 0:
        printed = excerpt(completed.stdout)
        return "the command ended before it answered with a line" + (f": {printed}" if printed else "")
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
