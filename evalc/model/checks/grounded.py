"""Checks of where what the response says comes from."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from evalc.model.checks.declaration import Declared

Source = Literal["tools", "message"]


class _GroundedCheck(Declared, frozen=True, kw_only=True):
    of_response: ClassVar = True
    of_calls: ClassVar = True
    examples: ClassVar = ("tools", ["tools", "message"])

    sources: Annotated[tuple[Source, ...], Meta(description="Where it comes from: `tools`, `message`, or both.")] = (
        "tools",
    )

    @property
    def needs_calls(self) -> bool:
        return "tools" in self.sources


class NumbersFrom(_GroundedCheck, frozen=True, kw_only=True, tag="numbers_from"):
    """Every number in the response occurs in a source: a result of a tool, or the message that was sent.

    A number may be rounded to the digits that the response has: 16.62 is the source of 17, 16.6 and 16.62.
    """

    begins: ClassVar = ("numbers from",)


class QuotesFrom(_GroundedCheck, frozen=True, kw_only=True, tag="quotes_from"):
    """Every text that the response has in double quotes occurs in a source: a result of a tool, or the message."""

    begins: ClassVar = ("quotes from",)


GroundedCheck = NumbersFrom | QuotesFrom
