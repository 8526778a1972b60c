"""The format of recordings: a folder for each agent, with a file for each thing that was sent.

The name of a file is `WHAT-CASE-ATTEMPT.json`: a hash of everything that was sent, a hash of the case's id, and which
of the case's attempts it was, from 1. So a case that is renamed is still found, and two cases that send the same keep
their own answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, final

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError, AgentTimeout, AgentUnavailable
from evalc.base.providers import provider_of
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.http.options import HttpOptions
from evalc.runtime.agents.model.options import ModelOptions
from evalc.runtime.agents.wire import fingerprint, sent_fields
from evalc.runtime.store.redact import Redactor

AGENT_FILE: Final = "agent.json"

Kind = Literal["timeout", "unavailable", "protocol", "broken"]

_ERRORS: Final[Mapping[Kind, type[AgentError]]] = {
    "timeout": AgentTimeout,
    "unavailable": AgentUnavailable,
    "protocol": AgentProtocolError,
    "broken": AgentError,
}


class RecordedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """Whose answers a folder holds."""

    agent: str


class RecordedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why there was no answer."""

    kind: Kind
    message: str

    def raised(self) -> AgentError:
        """The exception that says the same."""
        return _ERRORS[self.kind](self.message)


class Exchange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was sent, and what came back: an answer or a failure."""

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
        """Which attempt at its case this one is, from 1."""
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
    request: AgentRequest, agent: str, model: ModelOptions, http: HttpOptions, redactor: Redactor | None
) -> dict[str, Any]:
    """What decides on an answer, without secrets: the request, and what goes with each to this kind of agent."""
    fields = sent_fields(request)
    if provider_of(agent) is not None:
        fields["model"] = _model_fields(model)
    elif agent.startswith("http") and http.body is not None:
        fields |= {"body": repr(http.body), "id": request.case_id}
    return _without_secrets(fields, redactor)


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


def _without_secrets(fields: dict[str, Any], redactor: Redactor | None) -> dict[str, Any]:
    json = msgspec.json.encode(fields)
    struck = json if redactor is None else redactor.redact_bytes(json)
    decoded: dict[str, Any] = msgspec.json.decode(struck)
    return decoded


def folder_of(folder: Path, agent: str) -> Path:
    """The folder of the exchanges with an agent."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", agent).strip("-.")[:60]
    return folder / f"{slug}-{_short(agent)}"


def file_name(sent: Mapping[str, Any], case: str, attempt: int) -> str:
    """The name of the file of an exchange."""
    return f"{fingerprint(sent)}-{_short(case)}-{attempt}.json"


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=4).hexdigest()
