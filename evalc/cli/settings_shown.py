"""From settings to lines that say what holds and where each value comes from, secrets struck out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from evalc.config.setting import Key
from evalc.config.settings import ALL_KEYS, Settings
from evalc.runtime.agents.http.address import shown_url
from evalc.setup.run import redactor_of
from evalc.terminal import visible

_STRUCK_OUT: Final = "***"
_EFFECTIVE: Final = {"outputDir": "results_folder", "seedManifestPath": "seed_manifest"}
"""The attributes that say what holds where a setting is left out."""


def settings_lines(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """A line a setting, `key = value  # where from`."""
    redactor = redactor_of(settings, environ)
    rows = [_row(settings, environ, key) for key in ALL_KEYS.values()]
    width = max(len(head) for head, _, _ in rows)
    for head, value, origin in rows:
        yield visible(redactor.redact(f"{head.ljust(width)} = {value}  # {origin}"))


def _row(settings: Settings, environ: Mapping[str, str], key: Key) -> tuple[str, str, str]:
    value = settings.value_of(key)
    if key.name in settings.given:
        return key.name, _shown(key, value), key.setting.flag or "the command"
    if key.name in settings.configured:
        return key.name, _shown(key, value), os.path.relpath(settings.file) if settings.file else "the configuration"
    variable = key.setting.variable
    if variable and environ.get(variable):
        return key.name, _shown(key, environ[variable]), f"the environment: {variable}"
    effective = getattr(settings, _EFFECTIVE[key.name]) if key.name in _EFFECTIVE else value
    return key.name, _shown(key, effective), "default"


def _shown(key: Key, value: Any) -> str:
    if value in (None, ()):
        return "none"
    if key.setting.secret and key.name != "secrets":  # which are names
        names = [pair[0] for pair in value] if isinstance(value, tuple) else []
        return json.dumps(dict.fromkeys(names, _STRUCK_OUT)) if names else _STRUCK_OUT
    return json.dumps(_without_credentials(value), default=_plain, ensure_ascii=False)


def _without_credentials(value: Any) -> Any:
    """The value, URLs in it without passwords and without the values of their queries, however short they are."""
    match value:
        case str():
            return shown_url(value)
        case tuple() | list():
            return [_without_credentials(item) for item in value]
        case _:
            return value


def _plain(value: object) -> object:
    """A path as the working folder sees it; of a record what is given; any other value as it says itself."""
    if isinstance(value, Path):
        here = Path.cwd()
        return str(value.relative_to(here) if value.is_relative_to(here) else value)
    if isinstance(value, msgspec.Struct):
        return {name: part for name, part in msgspec.structs.asdict(value).items() if part is not None}
    return str(value)
