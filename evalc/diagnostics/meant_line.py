"""Says what to write in place of something that is not a check."""

from __future__ import annotations

from typing import final

import msgspec


@final
class MeantLine(msgspec.Struct, frozen=True, kw_only=True):
    """What the item of a list was probably meant as.

    Attributes:
        item: the item as it is written in YAML: `- contains "hi"`.
        is_sure: whether it only lacked quotes or brackets.
        start: the start of the item to be replaced, without its dash.
        end: where it ends.
    """

    item: str
    is_sure: bool
    start: int
    end: int

    def __str__(self) -> str:
        return f"write it as `{self.item}`"
