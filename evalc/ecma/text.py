"""Trims white space as `String.prototype.trim` does, and measures texts: characters, words, lines, bytes, sentences."""

from __future__ import annotations

import re
from typing import Final, Literal

Unit = Literal["chars", "words", "lines", "bytes", "sentences"]

LINE_TERMINATORS: Final = "\n\r\u2028\u2029"

# ECMA-262 WhiteSpace and LineTerminator. Python's own notion differs: it has \x1c-\x1f and \x85, and lacks U+FEFF.
SPACES: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_WORD: Final = re.compile(f"[^{SPACES}]+")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def trim(text: str) -> str:
    """The text without ECMAScript's WhiteSpace and LineTerminator characters at both ends."""
    return text.strip(SPACES)


def class_name(text: str, path: str | None) -> str:
    """The class that a label or an answer names: at a path the text itself, else without surrounding white space.

    The check of a label and the count of classes both read it here, so that they agree.
    """
    return trim(text) if path is None else text


def length_of(text: str, unit: Unit) -> int:
    """Unicode code points, runs of what JavaScript takes for no white space, lines, bytes of UTF-8, or sentences.

    A line end that nothing follows begins no further line; an empty text has none.
    """
    match unit:
        case "chars":
            return len(text)
        case "words":
            return sum(1 for _ in _WORD.finditer(text))
        case "lines":
            ends = sum(1 for _ in _LINE_END.finditer(text))
            return ends if not text or text[-1] in "\r\n" else ends + 1
        case "bytes":
            return len(text.encode("utf-8", "surrogatepass"))
        case "sentences":
            from evalc.ecma.sentences import sentences  # noqa: PLC0415 - for start-up: few suites count them

            return sum(1 for _ in sentences(text))
