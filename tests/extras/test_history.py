"""The index of the history: it follows the files, whatever happens to it or to them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.extras.history import FILE_NAME, VERSION, Index, trends_beside, trends_of
from evalc.model.reports import HistoryEntry
from evalc.runtime.store.runs import began_at
from tests.report.results import suite
from tests.support.past import NEW, OLD, result, save, scored

TEXT = "suite: greeting\neval: {test_cases: [{name: hi, message: Say hello, validate: [contains 'hello']}]}"


def entries(folder: Path, suite: str | None = None) -> list[HistoryEntry]:
    with Index.followed(folder, patience_s=0) as index:
        assert index.warning is None
        return list(index.entries(suite))


def runs(folder: Path, suite: str | None = None) -> list[tuple[str, str]]:
    return [(entry.run, entry.tool_name) for entry in entries(folder, suite)]


def greet(folder: Path) -> evalc.Run:
    agent = evalc.ScriptedAgent({"Say hello": "hello, world"})
    return evalc.run(evalc.Source("greeting.eval.yaml", TEXT), agent=agent, output_dir=folder)


def test_a_finished_run_is_in_the_index_once_it_is_asked(tmp_path: Path) -> None:
    run = greet(tmp_path)
    assert not (tmp_path / FILE_NAME).exists()
    assert [entry.run for entry in entries(tmp_path)] == [run.run_id]
    with Index.open(tmp_path) as index:
        kept = list(index.entries())
    (tmp_path / FILE_NAME).unlink()
    assert entries(tmp_path) == kept


def test_a_suite_is_found_by_its_tool_and_by_its_own_name(tmp_path: Path) -> None:
    text = TEXT.replace("suite: greeting", "suite: greeting\ntool: say_hello")
    agent = evalc.ScriptedAgent({"Say hello": "hello, world"})
    run = evalc.run(evalc.Source("greeting.eval.yaml", text), agent=agent, output_dir=tmp_path)
    for name in ("say_hello", "say_hello.labeled", "greeting", "greeting.labeled"):
        assert runs(tmp_path, name) == [(run.run_id, "say_hello")]
    assert runs(tmp_path, "hi") == []


def test_it_follows_the_files(tmp_path: Path) -> None:
    first = save(tmp_path, result(True, tool="a", run_id=OLD))
    assert runs(tmp_path) == [(OLD, "a")]
    save(tmp_path, {**result(True, tool="b", run_id=NEW), "timestamp": "2026-01-02T00:00:00+02:00"})
    assert runs(tmp_path) == [(NEW, "b"), (OLD, "a")]
    assert runs(tmp_path, "a") == runs(tmp_path, "a.golden") == [(OLD, "a")]
    assert runs(tmp_path, "golden") == []
    save(tmp_path, result(False, False, tool="a", run_id=OLD))
    assert [(entry.passed, entry.total_cases) for entry in entries(tmp_path, "a")] == [(0, 2)]
    first.unlink()
    assert runs(tmp_path) == [(NEW, "b")]


@pytest.mark.parametrize(
    "wrong", [b"no database at all, but long enough to be taken for one" * 9, b"SQLite format 3\0" * 99]
)
def test_a_broken_index_is_made_anew(tmp_path: Path, wrong: bytes) -> None:
    save(tmp_path, result(True))
    (tmp_path / FILE_NAME).write_bytes(wrong)
    assert runs(tmp_path) == [(OLD, "t")]
    assert (tmp_path / FILE_NAME).read_bytes().startswith(b"SQLite format 3\0")


@pytest.mark.parametrize("entry", ["{", "{}", "7"])
def test_a_broken_row_is_read_from_its_result(tmp_path: Path, entry: str) -> None:
    save(tmp_path, result(True))
    with Index.followed(tmp_path) as index:
        before = list(index.entries())
        index._connection.execute("UPDATE files SET entry = ? WHERE entry IS NOT NULL", (entry,))
        assert before
        assert list(index.entries()) == before


def test_pages_that_were_overwritten_are_made_anew(tmp_path: Path) -> None:
    for number in range(200):
        save(tmp_path, result(True, run_id=f"run-{number}"))
    assert len(runs(tmp_path)) == 200
    size = (tmp_path / FILE_NAME).stat().st_size
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    assert len(runs(tmp_path)) == 200


@pytest.mark.parametrize("version", [0, VERSION + 1])
def test_an_index_of_another_version_is_made_anew(tmp_path: Path, version: int) -> None:
    save(tmp_path, result(True))
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("CREATE TABLE files (something TEXT)")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    assert runs(tmp_path) == [(OLD, "t")]


def test_rebuilding_reads_every_file_again(tmp_path: Path) -> None:
    file = save(tmp_path, result(True))
    before = file.stat()
    assert [entry.passed for entry in entries(tmp_path)] == [1]
    file.write_text(file.read_text().replace('"passed": 1', '"passed": 0'))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [entry.passed for entry in entries(tmp_path)] == [1]
    with Index.followed(tmp_path, rebuild=True) as index:
        assert [entry.passed for entry in index.entries()] == [0]


def test_with_a_folder_in_its_place_all_results_are_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    run = greet(tmp_path)
    with Index.followed(tmp_path) as index:
        assert index.warning is not None
        assert "cannot be used, so all results are read: unable to open database file" in index.warning
        assert [entry.run for entry in index.entries()] == [run.run_id]
    with Index.followed(tmp_path, rebuild=True) as index:
        assert [entry.run for entry in index.entries()] == [run.run_id]


def test_a_locked_index_is_not_waited_for_forever(tmp_path: Path) -> None:
    save(tmp_path, result(True))
    assert runs(tmp_path) == [(OLD, "t")]
    save(tmp_path, result(True, run_id=NEW))
    holding = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    holding.execute("BEGIN EXCLUSIVE")
    try:
        with Index.followed(tmp_path, patience_s=0) as index:
            assert index.warning is not None
            assert index.warning.endswith("database is locked")
            assert {entry.run for entry in index.entries()} == {OLD, NEW}
    finally:
        holding.close()


def test_files_that_are_no_results_are_skipped_and_counted(tmp_path: Path) -> None:
    save(tmp_path, result(True))
    whole = json.dumps(result(True))
    save(tmp_path, whole[:40], run=OLD, name="torn.json")
    save(tmp_path, '{"name": "foreign"}', run=OLD, name="package.json")
    save(tmp_path, "[" * 100_000, run="deep")
    save(tmp_path, whole.replace('"passed": 1', '"passed": "many"'), run="typed")
    save(tmp_path, "", run="empty")
    os.mkfifo(tmp_path / OLD / "pipe.json")
    (tmp_path / "deep" / "folder.json").mkdir()
    (tmp_path / "loose.json").write_text(whole)
    assert runs(tmp_path) == [(OLD, "t")]
    with Index.followed(tmp_path) as index:
        assert index.strangers() == 5


def test_names_may_be_anything(tmp_path: Path) -> None:
    written = result(True, tool="a\x1b[31m'; DROP TABLE files; --", tier="\u202e")
    save(tmp_path, written, run="line\nend 'quoted' %s", name="x.json")
    (tmp_path / os.fsdecode(b"\xff")).mkdir()
    (tmp_path / os.fsdecode(b"\xff") / "x.json").write_text(json.dumps(written))
    assert runs(tmp_path, written["toolName"]) == [("line\nend 'quoted' %s", written["toolName"])]


@pytest.mark.parametrize("timestamp", ["", "yesterday", None, "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:00"])
def test_without_a_time_that_can_be_read_a_run_began_when_its_id_says(tmp_path: Path, timestamp: str | None) -> None:
    save(tmp_path, {**result(True, run_id=NEW), "timestamp": timestamp})
    assert [entry.began for entry in entries(tmp_path)] == [began_at(NEW)]


def test_an_id_may_name_a_time_that_no_calendar_has(tmp_path: Path) -> None:
    file = save(tmp_path, {**result(True, run_id="ffffffff-ffff-7000-8000-000000000000"), "timestamp": ""})
    os.utime(file.parent, (0, 0))
    assert [entry.timestamp for entry in entries(tmp_path)] == ["1970-01-01T00:00:00Z"]


def test_a_missing_folder_has_no_runs(tmp_path: Path) -> None:
    assert entries(tmp_path / "gone") == []
    assert not (tmp_path / "gone").exists()


def test_results_of_several_agents_stand_in_folders_of_theirs(tmp_path: Path) -> None:
    file = save(tmp_path, result(True, run_id=OLD))
    (file.parent / "journal.jsonl").touch()
    (file.parent / "demo").mkdir()
    file.rename(file.parent / "demo" / file.name)
    assert [(entry.run, entry.file) for entry in entries(tmp_path)] == [(OLD, "demo/t.golden.json")]


_WRITER = """
import sys
from pathlib import Path
from typing import Any
from evalc.extras.history import Index
from evalc.extras.history import read_entry
folder, worker = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    key = (f"run-{worker}-{number}", "t.golden.json")
    with Index.open(folder) as index:
        index.put({key: ((1, 1), read_entry(folder / key[0], key[1]))})
