"""Resuming: whatever is left of a journal, the run ends as it would have ended; no other run goes on in its place."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.errors import AgentUnavailable, UsageError
from evalc.model.case import Case, Expect, Input
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.runtime.run.engine import RunOptions
from evalc.runtime.run.finish import FinishedRun
from evalc.runtime.run.run import run_suites
from evalc.runtime.store.journal import Journal, read_header
from evalc.runtime.store.redact import Redactor
from evalc.runtime.store.resume import find_run, refuse_another_run

RUN_ID = "01990000-0000-7000-8000-000000000000"


def case(name: str, message: str = "ä 天 🎉", **fields: Any) -> Case:
    expect = Expect(response_contains=("ä",))
    return Case(id=f"s/{name}", description=name, input=Input(message=message), expect=expect, **fields)


def suite(*cases: Case, tool: str = "s", file_hash: str = "0123456789ab") -> Suite:
    located = tuple(LocatedCase(each, {}) for each in cases)
    return Suite(
        metadata=None,
        name=tool,
        tool_name=tool,
        tier="labeled",
        file_hash=file_hash,
        origin=f"{tool}.eval.yaml",
        cases=located,
        size=len(located),
    )


SUITES = (
    suite(
        case("a"), case("b", skip="not now"), case("c", repeat=2, require=1), case("d", "broken"),
        case("e", "plain"), case("f", archived="gone"), case("g", expected_failure="known", message="no"),
    ),
    suite(case("a"), case("z", "half \ud800"), tool="t"),
)  # fmt: skip


def agent() -> ScriptedAgent:
    return ScriptedAgent({"broken": AgentUnavailable("gone")}, default=lambda message: f"you said {message}")


def run(folder: Path, *suites: Suite, asked: ScriptedAgent | None = None, **options: Any) -> FinishedRun:
    chosen = RunOptions(output_dir=folder, run_id=RUN_ID, **options)
    return asyncio.run(run_suites(suites, asked or agent(), chosen))


def resume(folder: Path, *suites: Suite, asked: ScriptedAgent | None = None, **options: Any) -> FinishedRun:
    return run(folder, *suites, asked=asked, resumed=folder / RUN_ID, **options)


def results(folder: Path) -> dict[str, Any]:
    read = {file.name: json.loads(file.read_bytes()) for file in (folder / RUN_ID).glob("*.json")}
    for result in read.values():
        del result["timestamp"], result["summary"]["totalDurationMs"]
        for each in result["cases"]:
            for timed in (each, *each.get("attempts", ())):
                del timed["durationMs"]
    return read


def journal(folder: Path) -> Path:
    return folder / RUN_ID / "journal.jsonl"


def requests(asked: ScriptedAgent) -> list[str]:
    return [request.case_id for request in asked.requests]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that ended."""
    folder = tmp_path_factory.mktemp("whole")
    run(folder, *SUITES, concurrency=3)
    return folder


@given(st.data())
def test_a_journal_that_ends_anywhere_is_gone_on_with(whole: Path, data: st.DataObject) -> None:
    written = journal(whole).read_bytes()
    cut = data.draw(st.integers(0, len(written)))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / RUN_ID).mkdir()
        journal(folder).write_bytes(written[:cut])
        asked = agent()
        resume(folder, *SUITES, asked=asked, concurrency=2)
        assert results(folder) == results(whole)
        lines = [json.loads(line) for line in journal(folder).read_bytes().splitlines()]
        assert sorted((line["suite"], line["case"]) for line in lines[1:]) == [
            *((0, number) for number in range(7)), (1, 0), (1, 1),
        ]  # fmt: skip
        kept = [json.loads(line) for line in written[:cut].splitlines(keepends=True)[1:] if line.endswith(b"\n")]
        assert lines[1 : len(kept) + 1] == kept
        assert not {line["result"]["id"] for line in kept if "result" in line and line["suite"] == 0} - {"s/a"} & set(
            requests(asked)
        )


@pytest.mark.parametrize("damage", [b"\0" * 300 + b"\n", b"{}\n", b'{"suite":7,"case":0,"result":{}}\n', b"\xff\n"])
def test_a_line_in_which_no_case_can_be_read_is_passed_over(whole: Path, tmp_path: Path, damage: bytes) -> None:
    (tmp_path / RUN_ID).mkdir()
    lines = journal(whole).read_bytes().splitlines(keepends=True)
    journal(tmp_path).write_bytes(b"".join([*lines[:3], damage, *lines[4:6]]))
    resume(tmp_path, *SUITES)
    assert results(tmp_path) == results(whole)


