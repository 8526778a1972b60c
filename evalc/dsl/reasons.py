"""Reads a reason, such as why a case is skipped: the same in YAML, in the row of a table and in eval JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evalc.diagnostics.catalogue.values import NoReason
from evalc.diagnostics.problem import Finding

_NO: Final = frozenset({"", "false", "no", "off", "0", "null", "~"})
_YES: Final = frozenset({"true", "yes", "on", "1"})


def reason_of(text: str, key: str, fault: Callable[[Finding], object]) -> str | None:
    """The reason that a text gives; None if it says no. A text that only says yes gives no reason, and is reported."""
    word = text.strip().lower()
    if word in _NO:
        return None
    if word in _YES:
        fault(NoReason(key=key, value=text.strip()))
        return None
    return text
