"""The journal: one line per case, whatever an agent sent and whatever the disk does."""

from __future__ import annotations

import datetime
import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalc.base.errors import UsageError
from evalc.model.result import CaseDetails, CaseResult, SkippedCase
from evalc.runtime.checks import Note
from evalc.runtime.store.journal import CaseRun, Header, Journal, JournaledSuite
from evalc.runtime.store.redact import NO_SECRETS


def journal(folder: Path, *sizes: int, redactor: Any = NO_SECRETS) -> Journal:
    suites = tuple(
        JournaledSuite(tool_name=f"t{number}", tier="golden", file_hash="h", origin="o", cases=size)
        for number, size in enumerate(sizes)
    )
    header = Header(run_id="r", timestamp="t", agent_endpoint="https://secret-host/", options={}, suites=suites)
    return Journal(folder / "journal.jsonl", header, redactor)


def result(name: str, response: Any = "a", calls: tuple[Any, ...] = (), duration_ms: float = 1.0) -> CaseResult:
    return CaseResult(
        id=name,
        description="d",
        passed=True,
        status="passed",
        duration_ms=duration_ms,
        assertions_run=1,
        assertions_skipped=0,
        score=None,
        details=CaseDetails(response=response, tool_calls=calls),
    )


def ids(journal: Journal, suite: int) -> list[str]:
    return [msgspec.json.decode(entry.result, type=CaseResult).id for entry in journal.cases.entries(suite)]


def test_entries_come_in_source_order_whatever_was_written_first(tmp_path: Path) -> None:
    written = journal(tmp_path, 3, 2)
    for suite, case in ((1, 1), (0, 2), (0, 0), (1, 0)):
        written.append(suite, case, CaseRun(result(f"{suite}-{case}"), (Note("f", "e"),), 0.5))
    assert ids(written, 0) == ["0-0", "0-2"]
    assert ids(written, 1) == ["1-0", "1-1"]
    entry = next(iter(written.cases.entries(1)))
    assert (entry.suite, entry.case, entry.notes, entry.cost_usd) == (1, 0, (Note("f", "e"),), 0.5)
    written.close()
    assert ids(written, 0) == ["0-0", "0-2"]


def test_more_cases_than_were_announced_are_kept(tmp_path: Path) -> None:
    written = journal(tmp_path, 1)
    written.append(0, 3, CaseRun(result("x")))
    assert ids(written, 0) == ["x"]


def test_skipped_cases_have_lines_and_are_no_entries(tmp_path: Path) -> None:
    written = journal(tmp_path, 3, 2)
    first, last = (SkippedCase(id=name, description="d", reason="r", archived=False) for name in "ac")
    assert written.skip(0, 0, first) == first
    written.append(0, 1, CaseRun(result("b")))
    written.skip(0, 2, last)
    assert (ids(written, 0), ids(written, 1)) == (["b"], [])
    assert list(written.cases.skipped(0)) == [first, last]
    assert [written.cases.count_skipped(suite) for suite in (0, 1)] == [2, 0]
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert lines[3] == {
        "suite": 0, "case": 2, "skipped": {"id": "c", "description": "d", "reason": "r", "archived": False},
    }  # fmt: skip


def test_the_header_says_what_was_run(tmp_path: Path) -> None:
    journal(tmp_path, 3)
    header = json.loads((tmp_path / "journal.jsonl").read_text())
    assert header["journal"] == 1
    assert header["suites"] == [{"toolName": "t0", "tier": "golden", "fileHash": "h", "origin": "o", "cases": 3}]


def test_a_journal_is_never_overwritten(tmp_path: Path) -> None:
    journal(tmp_path, 1)
    with pytest.raises(UsageError, match="cannot be created"):
        journal(tmp_path, 1)


