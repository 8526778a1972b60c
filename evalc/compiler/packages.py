"""Checks that an installed package provides a check of a given name, without importing it."""

from __future__ import annotations

from evalc.base import installed
from evalc.diagnostics.catalogue.names import UnknownCheck
from evalc.dsl.build_rule import CHECK_TYPES


def unknown_custom(name: str) -> UnknownCheck | None:
    """The finding for a check that no installed package provides."""
    offered = installed.names("evalc.checks")
    return None if name in offered else UnknownCheck(name=name, known=CHECK_TYPES, offered=offered)
