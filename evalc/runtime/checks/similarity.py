"""Measures how similar two texts are: by edit distance or, if configured, by meaning.

By edit distance it is 1 - d / n, with d the least number of characters to insert, delete or replace (Levenshtein) and n
the length of the longer text, both in Unicode's composed form (NFC), so that `\u00e9` is one character however it is
written. Case, spaces and punctuation count.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Awaitable
from typing import Final

from evalc.check.tree import Test
from evalc.check.values import text_of
from evalc.runtime.checks.embedding import Embeddings
from evalc.runtime.checks.verdict import Found, View, broken
from evalc.runtime.checks.wording import number, quoted

MOST_STEPS: Final = 2_500_000_000
"""The product of the lengths from which on texts are not compared: about half a second of work."""

_UNSAFE_RUN: Final = re.compile(rb"[^\0]{31}")
"""Combining marks in a row, by their classes: one more than text ever needs (Unicode, Stream-Safe Text Format).
Composing takes time quadratic in the length of a run."""


def similar(test: Test, view: View) -> Found | Awaitable[Found]:
    """Whether the text is similar enough; one too long to be compared is an error."""
    value, threshold = test.operand
    response = text_of(view.text)
    what = "it" if view.name else "response"
    expected = f"expected {what} to be at least {number(threshold)} similar to {quoted(value)}"
    if view.evidence.embeddings is not None:
        return _similar_in_meaning(view.evidence.embeddings, value, response, threshold, expected)
    one, other = _composed(value), _composed(response)
    if one is None or other is None:
        return broken("cannot compare a text with more than 30 combining marks in a row")
    shorter, longer = sorted((len(one), len(other)))
    if _share(shorter, longer) < threshold:
        return f"{expected} but their lengths differ too much, {len(one)} and {len(other)} characters"
    if one != other and shorter * longer > MOST_STEPS:
        return broken(f"the texts are too long to compare, {len(one)} and {len(other)} characters")
    return _enough(similarity(one, other), threshold, expected, response)


async def _similar_in_meaning(model: Embeddings, value: str, response: str, threshold: float, expected: str) -> Found:
    """Outside the event loop, since a model takes some hundredths of a second."""
    found = await asyncio.to_thread(model.similarity, value, response)
    return _enough(found, threshold, f"{expected} in meaning", response)


def _enough(found: float, threshold: float, expected: str, response: str) -> Found:
    return found >= threshold or f"{expected} but it is {number(int(found * 10_000) / 10_000)}: {quoted(response)}"


def similarity(one: str, other: str) -> float:
    """1 for equal texts, 0 for texts that share nothing; takes time in proportion to the product of their lengths."""
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - 20 ms, for the few suites that compare

    longer = max(len(one), len(other))
    return _share(longer - Levenshtein.distance(one, other), longer)


def _share(part: int, whole: int) -> float:
    """A division of whole numbers, so that 8 of 10 is the 0.8 that an author writes, to the last bit."""
    return part / whole if whole else 1.0


def _composed(text: str) -> str | None:
    """The text in NFC; None where composing it could take long."""
    if text.isascii():
        return text
    if _UNSAFE_RUN.search(bytes(map(unicodedata.combining, text))):
        return None
    return unicodedata.normalize("NFC", text)
