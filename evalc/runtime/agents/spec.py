"""From what `--agent` says, such as `https://host/chat` or `python:module:name`, to the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final
from urllib.parse import unquote, urlsplit

from evalc.errors import UsageError
from evalc.runtime.agents import wire
from evalc.runtime.agents.base import Agent

_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)

_FORMS = "`http://...`, `https://...`, `python:module:name`, `command:...`, `demo`"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What configuration says about agents; each kind takes what concerns it.

    Attributes:
        headers: sent with every HTTP request.
        retries: how often a connection fault or a "not now" is tried again.
        project_root: where Python modules and programs are looked for, and where programs run.
        max_body: bytes of an answer that are read at most.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    retries: int = 2
    project_root: Path = Path()
    max_body: int = wire.MAX_BODY


def agent_for(spec: str, *, settings: AgentSettings) -> Agent:
    """The agent that a spec names.

    Raises:
        UsageError: when there is no such form of spec, or the agent named by it cannot be had.
    """
    spec = spec.strip()
    scheme, _, rest = spec.partition(":")
    match scheme.lower():
        case "http" | "https" if rest.startswith("//"):
            return _http_agent(spec, settings)
        case "python":
            return _python_agent(rest, settings)
        case "command":
            return _command_agent(rest, settings)
        case "demo" if not rest:
            return _demo_agent()
        case _:
            # Only the scheme is repeated: the rest may hold credentials.
            raise UsageError(f"`{scheme}` names no kind of agent; an agent is one of {_FORMS}")


def secrets_of(spec: str, *, settings: AgentSettings) -> tuple[str, ...]:
    """What a valid spec and its settings hold that no file may show: a URL's credentials, and headers that authorize.

    Of `Bearer TOKEN` the token alone is a secret too; of a URL the password, and the pair that basic authorization
    sends in base64.
    """
    values = [value for name, value in settings.headers.items() if _SECRET_HEADER.search(name)]
    tokens = [value.partition(" ")[2] for value in values]
    return tuple(dict.fromkeys(secret for secret in [*values, *tokens, *_credentials(spec.strip())] if secret))


def _credentials(spec: str) -> tuple[str, ...]:
    parts = urlsplit(spec) if spec.lower().startswith("http") else None
    if parts is None or not parts.password:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password)
    return (parts.password, password, f"{user}:{password}")


# A kind is imported when it is asked for, for start-up time: all together take 40 ms.


def _http_agent(url: str, settings: AgentSettings) -> Agent:
    from evalc.runtime.agents.http import HttpAgent  # noqa: PLC0415
    from evalc.runtime.agents.retry import Backoff  # noqa: PLC0415

    backoff = Backoff(retries=settings.retries)
    return HttpAgent(url, headers=settings.headers, backoff=backoff, max_body=settings.max_body)


def _python_agent(target: str, settings: AgentSettings) -> Agent:
    from evalc.runtime.agents.python import PythonAgent  # noqa: PLC0415

    return PythonAgent(target, project_root=settings.project_root)


def _command_agent(command: str, settings: AgentSettings) -> Agent:
    from evalc.runtime.agents.command import CommandAgent  # noqa: PLC0415

    return CommandAgent(command, project_root=settings.project_root, max_output=settings.max_body)


def _demo_agent() -> Agent:
    from evalc.runtime.agents.demo.agent import DemoAgent  # noqa: PLC0415

    return DemoAgent()
