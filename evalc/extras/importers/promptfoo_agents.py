"""Lines for `evalc.toml` that name the models of a promptfoo configuration, its providers and its grader."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from evalc.dsl.nodes import Node, one_or_many
from evalc.extras.importers.imported import IN_CONFIGURATION, CaseNames, Unmappable
from evalc.extras.importers.promptfoo_source import Configuration
from evalc.model.json import is_number

_MODEL: Final = re.compile(r"(?P<provider>[a-z]+):(?:(?P<api>chat|responses|messages):)?(?P<model>[^:{}\s][^{}\s]*)")
_OWN: Final = ("openai", "anthropic")
_LIKE_OPENAI: Final[Mapping[str, tuple[str, str]]] = {
    "cerebras": ("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "ollama": ("http://localhost:11434/v1", ""),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
}
"""Providers with the API of OpenAI: where it is, and the variable with the key."""
_SETTINGS: Final[Mapping[str, str]] = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "maxTokens": "max_tokens",
    "seed": "seed",
}
_KINDS: Final = ("anthropic", "command", "demo", "http", "https", "local", "openai", "python", "replay")
"""Kinds of agents, which are no names for one."""
_OF_JUDGES: Final = frozenset({"use", "temperature", "max_tokens", "seed"})


def agents_of(configuration: Configuration, node: Node) -> list[str]:
    """Lines for the providers that are models which evalc asks; the others are left out."""
    names = CaseNames(_KINDS)
    lines, agents, unknown = list[str](), list[str](), list[str]()
    for item in one_or_many(node):
        given = configuration.plain(item)
        try:
            settings, others = _settings_of(given)
        except Unmappable:
            unknown.append(f"`{_id_of(given)}`")
            continue
        if others:
            what = f"{', '.join(others)} of the provider `{_id_of(given)}`"
            configuration.say_in_head(item, what, "no setting says the same")
        if settings.keys() == {"use"}:
            agents.append(settings["use"])
        else:
            label = given.get("label") if isinstance(given, dict) else None
            agents.append(names.make(f"{label or settings['use'].partition(':')[2]}", "agent").replace("_", "-"))
            lines.append(f"agents.{agents[-1]} = {_table(settings)}")
    if unknown:
        configuration.say_in_head(node, f"the providers {', '.join(dict.fromkeys(unknown))}", IN_CONFIGURATION)
    agents = [*dict.fromkeys(agents)]
    return [*lines, *([f"agent = {_toml(agents if len(agents) > 1 else agents[0])}"] if agents else [])]


def judge_of(given: Any) -> str:
    """The line that names the grader; empty if evalc asks no such model, or not with these settings."""
    try:
        settings, others = _settings_of(given.get("text", given) if isinstance(given, dict) else given)
    except Unmappable:
        return ""
    if others or not settings.keys() <= _OF_JUDGES:
        return ""
    return f"judge = {_toml(settings['use']) if settings.keys() == {'use'} else _table(settings)}"


def makes_objects(providers: Any, prompts: Any) -> bool:
    """Whether promptfoo surely reads every output as JSON before it gives it to code.

    A model of OpenAI has to answer by a schema, which the config of a prompt may say as well; of a service, the body
    has to be taken as it is.
    """
    of_prompts = [_mapping(_mapping(each).get("config")) for each in _listed(prompts)]
    return bool(providers) and all(_makes_objects(each, of_prompts) for each in _listed(providers))


def _makes_objects(provider: Any, of_prompts: list[dict[str, Any]]) -> bool:
    config, identity = _config_of(provider), _id_of(provider)
    if re.match(r"https?(?::|\Z)", identity):
        return config.get("transformResponse", "json") == "json" and "responseParser" not in config
    formats = [_mapping((config | each).get("response_format")) for each in of_prompts]
    is_openai = re.match(r"openai:(?:(?:chat|responses):)?[^:]+\Z", identity) is not None
    return is_openai and all(each.get("type") == "json_schema" for each in formats)


def _config_of(provider: Any) -> dict[str, Any]:
    fields = _mapping(provider)
    return _mapping((fields if "id" in fields else _mapping(next(iter(fields.values()), None))).get("config"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _id_of(given: Any) -> str:
    if not isinstance(given, dict):
        return str(given)
    return str(given.get("id") or next(iter(given), ""))


def _settings_of(given: Any) -> tuple[dict[str, Any], list[str]]:
    """The table of an agent, and the settings of the provider that it lacks."""
    identity = _id_of(given)
    model = _MODEL.fullmatch(identity)
    if model is None or model["provider"] not in (*_OWN, *_LIKE_OPENAI):
        raise Unmappable("evalc asks no such provider")
    provider = model["provider"]
    settings: dict[str, Any] = {"use": f"{provider if provider in _OWN else 'openai'}:{model['model']}"}
    if model["api"] == "responses":
        settings["api"] = "responses"
    if provider in _LIKE_OPENAI:
        settings["base_url"], key_variable = _LIKE_OPENAI[provider]
        settings |= {"key_variable": key_variable} if key_variable else {}
    others = []
    for key, value in _config_of(given).items():
        if key in _SETTINGS and is_number(value):
            settings[_SETTINGS[key]] = value
        elif key == "apiBaseUrl" and isinstance(value, str) and "{{" not in value:
            settings["base_url"] = value
        else:
            others.append(f"`{key}`")
    return settings, others


def _table(settings: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{key} = {_toml(value)}' for key, value in settings.items())} }}"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
