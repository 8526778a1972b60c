"""Collects for the journal how a run asks its agents, judges and player: if that has changed, it is another run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from evalc.base.providers import provider_of
from evalc.config.setting import Key
from evalc.config.settings import TABLES, Settings
from evalc.model.json import short_hash
from evalc.runtime.agents.http.address import Address
from evalc.runtime.store.journaled import Asked
from evalc.runtime.store.written import Redactor
from evalc.tools.registry import ToolRegistry

HTTP: Final = ("method", "body", "response", "stream", "acceptedStatuses", "redirects", "headers")
MODEL: Final = ("systemPrompt", "temperature", "maxTokens", "seed", "extraBody")
JUDGE: Final = ("temperature", "maxTokens", "seed", "extraBody")
PROVIDER: Final = ("baseUrl", "api", "headers")
LOCAL: Final = ("contextTokens",)
_HASHED: Final = frozenset({"model.systemPrompt", "openai.baseUrl", "anthropic.baseUrl"})
"""Texts that evalc does not treat as secrets, but that may be long or contain some."""


def asked_of(
    settings: Settings,
    agents: Sequence[str],
    environ: Mapping[str, str],
    tools: ToolRegistry | None,
    redactor: Redactor | None,
) -> Asked:
    """The settings that decide what is sent and how answers are read, as far as they are not their defaults.

    Args:
        settings: the settings.
        agents: the specs of the agents; one that a caller brings is not configured.
        environ: the environment.
        tools: what models are offered.
        redactor: strikes secrets out of what is hashed.
    """
    asked: dict[str, Any] = {}
    for name in dict.fromkeys(_names(settings, agents)):
        table, key = name.split(".")
        value = _kept(TABLES[table][key], settings, environ, redactor)
        if value is not None:
            asked[name] = value
    queried = [Address.of(spec).url for spec in agents if _kind(spec) in {"http", "https"} and "?" in spec]
    if queried:  # results do not show the values of a query, which may be secrets
        asked["agent"] = _hash("\n".join(queried))
    if tools is not None and any(map(_is_model, agents)):
        offered = [(tool.name, tool.description, tool.parameters) for tool in tools.values()]
        asked["tools"] = _hash(msgspec.json.encode(offered).decode())
    return asked


def _names(settings: Settings, agents: Sequence[str]) -> Iterator[str]:
    """The names of the settings that concern the agents, judges and the player."""
    for spec in agents:
        kind = _kind(spec)
        if kind in {"http", "https", "replay"}:
            yield from _in("agent", HTTP)
        if _is_model(spec) or kind == "replay":
            yield from _in("model", MODEL)
        yield from _reached(spec)
    for spec in settings.judges:
        yield "judge.timeoutMs"
        if _is_model(spec):
            yield from _in("judge", JUDGE)
        elif _kind(spec) in {"http", "https"}:
            yield "judge.headers"
        yield from _reached(spec)
    if settings.user is not None:
        yield from _reached(settings.user)


def _in(table: str, keys: Sequence[str]) -> Iterator[str]:
    return (f"{table}.{key}" for key in keys)


def _kind(spec: str) -> str:
    return spec.strip().partition(":")[0].lower()


def _is_model(spec: str) -> bool:
    return provider_of(spec) is not None or _kind(spec) == "local"


def _reached(spec: str) -> Iterator[str]:
    """The settings of how a model is reached, whether it is an agent, a judge or a player."""
    provider = provider_of(spec)
    if provider is not None:
        yield from (f"{provider.name}.{key}" for key in PROVIDER if key in TABLES[provider.name])
    elif _kind(spec) == "local":
        yield from _in("local", LOCAL)


def _kept(key: Key, settings: Settings, environ: Mapping[str, str], redactor: Redactor | None) -> Any:
    """The value as a journal may keep it; None for the default. Of headers these are the names."""
    value = settings.value_of(key)
    if value == key.default and key.setting.variable:
        value = environ.get(key.setting.variable) or value
    if value == key.default:
        return None
    if key.path[-1] == "headers":
        return sorted(name.lower() for name, _ in value)
    if key.setting.secret or key.name in _HASHED:
        text = repr(value)
        return _hash(text if redactor is None else redactor.redact(text))
    if isinstance(value, msgspec.Struct):
        parts = msgspec.structs.asdict(value)
        return {name: path.text for name, path in parts.items() if path is not None}
    return list(value) if isinstance(value, tuple) else value  # as it is read back


def _hash(text: str) -> dict[str, str]:
    return {"hash": short_hash(text)}
