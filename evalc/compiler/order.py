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
    same_for_all = _RANK_OF_KIND.get(type(check))
    if same_for_all is not None:
        return same_for_all
    return _RANK[type(check)], not check.has_field(), isinstance(check, c.Length | c.ToolCount) and check.min is None


def _rank_of(position: int, kind: type[Declared]) -> int:
    return _FIELDS.index(kind.contract[0].name) if kind.contract else len(_FIELDS) + position


_RANK: Final = {kind: _rank_of(position, kind) for position, kind in enumerate(members(c.Check))}
_RANK_OF_KIND: Final = {
    kind: (rank_, not kind.contract, False) for kind, rank_ in _RANK.items() if kind.has_field is Declared.has_field
}
"""The kinds of which every check has a field, or none has."""
