"""From a check to the fields of `expect` that it fills and that can hold one value each."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from evalc.model import checks as c
from evalc.model.assertions import KEYS
from evalc.model.checks.declaration import Field, members

SINGLE_KINDS = frozenset(kind for kind in members(c.Check) if any(field.once for field in kind.contract))
"""The kinds of checks that may fill such fields."""


def single_fields(check: c.Check) -> Iterator[str]:
    """The fields by name; a length in words is no length in characters."""
    for field, name in _filled(check):
        if getattr(check, field.attribute) is not None:
            yield name


def without(check: c.Check, fields: Collection[str]) -> c.Check | None:
    """What is left of a check when others fill these fields; None when nothing is."""
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
