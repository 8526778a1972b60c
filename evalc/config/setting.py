"""What a setting declares once, for the reader, the schema, the flags and the docs; and how its value is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import msgspec

from evalc.diagnostics.problem import Finding

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Finding

Keys = tuple[str | int, ...]
"""The way from the top of a configuration to a value: names of tables, and indices of lists."""


class Folders(NamedTuple):
    """Where relative paths start from, the working folder, which `paths` are shown from, and where paths may lead.

    `root` is None where they may lead anywhere: a user names them, not a file of the project.
    """

    base: Path
    working: Path
    root: Path | None = None


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

        if self._found:
            return Finding("EV622", subject=subject, expected=self._expected, found=self._found)
        return Finding("EV623", subject=subject, expected=self._expected)


class Outside(Refused):
    """A path that leads out of the project whose configuration names it."""

    def __init__(self, path: str, root: Path) -> None:
        super().__init__()
        self._path = path
        self._root = root

    def finding(self, subject: str) -> Finding:
        """As an entry of the catalogue, about `subject`."""

        return Finding("EV626", subject=subject, path=self._path, root=str(self._root))


Reader = Callable[[Any, Folders], Any]


Schema = dict[str, Any]


class Value(NamedTuple):
    """A kind of value: how it is read, and the JSON Schema of what is taken, null included."""

    read: Reader
    schema: Schema


def read_parts(parts: Iterable[tuple[str | int, Any]], read: Callable[[Any, Any], Any]) -> list[Any]:
    """Every part, read; all refusals at once if there are any."""
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


@final
class Setting(NamedTuple):
    """The declaration of a setting, as metadata of an attribute: `Annotated[int, Setting(...)]`.

    Attributes:
        value: the values that it takes.
        sentence: what it says, in one sentence for the schema, the docs and the help text of its flag.
        examples: values that editors offer.
        otherwise: what holds where it is not set, where the attribute's default does not say that.
        key: its key in the configuration, if that is not the attribute's name in camel case.
        flag: the flag that wins over the configuration.
        variable: the environment variable that holds if nothing else is said.
        secret: whether its value may hold a secret, so that it is never shown.
    """

    value: Value
    sentence: str
    examples: tuple[Any, ...] = ()
    otherwise: str = ""
    key: str = ""
    flag: str = ""
    variable: str = ""
    secret: bool = False


@final
class Key(NamedTuple):
    """A key of a configuration: `path` is `("concurrency",)`, or `("judge", "samples")` in a table.

    `default` is what the attribute is if nothing is said.
    """

    path: tuple[str, ...]
    attribute: str
    setting: Setting
    default: Any

    @property
    def name(self) -> str:
        """The key with its table in front, as in `judge.samples`."""
        return ".".join(self.path)


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that belong together. What may be a secret is not in its `repr`."""

    def __repr__(self) -> str:
        secret = {key.attribute for key in keys_of(type(self)) if key.setting.secret}
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in secret)
        return f"{type(self).__name__}({', '.join(shown)})"


def keys_of(table: type[Table], *within: str) -> Iterator[Key]:
    """The keys that a table declares, in their order."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(table)}
    for attribute, annotation in table.__annotations__.items():
        for setting in getattr(annotation, "__metadata__", ()):
            if isinstance(setting, Setting):
                path = (*within, setting.key or _in_camel_case(attribute))
                yield Key(path, attribute, setting, defaults[attribute])


def _in_camel_case(attribute: str) -> str:
    first, *others = attribute.split("_")
    return first + "".join(word.capitalize() for word in others)
