"""Patterns that backtrack for ever: they end their own cases in `error`, and all other cases go on."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evalc.ecma import regexp
from evalc.ecma.regexp.quickjs import engine
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.model.case import Case, Expect, Input, ToolParamExpectation
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.runtime.run.engine import Observer, RunOptions
from evalc.runtime.run.run import run_suites

CATASTROPHE = r"^(a+)+\1$"
"""Not in linear time: it looks back at what a group matched."""
LONG = "a" * 40 + "b"


class Finishing(Observer):
    """An observer that writes down which cases finished, in their order."""

    def __init__(self, order: list[str]) -> None:
        self._order = order

    def case_finished(self, suite: Suite, result: CaseResult) -> None:
        self._order.append(result.id)


def case(name: str, message: str = "ab", **expect: Any) -> Case:
    return Case(id=name, description=name, input=Input(message=message), expect=Expect(**expect))


def run(
    folder: Path, *cases: Case, agent: Any, concurrency: int, order: list[str] | None = None
) -> dict[str, CaseResult]:
    """The results by id, in the cases' order; `order` takes the ids in the order of finishing."""
    located = tuple(LocatedCase(each, {}) for each in cases)
    suite = Suite(
        metadata=None,
        name="t",
        tool_name="t",
        tier="labeled",
        file_hash="0123456789ab",
        origin="t.labeled.json",
        cases=located,
        size=len(located),
    )
    options = RunOptions(output_dir=folder, concurrency=concurrency)
    finished = asyncio.run(run_suites([suite], agent, options, observer=Finishing([] if order is None else order)))
    return {result.id: result for result in finished.suites[0].cases()}


def echo(message: str) -> dict[str, Any]:
    return {"response": message, "toolCalls": [{"name": "search", "success": True, "params": {"query": message}}]}


def test_catastrophic_patterns_are_decided_in_linear_time(tmp_path: Path) -> None:
    patterns = case("decided", "a" * 100_000 + "b", response_matches=("^(a+)+$",))
    results = run(tmp_path, patterns, agent=ScriptedAgent(default=echo), concurrency=2)
    assert results["decided"].status == "failed"


def test_of_many_cases_only_those_with_such_patterns_end_in_error(tmp_path: Path) -> None:
    query = ToolParamExpectation(tool="search", param_name="query", assertion="matches", value=CATASTROPHE)
    cases = [
        case("by the response", LONG, response_matches=(CATASTROPHE,)),
        case("by a parameter", LONG, tool_params=(query,)),
        *(case(f"linear {number}", response_matches=("^a",), response_contains=("ab",)) for number in range(150)),
        *(case(f"backtracking {number}", response_matches=("(?=a)a",)) for number in range(50)),
    ]
    results = run(tmp_path, *cases, agent=ScriptedAgent(default=echo), concurrency=8)
    errors = {name: result.error for name, result in results.items() if result.status != "passed"}
    assert errors == {
        "by the response": rf"responseMatches: /{CATASTROPHE}/ ran longer than 1 s",
        "by a parameter": rf"toolParams: /{CATASTROPHE}/ ran longer than 1 s",
    }
    assert results["by the response"].status == results["by a parameter"].status == "error"
    assert list(results) == [each.id for each in cases]


class KillingAgent:
    """An agent that echoes; asked to kill, it kills the engine's process until a case that waits for it has ended."""

    endpoint = "killing"

    def __init__(self, ended: list[str]) -> None:
        self._ended = ended

    def session(self) -> Any:
        return self

    async def __aenter__(self) -> KillingAgent:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def send(self, request: AgentRequest) -> AgentResponse:
        while request.message == "kill" and "catastrophic" not in self._ended:
            pid = engine().pid
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0)
        return AgentResponse(response=request.message)


def test_the_run_goes_on_while_a_pattern_runs_and_when_its_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No pattern reaches such a deadline here: only the death of its process ends the catastrophic case.
    monkeypatch.setattr("evalc.runtime.checks.evaluate.test_async", partial(regexp.test_async, timeout=600))
    order: list[str] = []
    cases = [
        case("catastrophic", LONG, response_matches=(CATASTROPHE,)),
        *(case(f"linear {number}", response_matches=("^a",)) for number in range(20)),
        case("killing", "kill", response_non_empty=True),
        case("afterwards", response_matches=("(?=a)a",)),
    ]
    results = run(tmp_path, *cases, agent=KillingAgent(order), concurrency=2, order=order)
    assert results["catastrophic"].status == "error"
    assert "worker process for regular expressions" in (results["catastrophic"].error or "")
    assert {name for name, result in results.items() if result.status == "passed"} == results.keys() - {"catastrophic"}
    assert order.index("catastrophic") > max(order.index(f"linear {number}") for number in range(20))
