"""Checks made of checks, and the union of them all."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from evalc.model.checks.declaration import Declared
from evalc.model.checks.grounded import GroundedCheck
from evalc.model.checks.json import JsonCheck
from evalc.model.checks.judged import Judge
from evalc.model.checks.limits import LimitCheck
from evalc.model.checks.packaged import Custom
from evalc.model.checks.texts import TextCheck
from evalc.model.checks.tools import ToolCheck


class At(Declared, frozen=True, kw_only=True, tag="at"):
    """A check of the response, made of one place of a JSON response."""

    begins: ClassVar = ("at PATH",)

    path: Annotated[str, Meta(description="The place, such as `items[0].title`.")]
    check: Annotated[Check, Meta(description="The check.")]


class InTurn(Declared, frozen=True, kw_only=True, tag="turn"):
    """A check of one turn of a conversation: of its answer and its calls."""

    begins: ClassVar = ("turn N",)

    turn: Annotated[int, Meta(ge=1, description="The number of the turn, from 1.")]
    check: Annotated[Check, Meta(description="The check.")]

    @property
    def named(self) -> str:
        return f"turn {self.turn}"


class AnyOf(Declared, frozen=True, kw_only=True, tag="any_of"):
    """At least one of the checks holds."""

    checks: Annotated[tuple[Check, ...], Meta(description="The checks.")]


class AllOf(Declared, frozen=True, kw_only=True, tag="all_of"):
    """All of the checks hold."""

    checks: Annotated[tuple[Check, ...], Meta(description="The checks.")]


class Not(Declared, frozen=True, kw_only=True, tag="not"):
    """The check does not hold."""

    begins: ClassVar = ("not",)

    check: Annotated[Check, Meta(description="The check.")]


Check = (
    TextCheck | JsonCheck | GroundedCheck | ToolCheck | LimitCheck | Custom | At | InTurn | AnyOf | AllOf | Not | Judge
)
"""Every check. Those without a field of `expect` are in this order in a compiled case."""
