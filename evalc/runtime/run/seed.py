"""Loads the seed manifest, the data of `{{seed:path}}` tokens (contract, 3. Seed Manifest)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalc.errors import UsageError
from evalc.runtime.store.json_file import load_json


def load_seed(path: Path) -> dict[str, Any]:
    """Read the manifest.

    Raises:
        UsageError: it cannot be read, is not JSON or no object.
    """
    seed = load_json(path, "seed manifest")
    if not isinstance(seed, dict):
        raise UsageError(f"{path}:1:1: the seed manifest is not a JSON object")
    return seed
