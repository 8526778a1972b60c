"""Makes any text safe to show: nothing in it is obeyed, hidden or reversed by the viewer."""

from __future__ import annotations

import re
from typing import Final

from evalc.base.terminal import shortened, visible

_LONGEST_LINE: Final = 400
_BETWEEN_BREAKS: Final = re.compile(r"[^\n\t]+")


def legible(text: str, longest: int) -> str:
    r"""The text with its lines and tabs, other controls written as escapes; what is longer is cut, and says so.

    Args:
        text: any text, lone surrogates included.
        longest: how many of its characters are kept.
    """
    kept = _BETWEEN_BREAKS.sub(lambda line: visible(line[0]), text[:longest].replace("\r\n", "\n"))
    return kept if len(text) <= longest else f"{kept}… ({longest} of {len(text)} characters)"


def in_short(text: str, ellipsis: str = "…") -> str:
    """The text on one line of at most 400 columns, with nothing in it that a terminal would obey."""
    return shortened(visible(text[: _LONGEST_LINE + 1]), _LONGEST_LINE, ellipsis)
