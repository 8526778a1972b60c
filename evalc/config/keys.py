"""The keys of a configuration: each with the values it takes, and how they are read."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from evalc.config.agent_keys import answer_paths, body_template, stream_paths
from evalc.config.refused import Folders, Keys, Reader, Refused, described, read_parts
from evalc.config.settings import is_header_value, names_variables_well


def temperature(value: Any, _: Folders) -> int | float:
    """A number from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("a number", found=described(value))
    if not 0 <= value < math.inf:
        raise Refused("0 or above")
    return value


def extra_body(value: Any, _: Folders) -> tuple[tuple[str, Any], ...]:
    """Fields of a request's JSON."""
    if not isinstance(value, dict):
        raise Refused("a table of fields", found=described(value))
    return tuple(read_parts(value.items(), lambda name, item: (name, _json(item))))


def _json(value: Any) -> Any:
    """The value, which JSON can say; TOML has dates and infinities besides."""
    match value:
        case dict():
            return dict(read_parts(value.items(), lambda name, item: (name, _json(item))))
        case list():
            return read_parts(enumerate(value), lambda _, item: _json(item))
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise Refused("a value that JSON has")


def judges(value: Any, _: Folders) -> tuple[str, ...]:
    """The judges: a text, or a list of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise Refused("a text, or a list of texts", found=described(value))
    found = tuple(read_parts(enumerate(value), lambda _, item: _judge(item)))
    if len(set(found)) < len(found):
        raise Refused("judges that are each named once: `judge.samples` asks one several times")
    return found


def _judge(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not value.strip():
        raise Refused("a text that is not empty")
    return value.strip()


def _text(value: Any, _: Folders) -> str:
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not value.strip():
        raise Refused("a text that is not empty")
    return value


def _flag(value: Any, _: Folders) -> bool:
    if not isinstance(value, bool):
        raise Refused("true or false", found=described(value))
    return value


def _whole(least: int, most: int) -> Reader:
    def read(value: Any, _: Folders) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused("a whole number", found=described(value))
        if not least <= value <= most:
            raise Refused(f"between {least} and {most}")
        return value

    return read


def _concurrency(value: Any, folders: Folders) -> int | Literal["auto"]:
    if isinstance(value, str) and value != "auto":
        raise Refused("a whole number, or `auto`")
    return "auto" if value == "auto" else cast(int, _whole(1, 10_000)(value, folders))


def _one_of(*choices: str) -> Reader:
    def read(value: Any, folders: Folders) -> str:
        if (text := _text(value, folders)) not in choices:
            raise Refused(f"one of {', '.join(f'`{choice}`' for choice in choices)}")
        return text

    return read


def _share(value: Any, _: Folders) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("a number", found=described(value))
    if not 0 <= value <= 1:
        raise Refused("between 0 and 1")
    return value


def _above_zero(unit: str) -> Reader:
    def read(value: Any, _: Folders) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"a number of {unit}", found=described(value))
        if not 0 < value < math.inf:
            raise Refused("above 0")
        return value

    return read


_dollars = _above_zero("US dollars")
_milliseconds = _above_zero("milliseconds")


def _path(value: Any, folders: Folders) -> Path:
    text = _text(str(value) if isinstance(value, Path) else value, folders)
    if "\0" in text:
        raise Refused("a path, which has no NUL character")
    return folders.base / text


def _paths(value: Any, folders: Folders) -> tuple[str, ...]:
    """Files, folders or globs, as the working folder sees them."""
    return tuple(
        path if Path(path).is_absolute() else os.path.relpath(folders.base / path, folders.working)
        for path in _texts(value, folders)
    )


def _texts(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _text, "a list of texts")


def _agents(value: Any, folders: Folders) -> tuple[str, ...]:
    """The agents: a text, or a list of them."""
    if isinstance(value, str):
        return (_text(value, folders),)
    found = _each(value, folders, _text, "a text, or a list of texts")
    if not found:
        raise Refused("a text, or a list of at least one")
    if len(set(found)) < len(found):
        raise Refused("agents that are each named once")
    return found


def _names_of_variables(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _name_of_variable, "a list of names of environment variables")


def _name_of_variable(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise Refused("the name of an environment variable")
    return text


def _each(value: Any, folders: Folders, read: Reader, expected: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Refused(expected, found=described(value))
    return tuple(read_parts(enumerate(value), lambda _, item: read(item, folders)))


def _snapshot_source(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    if text.startswith(("http://", "https://", "python:", "command:")):
        return text
    return str(_path(text, folders))


def _headers(value: Any, _: Folders) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise Refused("a table of headers", found=described(value))
    return tuple(read_parts(value.items(), _header))


def _header(name: str, value: Any) -> tuple[str, str]:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        raise Refused("a header, whose name has letters, digits and dashes")
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not is_header_value(value):
        raise Refused("a text without line ends and other control characters")
    if not names_variables_well(value):
        raise Refused("a text in which every `${` begins a variable, such as `${A_KEY}`")
    return name, value


def _selectors(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _selector, "a list of codes")


def _silencers(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _silencer, "a list of codes")


def _selector(value: Any, folders: Folders) -> str:
    from evalc.diagnostics.policy import BadSelector, selector  # noqa: PLC0415 - for start-up: seldom configured

    try:
        return selector(_text(value, folders))
    except BadSelector as bad:
        raise Refused(f"a code or the beginning of some: {bad}") from None


def _silencer(value: Any, folders: Folders) -> str:
    from evalc.diagnostics.policy import BadSelector, silencer  # noqa: PLC0415 - likewise

    try:
        return silencer(_selector(value, folders))
    except BadSelector as bad:
        raise Refused(f"a code that can be ignored: {bad}") from None


def _severities(value: Any, folders: Folders) -> tuple[tuple[str, str], ...]:
    """Codes, each with its level."""
    if not isinstance(value, dict):
        raise Refused("a table of codes", found=described(value))

    def read(code: str, level: Any) -> tuple[str, str]:
        levels = ("error", "warning", "off")
        if level not in levels:
            raise Refused("`error`, `warning` or `off`")
        return (_selector if level == "error" else _silencer)(code, folders), level

    return tuple(read_parts(value.items(), read))


def _per_file(value: Any, folders: Folders) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Patterns of files, each with codes."""
    if not isinstance(value, dict):
        raise Refused("a table of patterns", found=described(value))

    def read(pattern: str, codes: Any) -> tuple[str, tuple[str, ...]]:
        return _pattern(pattern), _silencers(codes, folders)

    return tuple(read_parts(value.items(), read))


