"""How an agent is called over HTTP. Apart from the agent, whose libraries take time to import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, final

from evalc.runtime.agents.http.route import Connecting
from evalc.runtime.mapping import AnswerPaths, BodyTemplate, StreamPaths

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
