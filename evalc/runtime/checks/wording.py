"""Shortens hostile text to one printable line for messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHOWN: Final = 120
"""The characters of a text that a message shows."""


def shown(text: str, limit: int = SHOWN) -> str:
    """The text, shortened, without line ends and control characters."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return text if text.isprintable() else "".join(map(_escaped, text))


def quoted(text: str) -> str:
    """The text as `shown`, in the contract's single quotes."""
    return f"'{shown(text)}'"


def listed(texts: Iterable[str]) -> str:
    """Texts as a list: `'a', 'b'`, shortened as a whole."""
    return shown(", ".join(f"'{text}'" for text in texts))


def bracketed(names: Iterable[str]) -> str:
    """Names of tools as a list: `[a, b]`, shortened as a whole."""
    return f"[{shown(', '.join(names))}]"


def number(value: float) -> str:
    """A number without needless digits: 2000, 2.5, 0.02."""
    return f"{value:.15g}"


def so_often(count: int) -> str:
    """How often: `once`, `3 times`."""
    return "once" if count == 1 else f"{count} times"


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()
