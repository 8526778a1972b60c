"""Results without ids, times and durations, which differ in every run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_OWN = ("runId", "timestamp", "durationMs", "totalDurationMs")


def steady(value: Any) -> Any:
    if isinstance(value, list):
        return [steady(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: None if name in _OWN else steady(item) for name, item in value.items()}


def steady_results(folder: str | Path) -> dict[str, Any]:
    """The results in the newest run of a folder, by their files' names."""
    *_, run = sorted(Path(folder).glob("*/"))
    return {file.name: steady(json.loads(file.read_bytes())) for file in sorted(run.glob("*.json"))}
