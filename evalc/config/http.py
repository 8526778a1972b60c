"""How an agent is called over HTTP: headers, and the tables `body`, `response` and `stream`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from evalc.base import CREDENTIAL_HEADERS
from evalc.base.errors import UsageError
from evalc.base.json_fault import fault_of
from evalc.config.kinds import VARIABLE, Kind, Named, TableShape, Value, each_of, in_camel_case, located, table_of
from evalc.dsl.kinds import Key, Shape
from evalc.runtime.mapping import AnswerPaths, BadBody, BadPath, BodyTemplate, JsonPath, StreamPaths

if TYPE_CHECKING:
    from evalc.dsl.walk import Fields

Headers = tuple[tuple[str, str], ...]
"""Names and values of headers, the values as configured."""

_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
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
    if not _is_header_value(text):
        raise UsageError(f"the header `{header}` would hold a line end or another control character")
    return text


def _is_header_value(text: str) -> bool:
    """Whether HTTP can carry the text as a header's value."""
    return not any(ord(character) < 32 or ord(character) == 127 for character in text)


def variables_of(headers: Headers) -> Iterator[str]:
    """The environment variables that the values name."""
    return (name for _, value in headers for name in _FILLED.findall(value))


def credentials_in(headers: Headers) -> Iterator[str]:
    """The credentials that are configured as they are, rather than taken from the environment."""
    for name, value in headers:
        if name.lower() in CREDENTIAL_HEADERS and not _FILLED.search(value):
            yield value
            yield value.rpartition(" ")[2]  # after a scheme, as in `Bearer TOKEN`, they may be met alone


# --- the kinds of values ---------------------------------------------------------------------------------------------

_SENTENCES: Final[Mapping[str, str]] = {
    "response": "Where the text of the answer is.",
    "text": "Where the text that an event adds is.",
    "tool_calls": "Where the list of tool calls is.",
    "done": "What is true in the last event.",
    "name": "Where the tool's name is in a call.",
    "success": "A value that is true in a call that succeeded, and false in a call that failed.",
    "duration_ms": "Where the duration of a call in milliseconds is.",
    "params": "Where the parameters are in a call: an object, or a text with an object as JSON.",
    "result": "Where the tool's result is in a call: any JSON value, or a text with JSON.",
    "error": "Where the tool's error is in a call that failed.",
    "input_tokens": "Where the number of input tokens is.",
    "output_tokens": "Where the number of output tokens is.",
    "cost_usd": "Where the cost in dollars is.",
}


def _header(name: str, value: Value) -> tuple[str, str]:
    if not re.fullmatch(_NAME, name):
        raise value.refused("a header, whose name has letters, digits and dashes")
    if not isinstance(value.data, str):
        raise value.mistyped("a text")
    if not _is_header_value(value.data):
        raise value.refused("a text without line ends and other control characters")
    if "${" in _FILLED.sub("", value.data):
        raise value.refused("a text in which every `${` begins a variable, such as `${A_KEY}`")
    return name, value.data


def _field(name: str, value: Value) -> tuple[str, Any]:
    _check_json(value)
    return name, value.data


def _check_json(value: Value) -> None:
    """Report what JSON cannot say; TOML has dates and infinities besides."""
    match value.data:
        case dict():
            each_of(value.pairs, lambda pair: _check_json(pair[1]))
        case list():
            each_of(value.items, _check_json)
        case None | bool() | int() | str():
            pass
        case other:
            if not isinstance(other, float) or not math.isfinite(other):
                raise value.refused("a value that JSON has")


def _body(value: Value) -> BodyTemplate:
    """The body of a request: a table or list, or a text that is JSON."""
    from evalc.dsl.read_toml import KeyPlace  # noqa: PLC0415 - for start-up: seldom configured

    text = value.data
    if isinstance(text, str):
        try:
            path = (value.what.strip("`"),)
            value = located(value.reading, json.loads(text), {}, path, KeyPlace(value.span, value.span))
        except json.JSONDecodeError as error:
            hint = "; put a placeholder in quotes: it becomes the value itself" if "{{" in text else ""
            fault = fault_of(error, text)
            raise value.refused(f"valid JSON: {fault.found} at its {fault.where(text)}{hint}") from None
        except (RecursionError, ValueError):
            words = "valid JSON that is not nested too deeply and has no numbers of thousands of digits"
            raise value.refused(words) from None
    if not isinstance(value.data, dict | list):
        raise value.mistyped("a table, a list, or a text that holds one of them as JSON")
    try:
        return BodyTemplate.of(value.data)
    except BadBody as bad:
        raise value.at(bad.within).refused(str(bad)) from None


def _path(value: Value) -> JsonPath:
    if not isinstance(value.data, str):
        raise value.mistyped("a text")
    try:
        return JsonPath.of(value.data)
    except BadPath as bad:
        raise value.refused(f"a JMESPath expression: {bad}") from None


_PATH: Final = Kind(_path, {"type": "string", "minLength": 1})


def _paths(name: str, struct: type[AnswerPaths | StreamPaths], **required: str) -> Shape:
    """A table of JMESPath expressions, each read into the attribute of its name."""

    def build(fields: Fields, given: dict[str, Any]) -> AnswerPaths | StreamPaths | None:
        return None if fields.partial else struct(**given)

    keys: dict[str, Key] = {}
    for part in struct.__struct_fields__:
        holds = Named(f"{name}.{part}", _PATH)
        keys[part] = Key(holds, _SENTENCES[part], required=required.get(part, False), into=part)
        keys.setdefault(in_camel_case(part), Key(holds, f"As `{part}`.", into=part))
    return TableShape("", keys, title=name, build=build, narrow={"type": ["object", "null"]})


HEADERS: Final = table_of(
    "a table of headers",
    _header,
    propertyNames={"pattern": rf"^{_NAME}(?!\n)$"},
    additionalProperties={
        "type": "string",
        "pattern": rf"^(?:[^\x00-\x1f\x7f$]|\$\{{{VARIABLE}\}}|\$(?!\{{))*(?!\n)$",
    },
)
EXTRA_BODY: Final = table_of("a table of fields", _field)
BODY: Final = Kind(_body, {"type": ["object", "array", "string"]})
ANSWER_PATHS: Final = _paths("agent.response", AnswerPaths)
STREAM_PATHS: Final = _paths("agent.stream", StreamPaths, text="a table with the path of the `text` of an event")
