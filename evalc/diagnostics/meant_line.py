"""Says what to write in place of something that is not a check."""

from __future__ import annotations

from typing import final

import msgspec


@final
class MeantLine(msgspec.Struct, frozen=True, kw_only=True):
    """What the item of a list was probably meant as.

    Attributes:
        items: the items that may be meant, as they are written in YAML: `- contains "hi"`.
        is_sure: whether the first is meant, and nothing else can be.
        start: the start of the item to be replaced, without its dash.
        end: where it ends.
    """

    items: tuple[str, ...]
    is_sure: bool
    start: int
    end: int

    def help(self) -> str:
        """As a piece of advice."""
        *others, last = [f"`{item}`" for item in self.items]
        return f"write it as {', '.join(others)} or {last}" if others else f"write it as {last}"
