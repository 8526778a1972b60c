"""The kinds of values that settings take.

A schema cannot say everything that a reader checks: whether a code exists, for instance.
"""

from __future__ import annotations

import math
import os
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, Literal, cast

from evalc.base.files import is_below
from evalc.config.http import NAME, VARIABLE, is_header_value, names_variables_well
from evalc.config.setting import Folders, Outside, Reader, Refused, Schema, Value, described, read_parts
from evalc.runtime.mapping import INCOMPLETE_STATUSES

_FILLED: Final[Schema] = {"type": "string", "pattern": r"\S"}
_ONE_OR_EACH_ONCE: Final[Schema] = {
    "type": ["string", "array", "null"],
    "pattern": r"\S",
    "items": _FILLED,
    "uniqueItems": True,
}
_OF_VARIABLE: Final[Schema] = {"pattern": rf"^{VARIABLE}(?!\n)$"}
_MAGIC: Final = re.compile(r"[*?\[]")
_CODE: Final[Schema] = {"type": "string", "pattern": r"^\s*[Ee][Vv][0-9]*\s*$"}


# --- texts -----------------------------------------------------------------------------------------------------------


def _text(value: Any, _: Folders) -> str:
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not value.strip():
        raise Refused("a text that is not empty")
    return value


def _texts(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _text, "a list of texts")


