"""The places of a check's texts by their JSON pointers, as tests name them."""

from __future__ import annotations

from collections.abc import Collection

from evalc.check.forms import record_of, texts_at
from evalc.grammar.nodes import Atom, ReadCheck


def atoms_of(line: ReadCheck) -> dict[str, Atom]:
    """The places of the texts, by the pointers to them in the check's record."""
    pointers = (pointer for _, _, pointer in texts_at(record_of(line.check)))
    return dict(zip(pointers, line.places, strict=True))


def placed_at(line: ReadCheck, pointers: Collection[str]) -> dict[str, Atom]:
    """Those of some of the texts."""
    return {pointer: place for pointer, place in atoms_of(line).items() if pointer in pointers}
