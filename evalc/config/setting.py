"""What a setting declares once: its key, values and meaning, for the reader, the schema, the flags and the docs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, final

import msgspec

from evalc.config.reader import Value


@final
class Setting(NamedTuple):
    """The declaration of a setting, as metadata of an attribute: `Annotated[int, Setting(...)]`.

    Attributes:
        value: the values that it takes.
        sentence: what it says, in one sentence for the schema, the docs and the help text of its flag.
        examples: values that editors offer.
        otherwise: what holds where it is not set, where the attribute's default does not say that.
        key: its key in the configuration, where that is not the attribute's name in camel case.
        flag: the flag that wins over the configuration.
        variable: the environment variable that holds where nothing else is said.
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

    `default` is what the attribute is where nothing is said.
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
    """Settings that stand together. What may be a secret is not in its `repr`."""

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