COMPLETE = "the run was complete: no case was run again, and the results are written from its journal"


def edited(line: dict[str, Any], edit: str) -> dict[str, Any]:
    result = line["result"]
    match edit:
        case "status":
            result["status"] = "xpassed"
        case "score":
            result["score"] = "high"
        case "null":
            result["details"]["usage"] = {"costUsd": None}
        case "missing":
            del result["details"]
        case "both":
            line["skipped"] = {"id": "s/a", "description": "a", "reason": "no", "archived": False}
        case "neither":
            del line["result"]
        case "notes":
            line["notes"] = [{"fact": 1}]
    return line


@pytest.mark.parametrize("edit", ["status", "score", "null", "missing", "both", "neither", "notes"])
def test_a_line_that_is_no_valid_result_is_set_aside_and_its_case_asked_again(
    whole: Path, tmp_path: Path, edit: str
) -> None:
    folder = shutil.copytree(whole, tmp_path / "runs")
    lines = journal(folder).read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if b'"id":"s/a"' in line)
    lines[number] = json.dumps(edited(json.loads(lines[number]), edit)).encode() + b"\n"
    journal(folder).write_bytes(b"".join(lines))
    asked = agent()
    finished = resume(folder, *SUITES, asked=asked)
    assert requests(asked) == ["s/a"]
    assert "a line of the journal cannot be read, and the cases on them are run again" in finished.warnings[0]
    assert [suite.result.summary.total_cases for suite in finished.suites] == [5, 2]


def test_a_run_that_is_complete_asks_nothing_and_writes_what_is_missing(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (tmp_path / RUN_ID / "s.labeled.json").write_text('{"half')
    (tmp_path / RUN_ID / "t.labeled.json").unlink()
    before = journal(tmp_path).read_bytes()
    asked = agent()
    finished = resume(tmp_path, *SUITES, asked=asked)
    assert (asked.requests, journal(tmp_path).read_bytes(), results(tmp_path)) == ([], before, results(whole))
    assert [*finished.warnings] == [f"{COMPLETE}; `--retry-errors` runs the case again that ended in error"]
    assert (finished.run_id, finished.summary.skipped) == (RUN_ID, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout_ms": 1000}, "`--timeout` in milliseconds was 60000 and is 1000 now"),
        ({"all_assertions": True}, "`--all-assertions` was false and is true now"),
        ({"seed": {"a": 1}}, "the seed manifest is another one now"),
        ({"snapshot": {"a": 1}}, "the snapshot is another one now"),
    ],
)
def test_options_that_decide_verdicts_must_be_the_same(whole: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"the run `{RUN_ID}` cannot be resumed: {message}$"):
        resume(whole, *SUITES, **options)


def test_options_that_decide_nothing_may_be_others(whole: Path) -> None:
    before, asked = results(whole), agent()
    resume(whole, *SUITES, asked=asked, concurrency=7, rpm=100)
    assert (asked.requests, results(whole)) == ([], before)


@pytest.mark.parametrize(
    ("suites", "message"),
    [
        (SUITES[:1], r"the suite `t` \(labeled\) of `t.eval.yaml` is not there"),
        ((*SUITES, suite(tool="u")), r"the suite `u` \(labeled\) was not part of it"),
        (
            (SUITES[0], msgspec.structs.replace(SUITES[1], file_hash="f")),
            r"the suite `t` \(labeled\) of `t.eval.yaml` has changed",
        ),
        ((SUITES[0], suite(case("a"), tool="t")), r"2 cases of the suite `t` \(labeled\) were to be run, and not 1"),
        ((SUITES[0], suite(case("z"), case("a"), tool="t")), "the case `s/a` is now `s/z`"),
        (SUITES[::-1], "its suites came in another order"),
    ],
)
def test_suites_that_have_changed_are_refused(whole: Path, suites: tuple[Suite, ...], message: str) -> None:
    before = journal(whole).read_bytes()
    with pytest.raises(UsageError, match=message):
        resume(whole, *suites)
    assert journal(whole).read_bytes() == before


def test_another_agent_is_refused(whole: Path) -> None:
    with pytest.raises(UsageError, match="its agent was `scripted`, and not `other`"):
        resume(whole, *SUITES, asked=ScriptedAgent(endpoint="other"))


def test_a_rescored_run_is_none_to_resume(whole: Path) -> None:
    header = read_header(journal(whole))
    assert header is not None
    with pytest.raises(UsageError, match="cannot be resumed: it was made by `evalc rescore r`"):
        refuse_another_run(msgspec.structs.replace(header, rescored_from="r"), header)


