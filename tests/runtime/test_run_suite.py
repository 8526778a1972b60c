"""Whole runs: files, order, faults, baselines."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalc.base.errors import AgentUnavailable, UsageError
from evalc.model.answer import AgentRequest, AgentResponse, Usage
from evalc.model.case import Case, Criterion, Expect, Input, Metadata
from evalc.model.json import short_hash
from evalc.model.result import CaseResult, SkippedCase, SuiteResult
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents import Session
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.runtime.run.engine import NOBODY, Observer, RunOptions
from evalc.runtime.run.finish import FinishedRun, FinishedSuite
from evalc.runtime.run.run import run_suites
from evalc.runtime.store.redact import Redactor
from evalc.tools import Tool, ToolRegistry


class Echo:
    """An agent that answers with the message, after a while of its own choosing."""

    endpoint = "echo"

    def __init__(self, *, jitter: bool = False, cost: float | None = None) -> None:
        self.sessions = 0
        self._jitter = jitter
        self._usage = None if cost is None else Usage(cost_usd=cost)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        self.sessions += 1
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        if self._jitter:
            await asyncio.sleep(random.random() / 2000)
        if request.message == "broken":
            raise AgentUnavailable("gone")
        return AgentResponse(response=request.message, usage=self._usage)


def suite(*cases: Case, tool: str = "get_weather", tier: str = "labeled", metadata: Metadata | None = None) -> Suite:
    located = tuple(LocatedCase(case, {}) for case in cases)
    return Suite(
        metadata=metadata,
        name=tool,
        tool_name=tool,
        tier=tier,
        file_hash="0123456789ab",
        origin=f"{tool}.eval.yaml",
        cases=located,
        size=len(located),
    )


def case(number: int, message: str = "a", *, contains: tuple[str, ...] = ("a",), **fields: Any) -> Case:
    expect = Expect(response_contains=contains)
    return Case(id=f"s/c{number}", description=f"case {number}", input=Input(message=message), expect=expect, **fields)


def run(folder: Path, *suites: Suite, agent: Any = None, observer: Observer = NOBODY, **options: Any) -> FinishedRun:
    chosen = RunOptions(output_dir=folder, **options)
    return asyncio.run(run_suites(suites, agent or Echo(), chosen, observer=observer))


def read(finished: FinishedSuite) -> SuiteResult:
    return msgspec.json.decode(finished.path.read_bytes(), type=SuiteResult)


def test_the_file_is_the_contract_s(tmp_path: Path) -> None:
    finished = run(tmp_path, suite(case(1), case(2, "b"), case(3, "broken"), case(4, contains=("{{seed:x}}",))))
    (only,) = finished.suites
    assert only.path == tmp_path / finished.run_id / "get-weather.labeled.json"
    text = only.path.read_text()
    written = json.loads(text)
    assert text == json.dumps(written, indent=2, ensure_ascii=False) + "\n"
    assert list(written) == [
        "runId", "timestamp", "tier", "toolName", "suite", "agentEndpoint", "metadata", "stalenessWarnings", "cases",
        "summary", "baselineRunId", "regressions", "newPasses", "stale", "warnings", "skipped",
    ]  # fmt: skip
    assert written["runId"] == finished.run_id
    assert list(written["cases"][1]) == [
        "id", "description", "passed", "status", "durationMs", "assertionsRun", "assertionsSkipped", "score",
        "criteria", "error", "errorAt", "caseHash", "details", "assertions",
    ]  # fmt: skip
    assert written["cases"][1]["error"] == "responseContains: expected 'a' in response but not found"
    summary = written["summary"]
    assert {key: summary[key] for key in ("totalCases", "passed", "failed", "errors", "unverified")} == {
        "totalCases": 4, "passed": 2, "failed": 2, "errors": 1, "unverified": 1,
    }  # fmt: skip
    assert summary["skippedAssertions"] == 1
    assert summary["totalDurationMs"] == pytest.approx(sum(entry["durationMs"] for entry in written["cases"]), abs=0.01)
    assert "estimatedCostUsd" not in summary
    assert written["warnings"] == ["{{seed:x}} is unresolved: 1 assertion skipped"]
    assert written["metadata"] == {
        "toolVersion": None, "descriptionHash": None, "registrySize": None, "evalFileHash": "0123456789ab",
    }  # fmt: skip
    assert sorted(path.name for path in only.path.parent.iterdir()) == ["get-weather.labeled.json", "journal.jsonl"]


def test_handles_give_what_the_file_has(tmp_path: Path) -> None:
    finished = run(tmp_path, suite(case(1), case(2, "b")), suite(tool="other"))
    loaded = finished.load()
    assert loaded.suites == tuple(map(read, finished.suites))
    assert [result.id for result in finished.suites[0].cases()] == ["s/c1", "s/c2"]
    assert (loaded.summary.suites, loaded.summary.total_cases, loaded.summary.failed) == (2, 2, 1)
    assert read(finished.suites[1]).cases == ()


def without_what_varies(finished: FinishedRun) -> list[Any]:
    suites = [json.loads(suite.path.read_bytes()) for suite in finished.suites]
    for written in suites:
        for key in ("runId", "timestamp"):
            del written[key]
        del written["summary"]["totalDurationMs"]
        for entry in written["cases"]:
            for timed in (entry, *entry.get("attempts", ())):
                del timed["durationMs"]
    return suites


def test_concurrency_changes_nothing_but_durations(tmp_path: Path) -> None:
    draw = random.Random(7)
    criteria = tuple(Criterion(name=name, weight=draw.random()) for name in "xyz")
    messages = [draw.choice(["a", "b", "broken"]) for _ in range(200)]
    contains = [tuple(draw.sample(["a", "b", "{{seed:x}}", ""], 3)) for _ in messages]
    declared: list[dict[str, Any]] = [
        {}, {"repeat": 3, "require": 2}, {"expected_failure": "known"}, {"skip": "slow"}, {"archived": "gone"},
    ]  # fmt: skip
    cases = [
        case(n, m, contains=contains[n], criteria=criteria, **declared[n % len(declared)])
        for n, m in enumerate(messages)
    ]
    metadata = Metadata(tool_name="get_weather", tier="labeled", criteria=criteria)
    suites = (suite(*cases[:150], metadata=metadata), suite(*cases[150:], tool="other"))
    agent = Echo(jitter=True, cost=0.1)
    one = run(tmp_path, *suites, agent=agent)
    many = run(tmp_path, *suites, agent=agent, concurrency=16)
    assert agent.sessions == 17
    assert without_what_varies(one) == without_what_varies(many)
    order = [json.loads(line)["case"] for line in (many.folder / "journal.jsonl").read_text().splitlines()[1:]]
    assert sorted(order[:150]) != order[:150]
    statuses = {result.status for result in one.suites[0].cases()}
    assert statuses == {"passed", "failed", "error", "expected-failure", "unexpected-pass"}
    skipped = [f"s/c{n}" for n in range(150) if n % 5 > 2]
    assert [record.id for record in many.suites[0].skipped()] == skipped


def test_a_suite_s_score_and_its_gate(tmp_path: Path) -> None:
    criteria = (Criterion(name="x"),)
    metadata = Metadata(tool_name="get_weather", tier="labeled", criteria=criteria, threshold=0.8)
    cases = (case(1, criteria=criteria), case(2, "b", criteria=criteria), case(3, "broken", criteria=criteria))
    finished = run(tmp_path, suite(*cases, metadata=metadata))
    (score,) = finished.suites[0].result.summary.criteria
    assert (score.score, score.cases, score.of) == (0.5, 2, 3)
    assert finished.summary.score == 0.5
    assert finished.below_threshold == ("get_weather (labeled): threshold: score 0.50 is below 0.8",)


def test_costs_are_summed_where_they_are_known(tmp_path: Path) -> None:
    finished = run(tmp_path, suite(case(1), case(2)), agent=Echo(cost=0.1))
    assert finished.suites[0].result.summary.estimated_cost_usd == 0.2


def test_secrets_are_in_no_file_and_in_no_result(tmp_path: Path) -> None:
    log = Log()
    redactor = Redactor(["hunter2-hunter2"])
    cases = (case(1, "hunter2-hunter2", contains=("{{seed:hunter2-hunter2}}", "x")), case(2))
    finished = run(tmp_path, suite(*cases, tool="hunter2-hunter2"), redactor=redactor, observer=log)
    everything = b"".join(path.read_bytes() for path in finished.folder.iterdir())
    assert b"hunter2" not in everything
    assert "hunter2" not in msgspec.json.encode(finished.load()).decode()
    assert [result.status for result in finished.suites[0].cases()] == ["failed", "passed"]


def test_a_secret_that_a_message_cut_is_in_no_file(tmp_path: Path) -> None:
    secret = "hunter2-" * 20
    agent = ScriptedAgent(default=ValueError("x" * 450 + secret))
    finished = run(tmp_path, suite(case(1)), agent=agent, redactor=Redactor([secret]))
    assert b"hunt" not in b"".join(path.read_bytes() for path in finished.folder.iterdir())


def test_a_secret_is_in_no_warning_of_the_run(tmp_path: Path) -> None:
    agent = Unopenable(refusal=ValueError("no"), farewell="hunter2-hunter2")
    finished = run(tmp_path, suite(case(1), case(2)), agent=agent, redactor=Redactor(["hunter2-hunter2"]))
    assert finished.warnings == ("the agent could not be closed: ValueError: ***",)


class Log(Observer):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def run_started(self, cases: int, kept: int) -> None:
        self.lines.append(f"{cases} cases, {kept} kept")

    def suite_started(self, suite: Suite) -> None:
        self.lines.append(f"> {suite.tool_name}")

    def case_finished(self, suite: Suite, result: CaseResult) -> None:
        self.lines.append(f"{suite.tool_name} {result.id} {result.status}")

    def case_skipped(self, suite: Suite, skipped: SkippedCase) -> None:
        self.lines.append(f"{suite.tool_name} {skipped.id} skipped")


def test_an_observer_sees_each_case(tmp_path: Path) -> None:
    log = Log()
    run(tmp_path, suite(case(1), case(2, "b")), suite(tool="other"), observer=log)
    assert log.lines.pop(0) == "2 cases, 0 kept"
    assert log.lines == [
        "> get_weather", "get_weather s/c1 passed", "> other", "get_weather s/c2 failed",
    ] or log.lines == [
        "> get_weather", "get_weather s/c1 passed", "get_weather s/c2 failed", "> other",
    ]  # fmt: skip


class Counting(Echo):
    """Answers every message with how often it was asked it."""

    def __init__(self) -> None:
        super().__init__(cost=0.25)
        self.asked: list[str] = []

    async def send(self, request: AgentRequest) -> AgentResponse:
        self.asked.append(request.message)
        return AgentResponse(response=str(self.asked.count(request.message)), usage=self._usage)


def test_a_repeated_case_is_one_entry_with_its_attempts(tmp_path: Path) -> None:
    agent = Counting()
    repeated = case(1, "m", contains=("2",), repeat=3, require=1, variant="short")
    finished = run(tmp_path, suite(repeated), agent=agent, concurrency=4)
    assert agent.asked == ["m"] * 3
    text = finished.suites[0].path.read_text()
    written = json.loads(text)
    (entry,) = written["cases"]
    assert entry["durationMs"] == pytest.approx(sum(attempt.pop("durationMs") for attempt in entry["attempts"]))
    del entry["durationMs"], entry["caseHash"]
    assert entry == {
        "id": "s/c1",
        "description": "case 1",
        "passed": True,
        "status": "passed",
        "assertionsRun": 3,
        "assertionsSkipped": 0,
        "score": None,
        "criteria": [],
        "flaky": True,
        "variant": "short",
        "details": {
            "toolsCalled": [],
            "responseLength": 1,
            "skippedTokens": [],
            "response": "2",
            "toolCalls": [],
            "usage": {"costUsd": 0.75},
            "message": "m",
        },
        "assertions": [{"at": "/expect/responseContains/0", "outcome": "passed"}],
        "attempts": [
            {"status": "failed", "score": None, "error": MISSING_2, "response": "1"},
            {"status": "passed", "score": None, "response": "2"},
            {"status": "failed", "score": None, "error": MISSING_2, "response": "3"},
        ],
    }
    summary = finished.suites[0].result.summary
    assert (summary.total_cases, summary.passed, summary.flaky, summary.estimated_cost_usd) == (1, 1, 1, 0.75)
    assert len((finished.folder / "journal.jsonl").read_text().splitlines()) == 2


MISSING_2 = "responseContains: expected '2' in response but not found"


def test_skipped_cases_are_not_sent_and_stand_in_a_list_of_their_own(tmp_path: Path) -> None:
    agent = Counting()
    log = Log()
    cases = (case(1, "one", skip="slow"), case(2, "two"), case(3, "three", archived="gone", skip="slow"))
    finished = run(tmp_path, suite(*cases), agent=agent, observer=log, redactor=Redactor(["s/c3-hunter2"]))
    assert agent.asked == ["two"]
    result = read(finished.suites[0])
    assert result == finished.suites[0].load()
    assert [case.id for case in result.cases] == ["s/c2"]
    assert result.skipped == (
        SkippedCase(id="s/c1", description="case 1", reason="slow", archived=False),
        SkippedCase(id="s/c3", description="case 3", reason="gone", archived=True),
    )
    assert (result.summary.total_cases, result.summary.failed, result.summary.skipped) == (1, 1, 2)
    assert finished.summary.skipped == 2
    assert log.lines == [
        "3 cases, 0 kept",
        "> get_weather", "get_weather s/c1 skipped", "get_weather s/c2 failed", "get_weather s/c3 skipped",
    ]  # fmt: skip
    text = finished.suites[0].path.read_text()
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_where_every_case_is_skipped_the_agent_is_not_opened(tmp_path: Path) -> None:
    agent = Echo()
    finished = run(tmp_path, suite(case(1, skip="slow"), case(2, archived="gone")), agent=agent)
    assert agent.sessions == 0
    assert (finished.summary.total_cases, finished.summary.skipped) == (0, 2)


def test_reasons_are_redacted(tmp_path: Path) -> None:
    cases = (case(1, skip="hunter2-hunter2"), case(2, expected_failure="hunter2-hunter2"))
    finished = run(tmp_path, suite(*cases), redactor=Redactor(["hunter2-hunter2"]))
    assert b"hunter2" not in b"".join(path.read_bytes() for path in finished.folder.iterdir())
    assert [record.reason for record in finished.suites[0].skipped()] == ["***"]


def test_an_expected_failure_passes_and_an_unexpected_pass_fails(tmp_path: Path) -> None:
    why = "it cannot count"
    cases = [case(n, message, expected_failure=why) for n, message in enumerate(["b", "a", "broken"])]
    finished = run(tmp_path, suite(*cases))
    failing, passing, broken = finished.suites[0].cases()
    assert (failing.status, failing.passed, failing.expected_failure) == ("expected-failure", True, why)
    assert failing.error == "responseContains: expected 'a' in response but not found"
    assert (passing.status, passing.passed) == ("unexpected-pass", False)
    assert passing.error == "expectedFailure: passed, but a failure was expected: it cannot count"
    assert (broken.status, broken.passed) == ("error", False)
    summary = finished.summary
    assert (summary.passed, summary.failed, summary.errors) == (1, 2, 1)
    assert (summary.expected_failures, summary.unexpected_passes) == (1, 1)


def test_the_score_of_an_expected_failure_counts_as_it_was_measured(tmp_path: Path) -> None:
    criteria = (Criterion(name="x"),)
    cases = (case(1, criteria=criteria), case(2, "b", criteria=criteria, expected_failure="known"))
    finished = run(tmp_path, suite(*cases, metadata=Metadata(tool_name="t", tier="labeled", criteria=criteria)))
    assert (finished.summary.failed, finished.summary.score) == (0, 0.5)


def test_rubrics_run_last_and_stand_in_their_place(tmp_path: Path) -> None:
    agent = Counting()
    suites = (suite(case(1, "judged"), tier="rubric"), suite(case(2, "checked", contains=("1",))))
    finished = run(tmp_path, *suites, agent=agent)
    assert agent.asked == ["checked", "judged"]
    assert [each.result.tier for each in finished.suites] == ["rubric", "labeled"]


def test_an_agent_that_cannot_be_opened_breaks_only_that_attempt(tmp_path: Path) -> None:
    finished = run(tmp_path, suite(case(1, repeat=2)), agent=Unopenable(refusal=AgentUnavailable("not yet")))
    (result,) = finished.suites[0].cases()
    assert (result.status, result.flaky) == ("error", True)
    assert result.error == "repeat: 1 of 2 attempts passed, 2 needed; attempt 1: agent: not yet"


def test_two_suites_of_one_tool_and_tier_are_refused(tmp_path: Path) -> None:
    agent = Echo()
    with pytest.raises(UsageError, match="results collide"):
        run(tmp_path / "out", suite(case(1)), suite(case(2)), agent=agent)
    assert agent.sessions == 0
    assert not (tmp_path / "out").exists()


def test_tools_of_one_slug_get_files_of_their_own(tmp_path: Path) -> None:
    names = ["get_weather", "Get-Weather", "get_weather/", "天気"]
    finished = run(tmp_path, *(suite(case(1), tool=name) for name in names))
    assert [read(suite).tool_name for suite in finished.suites] == names
    assert finished.suites[0].path.name == f"get-weather-{short_hash('get_weather')}.labeled.json"


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"timeout_ms": 0}, {"timeout_ms": float("nan")}])
def test_options_that_mean_nothing_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run(tmp_path, suite(case(1)), **options)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be made|already exists"):
        run(tmp_path / "file", suite(case(1)))
    first = run(tmp_path, suite(case(1)))
    with pytest.raises(UsageError, match="already exists"):
        run(tmp_path, suite(case(1)), run_id=first.run_id)


class Outcome(BaseException):
    """An exception of test libraries that passes every `except Exception`."""


def test_an_agent_may_raise_what_is_no_exception(tmp_path: Path) -> None:
    finished = run(tmp_path, suite(case(1), case(2)), agent=ScriptedAgent(default=Outcome("skipped")))
    assert [result.error for result in finished.suites[0].cases()] == ["agent: Outcome: skipped"] * 2


class Unopenable(Echo):
    """An agent whose first session does not open, and whose second does not close."""

    def __init__(self, *, refusal: BaseException | None, farewell: str = "stuck") -> None:
        super().__init__()
        self._refusal = refusal
        self._farewell = farewell

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        self.sessions += 1
        if self.sessions == 1:
            if self._refusal is None:
                await asyncio.Event().wait()
            else:
                raise self._refusal
        yield self
        raise ValueError(self._farewell)


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (AgentUnavailable("not yet"), "agent: not yet"),
        (ImportError("no module"), "agent: ImportError: no module"),
        (SystemExit(2), "agent: SystemExit: 2"),
        (Outcome("skipped"), "agent: Outcome: skipped"),
        (asyncio.CancelledError(), "agent: it was cancelled from inside"),
        (TimeoutError("slow"), "agent: TimeoutError: slow"),
        (None, "agent: it was not ready within 20 ms"),
    ],
)
def test_an_agent_that_cannot_be_opened_or_closed_loses_no_case(
    tmp_path: Path, refusal: BaseException | None, error: str
) -> None:
    finished = run(tmp_path, suite(case(1), case(2)), agent=Unopenable(refusal=refusal), timeout_ms=20)
    first, second = finished.suites[0].cases()
    assert (first.status, first.error, second.status) == ("error", error, "passed")
    assert finished.warnings == ("the agent could not be closed: ValueError: stuck",)


def test_any_seed_and_snapshot_can_be_recorded(tmp_path: Path) -> None:
    data = {"half": "\ud800", "big": 10**400, "a": "a"}
    finished = run(tmp_path, suite(case(1, contains=("{{seed:a}}", "{{snapshot:a}}"))), seed=data, snapshot=data)
    assert finished.summary.passed == 1
    header = json.loads((finished.folder / "journal.jsonl").read_text().splitlines()[0])
    assert header["options"]["snapshot"] == {**data, "half": "\ufffd"}
    assert len(header["options"]["seedHash"]) == 12


class Failing:
    """Cases that cannot all be read."""

    def __iter__(self) -> Iterator[LocatedCase]:
        yield LocatedCase(case(1), {})
        raise OSError("the rows are gone")


def test_cases_that_cannot_be_read_end_the_run_and_keep_what_was_done(tmp_path: Path) -> None:
    broken = Suite(
        metadata=None, name="t", tool_name="t", tier="labeled", file_hash="", origin="", cases=Failing(), size=2
    )
    with pytest.raises(OSError, match="the rows are gone"):
        run(tmp_path, broken, concurrency=3)
    (folder,) = tmp_path.iterdir()
    assert [path.name for path in folder.iterdir()] == ["journal.jsonl"]
    assert len((folder / "journal.jsonl").read_text().splitlines()) == 2


def test_an_interrupted_run_keeps_its_journal_and_writes_no_result(tmp_path: Path) -> None:
    class Interrupting(Log):
        def case_finished(self, suite: Suite, result: CaseResult) -> None:
            super().case_finished(suite, result)
            if result.id == "s/c2":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, suite(*map(case, range(9))), observer=Interrupting())
    (folder,) = tmp_path.iterdir()
    assert [path.name for path in folder.iterdir()] == ["journal.jsonl"]
    assert len((folder / "journal.jsonl").read_text().splitlines()) == 4


def test_a_cancelled_run_is_cancelled(tmp_path: Path) -> None:
    class Hanging(Echo):
        async def send(self, request: AgentRequest) -> AgentResponse:
            await asyncio.Event().wait()
            raise AssertionError

    async def cancelled() -> None:
        running = run_suites([suite(case(1))], Hanging(), RunOptions(output_dir=tmp_path))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(running, 0.05)

    asyncio.run(cancelled())


KILLED = """
import asyncio, os, sys
from pathlib import Path
from tests.runtime.test_run_suite import Echo, case, run, suite, Log

