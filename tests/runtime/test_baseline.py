"""Finding an earlier run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.model.suite import Suite, SuiteKey
from evalc.runtime.store.baseline import PastSuite, find_baseline

SUITES = [
    Suite(metadata=None, name=name, tool_name=name, tier="golden", file_hash="h", origin="o", cases=(), size=0)
    for name in ("t", "u", "v")
]


def result(tool: str = "t", run_id: str | None = "r1", **passed: bool) -> str:
    written = {"toolName": tool, "tier": "golden", "cases": [{"id": key, "passed": passed[key]} for key in passed]}
    return json.dumps(written if run_id is None else {"runId": run_id, **written})


def save(folder: Path, text: str, name: str = "t.golden.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_by_run_id_latest_folder_and_file(tmp_path: Path) -> None:
    file = save(tmp_path / "r1", result(a=True, b=True))
    for name in ("r1", "latest", str(tmp_path / "r1"), str(file)):
        found = find_baseline(name, tmp_path, SUITES[:1])
        assert found is not None
        assert found.of(SuiteKey("t", "golden")) == PastSuite(run_id="r1", passed={"a": True, "b": True})
        assert found.of(SuiteKey("t", "labeled")) is None


def test_a_run_of_several_suites(tmp_path: Path) -> None:
    save(tmp_path / "r1", result("t", a=True))
    save(tmp_path / "r1", result("u", a=False), "u.golden.json")
    found = find_baseline("r1", tmp_path, [])
    assert found is not None
    assert found.of(SuiteKey("t", "golden")) == PastSuite(run_id="r1", passed={"a": True})
    assert found.of(SuiteKey("u", "golden")) == PastSuite(run_id="r1", passed={"a": False})


def test_the_latest_of_a_suite_is_the_newest_run_that_has_it(tmp_path: Path) -> None:
    old = "01890000-0000-7000-8000-000000000000"
    new = "01990000-0000-7000-8000-000000000000"
    save(tmp_path / old, result("t", run_id=old, a=True))
    save(tmp_path / new, result("u", run_id=new, a=True), "u.golden.json")
    found = find_baseline("latest", tmp_path, SUITES)
    assert found is not None
    assert found.of(SuiteKey("t", "golden")) == PastSuite(run_id=old, passed={"a": True})
    assert found.of(SuiteKey("u", "golden")) == PastSuite(run_id=new, passed={"a": True})
    assert found.of(SuiteKey("v", "golden")) is None


def test_the_latest_is_by_the_time_in_the_id_then_by_the_folder_s(tmp_path: Path) -> None:
    old = "01890000-0000-7000-8000-000000000000"
    new = "01990000-0000-7000-8000-000000000000"
    save(tmp_path / new, result(run_id=new))
    save(tmp_path / old, result(run_id=old))
    other = save(tmp_path / "from-elsewhere", result(run_id="x")).parent
    os.utime(other, (1, 1))
    (tmp_path / "01a00000-0000-7000-8000-000000000000").mkdir()  # it did not end
    found = find_baseline("latest", tmp_path, SUITES[:1])
    assert found is not None
    assert found.of(SuiteKey("t", "golden")) == PastSuite(run_id=new, passed={})


def test_a_result_without_a_run_id_is_called_by_its_folder(tmp_path: Path) -> None:
    found = find_baseline(str(save(tmp_path / "x", result(run_id=None))), tmp_path, [])
    assert found is not None
    assert found.of(SuiteKey("t", "golden")) == PastSuite(run_id="x", passed={})


def test_without_a_latest_run_there_is_no_baseline(tmp_path: Path) -> None:
    assert find_baseline("latest", tmp_path, SUITES[:1]) is None
    assert find_baseline("latest", tmp_path / "gone", SUITES[:1]) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"toolName": "t", "tier": "golden"}', '{"cases": 1}', "\xff", "[" * 9999]
)
def test_a_corrupt_file_is_refused(tmp_path: Path, text: str) -> None:
    save(tmp_path / "r1", text)
    with pytest.raises(UsageError, match="is not a suite result"):
        find_baseline("r1", tmp_path, [])


@pytest.mark.parametrize("name", ["gone", "../gone", "/", "r0", "..", "x" * 5000, "\0"])
def test_a_run_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "out" / "r0").mkdir(parents=True)
    with pytest.raises(UsageError):
        find_baseline(name, tmp_path / "out", [])


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "t.labeled.json")
    for name in (str(tmp_path / "run"), str(tmp_path / "run" / "t.labeled.json")):
        with pytest.raises(UsageError, match=r"the baseline `.*` (holds no results|is neither a file nor a folder)"):
            find_baseline(name, tmp_path, [])
