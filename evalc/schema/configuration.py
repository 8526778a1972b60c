"""From the keys of a configuration to its JSON Schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from evalc.config.keys import KEYS, TABLES, Key
from evalc.config.settings import Settings
from evalc.diagnostics.policy import Level
from evalc.schema.language_words import Word, described
from evalc.schema.shapes import DIALECT, Schema, flag, mapping

_TEXT: Final[Schema] = {"type": ["string", "null"], "pattern": r"\S"}
_PATH: Final[Schema] = {**_TEXT, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}
_TEXTS: Final[Schema] = {"type": ["array", "null"], "items": {"type": "string", "pattern": r"\S"}}
_CODE: Final[Schema] = {"type": "string", "pattern": r"^\s*[Ee][Vv][0-9]*\s*$"}
_CODES: Final[Schema] = {"type": ["array", "null"], "items": _CODE}
_VARIABLE: Final = "[A-Za-z_][A-Za-z0-9_]*"

CONFIGURATION: Mapping[str, Word] = {
    "agentEndpoint": Word(
        "The agent: a URL, `python:MODULE:NAME`, `command:...` or `demo`.", _TEXT, ("http://localhost:3000/chat",)
    ),
    "seedManifestPath": Word("The file that `{{seed:...}}` values come from.", _PATH, ("evals/seed-manifest.json",)),
    "snapshotEnabled": Word("Whether `{{snapshot:...}}` values are taken from `snapshotSource`.", flag()),
    "snapshotSource": Word(
        "Where `{{snapshot:...}}` values come from: a file, a URL, `python:MODULE:NAME` or `command:...`.",
        _PATH,
        ("evals/snapshot.json",),
    ),
    "outputDir": Word("Where results go; by default `evals/results`.", _PATH, ("evals/results",)),
    "baselineRunId": Word("The run to compare with: its id, `latest`, or a path.", _TEXT, ("latest",)),
    "concurrency": Word(
        "How many cases run at a time.", {"type": ["integer", "null"], "minimum": 1, "maximum": 10_000}, (4,)
    ),
    "timeoutMs": Word("The time of one case in milliseconds.", {"type": ["number", "null"], "exclusiveMinimum": 0}),
    "toolRegistryPath": Word("The file with the current tools, to notice stale evals.", _PATH, ("tools.json",)),
    "secrets": Word(
        "Names of environment variables whose values are never written.",
        {**_TEXTS, "items": {"type": "string", "pattern": rf"^{_VARIABLE}(?!\n)$"}},
        (["OPENAI_API_KEY"],),
    ),
    "paths": Word("What is checked and run where the command names nothing.", _TEXTS, (["evals"],)),
    "exclude": Word("Patterns of files to leave out, as in a `.gitignore`.", _TEXTS, (["drafts/"],)),
    "prompts": Word("The folder of the prompts that eval files name by id.", _PATH, ("prompts",)),
    "strict": Word("Whether checks that cannot fail and cases that verify nothing are errors.", flag()),
    "allAssertions": Word("Whether a case runs all its assertions, not only up to the first that fails.", flag()),
    "select": Word("The codes, or beginnings of codes, of the problems to report.", _CODES, (["EV1", "EV2"],)),
    "ignore": Word("The codes, or beginnings of codes, of the problems to leave out.", _CODES, (["EV504"],)),
    "severity": Word(
        "Codes, or beginnings of codes, each with how severe its problems are.",
        {"type": ["object", "null"], "propertyNames": _CODE, "additionalProperties": {"enum": [*get_args(Level)]}},
        ({"EV5": "error"},),
    ),
    "perFileIgnores": Word(
        "Patterns of files, as in a `.gitignore`, each with the codes to leave out there.",
        {"type": ["object", "null"], "additionalProperties": {"type": "array", "items": _CODE}},
        ({"drafts/": ["EV5"]},),
    ),
    "headers": Word(
        "The headers of each request; `${NAME}` stands for an environment variable.",
        {
            "type": ["object", "null"],
            "propertyNames": {"pattern": r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?!\n)$"},
            "additionalProperties": {
                "type": "string",
                "pattern": rf"^(?:[^\x00-\x1f\x7f$]|\$\{{{_VARIABLE}\}}|\$(?!\{{))*(?!\n)$",
            },
        },
        ({"Authorization": "Bearer ${AGENT_KEY}"},),
    ),
    "retries": Word(
        "How often a request is repeated after a fault of the connection.",
        {"type": ["integer", "null"], "minimum": 0, "maximum": 10},
    ),
}
"""The keys of a configuration, those of its tables too."""

TABLE_SENTENCES: Mapping[str, str] = {"agent": "How an agent is called over HTTP."}
"""What the tables of a configuration are for."""


def configuration() -> Schema:
    """The schema of `evalc.config.json`, of `evalc.toml`, and of `[tool.evalc]` in a `pyproject.toml`."""
    tables = {name: _table(name, keys) for name, keys in TABLES.items()}
    whole = mapping({**_properties(KEYS), **tables}, title="evalc: configuration")
    del whole["patternProperties"]
    return {"$schema": DIALECT, **whole}


def _table(name: str, keys: Mapping[str, Key]) -> Schema:
    table = mapping(_properties(keys), title=name, description=TABLE_SENTENCES.get(name, ""))
    del table["patternProperties"]
    return {**table, "type": ["object", "null"]}


def _properties(keys: Mapping[str, Key]) -> dict[str, Schema]:
    return {name: _property(name, key) for name, key in keys.items()}


def _property(name: str, key: Key) -> Schema:
    if name not in CONFIGURATION:
        return {}
    default = _DEFAULTS.get(key.attribute)
    schema = described(CONFIGURATION[name])
    return {**schema, "default": default} if isinstance(default, bool | int | float) else schema


def _default(field: dataclasses.Field[Any]) -> Any:
    return None if field.default is dataclasses.MISSING or isinstance(field.default, Path) else field.default


_DEFAULTS: Final = {field.name: _default(field) for field in dataclasses.fields(Settings)}
