"""Texts that were seen, a few bytes each, so that very many can be distinguished in little memory."""

from __future__ import annotations

from array import array
from typing import Final, final

_FIRST_SIZE: Final = 1 << 10
_BITS: Final = (1 << 64) - 1


def composed(text: str) -> str:
    """A text in the form that all texts have which look like it: `é` is one character, or `e` with an accent.

    Which of them a file holds depends on the system that it was written on, and nobody sees it.
    """
    if text.isascii():
        return text
    import unicodedata  # noqa: PLC0415 - for start-up: most ids are ASCII

    return unicodedata.normalize("NFC", text)


@final
class Fingerprints:
    """The 64-bit hashes of composed texts, each with a number, in a hash table of two arrays: at most 24 bytes each."""

    __slots__ = ("_count", "_hashes", "_mask", "_numbers")

    def __init__(self) -> None:
        self._count = 0
        self._mask = _FIRST_SIZE - 1
        self._hashes = array("Q", bytes(8 * _FIRST_SIZE))
        self._numbers = array("I", bytes(4 * _FIRST_SIZE))

    def add(self, text: str, number: int = 0) -> int | None:
        """Note a text that is new, with its number, below 2^32; for a text that was seen before, return its number."""
        hashed = (hash(text if text.isascii() else composed(text)) & _BITS) or 1  # 0 means an empty place
        at = self._place_of(hashed)
        if self._hashes[at]:
            return self._numbers[at]
        self._hashes[at] = hashed
        self._numbers[at] = number
        self._count += 1
        if self._count > self._mask * 2 // 3:
            self._grow()
        return None

    def _place_of(self, hashed: int) -> int:
        hashes, mask = self._hashes, self._mask
        at = hashed & mask
        while hashes[at] and hashes[at] != hashed:
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        hashes, numbers = self._hashes, self._numbers
        self._mask = 2 * self._mask + 1
        self._hashes = array("Q", bytes(8 * (self._mask + 1)))
        self._numbers = array("I", bytes(4 * (self._mask + 1)))
        for hashed, number in zip(hashes, numbers, strict=True):
            if hashed:
                at = self._place_of(hashed)
                self._hashes[at], self._numbers[at] = hashed, number
