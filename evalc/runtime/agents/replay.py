"""The agent `replay:DIR`: answers from recorded exchanges, and never asks anyone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.errors import AgentError, UsageError
from evalc.base.files import read_limited
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.base import Session
from evalc.runtime.agents.http.options import HttpOptions
from evalc.runtime.agents.model.options import ModelOptions
from evalc.runtime.agents.recording import AGENT_FILE, Attempts, Exchange, RecordedAgent, everything_sent, file_name
from evalc.runtime.agents.wire import fingerprint
from evalc.runtime.store.redact import Redactor

_LARGEST: Final = 256_000_000
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

    def __init__(self, folder: str, *, model: ModelOptions, http: HttpOptions, redactor: Redactor | None) -> None:
        self._spec = folder
        self._folder = _of_one_agent(Path(folder), folder)
        self._agent = _recorded_agent(self._folder)
        self._model = model
        self._http = http
        self._redactor = redactor
        self._compared: tuple[tuple[str, str], ...] | None = None

    @property
    def endpoint(self) -> str:
        """`replay:` and the folder as it was given."""
        return f"replay:{self._spec}"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session; it holds only which attempt at a case is next."""
        yield _ReplaySession(self)

    def answer(self, request: AgentRequest, attempt: int) -> AgentResponse:
        """What came back when the same was sent.

        Raises:
            AgentError: there is no recording of it, or it is the recording of a failure.
        """
        sent = everything_sent(request, self._agent, self._model, self._http, self._redactor)
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


def _recorded_agent(folder: Path) -> str:
    try:
        return msgspec.json.decode(read_limited(folder / AGENT_FILE, _LARGEST), type=RecordedAgent).agent
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"`{folder / AGENT_FILE}` does not say whose recordings these are: {error}") from error


def _read(path: Path) -> Exchange:
    try:
        return msgspec.json.decode(read_limited(path, _LARGEST), type=Exchange)
    except OSError as error:
        raise AgentError(f"the recording `{path.name}` cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AgentError(f"the recording `{path.name}` cannot be read: {error}") from error


def _differences(recorded: Mapping[str, Any], sent: Mapping[str, Any]) -> str:
    """The names of what is not the same, and of the message how it was recorded."""
    names = [name for name in {**recorded, **sent} if recorded.get(name) != sent.get(name)]
    said = [f"`{name}`" for name in names]
    if "message" in names:
        said[names.index("message")] += f" (`{excerpt(str(recorded.get('message', '')))}`)"
    return ", ".join(said)
