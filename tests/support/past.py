"""Result files of earlier runs, as small as a test wants them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

OLD = "01890000-0000-7000-8000-000000000000"
NEW = "01990000-0000-7000-8000-000000000000"


def result(
    *passed: bool, tool: str = "t", tier: str = "golden", run_id: str = OLD, cases: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """An EvalSuiteResult whose cases `c0`, `c1`, ... passed or not, or of the cases given."""
    named = [
        {"id": f"c{number}", "passed": each, "durationMs": 100} | ({} if each else {"error": "equals: no"})
        for number, each in enumerate(passed)
    ]
    every = [*named, *cases]
    count = sum(bool(case["passed"]) for case in every)
    return {
        "runId": run_id,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "toolName": tool,
        "tier": tier,
        "agentEndpoint": "demo",
        "cases": every,
        "summary": {"totalCases": len(every), "passed": count, "failed": len(every) - count},
    }


def scored(written: Mapping[str, Any], score: float, **criteria: float) -> dict[str, Any]:
    """The result with a score and criteria of weight 1 in its summary."""
    listed = [{"name": name, "weight": 1, "score": value} for name, value in criteria.items()]
    return {**written, "summary": {**written["summary"], "score": score, "criteria": listed}}


def save(
    output_dir: Path, written: Mapping[str, Any] | str, *, run: str | None = None, name: str | None = None
) -> Path:
    """Write the result where a run would."""
    if isinstance(written, str):
        assert run is not None
        folder, file, text = output_dir / run, name or "torn.json", written
    else:
        folder = output_dir / (run or written["runId"])
        file, text = name or f"{written['toolName']}.{written['tier']}.json", json.dumps(written)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text)
    return folder / file
