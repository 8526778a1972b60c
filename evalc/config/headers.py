"""Fills `${NAME}` in configured headers, and tells which of them are secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from evalc.errors import UsageError

Headers = tuple[tuple[str, str], ...]
"""Names and values of headers, the values as configured."""

NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
"""The name of a header."""

VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
"""The name of an environment variable."""

_FILLED: Final = re.compile(rf"\$\{{({VARIABLE})\}}")
_CREDENTIALS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"})


def expanded(headers: Iterable[tuple[str, str]], environ: Mapping[str, str]) -> dict[str, str]:
    """The headers with every `${NAME}` filled from the environment.

    Raises:
        UsageError: a variable is not set, or its value cannot stand in a header.
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
        if name.lower() in _CREDENTIALS and not _FILLED.search(value):
            yield value
            yield value.rpartition(" ")[2]  # behind a scheme, as in `Bearer TOKEN`, they may be met alone
