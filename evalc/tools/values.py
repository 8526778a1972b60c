"""Values of expressions of a module, which is not run, and values that only a run could know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, final

from evalc.base.source import Source, Span


class ModulePlace(NamedTuple):
    """A place in a module."""

    source: Source
    span: Span


class NotData(Enum):
    """The type of `CODE`."""

    CODE = "code"


CODE: Final = NotData.CODE
"""A function, a class, a regular expression: what is surely no tool's definition."""


@final
@dataclass(frozen=True, slots=True)
class Unread:
    """A value that only running the module could give, and why."""

    why: str
    at: ModulePlace


@final
@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """An object.

    Attributes:
        members: its own members, in order.
        places: the places of the members.
        complete: whether these are all: not where it spreads something that cannot be read.
        made_by_call: whether a call made it of such an object: `defineTool({...})`, `new Tool({...})`.
        optional: of a schema in a mapping of parameters, whether the parameter may be left out.
        is_schema: whether it is known to be a JSON Schema.
    """

    at: ModulePlace
    members: Mapping[str, Value]
    places: Mapping[str, ModulePlace] = field(default_factory=dict)
    complete: bool = True
    made_by_call: bool = False
    optional: bool = False
    is_schema: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """An array; `complete` unless it spreads something that cannot be read."""

    at: ModulePlace
    items: Sequence[Value]
    complete: bool = True


Value = str | int | float | bool | None | NotData | Unread | Record | Items
