"""From a snapshot of live data to what `{{snapshot:path}}` tokens name (contract, 4. Snapshot Data)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalc.errors import UsageError
from evalc.runtime.store.json_file import load_json, parse_json


def load_snapshot(path: Path) -> dict[str, Any]:
    """Read a snapshot from a file.

    Raises:
        UsageError: it cannot be read, is not JSON or no object.
    """
    return _an_object(load_json(path, "snapshot"), str(path))


def parse_snapshot(data: bytes, origin: str) -> dict[str, Any]:
    """Read a snapshot that was captured elsewhere; `origin` is where, for messages.

    Raises:
        UsageError: it is not JSON or no object.
    """
    return _an_object(parse_json(data, "snapshot", origin), origin)


def _an_object(snapshot: Any, origin: str) -> dict[str, Any]:
    if not isinstance(snapshot, dict):
        raise UsageError(f"{origin}:1:1: the snapshot is not a JSON object")
    return snapshot
