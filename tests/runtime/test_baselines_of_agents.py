"""Each of several agents is compared with itself only, wherever it listens."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path

import pytest

from evalc.model.case import Case, Expect, Gates, Input
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.runtime.run.again_rescore import rescore_suites
from evalc.runtime.run.engine import RunOptions
from evalc.runtime.run.finish import FinishedRun
from evalc.runtime.run.run import run_suites
from evalc.runtime.store.accepted import accept
from evalc.runtime.store.redact import NO_SECRETS
from evalc.runtime.store.resume import find_run
from evalc.runtime.store.runs import Closing, find_results, write_closing

HERE, THERE = "http://localhost:8700/chat", "http://localhost:8701/chat"
ANY_OUTCOME = Gates(min_pass_rate=0)
NO_REGRESSION = Gates(fail_on_regression=True)


def a_suite(*names: str) -> Suite:
    cases = tuple(
        LocatedCase(
            Case(id=name, description=name, input=Input(message=name), expect=Expect(response_contains=("yes",))), {}
        )
        for name in names
    )
    return Suite(
        metadata=None, name="s", tool_name="s", tier="labeled", file_hash="h", origin="o", cases=cases, size=len(cases)
    )


SUITE = a_suite("one")


def asked(folder: Path, answers: dict[str, bool], gates: Gates, **options: object) -> FinishedRun:
    """A run of agents, by endpoint, whose answers are right or wrong."""
    agents = [ScriptedAgent(default="yes" if right else "no", endpoint=name) for name, right in answers.items()]
    options_of_run = RunOptions(output_dir=folder, gates=gates, **options)  # type: ignore[arg-type]
    finished = asyncio.run(run_suites([SUITE], agents, options_of_run))
    write_closing(finished.folder, Closing(exit_code=int(finished.failed), gates=finished.gates), NO_SECRETS)
    return finished


@pytest.mark.parametrize(
    "endpoints",
    [
        (HERE, THERE),
        (THERE, HERE),
        ("http://127.0.0.1:8700/", "http://127.0.0.1:8701/"),
        ("http://[::1]:8700/", "http://[::1]:8701/"),
        (HERE, "http://127.0.0.1:8700/chat"),
        (HERE, "python:a:b"),
    ],
)
@pytest.mark.parametrize("kind", ["accepted", "latest", "named"])
def test_two_agents_of_one_run_are_each_compared_with_themselves(
    tmp_path: Path, endpoints: tuple[str, str], kind: str
) -> None:
    outcomes = list(product((True, False), repeat=2))
    for number, (before, now) in enumerate(product(outcomes, outcomes)):
        folder = tmp_path / str(number)
        past = asked(folder, dict(zip(endpoints, before, strict=True)), ANY_OUTCOME)
        accepted = folder / "baseline.json"
        if kind == "accepted":
            accept(find_results(past.run_id, folder), accepted)
        name = past.run_id if kind == "named" else "latest"
        answers = dict(zip(endpoints, now, strict=True))
        finished = asked(folder, answers, NO_REGRESSION, baseline=name, accepted=accepted)
        assert [bool(suite.result.regressions) for suite in finished.suites] == [
            then and not right for then, right in zip(before, now, strict=True)
        ]
        assert [bool(suite.result.new_passes) for suite in finished.suites] == [
            right and not then for then, right in zip(before, now, strict=True)
        ]
        for agent, then, right in zip(endpoints, before, now, strict=True):  # each alone, too
            alone = asked(folder, {agent: right}, NO_REGRESSION, baseline=name, accepted=accepted)
            assert alone.failed == (then and not right)


def test_a_rescored_run_of_several_agents_is_compared_with_itself(tmp_path: Path) -> None:
    first = asked(tmp_path, {HERE: True, THERE: False}, ANY_OUTCOME)
    finished = asyncio.run(rescore_suites([SUITE], find_run("latest", tmp_path), RunOptions(output_dir=tmp_path)))
    for suite in finished.suites:
        assert (suite.result.baseline_run_id, suite.result.warnings) == (first.run_id, ())
        assert (suite.result.regressions, suite.result.new_passes) == ((), ())


def test_the_port_of_a_single_agent_may_change(tmp_path: Path) -> None:
    asked(tmp_path, {HERE: True}, ANY_OUTCOME)
    finished = asked(tmp_path, {THERE: False}, NO_REGRESSION, baseline="latest")
    assert finished.suites[0].result.regressions == ("one",)


def test_the_port_of_one_of_several_agents_may_not(tmp_path: Path) -> None:
    """Nothing says which of the agents it was: every case has to pass, as without a baseline."""
    asked(tmp_path, {HERE: False, THERE: False}, ANY_OUTCOME)
    finished = asked(tmp_path, {"http://localhost:8702/chat": False}, NO_REGRESSION, baseline="latest")
    assert (finished.suites[0].result.baseline_run_id, finished.failed) == (None, True)
    asked(tmp_path / "single", {HERE: False}, ANY_OUTCOME)
    several = asked(
        tmp_path / "single", {THERE: False, "http://localhost:8702/": True}, NO_REGRESSION, baseline="latest"
    )
    assert ([suite.result.baseline_run_id for suite in several.suites], several.failed) == ([None, None], True)


def test_two_agents_that_run_in_turn_are_two(tmp_path: Path) -> None:
    asked(tmp_path, {HERE: True}, ANY_OUTCOME)
    asked(tmp_path, {THERE: False}, ANY_OUTCOME)
    finished = asked(tmp_path, {HERE: False}, NO_REGRESSION, baseline="latest")
    assert finished.suites[0].result.regressions == ("one",)