def _pattern(text: str) -> str:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - for start-up: seldom configured

    try:
        GitIgnoreSpec.from_lines([text])
    except ValueError:
        raise Refused("under a pattern as in a `.gitignore`") from None
    return text


RECEIVER = r"env|https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[!$->@-~]*)?"
"""What `otel` may be: `env`, or a URL that holds no secret and so may be written anywhere."""


def _receiver(value: Any, folders: Folders) -> str:
    if not re.fullmatch(RECEIVER, text := _text(value, folders)):
        raise Refused("a URL without user, query and fragment, or `env`")
    return text


class Key(NamedTuple):
    """A key of a configuration and the attribute of `Settings` that its value becomes."""

    attribute: str
    read: Reader


KEYS: Mapping[str, Key] = {
    "agentEndpoint": Key("agent_endpoints", _agents),
    "seedManifestPath": Key("seed_manifest_path", _path),
    "snapshotEnabled": Key("snapshot_enabled", _flag),
    "outputDir": Key("output_dir", _path),
    "baselineRunId": Key("baseline_run_id", _text),
    "concurrency": Key("concurrency", _concurrency),
    "rpm": Key("rpm", _whole(1, 1_000_000)),
    "timeoutMs": Key("timeout_ms", _milliseconds),
    "toolRegistryPath": Key("tool_registry_path", _path),
    "snapshotSource": Key("snapshot_source", _snapshot_source),
    "secrets": Key("secrets", _names_of_variables),
    "paths": Key("paths", _paths),
    "exclude": Key("exclude", _texts),
    "prompts": Key("prompts", _path),
    "strict": Key("strict", _flag),
    "minPassRate": Key("min_pass_rate", _share),
    "minScore": Key("min_score", _share),
    "maxP95Ms": Key("max_p95_ms", _milliseconds),
    "failOnRegression": Key("fail_on_regression", _flag),
    "maxCost": Key("max_cost", _dollars),
    "allAssertions": Key("all_assertions", _flag),
    "judges": Key("judges", judges),
    "similarity": Key("similarity", _one_of("edit-distance", "embeddings")),
    "otel": Key("otel", _receiver),
    "otelContent": Key("otel_content", _flag),
    "select": Key("select", _selectors),
    "ignore": Key("ignore", _silencers),
    "severity": Key("severity", _severities),
    "perFileIgnores": Key("per_file_ignores", _per_file),
}
"""The keys at the top: the contract's (Runner Configuration), then evalc's own."""