def test_one_process_at_a_time(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    header = read_header(journal(tmp_path))
    assert header is not None
    first = Journal.resumed(journal(tmp_path), header, check=lambda _: None)
    with pytest.raises(UsageError, match="another process is at work on this run"):
        resume(tmp_path, *SUITES)
    first.close()
    resume(tmp_path, *SUITES)


def test_a_run_under_way_is_not_resumed_beside_it(tmp_path: Path) -> None:
    refused: list[str] = []

    def resuming(_: str) -> str:
        header = read_header(journal(tmp_path))
        assert header is not None
        with pytest.raises(UsageError) as refusal:
            Journal.resumed(journal(tmp_path), header, check=lambda _: None)
        refused.append(str(refusal.value))
        return "ä"

    run(tmp_path, suite(case("a")), asked=ScriptedAgent(default=resuming))
    assert refused == [f"another process is at work on this run: it writes `{journal(tmp_path)}`"]


def test_secrets_stay_struck_out(tmp_path: Path) -> None:
    redactor = Redactor(["secret-value-1"])
    asked = ScriptedAgent(default="ä secret-value-1", endpoint="https://secret-value-1/")
    suites = (suite(case("a"), case("b")),)
    run(tmp_path, *suites, asked=asked, redactor=redactor)
    lines = journal(tmp_path).read_bytes().splitlines(keepends=True)
    journal(tmp_path).write_bytes(b"".join(lines[:2]))
    resume(tmp_path, *suites, asked=asked, redactor=redactor)
    assert requests(asked) == ["s/a", "s/b", "s/b"]
    for file in (tmp_path / RUN_ID).iterdir():
        assert b"secret-value-1" not in file.read_bytes()
        assert b"***" in file.read_bytes()


def test_a_full_disk_leaves_a_journal_that_can_be_resumed(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / RUN_ID).mkdir()
    lines = journal(whole).read_bytes().splitlines(keepends=True)
    journal(tmp_path).write_bytes(b"".join(lines[:3]) + lines[3][:20])
    write, budget = os.write, [700]

    def limited(descriptor: int, data: memoryview) -> int:
        if not budget[0]:
            raise OSError(28, "No space left on device")
        done = write(descriptor, data[: budget[0]])
        budget[0] -= done
        return done

    monkeypatch.setattr(os, "write", limited)
    with pytest.raises(OSError, match="the run's journal cannot be written"):
        resume(tmp_path, *SUITES)
    monkeypatch.undo()
    assert all(json.loads(line) for line in journal(tmp_path).read_bytes().splitlines())
    resume(tmp_path, *SUITES)
    assert results(tmp_path) == results(whole)


def test_the_latest_baseline_is_one_from_before(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    newer = tmp_path / "01a90000-0000-7000-8000-000000000000"
    shutil.copytree(tmp_path / RUN_ID, newer)
    assert resume(tmp_path, *SUITES, baseline="latest").suites[0].result.baseline_run_id is None
    older = tmp_path / "01890000-0000-7000-8000-000000000000"
    shutil.copytree(tmp_path / RUN_ID, older)
    for file in older.glob("*.json"):
        text = file.read_text().replace(RUN_ID, "older").replace('"passed": false', '"passed": true')
        file.write_text(re.sub('"status": "[a-z-]*"', '"status": "passed"', text))
    assert resume(tmp_path, *SUITES, baseline="latest").suites[0].result.baseline_run_id == "older"


def test_a_run_is_found_by_id_folder_and_as_the_latest(whole: Path, tmp_path: Path) -> None:
    for name in (RUN_ID, str(whole / RUN_ID), "latest"):
        found = find_run(name, whole)
        assert (found.folder, found.run_id) == (whole / RUN_ID, RUN_ID)
    for name in ("nope", "x" * 5000, "a\0b", str(tmp_path)):
        with pytest.raises(UsageError, match="is neither a run in"):
            find_run(name, whole)
    with pytest.raises(UsageError, match="there is no run in"):
        find_run("latest", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]\n", "is not the journal of a run"),
        ('{"journal":9}\n', "is not the journal"),
        ("\xff\n", "is not the journal of a run"),
    ],
)
def test_an_invalid_journal_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / RUN_ID).mkdir()
    journal(tmp_path).write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=message):
        resume(tmp_path, *SUITES)


def test_a_journal_of_another_version_is_refused(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    journal(tmp_path).write_text(journal(tmp_path).read_text().replace('"journal":1', '"journal":2', 1))
    with pytest.raises(UsageError, match="is of version 2, and only 1 can be read"):
        resume(tmp_path, *SUITES)
