"""A run as a Parquet file, and results as DuckDB reads them."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.extras import parquet
from evalc.model.result import CaseResult, SkippedCase, SuiteResult
from evalc.report import ReportedRun, ReportedSuite
from evalc.runtime.run.finish import summarize_run
from tests.cli.conftest import Invoke, invoke, project
from tests.report.results import case, suite

__all__ = ["invoke", "project"]

SCALE = Path(__file__).parents[2] / "docs" / "scale.md"


def read(*suites: SuiteResult) -> list[dict[str, Any]]:
    run = ReportedRun(
        run_id="run-1",
        folder="",
        suites=tuple(map(ReportedSuite.of, suites)),
        summary=summarize_run(suites),
        root=Path.cwd(),
    )
    table = pq.read_table(io.BytesIO(b"".join(parquet.render(run))))
    assert table.schema.equals(parquet.SCHEMA)
    return list(table.to_pylist())


def queried(query: str) -> list[tuple[Any, ...]]:
    found = duckdb.sql(query)
    assert found is not None
    return found.fetchall()


def test_a_row_a_case_and_attempt() -> None:
    skipped = SkippedCase(id="later", description="d", reason="not yet", archived=False)
    repeated = case("again", status="failed", error="repeat: 1 of 2", attempts=("passed", "failed"))
    rows = read(suite(case("once", duration=12.5), repeated, skipped=(skipped,)))
    cells = [(row["case"], row["attempt"], row["status"], row["passed"], row["duration_ms"]) for row in rows]
    assert cells == [
        ("once", 1, "passed", True, 12.5),
        ("again", 1, "passed", True, 50.0),
        ("again", 2, "failed", False, 50.0),
        ("later", None, "skipped", None, None),
    ]
    assert {(row["suite"], row["tier"], row["agent"], row["run_id"]) for row in rows} == {
        ("get_weather", "golden", "demo", "run-1")
    }
    assert rows[0]["timestamp"].isoformat() == "2026-01-01T00:00:00+00:00"
    assert rows[-1]["reason"] == "not yet"


def test_usage_and_scores_are_columns() -> None:
    details = msgspec.structs.replace(
        case("a").details, usage={"inputTokens": 3, "costUsd": 0.25}, tools_called=("t", "u"), response="x\ny"
    )
    (row,) = read(suite(msgspec.structs.replace(case("a"), details=details, tags=("slow",))))
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (3, None, 0.25)
    assert (row["tools_called"], row["tags"], row["response"]) == (["t", "u"], ["slow"], "x\ny")


@settings(deadline=None)
@given(st.lists(st.text(), max_size=5), st.text(), st.text())
def test_every_text_comes_back(responses: list[str], timestamp: str, agent: str) -> None:
    def answered(number: int, response: str) -> CaseResult:
        made = case(f"c{number}")
        return msgspec.structs.replace(made, details=msgspec.structs.replace(made.details, response=response))

    made = suite(*(answered(number, response) for number, response in enumerate(responses)))
    rows = read(msgspec.structs.replace(made, timestamp=timestamp, agent_endpoint=agent))
    assert [(row["response"], row["agent"]) for row in rows] == [(response, agent) for response in responses]


def test_many_rows_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROWS_AT_ONCE", 3)
    assert [row["case"] for row in read(suite(*(case(f"c{n}") for n in range(10))))] == [f"c{n}" for n in range(10)]
    assert read(suite()) == []


def test_duckdb_reads_it(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo", "-o", "runs.parquet").code == 0
    assert queried("SELECT suite, status, count(*) FROM 'runs.parquet' GROUP BY ALL") == [("weather", "passed", 1)]
    assert invoke("report", "-o", "parquet:again.parquet").code == 0
    assert pq.read_table("again.parquet").equals(pq.read_table("runs.parquet"))


def test_the_queries_of_the_docs_run_on_results(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo").code == 0
    queries = re.findall(r"^```sql\n(.*?)^```$", SCALE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(queries) == 3
    by_status, unsteady, by_criterion = [query.strip().rstrip(";") for query in queries]
    assert [row[:3] for row in queried(by_status)] == [("weather", "passed", 1)]
    assert queried(unsteady) == []
    # Without the time, which DuckDB gives to Python by a package of its own.
    assert queried(f"SELECT * EXCLUDE timestamp FROM ({by_criterion})") == [("weather", "clarity", 1.0)]