class Killer(Log):
    def case_finished(self, suite, result):
        if result.id == "s/c5":
            os.kill(os.getpid(), 9)

run(Path(sys.argv[1]), suite(*map(case, range(9))), observer=Killer())
"""


def test_a_kill_leaves_a_readable_journal(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert done.returncode == -9
    (journal,) = tmp_path.glob("*/journal.jsonl")
    header, *lines = map(json.loads, journal.read_text().splitlines())
    assert header["suites"][0]["fileHash"] == "0123456789ab"
    assert [line["case"] for line in lines] == [0, 1, 2, 3, 4, 5]


def test_a_baseline_gives_regressions_and_new_passes(tmp_path: Path) -> None:
    before = run(tmp_path, suite(case(1), case(2, "b"), case(3), case(4)))
    now = suite(case(1, "b"), case(2), case(3), case(5))
    for name in (before.run_id, str(before.folder), str(before.suites[0].path)):
        finished = run(tmp_path, now, baseline=name)
        result = read(finished.suites[0])
        assert (result.regressions, result.new_passes) == (("s/c1",), ("s/c2",))
        assert result.baseline_run_id == before.run_id
        assert (finished.summary.regressions, finished.summary.new_passes) == (1, 1)
        assert (result.came, result.changed, result.went) == (("s/c5",), ("s/c1", "s/c2"), ("s/c4",))


def test_the_latest_baseline_is_the_newest_green_run_of_the_agent(tmp_path: Path) -> None:
    green = run(tmp_path, suite(case(1), case(2)))
    run(tmp_path, suite(case(1, "b"), case(2)))
    again = run(tmp_path, suite(case(1, "b"), case(2)), baseline="latest")
    assert read(again.suites[0]).baseline_run_id == green.run_id
    assert read(again.suites[0]).regressions == ("s/c1",)


def test_baselines_go_by_what_passed_and_leave_out_what_is_skipped(tmp_path: Path) -> None:
    before = run(tmp_path, suite(*map(case, range(4))))
    now = suite(case(0, "b", expected_failure="known"), case(1, expected_failure="known"), case(2, skip="slow"))
    result = run(tmp_path, now, baseline=before.run_id).suites[0].result
    assert (result.regressions, result.new_passes) == (("s/c1",), ())


def test_a_suite_that_the_baseline_lacks_is_a_warning(tmp_path: Path) -> None:
    before = run(tmp_path, suite(case(1)))
    result = run(tmp_path, suite(case(1), tier="golden"), baseline=before.run_id).suites[0].result
    assert result.baseline_run_id is None
    assert result.warnings == (f"the baseline `{before.run_id}` has no suite of this name and tier",)


def test_the_latest_of_no_runs_is_a_warning(tmp_path: Path) -> None:
    finished = run(tmp_path, suite(case(1)), baseline="latest")
    assert finished.warnings == (
        f"there is no run of these suites and agents in `{tmp_path}` that met its gates, to compare with",
    )


def test_a_registry_gives_staleness_and_the_state_at_run(tmp_path: Path) -> None:
    registry = ToolRegistry(tools={"get_weather": Tool(name="get_weather", description="new", version="2.0.0")})
    metadata = Metadata(tool_name="get_weather", tier="labeled", description_hash=short_hash("old"))
    stale = run(tmp_path, suite(case(1), metadata=metadata), registry=registry).suites[0].result
    assert stale.stale
    assert len(stale.staleness_warnings) == 1
    assert (stale.metadata.tool_version, stale.metadata.registry_size) == ("2.0.0", 1)
    assert stale.metadata.description_hash == short_hash("new")
    unknown = Metadata(tool_name="other", tier="labeled", tool_version="1")
    other = run(tmp_path, suite(case(1), tool="other", metadata=unknown), registry=registry).suites[0].result
    assert "not in the registry" in other.warnings[0]
    assert other.metadata.tool_version is None
