"""From a call whose arguments are known to its value: what the few functions do that tools are often written with."""

from __future__ import annotations

import re
from typing import Final

from evalc.ecma.text import trim
from evalc.tools.values import Items, ModulePlace, Record, Unread, Value

_DEFINER: Final = re.compile(r"tool|define", re.IGNORECASE)


def text_of(method: str, of: Value, arguments: list[Value]) -> Value:
    """What `text.trim()` and `[...].join()` give; None where that cannot be told."""
    match method, of, arguments:
        case "trim", str(), []:
            return trim(of)
        case "join", Items(complete=True), [str() as separator]:
            texts = [item for item in of.items if isinstance(item, str)]
            return separator.join(texts) if len(texts) == len(of.items) else None
        case _:
            return None


def defined(name: str, arguments: list[Value], at: ModulePlace) -> Value:
    """The definition that is handed to a function which makes a tool of it, as its name says."""
    record = next((value for value in arguments if isinstance(value, Record)), None)
    if record is None or not _DEFINER.search(name):
        return Unread(f"`{name or 'a function'}` would have to be called", at)
    members = dict(record.members)
    if "name" not in members and isinstance(arguments[0], str):
        members["name"] = arguments[0]
    return Record(record.at, members, record.places, record.complete, made_by_call=True)
