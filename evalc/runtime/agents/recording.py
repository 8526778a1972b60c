"""Records every exchange of an agent in a folder, and answers from it (`replay:DIR`) or from a table.

A folder for each agent has a file for each thing that was sent. Its name is `WHAT-CASE-ATTEMPT.json`: a hash of
everything that was sent, a hash of the case's id, and which of the case's attempts it was, from 1. So a case that is
renamed is still found, and two cases that send the same keep their own answers.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, final

import msgspec

from evalc.base import provider_of
from evalc.base.errors import (
    AgentError,
    AgentProtocolError,
    AgentTimeout,
    AgentUnavailable,
    MachineFailed,
    UsageError,
    not_writable,
)
from evalc.base.files import JSON_LIMIT, make_folder, read_limited, write_atomic
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.model.json import UNREADABLE
from evalc.runtime.agents import (
    Agent,
    HoldsConversations,
    HttpOptions,
    ModelOptions,
    NamedAgent,
    Session,
    wire,
)
from evalc.runtime.agents.wire import fingerprint, sent_fields
from evalc.runtime.store.redact import Redactor, encoded, redacted

AGENT_FILE: Final = "agent.json"

Kind = Literal["timeout", "unavailable", "protocol", "broken"]

_ERRORS: Final[Mapping[Kind, type[AgentError]]] = {
    "timeout": AgentTimeout,
    "unavailable": AgentUnavailable,
    "protocol": AgentProtocolError,
    "broken": AgentError,
}


class RecordedAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose answers a folder holds. `name` is the agent's in the configuration; empty if it has none."""

    agent: str
    name: str = ""


class RecordedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why there was no answer."""

    kind: Kind
    message: str

    def raised(self) -> AgentError:
        """The exception that says the same."""
        return _ERRORS[self.kind](self.message)


class Exchange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A request, and its answer or failure."""

    case: str
    attempt: int
    sent: dict[str, Any]
    duration_ms: float
    response: AgentResponse | None = None
    failure: RecordedFailure | None = None


@final
class Attempts:
    """Counts the attempts at a case, which come one after the other in one session."""

    def __init__(self) -> None:
        self._case = ""
        self._number = 0

    def next(self, case: str) -> int:
        """The number of this attempt at its case, from 1."""
        self._number = self._number + 1 if case == self._case else 1
        self._case = case
        return self._number


def failure_of(error: BaseException) -> RecordedFailure:
    """The failure that an exception of an agent is."""
    kind: Kind = next((kind for kind, known in _ERRORS.items() if isinstance(error, known)), "broken")
    said = str(error)
    if not isinstance(error, AgentError):
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return RecordedFailure(kind=kind, message=said)


def everything_sent(
    request: AgentRequest, *, agent: str, model: ModelOptions, http: HttpOptions, redactor: Redactor
) -> dict[str, Any]:
    """All that decides an answer, without secrets: the request, and what goes with each to this kind of agent."""
    fields = sent_fields(request)
    if provider_of(agent) is not None:
        fields["model"] = _model_fields(model)
    elif agent.startswith("http") and http.body is not None:
        fields |= {"body": repr(http.body), "id": request.case_id}
    decoded: dict[str, Any] = msgspec.json.decode(redactor.redact_bytes(msgspec.json.encode(fields)))
    return decoded


def _model_fields(model: ModelOptions) -> dict[str, Any]:
    sampling = model.sampling
    return {
        "system": model.system,
        "temperature": sampling.temperature,
        "maxTokens": sampling.max_tokens,
        "seed": sampling.seed,
        "extra": dict(sampling.extra),
        "tools": None
        if model.tools is None
        else [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in model.tools.values()
        ],
    }


def folder_of(folder: Path, agent: str) -> Path:
    """The folder of the exchanges with an agent."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", agent).strip("-.")[:60]
    return folder / f"{slug}-{_short(agent)}"


def file_name(sent: Mapping[str, Any], case: str, attempt: int) -> str:
    """The name of the file of an exchange."""
    return f"{fingerprint(sent)}-{_short(case)}-{attempt}.json"


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=4).hexdigest()


@final
class RecordingAgent:
    """Passes everything on, and writes down what was sent and what came back, without secrets.

    Args:
        agent: the agent that answers.
        folder: where its exchanges go, in a folder of its own; an exchange that was recorded before is written anew.
        model: what is sent with each request where the agent is a model.
        http: what is sent with each request if it is behind a URL.
        redactor: strikes secrets out.

    Raises:
        UsageError: the folder cannot be made.
        MachineError: the disk is full or broken.
    """

    def __init__(
        self, agent: Agent, folder: Path, *, model: ModelOptions, http: HttpOptions, redactor: Redactor
    ) -> None:
        self.endpoint = agent.endpoint
        self.open_files: int = getattr(agent, "open_files", 0)
        self._agent = agent
        self._redactor = redactor
        name = redactor.redact(agent.endpoint)
        asked = redactor.redact(agent.agent.endpoint if isinstance(agent, NamedAgent) else agent.endpoint)
        self._everything_sent = partial(everything_sent, agent=asked, model=model, http=http, redactor=redactor)
        self._folder = folder_of(folder, name)
        whose = RecordedAgent(agent=asked, name=name if isinstance(agent, NamedAgent) else "")
        try:
            make_folder(self._folder)
            _write(self._folder / AGENT_FILE, encoded(whose))
        except OSError as error:
            raise not_writable(f"nothing can be recorded in `{folder}`", error) from error

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session of the agent."""
        async with self._agent.session() as session:
            yield _RecordingSession(self, session)

    def keep(
        self, request: AgentRequest, attempt: int, started: float, outcome: AgentResponse | RecordedFailure
    ) -> None:
        """Write an exchange down.

        Raises:
            MachineFailed: it cannot be written.
        """
        sent = self._everything_sent(request)
        exchange = Exchange(
            case=request.case_id,
            attempt=attempt,
            sent=sent,
            duration_ms=round((time.perf_counter() - started) * 1000, 3),
            response=None if isinstance(outcome, RecordedFailure) else outcome,
            failure=outcome if isinstance(outcome, RecordedFailure) else None,
        )
        try:
            _, json = redacted(exchange, encoded(exchange), self._redactor)
            _write(self._folder / file_name(sent, request.case_id, attempt), json)
        except OSError as error:
            raise MachineFailed(f"nothing can be recorded in `{self._folder}`: {error.strerror}") from error


