"""Agents, which turn requests into answers, and how those of evalc are configured."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol, final, runtime_checkable

import msgspec

from evalc.base import ApiName
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime import MAX_BODY, RETRIES
from evalc.runtime.mapping import AnswerPaths, BodyTemplate, StreamPaths
from evalc.tools import ToolRegistry


class Session(Protocol):
    """An opened agent: answers one request at a time."""

    async def send(self, request: AgentRequest) -> AgentResponse:
        """Answer a request.

        The caller bounds the time by cancelling; an agent cleans up after itself when cancelled.

        Raises:
            AgentError: when there is no usable answer; its message is what the result says.
        """
        ...


@runtime_checkable
class HoldsConversations(Protocol):
    """A session that may hold something for a conversation, such as a process or an object with a memory."""

    @property
    def holds(self) -> bool:
        """Whether it does, so that no other process can go on with the conversation."""
        ...

    async def end(self) -> None:
        """Let go of what the conversation that is over needed."""
        ...


class Agent(Protocol):
    """An agent: a name for results, and sessions, one a worker, so that a worker keeps its connection."""

    @property
    def endpoint(self) -> str:
        """Its name in results (contract, `agentEndpoint`): a URL without credentials, or the agent's spec."""
        ...

    def session(self) -> AbstractAsyncContextManager[Session]:
        """Open a session; closing it frees what it holds."""
        ...


@final
class NamedAgent:
    """An agent under the name that the configuration gives it.

    Attributes:
        agent: the agent.
        endpoint: its name.
        local_server: the server of a model on this machine; None for any other agent.
        open_files: how many files a session holds open, as far as the agent says so.
    """

    def __init__(self, name: str, agent: Agent) -> None:
        self.agent = agent
        self.endpoint = name
        self.local_server: object = getattr(agent, "local_server", None)
        self.open_files: int = getattr(agent, "open_files", 0)

    def session(self) -> AbstractAsyncContextManager[Session]:
        """Open a session of the agent."""
        return self.agent.session()


# --- how they are configured -----------------------------------------------------------------------------------------


@final
class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """How the other side's certificate is looked at: not at all, by the usual authorities, or by those of a file."""

    verify: bool = True
    authorities: Path | None = None


@final
class Sending(msgspec.Struct, frozen=True, kw_only=True):
    """How requests are sent, wherever they lead."""

    tls: Tls = msgspec.field(default_factory=Tls)  # how the other side's certificate is looked at
    connect_seconds: float | None = None  # how long connecting may take; None leaves it to whoever sends
    # how often a request is repeated that was not sent, or refused by the status 429, 502, 503 or 504
    retries: int = RETRIES
    first_wait: float = 0.25  # seconds before the first of these times; they double from then on
    max_body: int = MAX_BODY  # bytes of an answer that are read at most


Method = Literal["POST", "PUT", "PATCH"]
"""The methods that carry a message."""


@final
class HttpOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent is called over HTTP."""

    method: Method = "POST"  # the method of each request
    body: BodyTemplate | None = None  # what is sent; None is `{"message": ...}`
    answer: AnswerPaths = msgspec.field(default_factory=AnswerPaths)  # where in an answer things are
    # where in the events of a streamed answer things are; None if they have a known shape
    stream: StreamPaths | None = None
    redirects: int = 0  # how many redirects of an answer are followed
    accepted: tuple[int, ...] = ()  # those of the statuses 202 and 206 whose answers are whole
    sending: Sending = msgspec.field(default_factory=Sending)  # how requests are sent, within the time of the case


@final
class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a provider."""

    base_url: str | None = None  # where its API is; None for the provider's own
    key: str | None = None  # what opens it; None if no key is set
    key_variable: str  # the environment variable that the key is taken from, for messages
    headers: Mapping[str, str] = {}  # sent with every request, over those that are sent anyway
    api: ApiName | None = None  # which of its APIs is asked; None for its first


@final
class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is asked."""

    temperature: float | None = None  # as the provider reads it; its own default where it is None
    max_tokens: int | None = None  # how long each answer may be
    seed: int | None = None  # for answers that can be repeated, where the API knows one
    extra: Mapping[str, Any] = {}  # fields of the request's body that go before all others


@final
class ModelOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options that are the same for every request to a model."""

    system: str | None = None  # the system prompt, instead of the prompt file's
    sampling: Sampling = msgspec.field(default_factory=Sampling)  # how it is asked
    tools: ToolRegistry | None = None  # the tools on offer; None if no registry is configured
