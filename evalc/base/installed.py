"""Loads what installed packages offer under the name of an entry point.

Nothing is looked up before it is asked for, since reading the metadata of every installed package takes a twentieth
of a second; and names are known without importing anything.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from evalc.base.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


Group = Literal["evalc.checks", "evalc.agents"]
"""Groups of entry points by which packages extend evalc."""


def names(group: Group) -> tuple[str, ...]:
    """The names that installed packages offer, in alphabetical order."""
    return tuple(sorted(_entry_points(group)))


def load(group: Group, name: str) -> Any:
    """Import the object that an installed package offers under a name.

    Raises:
        UsageError: when no package offers it, or several do.
        BaseException: whatever the package raises when it is imported.
    """
    offers = _entry_points(group).get(name, ())
    if not offers:
        raise UsageError(f"no installed package offers `{name}`")
    if len(offers) > 1:
        packages = ", ".join(sorted(f"`{offer.dist.name}`" if offer.dist else f"`{offer.value}`" for offer in offers))
        raise UsageError(f"`{name}` is offered by several packages: {packages}")
    return offers[0].load()


@cache
def _entry_points(group: Group) -> dict[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - with email and zipfile, most of the start-up time

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = (*found.get(point.name, ()), point)
    return found