TABLES: Mapping[str, Mapping[str, Key]] = {
    "agent": {
        "headers": Key("headers", _headers),
        "retries": Key("retries", _whole(0, 10)),
        "method": Key("method", _one_of("POST", "PUT", "PATCH")),
        "body": Key("body", body_template),
        "response": Key("answer_paths", answer_paths),
        "stream": Key("stream_paths", stream_paths),
        "redirects": Key("redirects", _whole(0, 20)),
        "verifyTls": Key("verify_tls", _flag),
        "caFile": Key("ca_file", _path),
        "connectTimeoutMs": Key("connect_timeout_ms", _milliseconds),
    },
    "openai": {
        "baseUrl": Key("openai_base_url", _text),
        "api": Key("openai_api", _one_of("chat", "responses")),
        "keyVariable": Key("openai_key_variable", _name_of_variable),
        "headers": Key("openai_headers", _headers),
    },
    "anthropic": {
        "baseUrl": Key("anthropic_base_url", _text),
        "keyVariable": Key("anthropic_key_variable", _name_of_variable),
        "headers": Key("anthropic_headers", _headers),
    },
    "model": {
        "systemPrompt": Key("model_system_prompt", _text),
        "temperature": Key("model_temperature", temperature),
        "maxTokens": Key("model_max_tokens", _whole(1, 2**31 - 1)),
        "seed": Key("model_seed", _whole(-(2**63), 2**63 - 1)),
        "extraBody": Key("model_extra_body", extra_body),
    },
    "local": {
        "contextTokens": Key("local_context_tokens", _whole(256, 2**24)),
        "loadTimeoutMs": Key("local_load_timeout_ms", _milliseconds),
    },
    "judge": {
        "samples": Key("judge_samples", _whole(1, 99)),
        "timeoutMs": Key("judge_timeout_ms", _milliseconds),
        "cache": Key("judge_cache", _flag),
        "rubrics": Key("judge_rubrics", _one_of("passed", "always")),
        "temperature": Key("judge_temperature", temperature),
        "maxTokens": Key("judge_max_tokens", _whole(1, 2**31 - 1)),
        "seed": Key("judge_seed", _whole(-(2**63), 2**63 - 1)),
        "extraBody": Key("judge_extra_body", extra_body),
        "headers": Key("judge_headers", _headers),
    },
}
"""The tables, each with its keys."""

NEVER_SHOWN: frozenset[Keys] = frozenset(
    {
        ("secrets",),
        ("agent", "headers"),
        ("agent", "body"),
        ("openai", "headers"),
        ("anthropic", "headers"),
        ("model", "extraBody"),
        ("judge", "extraBody"),
        ("judge", "headers"),
    }
)
"""The keys whose values are not shown, not even as a line of the file."""
