"""JSON Schema: its keywords in all drafts, the schemas within a schema, and the formats of texts that evalc checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from evalc.model.json import pointer_step

_SCHEMAS: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
MAPS: Final = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
"""The keywords whose values are mappings of schemas, and no schemas themselves."""
_OTHERS: Final = (
    *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref"),
    *("$schema", "$vocabulary", "const", "contentEncoding", "contentMediaType", "default", "dependentRequired"),
    *("deprecated", "description", "disallow", "divisibleBy", "enum", "examples", "exclusiveMaximum"),
    *("exclusiveMinimum", "extends", "format", "id", "maxContains", "maxItems", "maxLength", "maxProperties"),
    *("maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern"),
    *("readOnly", "required", "title", "type", "uniqueItems", "writeOnly"),
)
KEYWORDS: Final = (*dict.fromkeys((*_SCHEMAS, *_LISTS, *MAPS, *_OTHERS)),)
"""The keywords of drafts 3 to 2020-12."""
OF_OPENAPI: Final = ("discriminator", "example", "externalDocs", "nullable", "xml")
"""Keys that OpenAPI adds to them."""


def dialect_of(schema: object) -> Any:
    """The class of `jsonschema` for the draft that a schema's `$schema` names, else for 2020-12."""
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 - for start-up: slow to import

    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    return validators.validator_for({"$schema": named} if isinstance(named, str) else {}, Draft202012Validator)


def schemas_within(schema: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schema itself and all schemas in it that are objects, each with its JSON pointer."""
    pending: list[tuple[str, object]] = [("", schema)]
    while pending:
        pointer, part = pending.pop()
        if not isinstance(part, Mapping):
            continue
        yield pointer, part
        inner: list[tuple[str, object]] = [(f"{pointer}/{key}", part[key]) for key in _SCHEMAS if key in part]
        for key in _LISTS:
            if isinstance(items := part.get(key), list):
                inner += [(f"{pointer}/{key}/{index}", item) for index, item in enumerate(items)]
        for key in MAPS:
            if isinstance(named := part.get(key), Mapping):
                inner += [(f"{pointer}/{key}/{pointer_step(name)}", item) for name, item in named.items()]
        pending += reversed(inner)


_MONTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DATE: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME: Final = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
_EMAIL: Final = r"[^\s@]+@(?:[^\s@.]+\.)+[^\s@.]+"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_URI_PART: Final = r"(?:[\w.~:/?\[\]@!$&'()*+,;=-]|%[0-9a-fA-F]{2})"
_URI: Final = rf"(?a)[A-Za-z][A-Za-z0-9+.-]*:{_URI_PART}+(?:#{_URI_PART}*)?"
_URL: Final = rf"(?i:https?)://{_URI_PART}+(?:#{_URI_PART}*)?"
_HOST: Final = r"[a-zA-Z]+://(?:[^/?#@]*@)?(?:\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]]+)(?::[0-9]*)?(?=[/?#]|\Z)"
_IPV4: Final = r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!\Z)|\Z)){4}"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME: Final = rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*"


def _is_date(text: str) -> bool:
    match = re.fullmatch(_DATE, text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= _MONTHS[month - 1] + (is_leap and month == 2)


def _is_time(text: str) -> bool:
    match = re.fullmatch(_TIME, text)
    if match is None:
        return False
    hour, minute, second, east, west = (int(match[group] or 0) for group in (1, 2, 3, 5, 6))
    if hour > 23 or minute > 59 or second > 60 or east > 23 or west > 59:
        return False
    offset = (east * 60 + west) * (-1 if match[4] == "-" else 1)
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439  # a leap second is the last of a day in UTC


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_url(text: str) -> bool:
    return re.fullmatch(_URL, text) is not None and re.match(_HOST, text) is not None


def _is_ipv6(text: str) -> bool:
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 - for start-up: seldom asked for

    try:
        return not IPv6Address(text).scope_id
    except AddressValueError:
        return False


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "uuid": _matches(_UUID),
    "email": _matches(_EMAIL),
    "uri": _matches(_URI),
    "url": _is_url,
    "hostname": _matches(_HOSTNAME),
    "ipv4": _matches(_IPV4),
    "ipv6": _is_ipv6,
}
"""The check of each format but `regex`, which is checked as ECMAScript reads patterns."""

CHECKED: Final = (*FORMATS, "regex")
"""The formats that are checked."""
