"""Checks that an installed package provides a check of a given name, without importing it."""

from __future__ import annotations

from evalc.base import installed
from evalc.diagnostics.problem import Finding
from evalc.dsl.build_rule import CHECK_TYPES


def unknown_custom(name: str) -> Finding | None:
    """The finding for a check that no installed package provides."""
    offered = installed.names("evalc.checks")
    if name in offered:
        return None
    return Finding("EV203", name=name, of_package=True, offered=offered, known=(*offered, *CHECK_TYPES))
