"""Masks what would disturb a YAML parser, such as templates, by text of the same length.

To YAML `rule: {{seed:x}}` is a mapping inside a mapping and `{{#if x}}` begins a comment. The brackets and what else
has a meaning to YAML inside `{{...}}` are therefore exchanged for private-use characters while a text is parsed.
Plain scalars which YAML would not have read as they are meant are then known, whole and in place.

So is the backslash of an escape for half of a character, `\\ud83d`: JSON writes one character as two of them, which
parsers of YAML refuse, though JSON is YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, final

from evalc.base.source import Span

# No quote: in `["{{", "}}"]` the quotes are YAML's.
_TEMPLATE: Final = re.compile(r"\{\{[^{}\r\n\"']*\}\}")
_HALF: Final = r"(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|U0000[dD][89a-fA-F][0-9a-fA-F]{2})"
_HIGH: Final = "([dD][89abAB][0-9a-fA-F]{2})"
_LOW: Final = "([dD][c-fC-F][0-9a-fA-F]{2})"
_ANY_HALF: Final = re.compile(rf"\\{_HALF}")
_ESCAPE: Final = re.compile(rf"\\(?:(?P<half>{_HALF})|[\s\S])")
_CODE_POINT: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_MEANINGFUL: Final = "{}[]:#,"
_MASKED: Final = _MEANINGFUL + "!>|@`%*&\"'\r\n" + "\\"
_LOST_IN_BLOCK: Final = re.compile(r":(?:\s|$)|\s#")
_LOST_IN_FLOW: Final = re.compile(r"[{}\[\],]|:(?:\s|$)|\s#")


@final
class Mask:
    """A text whose templates are masked. Mask and unmask are one to one: the private characters do not occur in it."""

    def __init__(self, text: str, first_private: int) -> None:
        private = [chr(first_private + index) for index in range(len(_MASKED))]
        self._to_private = dict(zip(_MASKED, private, strict=True))
        to_private = str.maketrans({character: self._to_private[character] for character in _MEANINGFUL})
        self._from_private = str.maketrans(dict(zip(private, _MASKED, strict=True)))
        self._brace, backslash = private[0], private[-1]
        self._any_private = re.compile(f"[{self._brace}-{backslash}]")
        pair = f"{backslash}u{_HIGH}{backslash}u{_LOW}"
        self._pair_or_half = re.compile(f"{pair}|(?P<half>{backslash}{_HALF})")
        masked = _TEMPLATE.sub(lambda match: match[0].translate(to_private), text)
        if _ANY_HALF.search(text) is not None:
            masked = _ESCAPE.sub(lambda match: backslash + match["half"] if match["half"] else match[0], masked)
        self.masked = masked

    @classmethod
    def of(cls, text: str, *, always: bool = False) -> Mask | None:
        """The mask of a text, None if it holds nothing to mask, unless it is asked for `always`."""
        if not always and _TEMPLATE.search(text) is None and _ANY_HALF.search(text) is None:
            return None
        used = {ord(character) for character in set(text)}
        used |= {int(short or long, 16) for short, long in _CODE_POINT.findall(text)}
        size = len(_MASKED)
        planes = (range(0xE000, 0xF8FF - size, size), range(0xF0000, 0x10FFFD - size, size))
        for plane in planes:
            for first in plane:
                if used.isdisjoint(range(first, first + size)):
                    return cls(text, first)
        return None  # a text that uses every private character there is reads as YAML reads it

    def hide(self, start: int, end: int) -> bool:
        """Mask what has a meaning to YAML in a stretch that is not a template; False if nothing has."""
        private = "".join(self._to_private.get(character, character) for character in self.masked[start:end])
        hidden = self.masked[:start] + private + self.masked[end:]
        changed = hidden != self.masked
        self.masked = hidden
        return changed

    def blank(self, start: int, end: int) -> None:
        """Leave nothing of a stretch but its line breaks."""
        self.masked = self.masked[:start] + re.sub(r"[^\r\n]", " ", self.masked[start:end]) + self.masked[end:]

    def unmasked(self, text: str) -> str:
        """The text as it was written."""
        return text if text.isascii() else text.translate(self._from_private)

    def unescaped(self, text: str) -> str:
        """The text in double quotes as it was meant: of two halves of a character that character, of one U+FFFD."""
        return self.unmasked(self._pair_or_half.sub(_character, text))

    def halves(self, start: int, end: int) -> Iterator[Span]:
        """Where a stretch holds an escape for half of a character without the other half."""
        for match in self._pair_or_half.finditer(self.masked, start, end):
            if match["half"]:
                yield Span(*match.span())

    def spoils(self, text: str, *, flow: bool) -> bool:
        """Whether YAML would have read a plain scalar otherwise without the mask: it must be quoted."""
        if text.isascii() or self._any_private.search(text) is None:
            return False
        lost = _LOST_IN_FLOW if flow else _LOST_IN_BLOCK
        return text.startswith(self._brace) or lost.search(self.unmasked(text)) is not None


def _character(escaped: re.Match[str]) -> str:
    if escaped["half"]:
        return "\ufffd"
    return bytes.fromhex(escaped[1] + escaped[2]).decode("utf-16-be")
