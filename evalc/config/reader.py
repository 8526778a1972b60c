"""What settings are read with: a kind of value with its reader and JSON Schema, and how a reader refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Finding

Keys = tuple[str | int, ...]
"""The way from the top of a configuration to a value: names of tables, and indices of lists."""


class Folders(NamedTuple):
    """Where relative paths start from, and the working folder, which `paths` are shown from."""

    base: Path
    working: Path


class Refused(Exception):
    """A value that its key does not take: what is wrong, and where within the value.

    Attributes:
        within: the way from the value to the part that is wrong.
        parts: the refusals of a list's or table's parts, all of them; of a simple value, only this one.
    """

    def __init__(self, expected: str = "", *, found: str = "", parts: Sequence[Refused] = ()) -> None:
        super().__init__(expected)
        self._expected = expected
        self._found = found
        self.within: Keys = ()
        self.parts: Sequence[Refused] = parts or (self,)

    def finding(self, subject: str) -> Finding:
        """As an entry of the catalogue, about `subject`."""
        from evalc.diagnostics.catalogue.config import SettingType, SettingValue  # noqa: PLC0415 - for start-up

        if self._found:
            return SettingType(subject=subject, expected=self._expected, found=self._found)
        return SettingValue(subject=subject, expected=self._expected)


Reader = Callable[[Any, Folders], Any]
Schema = dict[str, Any]


class Value(NamedTuple):
    """A kind of value: how it is read, and the JSON Schema of what is taken, null included."""

    read: Reader
    schema: Schema


def read_parts(parts: Iterable[tuple[str | int, Any]], read: Callable[[Any, Any], Any]) -> list[Any]:
    """Every part, read; all refusals at once where there are any."""
    items: list[Any] = []
    refusals: list[Refused] = []
    for key, value in parts:
        try:
            items.append(read(key, value))
        except Refused as refused:
            for part in refused.parts:
                part.within = (key, *part.within)
            refusals += refused.parts
    if refusals:
        raise Refused(parts=refusals)
    return items


def described(value: Any) -> str:
    """The type of a value in words; never the value, which may be a secret."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "a text", int: "a number", float: "a number with a fraction", list: "a list", dict: "a table"}
    if isinstance(value, date | time):  # of TOML
        return "a date or time"
    return names.get(type(value), f"a value of the type `{type(value).__name__}`")  # of a caller