@final
class _RecordingSession:
    def __init__(self, recording: RecordingAgent, session: Session) -> None:
        self._recording = recording
        self._session = session
        self._attempts = Attempts()

    @property
    def holds(self) -> bool:
        """As the session that is recorded."""
        return isinstance(self._session, HoldsConversations) and self._session.holds

    async def end(self) -> None:
        """As the session that is recorded."""
        if isinstance(self._session, HoldsConversations):
            await self._session.end()

    async def send(self, request: AgentRequest) -> AgentResponse:
        attempt = self._attempts.next(request.case_id)
        now = asyncio.get_running_loop().time
        began, started = now(), time.perf_counter()
        try:
            response = await self._session.send(request)
        except asyncio.CancelledError:
            # Cancelled for its time, and not because the run is interrupted.
            if request.deadline is not None and now() >= request.deadline:
                within = round((request.deadline - began) * 1000)
                late = RecordedFailure(kind="timeout", message=f"no complete answer within {within} ms")
                self._recording.keep(request, attempt, started, late)
            raise
        except Exception as error:
            self._recording.keep(request, attempt, started, failure_of(error))
            raise
        if isinstance(response, AgentResponse):
            self._recording.keep(request, attempt, started, response)
        return response


def _write(path: Path, json: bytes) -> None:
    write_atomic(path, msgspec.json.format(json, indent=2) + b"\n")


_MOST_COMPARED: Final = 10_000
"""The recordings among which the nearest is looked for."""

_LONGEST_COMPARED: Final = 4_000


