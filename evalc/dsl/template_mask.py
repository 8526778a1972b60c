"""From YAML text with templates to text of the same length in which no template disturbs YAML's syntax, and back.

To YAML `rule: {{seed:x}}` is a mapping inside a mapping and `{{#if x}}` begins a comment. The brackets and what else
has a meaning to YAML inside `{{...}}` are therefore exchanged for private-use characters while a text is parsed.
Plain scalars which YAML would not have read as they are meant are then known, whole and in place.
"""

from __future__ import annotations

import re
from typing import Final, final

# No quote: in `["{{", "}}"]` the quotes are YAML's.
_TEMPLATE: Final = re.compile(r"\{\{[^{}\r\n\"']*\}\}")
_MEANINGFUL: Final = "{}[]:#,"
_LOST_IN_BLOCK: Final = re.compile(r":(?:\s|$)|\s#")
_LOST_IN_FLOW: Final = re.compile(r"[{}\[\],]|:(?:\s|$)|\s#")


@final
class Mask:
    """A text whose templates are masked. Mask and unmask are one to one: the private characters do not occur in it."""

    def __init__(self, text: str, first_private: int) -> None:
        private = [chr(first_private + index) for index in range(len(_MEANINGFUL))]
        self._to_private = str.maketrans(dict(zip(_MEANINGFUL, private, strict=True)))
        self._from_private = str.maketrans(dict(zip(private, _MEANINGFUL, strict=True)))
        self._brace = private[0]
        self._any_private = re.compile(f"[{private[0]}-{private[-1]}]")
        self.masked: Final = _TEMPLATE.sub(lambda match: match[0].translate(self._to_private), text)

    @classmethod
    def of(cls, text: str) -> Mask | None:
        """The mask of a text, None when it holds no template."""
        if _TEMPLATE.search(text) is None:
            return None
        used = {ord(character) for character in set(text)}
        size = len(_MEANINGFUL)
        planes = (range(0xE000, 0xF8FF - size, size), range(0xF0000, 0x10FFFD - size, size))
        for plane in planes:
            for first in plane:
                if used.isdisjoint(range(first, first + size)):
                    return cls(text, first)
        return None  # a text that uses every private character there is reads as YAML reads it

    def unmasked(self, text: str) -> str:
        """The text as it was written."""
        return text if text.isascii() else text.translate(self._from_private)

    def spoils(self, text: str, *, flow: bool) -> bool:
        """Whether YAML would have read a plain scalar otherwise without the mask: it must be quoted."""
        if text.isascii() or self._any_private.search(text) is None:
            return False
        lost = _LOST_IN_FLOW if flow else _LOST_IN_BLOCK
        return text.startswith(self._brace) or lost.search(self.unmasked(text)) is not None