def _each(value: Any, folders: Folders, read: Reader, expected: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Refused(expected, found=described(value))
    return tuple(read_parts(enumerate(value), lambda _, item: read(item, folders)))


def _statuses(value: Any, folders: Folders) -> tuple[int, ...]:
    return _each(value, folders, _status, "a list of statuses")


def _status(value: Any, _: Folders) -> int:
    if value not in INCOMPLETE_STATUSES:
        raise Refused("202 or 206")
    return int(value)


def _variable(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    if not re.fullmatch(VARIABLE, text):
        raise Refused("the name of an environment variable")
    return text


def _variables(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _variable, "a list of names of environment variables")


def one_of(*choices: str) -> Value:
    """One of a few words."""

    def read(value: Any, folders: Folders) -> str:
        if (text := _text(value, folders)) not in choices:
            raise Refused(f"one of {', '.join(f'`{choice}`' for choice in choices)}")
        return text

    return Value(read, {"enum": [*choices, None]})


TEXT: Final = Value(_text, {"type": ["string", "null"], "pattern": r"\S"})
TEXTS: Final = Value(_texts, {"type": ["array", "null"], "items": _FILLED})
VARIABLE_NAME: Final = Value(_variable, {**TEXT.schema, **_OF_VARIABLE})
ACCEPTED_STATUSES: Final = Value(_statuses, {**TEXTS.schema, "items": {"enum": sorted(INCOMPLETE_STATUSES)}})
VARIABLE_NAMES: Final = Value(_variables, {**TEXTS.schema, "items": {**_FILLED, **_OF_VARIABLE}})


# --- numbers ---------------------------------------------------------------------------------------------------------


def _flag(value: Any, _: Folders) -> bool:
    if not isinstance(value, bool):
        raise Refused("true or false", found=described(value))
    return value


def whole(least: int, most: int) -> Value:
    """A whole number between two others, both included."""

    def read(value: Any, _: Folders) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused("a whole number", found=described(value))
        if not least <= value <= most:
            raise Refused(f"between {least} and {most}")
        return value

    return Value(read, {"type": ["integer", "null"], "minimum": least, "maximum": most})


def _number(value: Any, unit: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(f"a number{unit and f' of {unit}'}", found=described(value))
    return value


def _above_zero(unit: str) -> Value:
    def read(value: Any, _: Folders) -> float:
        if not 0 < (number := _number(value, unit)) < math.inf:
            raise Refused("above 0")
        return number

    return Value(read, {"type": ["number", "null"], "exclusiveMinimum": 0})


def _duration(value: Any, folders: Folders) -> float:
    """Milliseconds: a time with its unit, or a number of milliseconds, as keys that end in `Ms` have."""
    if not isinstance(value, str):
        return cast(float, _above_zero("milliseconds").read(value, folders))
    parts = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(ms|s|m|h)\s*", value, re.IGNORECASE)
    try:
        milliseconds = float(Decimal(parts[1]) * _MILLISECONDS_OF[parts[2].lower()]) if parts else math.nan
    except InvalidOperation:
        milliseconds = math.nan
    if math.isnan(milliseconds):
        raise Refused("a time with its unit, such as `30s`, `500ms` or `2m`")
    if not 0 < milliseconds < math.inf:
        raise Refused("above 0")
    return milliseconds


def _share(value: Any, _: Folders) -> float:
    if not 0 <= (number := _number(value)) <= 1:
        raise Refused("between 0 and 1")
    return number


def _confidence(value: Any, _: Folders) -> float:
    """A number, or one in per cent; as a flag, a text."""
    from evalc.model.numbers import CONFIDENCE  # noqa: PLC0415 - for start-up: `--help` needs nothing of the model

    percent = re.fullmatch(r"\s*([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*(%?)\s*", value) if isinstance(value, str) else None
    if isinstance(value, str) and percent is None:
        raise Refused("a share such as `95%` or 0.95")
    number = _number(value) if percent is None else float(Decimal(percent[1]) / (100 if percent[2] else 1))
    if not CONFIDENCE.takes(number):
        raise Refused(CONFIDENCE.words)
    return number


def _temperature(value: Any, _: Folders) -> float:
    if not 0 <= (number := _number(value)) < math.inf:
        raise Refused("0 or above")
    return number


_MILLISECONDS_OF: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_COUNT: Final = whole(1, 10_000)


def _concurrency(value: Any, folders: Folders) -> int | Literal["auto"]:
    if isinstance(value, str) and value != "auto":
        raise Refused("a whole number, or `auto`")
    return "auto" if value == "auto" else cast(int, _COUNT.read(value, folders))


def _engine(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    name, colon, address = text.partition(":")
    if text != "local" and (name != "ray" or (colon and not address.strip())):
        raise Refused("`local`, `ray` or `ray:ADDRESS`")
    return text


FLAG: Final = Value(_flag, {"type": ["boolean", "null"]})
CONCURRENCY: Final = Value(_concurrency, {"anyOf": [_COUNT.schema, {"const": "auto"}]})
SHARE: Final = Value(_share, {"type": ["number", "null"], "minimum": 0, "maximum": 1})
CONFIDENCE: Final = Value(
    _confidence,
    {
        "type": ["number", "string", "null"],
        "exclusiveMinimum": 0.5,
        "exclusiveMaximum": 1,
        "pattern": r"^\s*[0-9.]+\s*%?\s*$",
    },
)
TEMPERATURE: Final = Value(_temperature, {"type": ["number", "null"], "minimum": 0})
DOLLARS: Final = _above_zero("US dollars")
MILLISECONDS: Final = _above_zero("milliseconds")
DURATION: Final = Value(
    _duration,
    {
        "type": ["number", "string", "null"],
        "exclusiveMinimum": 0,
        "pattern": r"^\s*[0-9.]+([eE][+-]?[0-9]+)?\s*([mM][sS]|[sSmMhH])\s*$",
    },
)
ENGINE: Final = Value(_engine, {"type": ["string", "null"], "pattern": r"^(local|ray(:.*\S.*)?)$"})


# --- files -----------------------------------------------------------------------------------------------------------


def _path(value: Any, folders: Folders) -> Path:
    text = _text(str(value) if isinstance(value, Path) else value, folders)
    if "\0" in text:
        raise Refused("a path, which has no NUL character")
    return _within(text, folders)


def _within(text: str, folders: Folders) -> Path:
    path = folders.base / text
    if folders.root is not None and not is_below(path, folders.root.resolve()):
        raise Outside(text, folders.root)
    return path


def _paths(value: Any, folders: Folders) -> tuple[str, ...]:
    """Files, folders or globs, as the working folder sees them."""
    return tuple(_each(value, folders, _seen_from_working_folder, "a list of texts"))


def _seen_from_working_folder(value: Any, folders: Folders) -> str:
    path = _text(value, folders)
    for part in (path, _MAGIC.split(path)[0]):  # `..` may come after a pattern, a link before it
        _within(part, folders)
    return path if Path(path).is_absolute() else os.path.relpath(folders.base / path, folders.working)


def _snapshot(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    if text.startswith(("http://", "https://", "python:", "command:")):
        return text
    return str(_path(text, folders))


def _system_path(value: Any, folders: Folders) -> Path:
    return _path(value, folders._replace(root=None))


PATH: Final = Value(_path, {"type": ["string", "null"], "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"})
PATHS: Final = Value(_paths, TEXTS.schema)
CA_FILE: Final = Value(_system_path, PATH.schema)
"""A file that may be the system's: it is read as certificates, and never shown."""
SNAPSHOT: Final = Value(_snapshot, PATH.schema)


# --- agents and judges -----------------------------------------------------------------------------------------------


def _agents(value: Any, folders: Folders) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value, folders),)
    found = _each(value, folders, _text, "a text, or a list of texts")
    if not found:
        raise Refused("a text, or a list of at least one")
    if len(set(found)) < len(found):
        raise Refused("agents that are each named once")
    return found


def _judges(value: Any, folders: Folders) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise Refused("a text, or a list of texts", found=described(value))
    found = tuple(read_parts(enumerate(value), lambda _, item: _text(item, folders).strip()))
    if len(set(found)) < len(found):
        raise Refused("judges that are each named once: `judge.samples` asks one several times")
    return found


def _headers(value: Any, _: Folders) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise Refused("a table of headers", found=described(value))
    return tuple(read_parts(value.items(), _header))


def _header(name: str, value: Any) -> tuple[str, str]:
    if not re.fullmatch(NAME, name):
        raise Refused("a header, whose name has letters, digits and dashes")
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not is_header_value(value):
        raise Refused("a text without line ends and other control characters")
    if not names_variables_well(value):
        raise Refused("a text in which every `${` begins a variable, such as `${A_KEY}`")
    return name, value


def _extra_body(value: Any, _: Folders) -> tuple[tuple[str, Any], ...]:
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


AGENTS: Final = Value(_agents, {**_ONE_OR_EACH_ONCE, "minItems": 1})
JUDGES: Final = Value(_judges, _ONE_OR_EACH_ONCE)
HEADERS: Final = Value(
    _headers,
    {
        "type": ["object", "null"],
        "propertyNames": {"pattern": rf"^{NAME}(?!\n)$"},
        "additionalProperties": {
            "type": "string",
            "pattern": rf"^(?:[^\x00-\x1f\x7f$]|\$\{{{VARIABLE}\}}|\$(?!\{{))*(?!\n)$",
        },
    },
)
EXTRA_BODY: Final = Value(_extra_body, {"type": ["object", "null"]})

_RECEIVER: Final = r"env|https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[!$->@-~]*)?"


def _receiver(value: Any, folders: Folders) -> str:
    if not re.fullmatch(_RECEIVER, text := _text(value, folders)):
        raise Refused("a URL without user, query and fragment, or `env`")
    return text


RECEIVER: Final = Value(_receiver, {"type": ["string", "null"], "pattern": rf"^(?:{_RECEIVER})(?!\n)$"})
"""`env`, or a URL that holds no secret and so may be written anywhere."""


# --- problems --------------------------------------------------------------------------------------------------------


def _selector(value: Any, folders: Folders) -> str:
    from evalc.diagnostics.policy import BadSelector, selector  # noqa: PLC0415 - for start-up: seldom configured

    try:
        return selector(_text(value, folders))
    except BadSelector as bad:
        raise Refused(f"a code or the beginning of some: {bad}") from None


def _silencer(value: Any, folders: Folders) -> str:
    from evalc.diagnostics.policy import BadSelector, silencer  # noqa: PLC0415 - as above

    try:
        return silencer(_selector(value, folders))
    except BadSelector as bad:
        raise Refused(f"a code that can be ignored: {bad}") from None


def _selectors(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _selector, "a list of codes")


def _silencers(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _silencer, "a list of codes")


_LEVELS: Final = ("error", "warning", "off")


def _severities(value: Any, folders: Folders) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise Refused("a table of codes", found=described(value))

    def read(code: str, level: Any) -> tuple[str, str]:
        if level not in _LEVELS:
            raise Refused("`error`, `warning` or `off`")
        return (_selector if level == "error" else _silencer)(code, folders), level

    return tuple(read_parts(value.items(), read))


def _per_file(value: Any, folders: Folders) -> tuple[tuple[str, tuple[str, ...]], ...]:
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


_CODES: Final[Schema] = {"type": ["array", "null"], "items": _CODE}

SELECTORS: Final = Value(_selectors, _CODES)
SILENCERS: Final = Value(_silencers, _CODES)
SEVERITIES: Final = Value(
    _severities, {"type": ["object", "null"], "propertyNames": _CODE, "additionalProperties": {"enum": [*_LEVELS]}}
)
PER_FILE: Final = Value(
    _per_file, {"type": ["object", "null"], "additionalProperties": {"type": "array", "items": _CODE}}
)