"""


def test_parallel_runs_lose_nothing(tmp_path: Path) -> None:
    workers = range(4)
    for worker in workers:
        for number in range(20):
            save(tmp_path, result(True, run_id=f"run-{worker}-{number}"))
    processes = [subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), str(worker)]) for worker in workers]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    with Index.open(tmp_path) as index:
        assert len(list(index.entries())) == 80


def test_the_course_of_each_suite(tmp_path: Path) -> None:
    save(tmp_path, {**scored(result(True, False, run_id=OLD), 0.5, clarity=0.25), "timestamp": "2026-01-01T00:00:00Z"})
    later = {**scored(result(True, True, run_id=NEW), 0.75, clarity=0.5, tone=1.0), "timestamp": "2026-01-02T00:00:00Z"}
    save(tmp_path, later)
    save(tmp_path, {**result(False, run_id="part"), "selected": {"cases": 1}, "timestamp": "2026-01-03T00:00:00Z"})
    (trend,) = trends_of(entries(tmp_path))
    assert (trend.tool_name, trend.tier, trend.criteria) == ("t", "golden", ("clarity", "tone"))
    assert [(point.run, point.pass_rate, point.score) for point in trend.points] == [(OLD, 0.5, 0.5), (NEW, 1.0, 0.75)]
    assert trend.points[1].criteria == {"clarity": 0.5, "tone": 1.0}
    assert [entry.partial for entry in entries(tmp_path)] == [True, False, False]
    assert trends_of([]) == ()


def of_agent(agent: str, run_id: str, day: int, *passed: bool, tool: str = "t") -> dict[str, Any]:
    return {
        **result(*passed, tool=tool, run_id=run_id),
        "agentEndpoint": agent,
        "timestamp": f"2026-01-{day:02}T00:00:00Z",
    }


def test_each_agent_has_a_course_of_its_own_whether_or_not_it_was_alone_in_its_run(tmp_path: Path) -> None:
    for day in (1, 2):
        save(tmp_path, of_agent("x", f"run-{day}", day, True))
    (trend,) = trends_of(entries(tmp_path))
    assert (trend.agent_endpoint, len(trend.points)) == (None, 2)
    save(tmp_path, of_agent("z", "run-2b", 2, False))
    for day in (3, 4):
        folder = tmp_path / f"run-{day}"
        folder.mkdir()
        (folder / "journal.jsonl").touch()
        for agent in ("x", "y"):
            save(folder, of_agent(agent, f"run-{day}", day, agent == "x"), run=agent)
    trends = {
        trend.agent_endpoint: [point.pass_rate for point in trend.points] for trend in trends_of(entries(tmp_path))
    }
    assert trends == {"x": [1, 1, 1, 1], "y": [0, 0], "z": [0]}


def test_agents_at_other_ports_have_courses_of_their_own(tmp_path: Path) -> None:
    for day, port in ((1, 40001), (2, 40002), (3, 40001)):
        save(tmp_path, of_agent(f"http://127.0.0.1:{port}/chat", f"run-{day}", day, True))
    assert {trend.agent_endpoint: len(trend.points) for trend in trends_of(entries(tmp_path))} == {
        "http://127.0.0.1:40001/chat": 2,
        "http://127.0.0.1:40002/chat": 1,
    }


def test_a_report_gets_the_courses_of_its_suites_that_have_two_runs(tmp_path: Path) -> None:
    for day in (1, 2):
        for tool in ("t", "u"):
            save(tmp_path, of_agent("demo", f"run-{day}", day, True, tool=tool))
    save(tmp_path, of_agent("demo", "run-2", 2, True, tool="once"))
    asked = [suite(tool=tool) for tool in ("u", "once")]
    assert [(trend.tool_name, len(trend.points)) for trend in trends_beside(asked, tmp_path)] == [("u", 2)]
    assert trends_beside(asked, tmp_path / "nowhere") == ()
