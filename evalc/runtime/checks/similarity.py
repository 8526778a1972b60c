"""Measures how similar two texts are: by edit distance or, if configured, by meaning.

By edit distance it is 1 - d / n, with d the least number of characters to insert, delete or replace (Levenshtein) and n
the length of the longer text, both in Unicode's composed form (NFC), so that `\u00e9` is one character however it is
written. Case, spaces and punctuation count.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from typing import Final

from evalc.ecma.tokens import Unresolved, resolve
from evalc.model import checks as c
from evalc.runtime.checks.embedding import Embeddings
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed, skipped
from evalc.runtime.checks.wording import number, quoted

MOST_STEPS: Final = 2_500_000_000
"""The product of the lengths from which on texts are not compared: about half a second of work."""

_UNSAFE_RUN: Final = re.compile(rb"[^\0]{31}")
"""Combining marks in a row, by their classes: one more than text ever needs (Unicode, Stream-Safe Text Format).
Composing takes time quadratic in the length of a run."""


async def similar(check: c.Similar, evidence: Evidence) -> Verdict:
    """Whether the response is similar enough; a text too long to be compared is an error."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if evidence.embeddings is not None:
        return await _similar_in_meaning(check, value, evidence.response, evidence.embeddings)
    text, response = _composed(value), _composed(evidence.response)
    if text is None or response is None:
        return broken("cannot compare a text with more than 30 combining marks in a row")
    expected = _expected(check, value)
    shorter, longer = sorted((len(text), len(response)))
    if _share(shorter, longer) < check.threshold:
        return failed(f"{expected} but their lengths differ too much, {len(text)} and {len(response)} characters")
    if text != response and shorter * longer > MOST_STEPS:
        return broken(f"the texts are too long to compare, {len(text)} and {len(response)} characters")
    return _verdict(similarity(text, response), check, expected, evidence.response)


async def _similar_in_meaning(check: c.Similar, value: str, response: str, embeddings: Embeddings) -> Verdict:
    """Outside the event loop, since a model takes some hundredths of a second."""
    found = await asyncio.to_thread(embeddings.similarity, value, response)
    return _verdict(found, check, f"{_expected(check, value)} in meaning", response)


def _expected(check: c.Similar, value: str) -> str:
    return f"expected response to be at least {number(check.threshold)} similar to {quoted(value)}"


def _verdict(found: float, check: c.Similar, expected: str, response: str) -> Verdict:
    if found >= check.threshold:
        return PASSED
    return failed(f"{expected} but it is {number(int(found * 10_000) / 10_000)}: {quoted(response)}")


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
