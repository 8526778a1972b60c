"""From the values of the keys about models to what `Settings` holds of them."""

from __future__ import annotations

import math
from typing import Any

from evalc.config.refused import Folders, Refused, described, read_parts


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
