"""Options of agents behind URLs and of models. Apart from them, whose libraries take time to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

from evalc.base.installed import ApiName
from evalc.runtime.agents.http.address import Connecting
from evalc.runtime.mapping import AnswerPaths, BodyTemplate, StreamPaths
from evalc.tools.registry import ToolRegistry

Method = Literal["POST", "PUT", "PATCH"]
"""The methods that carry a message."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How an agent is called over HTTP.

    Attributes:
        method: the method of each request.
        body: what is sent; None is `{"message": ...}`.
        answer: where in an answer things are.
        stream: where in the events of a streamed answer things are; None if they have a known shape.
        redirects: how many redirects of an answer are followed.
        accepted: those of the statuses 202 and 206 whose answers are whole.
        connecting: how connections are made, within the time of the case.
    """

    method: Method = "POST"
    body: BodyTemplate | None = None
    answer: AnswerPaths = field(default_factory=AnswerPaths)
    stream: StreamPaths | None = None
    redirects: int = 0
    accepted: tuple[int, ...] = ()
    connecting: Connecting = field(default_factory=Connecting)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The configuration of a provider.

    Attributes:
        base_url: where its API is; None for the provider's own.
        key: what opens it; None if no key is set.
        key_variable: the environment variable that the key is taken from, for messages.
        headers: sent with every request, over those that are sent anyway.
        api: which of its APIs is asked; None for its first.
    """

    base_url: str | None = None
    key: str | None = None
    key_variable: str
    headers: Mapping[str, str] = field(default_factory=dict)
    api: ApiName | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a model is asked.

    Attributes:
        temperature: as the provider reads it; its own default where it is None.
        max_tokens: how long each answer may be.
        seed: for answers that can be repeated, where the API knows one.
        extra: fields of the request's body that go before all others.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The options that are the same for every request to a model.

    Attributes:
        system: the system prompt, instead of the prompt file's.
        sampling: how it is asked.
        tools: the tools on offer; None if no registry is configured.
    """

    system: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    tools: ToolRegistry | None = None
