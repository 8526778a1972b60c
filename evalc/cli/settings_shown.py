"""From settings to lines that say what holds and where each value comes from, secrets struck out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from evalc.config import Settings
from evalc.config.flags import SETTING_OF_FLAG
from evalc.config.keys import KEYS, NEVER_SHOWN, TABLES, Key
from evalc.runtime.agents.http.address import shown_url
from evalc.setup.run import redactor_of
from evalc.terminal import visible

_STRUCK_OUT: Final = "***"
_EFFECTIVE: Final = {"output_dir": "results_folder", "seed_manifest_path": "seed_manifest"}
"""What holds where a setting is left out, by the setting's attribute."""

_BY_ENVIRONMENT: Final = {"openai_base_url": "OPENAI_BASE_URL", "anthropic_base_url": "ANTHROPIC_BASE_URL"}


def settings_lines(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """A line a setting, `key = value  # where from`."""
    redactor = redactor_of(settings, environ)
    rows = [_row(settings, environ, path, key) for path, key in _all_keys()]
    width = max(len(head) for head, _, _ in rows)
    for head, value, origin in rows:
        yield visible(redactor.redact(f"{head.ljust(width)} = {value}  # {origin}"))


def _all_keys() -> Iterator[tuple[tuple[str, ...], Key]]:
    yield from (((name,), key) for name, key in KEYS.items())
    yield from (((table, name), key) for table, keys in TABLES.items() for name, key in keys.items())


def _row(settings: Settings, environ: Mapping[str, str], path: tuple[str, ...], key: Key) -> tuple[str, str, str]:
    value = getattr(settings, key.attribute, None)
    name = ".".join(path)
    if key.attribute in settings.given:
        return name, _shown(path, value), _flag_of(name)
    if key.attribute in settings.configured:
        return name, _shown(path, value), os.path.relpath(settings.file) if settings.file else "the configuration"
    variable = _BY_ENVIRONMENT.get(key.attribute)
    if variable is not None and environ.get(variable):
        return name, _shown(path, environ[variable]), f"the environment: {variable}"
    effective = getattr(settings, _EFFECTIVE.get(key.attribute, key.attribute), None)
    return name, _shown(path, effective), "default"


def _flag_of(name: str) -> str:
    return next((flag for flag, setting in SETTING_OF_FLAG.items() if setting == name), "the command")


def _shown(path: tuple[str, ...], value: Any) -> str:
    if value in (None, ()):
        return "none"
    if path in NEVER_SHOWN and path != ("secrets",):
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
