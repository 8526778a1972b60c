"""From the keys of a configuration to its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, get_args

import msgspec

from evalc.config.agent_keys import ANSWER_KEYS, STREAM_KEYS
from evalc.config.keys import KEYS, RECEIVER, TABLES, Key
from evalc.config.settings import Settings
from evalc.diagnostics.policy import Level
from evalc.schema.language_words import Word, described
from evalc.schema.shapes import DIALECT, Schema, any_of, flag, mapping, number, whole

_TEXT: Final[Schema] = {"type": ["string", "null"], "pattern": r"\S"}
_PATH: Final[Schema] = {**_TEXT, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}
_FILLED: Final[Schema] = {"type": "string", "pattern": r"\S"}
_TEXTS: Final[Schema] = {"type": ["array", "null"], "items": _FILLED}
_ONE_OR_EACH_ONCE: Final[Schema] = {
    "type": ["string", "array", "null"],
    "pattern": r"\S",
    "items": _FILLED,
    "uniqueItems": True,
}
_CODE: Final[Schema] = {"type": "string", "pattern": r"^\s*[Ee][Vv][0-9]*\s*$"}
_CODES: Final[Schema] = {"type": ["array", "null"], "items": _CODE}
_VARIABLE: Final = "[A-Za-z_][A-Za-z0-9_]*"
_OF_VARIABLE: Final[Schema] = {"pattern": rf"^{_VARIABLE}(?!\n)$"}
_SHARE: Final = number(minimum=0, maximum=1)
_ABOVE_ZERO: Final = number(exclusiveMinimum=0)
_PATH_SENTENCES: Final[Mapping[str, str]] = {
    "response": "Where the text of the answer stands.",
    "text": "Where the text that an event adds stands.",
    "toolCalls": "Where the list of tool calls stands.",
    "done": "What is true in the last event.",
    "name": "Where the tool's name stands in a call.",
    "success": "What is true in a call that succeeded, and false in one that failed.",
    "durationMs": "Where the milliseconds that a call took stand in it.",
    "params": "Where the parameters stand in a call: an object, or a text that holds one as JSON.",
    "inputTokens": "Where the number of tokens that were read stands.",
    "outputTokens": "Where the number of tokens that were written stands.",
    "costUsd": "Where the cost in dollars stands.",
}


def _paths(keys: Iterable[str]) -> Schema:
    """A table of JMESPath expressions."""
    properties = {key: {"type": "string", "minLength": 1, "description": _PATH_SENTENCES[key]} for key in keys}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


CONFIGURATION: Mapping[str, Word] = {
    "agentEndpoint": Word(
        "The agent: a URL, `openai:MODEL`, `anthropic:MODEL`, `python:MODULE:NAME`, `command:...`, `local` or `demo`; "
        "several are each asked everything.",
        {**_ONE_OR_EACH_ONCE, "minItems": 1},
        ("http://localhost:3000/chat", ["openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"]),
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
        "How many cases run at a time; `auto` finds out how many the agent keeps up with.",
        any_of(whole(minimum=1, maximum=10_000), {"const": "auto"}),
        (4, "auto"),
    ),
    "rpm": Word(
        "Send at most N requests a minute to the agent.",
        whole(minimum=1, maximum=1_000_000),
        (600,),
    ),
    "timeoutMs": Word("The time of one case in milliseconds.", _ABOVE_ZERO),
    "toolRegistryPath": Word("The file with the tools as they are now.", _PATH, ("tools/tools.exports.ts",)),
    "secrets": Word(
        "Names of environment variables whose values are never written.",
        {**_TEXTS, "items": {**_FILLED, **_OF_VARIABLE}},
        (["OPENAI_API_KEY"],),
    ),
    "paths": Word("What is checked and run where the command names nothing.", _TEXTS, (["evals"],)),
    "exclude": Word("Patterns of files to leave out, as in a `.gitignore`.", _TEXTS, (["drafts/"],)),
    "prompts": Word("The folder of the prompts that eval files name by id.", _PATH, ("prompts",)),
    "strict": Word("Whether checks that cannot fail and cases that verify nothing are errors.", flag()),
    "minPassRate": Word(
        "The least share of the cases that pass, from 0 to 1; it decides in place of the cases.",
        _SHARE,
        (0.9,),
    ),
    "minScore": Word(
        "The least score of the run, from 0 to 1; it decides in place of the cases.",
        _SHARE,
        (0.8,),
    ),
    "maxP95Ms": Word(
        "The time in milliseconds that 95 % of the cases keep to; it decides in place of the cases.",
        _ABOVE_ZERO,
        (5000,),
    ),
    "failOnRegression": Word("Whether only a case that passed in the baseline and fails now fails the run.", flag()),
    "maxCost": Word(
        "What a run may cost in US dollars; it stops before a case that would cost more.",
        _ABOVE_ZERO,
        (5,),
    ),
    "allAssertions": Word("Whether a case runs all its assertions, not only up to the first that fails.", flag()),
    "judges": Word(
        "Who scores criteria and rubrics: a URL, `openai:MODEL`, `anthropic:MODEL`, `python:MODULE:NAME` or `local`; "
        "several are a panel.",
        _ONE_OR_EACH_ONCE,
        ("openai:gpt-4o-mini", ["openai:gpt-4o-mini", "python:judging:tone"]),
    ),
    "samples": Word(
        "How often each judge is asked for one score; the median counts.",
        whole(minimum=1, maximum=99),
    ),
    "cache": Word("Whether judgements are kept in `.evalc/cache/judge`, and taken from there.", flag()),
    "rubrics": Word(
        "When the rubric tier is run: where all others passed, or always.", {"enum": ["passed", "always", None]}
    ),
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
        whole(minimum=0, maximum=10),
    ),
    "method": Word("The method of each request.", {"enum": ["POST", "PUT", "PATCH", None]}),
    "body": Word(
        "What is sent, as a table or as JSON in a text; `{{message}}`, `{{messages}}`, `{{id}}` and `{{input.NAME}}` "
        "are filled.",
        {"type": ["object", "array", "string", "null"]},
        ({"question": "{{message}}"},),
    ),
    "response": Word(
        "Where in an answer things stand, as JMESPath; `name` to `params` within each of the `toolCalls`.",
        _paths(ANSWER_KEYS),
        ({"response": "output.text"},),
    ),
    "stream": Word(
        "Where in each event of a streamed answer things stand, as JMESPath; `done` is true in the last event.",
        {**_paths(STREAM_KEYS), "required": ["text"]},
        ({"text": "delta", "done": "finished"},),
    ),
    "redirects": Word("How many redirects of an answer are followed.", whole(minimum=0, maximum=20)),
    "verifyTls": Word("Whether the server's certificate is looked at.", flag()),
    "caFile": Word("The file of the authorities that the server's certificate may come from.", _PATH, ("ca.pem",)),
    "connectTimeoutMs": Word("How long connecting may take, in milliseconds.", _ABOVE_ZERO),
    "baseUrl": Word(
        "Where the API is; by default the provider's own, or what the environment says.",
        _TEXT,
        ("http://localhost:8080/v1",),
    ),
    "api": Word("Which API is asked: Chat Completions or Responses.", {"enum": ["chat", "responses", None]}),
    "keyVariable": Word("The environment variable with the key.", {**_TEXT, **_OF_VARIABLE}),
    "systemPrompt": Word(
        "The system prompt, in place of the prompt file's `role` and `instructions`.", _TEXT, ("Answer briefly.",)
    ),
    "temperature": Word("How freely the model answers.", number(minimum=0)),
    "maxTokens": Word("How many tokens an answer may have.", whole(minimum=1, maximum=2**31 - 1)),
    "seed": Word(
        "The seed of the answers, where the API knows one.",
        whole(minimum=-(2**63), maximum=2**63 - 1),
    ),
    "extraBody": Word(
        "Further fields of each request, which go before all others.",
        {"type": ["object", "null"]},
        ({"top_p": 0.9},),
    ),
    "similarity": Word(
        "How `similar` compares: by edit distance, or by the meaning that a small model finds.",
        {"enum": ["edit-distance", "embeddings", None]},
    ),
    "otel": Word(
        "The OTLP receiver that runs are exported to; `env` for what OpenTelemetry's variables say.",
        {"type": ["string", "null"], "pattern": rf"^(?:{RECEIVER})(?!\n)$"},
        ("http://localhost:4318",),
    ),
    "otelContent": Word("Whether messages and answers are exported too.", flag()),
    "contextTokens": Word(
        "How many tokens a conversation with a local model may have, its answer included.",
        whole(minimum=256, maximum=2**24),
    ),
    "loadTimeoutMs": Word("The milliseconds that loading a local model may take.", _ABOVE_ZERO),
}
"""The keys of a configuration, those of its tables too."""

TABLE_SENTENCES: Mapping[str, str] = {
    "agent": "How an agent is called over HTTP.",
    "openai": "How OpenAI's API is reached, or that of a server that speaks it.",
    "anthropic": "How Anthropic's API is reached, or that of a server that speaks it.",
    "model": "How an agent that is a model is asked.",
    "local": "How models on this machine are served.",
    "judge": "How judges are asked.",
}
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


_DEFAULTS: Final = {field.name: field.default for field in msgspec.structs.fields(Settings)}