@final
class ReplayAgent:
    """Answers what was answered to the same when it was recorded, in the time that it took then.

    Args:
        folder: where `--record` wrote, or the folder of one agent in it.
        model: what would be sent with each request to a model.
        http: what would be sent with each request to a URL.
        redactor: strikes out of requests what was struck out of those recorded.

    Raises:
        UsageError: there are no recordings, or recordings of several agents.
    """

    def __init__(self, folder: str, *, model: ModelOptions, http: HttpOptions, redactor: Redactor) -> None:
        self.endpoint = f"replay:{folder}"
        self._spec = folder
        self._folder = _of_one_agent(Path(folder), folder)
        agent = _recorded_agent(self._folder).agent
        self._everything_sent = partial(everything_sent, agent=agent, model=model, http=http, redactor=redactor)
        self._compared: tuple[tuple[str, str], ...] | None = None

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; it holds only which attempt at a case is next."""
        yield _ReplaySession(self)

    def answer(self, request: AgentRequest, attempt: int) -> AgentResponse:
        """The recorded answer to the same request.

        Raises:
            AgentError: there is no recording of it, or it is the recording of a failure.
        """
        sent = self._everything_sent(request)
        path = self._folder / file_name(sent, request.case_id, attempt)
        if not path.exists():
            path = self._of_another_case(sent, attempt) or self._missing(sent, attempt)
        exchange = _read(path)
        if exchange.failure is not None:
            raise exchange.failure.raised()
        if exchange.response is None:
            raise AgentError(f"the recording `{path.name}` has neither an answer nor a failure")
        return msgspec.structs.replace(exchange.response, duration_ms=exchange.duration_ms)

    def _of_another_case(self, sent: Mapping[str, Any], attempt: int) -> Path | None:
        """A recording of the same request, of a case that was called differently then."""
        return min(self._folder.glob(f"{fingerprint(sent)}-*-{attempt}.json"), default=None)

    def _missing(self, sent: Mapping[str, Any], attempt: int) -> Path:
        """Say that there is no recording, and which is the nearest.

        Raises:
            AgentError: always.
        """
        if any(self._folder.glob(f"{fingerprint(sent)}-*.json")):
            raise AgentError(f"attempt {attempt} at this was not recorded in `{self._spec}`")
        from rapidfuzz import process  # noqa: PLC0415 - for start-up: only where something is missing

        if self._compared is None:
            self._compared = tuple(self._messages())
        message = str(sent["message"])[:_LONGEST_COMPARED]
        nearest = process.extractOne(message, [text for _, text in self._compared])
        if nearest is None:
            raise AgentError(f"this was not recorded: `{self._spec}` holds no recording")
        name = self._compared[nearest[2]][0]
        raise AgentError(
            f"this was not recorded in `{self._spec}`; the nearest is `{name}`, which differs in "
            f"{_differences(_read(self._folder / name).sent, sent)}"
        )

    def _messages(self) -> Iterator[tuple[str, str]]:
        """The names and messages of the recordings."""
        files = sorted(path for path in self._folder.glob("*.json") if path.name != AGENT_FILE)
        for path in files[:_MOST_COMPARED]:
            try:
                yield path.name, str(_read(path).sent.get("message", ""))[:_LONGEST_COMPARED]
            except AgentError:  # what cannot be read is not the nearest
                continue


@final
class _ReplaySession:
    def __init__(self, replay: ReplayAgent) -> None:
        self._replay = replay
        self._attempts = Attempts()

    async def send(self, request: AgentRequest) -> AgentResponse:
        return self._replay.answer(request, self._attempts.next(request.case_id))


def _of_one_agent(folder: Path, given: str) -> Path:
    if (folder / AGENT_FILE).is_file():
        return folder
    folders = sorted(file.parent for file in folder.glob(f"*/{AGENT_FILE}"))
    if not folders:
        raise UsageError(f"`{given}` holds no recordings, as `--record {given}` makes them")
    if len(folders) > 1:
        names = ", ".join(f"`replay:{each}`" for each in folders)
        raise UsageError(f"`{given}` holds recordings of {len(folders)} agents; name one: {names}")
    return folders[0]


def name_recorded_in(folder: str) -> str:
    """The name that the recorded agent has in the configuration; empty if it has none, or nothing can be read."""
    try:
        return _recorded_agent(_of_one_agent(Path(folder), folder)).name
    except UsageError:  # which is raised again where the agent is made
        return ""


def _recorded_agent(folder: Path) -> RecordedAgent:
    try:
        return msgspec.json.decode(read_limited(folder / AGENT_FILE, JSON_LIMIT), type=RecordedAgent)
    except (OSError, *UNREADABLE) as error:
        raise UsageError(f"`{folder / AGENT_FILE}` does not say whose recordings these are: {error}") from error


def _read(path: Path) -> Exchange:
    try:
        return msgspec.json.decode(read_limited(path, JSON_LIMIT), type=Exchange)
    except OSError as error:
        raise AgentError(f"the recording `{path.name}` cannot be read: {error.strerror}") from error
    except UNREADABLE as error:
        raise AgentError(f"the recording `{path.name}` cannot be read: {error}") from error


def _differences(recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> str:
    """The names of what is not the same, and of the message how it was recorded."""
    names = [name for name in {**recorded, **sent} if recorded.get(name) != sent.get(name)]
    said = [f"`{name}`" for name in names]
    if "message" in names:
        said[names.index("message")] += f" (`{excerpt(str(recorded.get('message', '')))}`)"
    return ", ".join(said)


Answer = str | Mapping[str, Any] | AgentResponse | BaseException
"""A text, a mapping of the agreed shape (see `wire`), a whole response, or an exception to raise."""

ScriptedAnswer = Answer | Callable[[str], Answer]
"""An answer, or a function that makes one of the message."""


@final
class ScriptedAgent:
    """An agent that answers from a script and remembers what it was asked.

    >>> import asyncio
    >>> agent = ScriptedAgent({"Hello": "Hi"}, default=lambda message: f"What is {message!r}?")
    >>> async def ask(message: str) -> str:
    ...     async with agent.session() as session:
    ...         return (await session.send(AgentRequest(message=message))).response
    >>> asyncio.run(ask("Hello"))
    'Hi'
    >>> asyncio.run(ask("Bye"))
    "What is 'Bye'?"
    >>> [request.message for request in agent.requests]
    ['Hello', 'Bye']

    Args:
        answers: what to answer to which message.
        default: what to answer to every other; without it, another message is an AgentProtocolError.
        endpoint: what results call it.

    Attributes:
        requests: every request in the order in which they came.
    """

    def __init__(
        self,
        answers: Mapping[str, ScriptedAnswer] | None = None,
        *,
        default: ScriptedAnswer | None = None,
        endpoint: str = "scripted",
    ) -> None:
        self.requests: list[AgentRequest] = []
        self._answers = dict(answers or {})
        self._default = default
        self.endpoint = endpoint

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; all share the script and the list of requests."""
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer as the script says."""
        self.requests.append(request)
        answer = self._answers.get(request.message, self._default)
        if callable(answer):
            answer = answer(request.message)
        if answer is None:
            raise AgentProtocolError(f"the script has no answer to `{excerpt(request.message)}`")
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)
        return wire.answer_of(answer)
