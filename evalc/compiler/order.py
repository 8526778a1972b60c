"""The canonical order of checks: as `expect` orders its fields (the contract's first), then those without a field."""

from __future__ import annotations

from typing import Final

from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.checks.declaration import Declared, members

_FIELDS: Final = m.Expect.__struct_fields__


def rank(check: c.Check) -> tuple[int, bool, bool]:
    """Where the check stands in the canonical order; checks of one rank keep the order they were written in.

    Among checks of one kind those with a field of their own come first, and of two bounds the lower one.
    """
    return _RANK[type(check)], not check.has_field(), isinstance(check, c.Length | c.ToolCount) and check.min is None


def _rank_of(position: int, kind: type[Declared]) -> int:
    return _FIELDS.index(kind.contract[0].name) if kind.contract else len(_FIELDS) + position


_RANK: Final = {kind: _rank_of(position, kind) for position, kind in enumerate(members(c.Check))}
