"""The Parquet report: a row for each case and attempt, with typed columns."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import UNSET

from evalc.model.result import PASSING, CaseResult
from evalc.model.suite import key_of
from evalc.report.reported import ReportedRun
from evalc.report.words import main_reason, place_of

_Row = dict[str, Any]

_TEXT: Final = pa.string()
_NUMBER: Final = pa.float64()
_CRITERION: Final = pa.struct([("name", _TEXT), ("weight", _NUMBER), ("score", _NUMBER)])

SCHEMA: Final = pa.schema(
    [
        ("run_id", _TEXT),
        ("timestamp", pa.timestamp("ms", tz="UTC")),
        ("suite", _TEXT),
        ("tier", _TEXT),
        ("agent", _TEXT),
        ("case", _TEXT),
        ("variant", _TEXT),
        ("attempt", pa.int32()),
        ("status", _TEXT),
        ("passed", pa.bool_()),
        ("score", _NUMBER),
        ("duration_ms", _NUMBER),
        ("reason", _TEXT),
        ("description", _TEXT),
        ("file", _TEXT),
        ("line", pa.int32()),
        ("column", pa.int32()),
        ("tags", pa.list_(_TEXT)),
        ("criteria", pa.list_(_CRITERION)),
        ("tools_called", pa.list_(_TEXT)),
        ("message", _TEXT),
        ("response", _TEXT),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("cost_usd", _NUMBER),
        ("not_attempted", pa.int32()),
        ("tool", _TEXT),
    ]
)
"""The columns in their order; new ones are added at the end."""

_ROWS_AT_ONCE: Final = 5_000


def render(run: ReportedRun) -> Iterator[bytes]:
    """The file, a piece for every few thousand rows; cases that were not run have no `attempt`."""
    sink = _Pieces()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), SCHEMA, compression="zstd") as writer:
        rows: list[_Row] = []
        for row in _rows(run):
            rows.append(row)
            if len(rows) == _ROWS_AT_ONCE:
                writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
                rows.clear()
                yield sink.take()
        writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    yield sink.take()


@final
class _Pieces(io.RawIOBase):
    """Bytes that were written and not yet taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        """The bytes that were written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def _rows(run: ReportedRun) -> Iterator[_Row]:
    for suite in run.suites:
        result = suite.result
        of_suite = {
            "run_id": result.run_id,
            "timestamp": _time(result.timestamp),
            "suite": key_of(result).name,
            "tool": result.tool_name,
            "tier": result.tier,
            "agent": result.agent_endpoint,
        }
        for case in suite.cases:
            yield from (of_suite | row for row in _attempts(case))
        for skipped in suite.skipped:
            reason = f"archived: {skipped.reason}" if skipped.archived else skipped.reason
            not_run = {"case": skipped.id, "status": "skipped", "reason": reason, "description": skipped.description}
            yield of_suite | not_run


def _time(text: str) -> datetime | None:
    """The time that a result says; None where another program has written something else."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else None


def _attempts(case: CaseResult) -> Iterator[_Row]:
    """The row of a case, or of each attempt at a repeated case: what is known of it alone, over what all share."""
    place = place_of(case)
    shared = {
        "case": case.id,
        "variant": case.variant or None,
        "description": case.description,
        "file": None if place is None else place.file,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "tags": list(case.tags or ()),
        "message": case.details.message or None,
        "not_attempted": case.not_attempted or None,
    }
    if case.attempts is not UNSET and case.attempts:
        for number, attempt in enumerate(case.attempts, start=1):
            yield shared | {
                "attempt": number,
                "status": attempt.status,
                "passed": attempt.status in PASSING,
                "score": attempt.score,
                "duration_ms": attempt.duration_ms,
                "reason": attempt.error or None,
                "response": attempt.response,
            }
        return
    usage, reason = case.details.usage or {}, main_reason(case)
    yield shared | {
        "attempt": 1,
        "status": case.status,
        "passed": case.passed,
        "score": case.score,
        "duration_ms": case.duration_ms,
        "reason": None if reason is None else reason.in_short(),
        "criteria": [{"name": each.name, "weight": each.weight, "score": each.score} for each in case.criteria],
        "tools_called": list(case.details.tools_called),
        "response": case.details.response,
        "input_tokens": _whole(usage.get("inputTokens")),
        "output_tokens": _whole(usage.get("outputTokens")),
        "cost_usd": usage.get("costUsd"),
    }


def _whole(amount: float | None) -> int | None:
    return None if amount is None else round(amount)
