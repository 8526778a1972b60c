"""From the declared settings to the JSON Schema of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalc.config.setting import Key
from evalc.config.settings import KEYS, TABLE_SENTENCES, TABLES
from evalc.schema.shapes import DIALECT, Schema, mapping


def configuration() -> Schema:
    """The schema of `evalc.config.json`, of `evalc.toml`, and of `[tool.evalc]` in a `pyproject.toml`."""
    tables = {name: _table(name, keys) for name, keys in TABLES.items()}
    whole = mapping({**_properties(KEYS), **tables}, title="evalc: configuration")
    del whole["patternProperties"]
    return {"$schema": DIALECT, **whole}


def _table(name: str, keys: Mapping[str, Key]) -> Schema:
    table = mapping(_properties(keys), title=name, description=TABLE_SENTENCES[name])
    del table["patternProperties"]
    return {**table, "type": ["object", "null"]}


def _properties(keys: Mapping[str, Key]) -> dict[str, Schema]:
    return {name: _property(key) for name, key in keys.items()}


def _property(key: Key) -> Schema:
    setting = key.setting
    schema: dict[str, Any] = {"description": setting.sentence, **setting.value.schema}
    if setting.examples:
        schema["examples"] = list(setting.examples)
    return {**schema, "default": key.default} if isinstance(key.default, bool | int | float) else schema
