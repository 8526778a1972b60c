"""How an agent is called over HTTP: headers, and the tables `body`, `response` and `stream`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from evalc.base.errors import UsageError
from evalc.base.json_fault import fault_of
from evalc.base.providers import CREDENTIAL_HEADERS
from evalc.config.setting import Folders, Refused, Schema, Value, described, read_parts
from evalc.diagnostics.near import did_you_mean, listed
from evalc.runtime.mapping import AnswerPaths, BadBody, BodyTemplate, StreamPaths

if TYPE_CHECKING:
    from evalc.runtime.mapping import JsonPath

Headers = tuple[tuple[str, str], ...]
"""Names and values of headers, the values as configured."""

NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
"""The name of a header."""

VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
"""The name of an environment variable."""

_FILLED: Final = re.compile(rf"\$\{{({VARIABLE})\}}")


def expanded(headers: Iterable[tuple[str, str]], environ: Mapping[str, str]) -> dict[str, str]:
    """The headers with every `${NAME}` filled from the environment.

    Raises:
        UsageError: a variable is not set, or its value is not allowed in a header.
    """
    return {name: _expanded(name, value, environ) for name, value in headers}


def _expanded(header: str, value: str, environ: Mapping[str, str]) -> str:
    missing = [name for name in _FILLED.findall(value) if name not in environ]
    if missing:
        raise UsageError(f"the environment variable `{missing[0]}`, which the header `{header}` needs, is not set")
    text = _FILLED.sub(lambda variable: environ[variable[1]], value)
    if not is_header_value(text):
        raise UsageError(f"the header `{header}` would hold a line end or another control character")
    return text


def is_header_value(text: str) -> bool:
    """Whether HTTP can carry the text as a header's value."""
    return not any(ord(character) < 32 or ord(character) == 127 for character in text)


def names_variables_well(value: str) -> bool:
    """Whether every `${` in the text begins a `${NAME}`."""
    return "${" not in _FILLED.sub("", value)


def variables_of(headers: Headers) -> Iterator[str]:
    """The environment variables that the values name."""
    return (name for _, value in headers for name in _FILLED.findall(value))


def credentials_in(headers: Headers) -> Iterator[str]:
    """The credentials that are configured as they are, rather than taken from the environment."""
    for name, value in headers:
        if name.lower() in CREDENTIAL_HEADERS and not _FILLED.search(value):
            yield value
            yield value.rpartition(" ")[2]  # after a scheme, as in `Bearer TOKEN`, they may be met alone


_ANSWER_KEYS: Final[Mapping[str, str]] = {
    "response": "response",
    "toolCalls": "tool_calls",
    "name": "name",
    "success": "success",
    "durationMs": "duration_ms",
    "params": "params",
    "result": "result",
    "error": "error",
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "costUsd": "cost_usd",
}
_SENTENCES: Final[Mapping[str, str]] = {
    "response": "Where the text of the answer is.",
    "text": "Where the text that an event adds is.",
    "toolCalls": "Where the list of tool calls is.",
    "done": "What is true in the last event.",
    "name": "Where the tool's name is in a call.",
    "success": "A value that is true in a call that succeeded, and false in a call that failed.",
    "durationMs": "Where the duration of a call in milliseconds is.",
    "params": "Where the parameters are in a call: an object, or a text with an object as JSON.",
    "result": "Where the tool's result is in a call: any JSON value, or a text with JSON.",
    "error": "Where the tool's error is in a call that failed.",
    "inputTokens": "Where the number of input tokens is.",
    "outputTokens": "Where the number of output tokens is.",
    "costUsd": "Where the cost in dollars is.",
}

_STREAM_KEYS: Final[Mapping[str, str]] = {"text": "text", "toolCalls": "tool_calls", "done": "done"}


def _body(value: Any, _: Folders) -> BodyTemplate:
    """The body of a request: a table or list, or a text that is JSON."""
    if isinstance(value, str):
        value = _from_json(value)
    if not isinstance(value, dict | list):
        raise Refused("a table, a list, or a text that holds one of them as JSON", found=described(value))
    try:
        return BodyTemplate.of(value)
    except BadBody as bad:
        refused = Refused(str(bad))
        refused.within = bad.within
        raise Refused(parts=[refused]) from None


def _answer_paths(value: Any, _: Folders) -> AnswerPaths:
    """The paths into an answer."""
    return AnswerPaths(**_paths(value, _ANSWER_KEYS))


def _stream_paths(value: Any, _: Folders) -> StreamPaths:
    """The paths into the events of a stream."""
    paths = _paths(value, _STREAM_KEYS)
    if "text" not in paths:
        raise Refused("a table with the path of the `text` of an event")
    return StreamPaths(**paths)


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = "; put a placeholder in quotes: it becomes the value itself" if "{{" in text else ""
        fault = fault_of(error, text)
        raise Refused(f"valid JSON: {fault.found} at its {fault.where(text)}{hint}") from None
    except (RecursionError, ValueError):
        raise Refused("valid JSON that is not nested too deeply and has no numbers of thousands of digits") from None


def _paths(value: Any, keys: Mapping[str, str]) -> dict[str, JsonPath]:
    if not isinstance(value, dict):
        raise Refused("a table of JMESPath expressions", found=described(value))

    def read(key: str, text: Any) -> tuple[str, JsonPath]:
        if key not in keys:
            near = did_you_mean(key, keys)
            raise Refused(f"one of the keys {listed(keys)}{near and f'; {near}'}")
        return keys[key], _path(text)

    return dict(read_parts(value.items(), read))


def _path(text: Any) -> JsonPath:
    from evalc.runtime.mapping import BadPath, JsonPath  # noqa: PLC0415 - for start-up: seldom configured

    if not isinstance(text, str):
        raise Refused("a text", found=described(text))
    try:
        return JsonPath.of(text)
    except BadPath as bad:
        raise Refused(f"a JMESPath expression: {bad}") from None


def _table(keys: Mapping[str, str]) -> Schema:
    """A table of JMESPath expressions."""
    properties = {key: {"type": "string", "minLength": 1, "description": _SENTENCES[key]} for key in keys}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


BODY: Final = Value(_body, {"type": ["object", "array", "string", "null"]})
ANSWER_PATHS: Final = Value(_answer_paths, _table(_ANSWER_KEYS))
STREAM_PATHS: Final = Value(_stream_paths, {**_table(_STREAM_KEYS), "required": ["text"]})
