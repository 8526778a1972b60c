"""The Parquet report: a row for each case and attempt, with typed columns."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import UNSET

from evalc.model.result import PASSING, CaseResult
from evalc.report import ReportedRun
from evalc.report.formats import cells_of

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
        ("expected", _TEXT),
        ("predicted", _TEXT),
        ("row_file", _TEXT),
        ("row_line", pa.int32()),
        ("transcript", _TEXT),
    ]
)
"""The columns in their order; new ones are added at the end."""

_ROWS_AT_ONCE: Final = 5_000


def render(run: ReportedRun) -> Iterator[bytes]:
    """The file, a piece for every few thousand rows; cases that were not run have no `attempt`."""
    sink = _Pieces()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), SCHEMA, compression="zstd") as writer:
        rows = _rows(run)
        while len(some := list(islice(rows, _ROWS_AT_ONCE))) == _ROWS_AT_ONCE:
            writer.write_table(pa.Table.from_pylist(some, SCHEMA))
            yield sink.take()
        writer.write_table(pa.Table.from_pylist(some, SCHEMA))
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
        of_run = {"run_id": result.run_id, "timestamp": _time(result.timestamp)}
        for case in suite.cases:
            yield from (of_run | cells_of(result, case) | row for row in _attempts(case))
        for skipped in suite.skipped:
            yield of_run | cells_of(result, skipped)


def _time(text: str) -> datetime | None:
    """The time that a result says; None where another program has written something else."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else None


def _attempts(case: CaseResult) -> Iterator[_Row]:
    """The cells of a case, or of each attempt at a repeated case, which are known of it alone."""
    shared = {"tags": list(case.tags or ())}
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
    usage = case.details.usage or {}
    yield shared | {
        "attempt": 1,
        "passed": case.passed,
        "criteria": [{"name": each.name, "weight": each.weight, "score": each.score} for each in case.criteria],
        "tools_called": list(case.details.tools_called),
        "input_tokens": _whole(usage.get("inputTokens")),
        "output_tokens": _whole(usage.get("outputTokens")),
        "cost_usd": usage.get("costUsd"),
    }


def _whole(amount: float | None) -> int | None:
    return None if amount is None else round(amount)
