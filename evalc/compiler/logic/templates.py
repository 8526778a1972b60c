"""Replaces the tokens of a text by characters that no text contains, and splits it at them again.

Two equal tokens are equal runs, so `in`, `startswith` and `==` hold of the encoded texts only where they hold of the
resolved ones, whatever the tokens are worth. That they do *not* hold says something of texts without tokens alone.
"""

from __future__ import annotations

import re
from typing import Final

from evalc.ecma.tokens import find_tokens

_OPEN, _CLOSE, _BYTE = 0x10FE00, 0x10FE01, 0x10FF00  # the end of the last private use area
_MARK: Final = chr(_OPEN)
_RUN: Final = re.compile(f"{_MARK}[^{chr(_CLOSE)}]*{chr(_CLOSE)}")


def encode(text: str) -> str:
    """The text, with a run of private characters for each token."""
    if "{{" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for token in find_tokens(text):
        name = f"{token.source}:{token.path}".encode("utf-8", "surrogatepass")
        run = "".join(chr(_BYTE + byte) for byte in name)
        pieces += (text[at : token.start], _MARK, run, chr(_CLOSE))
        at = token.end
    return "".join(pieces) + text[at:]


def is_fixed(encoded: str) -> bool:
    """Whether the text has no tokens."""
    return _MARK not in encoded


def beginning(encoded: str) -> str:
    """The text before the first token."""
    return encoded.partition(_MARK)[0]


def pieces(encoded: str) -> list[str]:
    """The texts between the tokens."""
    return _RUN.split(encoded)


def without_tokens(encoded: str) -> str:
    """The text as it is where every token is empty."""
    return encoded if is_fixed(encoded) else _RUN.sub("", encoded)
