"""Rescoring: today's checks on the answers of then, in a new run, and nobody is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalc.base.errors import AgentTimeout, AgentUnavailable, UsageError
from evalc.model.answer import AgentResponse, ToolCall, Usage
from evalc.model.case import Case, Expect, Input
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.runtime.run.again_rescore import rescore_suites
from evalc.runtime.run.engine import RunOptions
from evalc.runtime.run.finish import FinishedRun
from evalc.runtime.run.run import run_suites
from evalc.runtime.store.redact import Redactor
from evalc.runtime.store.resume import find_run

SECRET = "secret-value-1"


class Whole:
    """An agent whose answers have everything in them."""

    endpoint = "whole"

    def __init__(self) -> None:
        self.asked = 0

    def session(self) -> Any:
        return ScriptedAgent(default=self._answer).session()

    def _answer(self, message: str) -> AgentResponse | BaseException:
        self.asked += 1
        match message:
            case "timeout":
                return AgentTimeout("too slow")
            case "gone":
                return AgentUnavailable("HTTP 503")
            case "in turn":
                return AgentResponse(response="ab"[self.asked % 2])
        call = ToolCall(name="t", success=True, params={"city": "Paris"})
        return AgentResponse(response=message, tool_calls=(call,), usage=Usage(cost_usd=0.25))


def case(name: str, message: str = "a", expect: Expect | None = None, **fields: Any) -> Case:
    chosen = expect or Expect(response_contains=("a",))
    return Case(id=name, description=name, input=Input(message=message), expect=chosen, **fields)


def suite(*cases: Case, tool: str = "s") -> Suite:
    located = tuple(LocatedCase(each, {}) for each in cases)
    return Suite(
        metadata=None,
        name=tool,
        tool_name=tool,
        tier="labeled",
        file_hash="h",
        origin="o",
        cases=located,
        size=len(located),
    )


def run(folder: Path, *suites: Suite, agent: Any = None, **options: Any) -> FinishedRun:
    return asyncio.run(run_suites(suites, agent or Whole(), RunOptions(output_dir=folder, **options)))


def rescore(folder: Path, *suites: Suite, name: str = "latest", **options: Any) -> FinishedRun:
    past = find_run(name, folder)
    return asyncio.run(rescore_suites(suites, past, RunOptions(output_dir=folder, **options)))


def outcomes(finished: FinishedRun) -> dict[str, tuple[str, Any]]:
    return {result.id: (result.status, result.error or None) for result in cases(finished)}


def cases(finished: FinishedRun) -> list[CaseResult]:
    return list(finished.suites[0].cases())


ALL = (
    case("plain"),
    case("tools", expect=Expect(tools_called=("t",), no_tool_errors=True, max_latency_ms=5_000, max_cost=0.3)),
    case("repeated", "in turn", repeat=3, require=1),
    case("late", "timeout"),
    case("expected", "timeout", expected_failure="known"),
    case("gone", "gone"),
    case("weak", "b", expected_failure="known"),
    case("skipped", skip="no"),
)


def test_the_same_checks_give_the_same_results(tmp_path: Path) -> None:
    first = run(tmp_path, suite(*ALL))
    second = rescore(tmp_path, suite(*ALL))
    assert cases(second) == cases(first)
    assert list(second.suites[0].skipped()) == list(first.suites[0].skipped())
    assert second.run_id != first.run_id
    (before, after) = (json.loads(each.suites[0].path.read_bytes()) for each in (first, second))
    assert after.pop("rescoredFrom") == first.run_id
    after.pop("significance", None)  # only of a run that has a baseline
    assert (after["agentEndpoint"], after["baselineRunId"]) == ("whole", first.run_id)
    assert {**after, "runId": 0, "timestamp": 0, "baselineRunId": 0} == {
        **before, "runId": 0, "timestamp": 0, "baselineRunId": 0,
    }  # fmt: skip
    third = rescore(tmp_path, suite(*ALL), name=second.run_id)
    assert cases(third) == cases(first)


def test_other_checks_give_other_verdicts_and_changes_are_named(tmp_path: Path) -> None:
    first = run(tmp_path, suite(case("good"), case("bad", expect=Expect(response_contains=("x",)))))
    finished = rescore(tmp_path, suite(case("bad"), case("good", expect=Expect(tools_not_called=("t",)))))
    assert {name: status for name, (status, _) in outcomes(finished).items()} == {"bad": "passed", "good": "failed"}
    result = finished.suites[0].result
    assert (result.regressions, result.new_passes, result.baseline_run_id) == (("good",), ("bad",), first.run_id)


def test_cases_that_evalc_alone_judges_otherwise_are_named(tmp_path: Path) -> None:
    run(tmp_path, suite(case("other"), case("same")))
    read_otherwise = Expect(response_contains=("x",))  # as if the same file meant this in a later version
    warnings = rescore(tmp_path, suite(case("other", expect=read_otherwise), case("same"))).suites[0].result.warnings
    assert [warning for warning in warnings if "another verdict" in warning] == [
        (
            "the same answers and checks have another verdict now: `other` (specs/checks.md says which checks mean "
            "something else than in earlier versions)"
        )
    ]
    changed = msgspec.structs.replace(suite(case("other", expect=read_otherwise)), file_hash="another")
    assert not [each for each in rescore(tmp_path, changed).suites[0].result.warnings if "another verdict" in each]


def test_a_latency_is_the_one_of_then(tmp_path: Path) -> None:
    run(tmp_path, suite(case("a", expect=Expect(max_latency_ms=60_000))))
    journal = find_run("latest", tmp_path).folder / "journal.jsonl"
    lines = journal.read_text().splitlines()
    line = json.loads(lines[1])
    line["result"]["durationMs"] = 4321.5
    journal.write_text("\n".join([lines[0], json.dumps(line), ""]))
    finished = rescore(tmp_path, suite(case("a", expect=Expect(max_latency_ms=4_000))), timeout_ms=1)
    ((status, error),) = outcomes(finished).values()
    assert (status, cases(finished)[0].duration_ms) == ("failed", 4321.5)
    assert str(error).startswith("maxLatencyMs: ")


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (case("new"), "no recorded response"),
        (case("a", "another"), "what it sends has changed since the response was recorded"),
        (case("a", stubs={"t": 1}), "what it sends has changed since the response was recorded"),
        (case("a", repeat=2), "no recorded response for attempt 2 of 2"),
        (case("a", skip="today"), "today"),
    ],
)
def test_cases_without_an_answer_are_skipped_with_a_reason(tmp_path: Path, now: Case, reason: str) -> None:
    run(tmp_path, suite(case("a")))
    finished = rescore(tmp_path, suite(now))
    assert cases(finished) == []
    assert [skipped.reason for skipped in finished.suites[0].skipped()] == [reason]


def test_fewer_attempts_are_the_first_of_those_recorded(tmp_path: Path) -> None:
    run(tmp_path, suite(case("a", "in turn", repeat=3, require=1)))
    (result,) = cases(rescore(tmp_path, suite(case("a", "in turn", repeat=2, require=1))))
    assert result.attempts
    assert [attempt.response for attempt in result.attempts] == ["b", "a"]


def test_cases_and_suites_that_are_gone_are_listed(tmp_path: Path) -> None:
    run(tmp_path, suite(*(case(f"c{number}") for number in range(14))), suite(case("x"), tool="t"))
    finished = rescore(tmp_path, suite(case("c0")))
    listed = ", ".join(f"`c{number}`" for number in range(1, 11))
    assert finished.suites[0].result.warnings == (f"recorded, and not in the suite any more: {listed} and 3 more",)
    assert finished.warnings == ("the suite `t` (labeled) of the run is not there any more",)


def test_an_answer_that_lost_its_secrets_keeps_its_verdict(tmp_path: Path) -> None:
    redactor = Redactor([SECRET])
    knows = case("knows", f"it is {SECRET}", Expect(response_contains=(SECRET,)))
    run(tmp_path, suite(knows, case("plain")), redactor=redactor)
    changed = msgspec.structs.replace(knows, expect=Expect(response_contains=("something else",)))
    finished = rescore(tmp_path, suite(changed, case("plain")), redactor=redactor)
    assert outcomes(finished) == {"knows": ("passed", None), "plain": ("passed", None)}
    assert finished.suites[0].result.warnings == (
        "not rescored, since secrets were struck out of what their checks read: `knows`",
    )
    for file in tmp_path.rglob("*.json*"):
        assert SECRET.encode() not in file.read_bytes()


def test_a_case_that_reads_a_snapshot_that_lost_its_secrets_keeps_its_verdict(tmp_path: Path) -> None:
    redactor, snapshot = Redactor([SECRET]), {"key": SECRET, "word": "b"}
    reads = case("reads", expect=Expect(response_contains=("{{snapshot:word}}",)))
    run(tmp_path, suite(reads, case("plain")), redactor=redactor, snapshot=snapshot)
    finished = rescore(
        tmp_path, suite(reads, case("plain", expect=Expect(response_contains=("z",)))), redactor=redactor
    )
    assert {name: status for name, (status, _) in outcomes(finished).items()} == {"reads": "failed", "plain": "failed"}
    assert finished.suites[0].result.warnings[0] == (
        "not rescored, since secrets were struck out of what their checks read: `reads`"
    )


def test_a_run_that_did_not_end_is_rescored_as_far_as_it_went(tmp_path: Path) -> None:
    run(tmp_path, suite(case("a"), case("b")))
    folder = find_run("latest", tmp_path).folder
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(lines[0] + lines[1] + lines[2][:50])
    (folder / "s.labeled.json").unlink()
    finished = rescore(tmp_path, suite(case("a"), case("b")))
    assert outcomes(finished) == {"a": ("passed", None)}
    assert finished.suites[0].result.baseline_run_id == folder.name
    (folder / "journal.jsonl").write_bytes(lines[0][:-1])
    with pytest.raises(UsageError, match="has no answers: it ended before its journal began"):
        rescore(tmp_path, suite(case("a")), name=folder.name)


def test_nobody_is_asked_and_the_old_run_stays_as_it_is(tmp_path: Path) -> None:
    agent = Whole()
    first = run(tmp_path, suite(*ALL), agent=agent)
    before = {file: file.read_bytes() for file in first.folder.iterdir()}
    asked = agent.asked
    rescore(tmp_path, msgspec.structs.replace(suite(*ALL), file_hash="other"))
    assert agent.asked == asked
    assert {file: file.read_bytes() for file in first.folder.iterdir()} == before