class Careless:
    """Cannot be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Kind(str):
    """A text of another type."""

    __slots__ = ()


def test_a_kind_of_text_is_written_as_a_text(tmp_path: Path) -> None:
    written = journal(tmp_path, 1)
    written.append(0, 0, CaseRun(result("x", calls=({"params": {"p": Kind("v")}},))))
    (entry,) = written.cases.entries(0)
    assert json.loads(bytes(entry.result))["details"]["toolCalls"][0]["params"] == {"p": "v"}


def cycle() -> dict[str, Any]:
    params: dict[str, Any] = {}
    params["self"] = params
    return {"params": params}


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (result("x", "half \ud800 pair"), "passed"),
        (result("x", "a", ({"params": {"when": datetime.date(2026, 1, 1), "what": {1, 2}}},)), "passed"),
        (result("x", "a", ({"params": {"what": object(), "nan": float("nan"), "big": 10**400}},)), "passed"),
        (result("x", "a", ({"params": {"\udfff": b"\xff"}},)), "passed"),
        (result("x", "a", (cycle(),)), "error"),
        (result("x\ud800", "a", ({"params": Careless()},)), "error"),
    ],
)
def test_values_that_json_cannot_hold_do_not_lose_the_case(tmp_path: Path, value: CaseResult, status: str) -> None:
    written = journal(tmp_path, 1)
    kept = written.append(0, 0, CaseRun(value))
    assert kept.status == status
    (entry,) = written.cases.entries(0)
    read = msgspec.json.decode(entry.result, type=CaseResult)
    assert (read.status, read.passed) == (status, status == "passed")
    if status == "error":
        assert str(read.error).startswith("agent: its answer cannot be written as JSON")
    elif "\ud800" in str(value.details.response):
        assert read.details.response == "half \ufffd pair"


class Strike:
    """Strikes one text out."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def redact(self, text: str) -> str:
        return text.replace(self.secret, "[redacted]")

    def redact_bytes(self, data: bytes) -> bytes:
        return data.replace(self.secret.encode(), b"[redacted]")


def test_secrets_are_struck_out_of_every_line(tmp_path: Path) -> None:
    written = journal(tmp_path, 2, redactor=Strike("secret-host"))
    kept = written.append(0, 0, CaseRun(result("x", "at secret-host.")))
    same = written.append(0, 1, CaseRun(result("y", "fine")))
    assert kept.details.response == "at [redacted]."
    assert same.details.response == "fine"
    assert "secret-host" not in (tmp_path / "journal.jsonl").read_text()


def test_a_secret_that_is_a_number_leaves_json(tmp_path: Path) -> None:
    written = journal(tmp_path, 1, redactor=Strike("12345678"))
    kept = written.append(0, 0, CaseRun(result("x", "pin 12345678", duration_ms=12345678.0)))
    assert (kept.details.response, kept.duration_ms) == ("pin [redacted]", 12345678.0)
    assert ids(written, 0) == ["x"]


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = journal(tmp_path, 2)
    written.append(0, 0, CaseRun(result("x")))
    write = os.write

    def half(descriptor: int, data: memoryview) -> int:
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="the run's journal cannot be written: No space left on device"):
        written.append(0, 1, CaseRun(result("y")))
    monkeypatch.undo()
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    assert all(json.loads(line) and line.endswith(b"\n") for line in lines)
    assert ids(written, 0) == ["x"]


def test_short_writes_are_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    written = journal(tmp_path, 2)
    written.append(0, 1, CaseRun(result("y")))
    written.append(0, 0, CaseRun(result("x")))
    assert ids(written, 0) == ["x", "y"]


@pytest.mark.parametrize(("removed", "is_restored"), [("results/run", True), ("results", False)])
def test_a_journal_that_is_closed_comes_back_unless_all_results_were_removed(
    tmp_path: Path, removed: str, is_restored: bool
) -> None:
    folder = tmp_path / "results" / "run"
    folder.mkdir(parents=True)
    opened = journal(folder, 1)
    shutil.rmtree(tmp_path / removed)
    opened.close()
    assert (folder / "journal.jsonl").exists() is is_restored
