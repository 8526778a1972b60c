"""From a check of the model to the entry of `expect.checks` that stands for it, where no line says it just so."""

from __future__ import annotations

from typing import Any

import msgspec

from evalc.compiler.emit.check import all_of, any_of, negated
from evalc.importers.check_line import Spelling
from evalc.model import checks as c


def is_simplest(check: c.Check) -> bool:
    """Whether its line compiles to the check itself, and not to several checks or to a simpler form of it."""
    return not isinstance(check, c.AllOf) and _simplest(check) == check


def _simplest(check: c.Check) -> c.Check:
    match check:
        case c.AnyOf(checks=checks):
            return any_of([*map(_simplest, checks)])
        case c.AllOf(checks=checks):
            return all_of([*map(_simplest, checks)])
        case c.Not(check=inner):
            return negated(_simplest(inner))
        case c.At(check=inner):
            return msgspec.structs.replace(check, check=_simplest(inner))
        case _:
            return check


def record_of(check: c.Check, spelling: Spelling) -> Any:
    """The check as the case model writes it, its texts spelled as those of a suite.

    An `all_of` stands in another one: an entry of `expect.checks` that is one counts as its operands.
    """
    whole = c.AllOf(checks=(check,)) if isinstance(check, c.AllOf) else check
    return _spelled(msgspec.to_builtins(whole), spelling)


def _spelled(value: Any, spelling: Spelling, *, is_pattern: bool = False) -> Any:
    match value:
        case str():
            return spelling.pattern(value) if is_pattern else spelling.text(value)
        case list() | tuple():
            return [_spelled(item, spelling) for item in value]
        case dict():
            patterns = ("pattern", "value") if value.get("assertion") == "matches" else ("pattern",)
            return {
                key: item if key == "schema" else _spelled(item, spelling, is_pattern=key in patterns)
                for key, item in value.items()
            }
        case _:
            return value
