"""Makes the agent that `--agent` names, such as `https://host/chat` or `openai:MODEL`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, final
from urllib.parse import unquote, urlsplit

import msgspec

from evalc import extras
from evalc.base import AGENT_FORMS, CODING, PROVIDERS, Provider, provider_of
from evalc.base.errors import UsageError
from evalc.runtime import LOADING_MS, LOCAL_TOKENS
from evalc.runtime.agents import Access, Agent, HttpOptions, ModelOptions
from evalc.runtime.store.redact import NO_SECRETS, Redactor

if TYPE_CHECKING:
    from evalc.runtime.agents.model.agent import ModelAgent

_SECRET_HEADER: Final = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)

_HOST: Final = re.compile(
    r"(?:localhost(?::\d{1,5})?|(?!demo:)[\w-]+(?:\.[\w-]+)*:\d{1,5}|\d+(?:\.\d+){3}|[\w-]+(?:\.[\w-]+)+(?=/))(?=[/?#]|$)"
)
"""A host as in a URL that has lost its scheme; what follows is not repeated, since it may hold credentials."""


def _unconfigured() -> Mapping[str, Access]:
    return {name: Access(key_variable=provider.key_variable) for name, provider in PROVIDERS.items()}


@final
class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of models on this machine."""

    context_tokens: int = LOCAL_TOKENS  # how many tokens a conversation may have, its answer included
    load_ms: float = LOADING_MS  # how long loading a model may take


@final
class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of agents; each kind takes its part."""

    headers: Mapping[str, str] = {}  # sent with every HTTP request
    project_root: Path = Path()  # where Python modules and programs are looked for, and where programs run
    # how an agent behind a URL is called, and how its answers are read
    http: HttpOptions = msgspec.field(default_factory=HttpOptions)
    # by the name of each provider, how its API is reached, or a server that speaks it
    providers: Mapping[str, Access] = msgspec.field(default_factory=_unconfigured)
    model: ModelOptions = msgspec.field(default_factory=ModelOptions)  # how models are asked
    local: Serving = msgspec.field(default_factory=Serving)  # how models on this machine are served
    redactor: Redactor = NO_SECRETS  # strikes secrets out of what recorded requests are compared with
    # the functions and objects that a caller brings, by what follows `python:` in their specs
    brought: Mapping[str, object] = {}
    named: tuple[str, ...] = ()  # the names of the agents that the configuration names, for messages
    # the skills that a program is given; None for the skill that a case is about
    skills: tuple[Path, ...] | None = None


def agent_for(spec: str, *, settings: AgentSettings) -> Agent:
    """The agent that a spec names.

    Raises:
        UsageError: the spec has no known form, or its agent is not available.
    """
    # A kind is imported when it is asked for, for start-up time: all together take 40 ms.
    spec = spec.strip()
    scheme, _, rest = spec.partition(":")
    if (provider := provider_of(spec)) is not None:
        return model_agent(provider, rest.strip(), settings, settings.model)
    match scheme.lower():
        case "http" | "https" if rest.startswith("//"):
            from evalc.runtime.agents.http.agent import HttpAgent  # noqa: PLC0415

            return HttpAgent(spec, headers=settings.headers, options=settings.http)
        case "python":
            from evalc.runtime.agents.python import PythonAgent, agent_of  # noqa: PLC0415

            if rest in settings.brought:
                return agent_of(settings.brought[rest])
            return PythonAgent(rest, project_root=settings.project_root)
        case "command":
            from evalc.runtime.agents.process import CommandAgent  # noqa: PLC0415

            most = settings.http.sending.max_body
            return CommandAgent(rest, project_root=settings.project_root, max_output=most, skills=settings.skills)
        case kind if kind in CODING:
            from evalc.runtime.agents.process import coding_agent  # noqa: PLC0415

            return coding_agent(spec, settings.project_root, settings.skills, settings.http.sending.max_body)
        case "replay" if rest:
            from evalc.runtime.agents.recording import ReplayAgent  # noqa: PLC0415

            return ReplayAgent(rest, model=settings.model, http=settings.http, redactor=settings.redactor)
        case "local":
            return extras.local.agent_of(rest.strip(), settings)
        case "demo" if not rest:
            return extras.demo.DemoAgent()
        case _ if (host := _HOST.match(spec)) is not None:
            raise UsageError(f"`{host[0]}` lacks `http://`: write `http://{host[0]}`")
        case _:
            from evalc.runtime.agents.python import installed_agent, unknown_agent  # noqa: PLC0415

            # Only the scheme is repeated: the rest may hold credentials.
            return installed_agent(scheme, rest) or unknown_agent(scheme, AGENT_FORMS, settings.named)


def secrets_of(spec: str, *, settings: AgentSettings) -> tuple[str, ...]:
    """Secrets of a spec and its settings, which no file may show: keys, a URL's credentials, headers that authorize.

    Of `Bearer TOKEN` the token alone is a secret too; of a URL the password, and the pair that basic authorization
    sends in base64.
    """
    providers = settings.providers.values()
    headers = [*settings.headers.items(), *(item for each in providers for item in each.headers.items())]
    values = [value for name, value in headers if _SECRET_HEADER.search(name)]
    values += [each.key for each in providers if each.key]
    tokens = [value.partition(" ")[2] for value in values]
    return tuple(dict.fromkeys(secret for secret in [*values, *tokens, *_credentials(spec.strip())] if secret))


def _credentials(spec: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(spec) if spec.lower().startswith("http") else None
    except ValueError:  # no URL, which is reported where it is used
        return ()
    if parts is None or not parts.password:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password)
    return (parts.password, password, f"{user}:{password}")


def model_agent(provider: Provider, model: str, settings: AgentSettings, options: ModelOptions) -> ModelAgent:
    """The agent that is a model of a provider."""
    from evalc.runtime.agents.model.agent import ModelAgent  # noqa: PLC0415

    return ModelAgent(
        provider,
        model,
        access=settings.providers[provider.name],
        options=options,
        sending=settings.http.sending,
    )
