"""Where the texts of a check were written: records whose texts know their places, and the trees built from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from evalc.check.forms import Record, check_of
from evalc.check.predicates import Role, texts_of
from evalc.model.json import pointer_step


@final
class Placed(str):
    """A text that knows where it was written."""

    __slots__ = ("place",)

    place: Any

    def __new__(cls, text: str, place: Any) -> Placed:  # noqa: D102 - a constructor
        placed = super().__new__(cls, text)
        placed.place = place
        return placed


def placed(value: Any, at: str = "") -> Any:
    """JSON whose texts know their JSON pointers; of a key, that is one with a leading `#`."""
    match value:
        case str():
            return Placed(value, at)
        case dict():
            parts = ((key, item, f"{at}/{pointer_step(key)}") for key, item in value.items())
            return {Placed(key, f"#{pointer}"): placed(item, pointer) for key, item, pointer in parts}
        case list() | tuple():
            return [placed(item, f"{at}/{index}") for index, item in enumerate(value)]
        case _:
            return value


def bare(value: Any) -> Any:
    """The same JSON, its texts without their places."""
    match value:
        case str():
            return str(value)
        case dict():
            return {str(key): bare(item) for key, item in value.items()}
        case list() | tuple():
            return [bare(item) for item in value]
        case _:
            return value


def places_of(record: Record) -> tuple[Any, ...]:
    """The places of the texts of a check, whose record has them, in the order of `texts_of`."""
    return tuple(getattr(text, "place", None) for _, text in texts_of(check_of(record)))


def texts_at(record: Record) -> Iterator[tuple[Role, str, str]]:
    """The texts of a check, each with its role and the JSON pointer to it in the check's record."""
    for role, text in texts_of(check_of(placed(record))):
        if isinstance(text, Placed):
            yield role, str(text), text.place
