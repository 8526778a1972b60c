"""The fields of `expect` that checks fill: their canonical order, and those that can hold one value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import msgspec

from evalc.compiler import ir
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import KEYS
from evalc.model.checks.declaration import Declared, Field, members

_FIELDS: Final = m.Expect.__struct_fields__


def rank(check: c.Check) -> tuple[int, bool, bool]:
    """The position of the check in the canonical order; checks of one rank keep the order they were written in.

    Among checks of one kind those with a field of their own come first, and of two bounds the lower one.
    """
    same_for_all = _RANK_OF_KIND.get(type(check))
    if same_for_all is not None:
        return same_for_all
    return _RANK[type(check)], not check.has_field(), isinstance(check, c.Length | c.ToolCount) and check.min is None


def ranks(checks: Iterable[ir.Check]) -> list[tuple[int, bool, bool]]:
    """The ranks of checks, most of which follow from their kind."""
    return [_RANK_OF_KIND.get(type(item.check)) or rank(item.check) for item in checks]


_RANK: Final = {
    kind: _FIELDS.index(kind.contract[0].name) if kind.contract else len(_FIELDS) + position
    for position, kind in enumerate(members(c.Check))
}
_RANK_OF_KIND: Final = {
    kind: (rank_, not kind.contract, False) for kind, rank_ in _RANK.items() if kind.has_field is Declared.has_field
}
"""The kinds whose checks all have a field, or all have none."""


SINGLE_KINDS: Final = frozenset(kind for kind in members(c.Check) if any(field.once for field in kind.contract))
"""The kinds of checks that may fill such fields."""


def single_fields(check: c.Check) -> Iterator[str]:
    """The fields by name; a length in words is not a length in characters."""
    for field, name in _filled(check):
        if getattr(check, field.attribute) is not None:
            yield name


def without(check: c.Check, fields: Collection[str]) -> c.Check | None:
    """The rest of a check when others fill these fields; None if nothing is left."""
    own = frozenset(single_fields(check))
    if not own or own.isdisjoint(fields):
        return check
    if own <= frozenset(fields):
        return None
    return msgspec.structs.replace(check, **{field.attribute: None for field, name in _filled(check) if name in fields})


def _filled(check: c.Check) -> Iterator[tuple[Field, str]]:
    unit = check.unit if isinstance(check, c.Length) else "chars"
    for field in check.contract:
        if field.once:
            yield field, KEYS[field.name] + ("" if unit == "chars" else f" in {unit}")
