"""A failed case of a table names its row and its message: in the console, in tables, in Markdown, in results."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.json import decode

from evalc.model.result import RunResult
from evalc.model.suite import Place
from tests.cli.conftest import Invoke

SUITE = """\
suite: tickets
eval:
  test_cases:
    - name: csv
      message: "{{text}}"
      for_each: {file: tickets.csv, key: id}
      validate: ['equals "{{class}}"']
    - name: jsonl
      message: "{{text}}"
      for_each: tickets.jsonl
      validate: ['equals "{{class}}"']
    - name: list
      message: "{{text}}"
      for_each:
        - {id: one, text: Hello, class: other}
        - {id: two, text: Stop, class: cancel}
      validate: ['equals "{{class}}"']
    - name: none
      id: none
      inputs: {text: Hello}
      message: "{{text}}"
      validate: ['equals "no"']
"""
ROWS = {
    "tickets/csv@b": ("evals/tickets.csv", 3, 'b,"Stop, please",cancel'),
    "tickets/jsonl@d": ("evals/tickets.jsonl", 2, '{"id": "d", "text": "Stop", "class": "cancel"}'),
    "tickets/list@two": ("evals/weather.eval.yaml", 16, "- {id: two, text: Stop, class: cancel}"),
    "none": ("", None, ""),
}


@pytest.fixture
def tickets(project: Path) -> Path:
    """A project with three tables, whose agent gives every ticket one class."""
    evals = project / "evals"
    (evals / "weather.eval.yaml").write_text(SUITE)
    (evals / "tickets.csv").write_text('id,text,class\na,Hello,other\nb,"Stop, please",cancel\n')
    rows = ("c", "Hello", "other"), ("d", "Stop", "cancel")
    lines = [f'{{"id": "{name}", "text": "{text}", "class": "{kind}"}}\n' for name, text, kind in rows]
    (evals / "tickets.jsonl").write_text("".join(lines))
    (project / f"{project.name}.py").write_text("def answer(message):\n    return 'other'\n")
    return project


def test_a_failed_case_of_a_table_names_its_row(tickets: Path, invoke: Invoke) -> None:
    for path in (tickets / "evals").iterdir():
        os.utime(path, (0, 0))  # lines of files that are newer than the run are not shown
    reports = ("-o", "out.csv", "-o", "out.parquet", "-o", "out.md", "-o", "out.json", "-o", "out.html")
    shown = invoke("run", "--agent", f"python:{tickets.name}.py:answer", *reports).out
    assert '      row evals/tickets.csv:3 | b,"Stop, please",cancel\n      message: Stop, please\n' in shown
    for file, line, text in ROWS.values():
        assert f"row {file}:{line} | {text}\n" in shown or line is None
    assert shown.count("      row ") == 3

    table = list(csv.DictReader(io.StringIO((tickets / "out.csv").read_bytes().decode(), newline="")))
    failed = {row["case"]: (row["row_file"], row["row_line"]) for row in table if row["status"] == "failed"}
    assert failed == {name: (file, str(line or "")) for name, (file, line, _) in ROWS.items()}
    columns = pq.read_table(tickets / "out.parquet").to_pylist()
    assert {row["case"]: row["row_line"] for row in columns if not row["passed"]} == {
        name: line for name, (_, line, _) in ROWS.items()
    }
    assert "\n  at evals/weather.eval.yaml:7:18\nrow evals/tickets.csv:3\n" in (tickets / "out.md").read_text()
    assert '"row":{"file":"evals/tickets.csv","line":3,"column":1}' in (tickets / "out.html").read_text()


def test_a_compiled_suite_knows_the_rows_by_its_map(tickets: Path, invoke: Invoke) -> None:
    assert invoke("compile", "evals", "-o", "compiled", "--source-map").code == 0
    (compiled,) = (tickets / "compiled").glob("*.labeled.json")
    invoke("run", str(compiled), "--agent", f"python:{tickets.name}.py:answer", "-o", "out.json")
    (suite,) = decode((tickets / "out.json").read_bytes(), type=RunResult).suites
    assert {case.id: case.row for case in suite.cases}["tickets/csv@b"] == Place(
        file="evals/tickets.csv", line=3, column=1
    )
