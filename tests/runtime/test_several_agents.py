"""A run of several agents: what they share, and what each has for itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evalc.base.errors import UsageError
from evalc.model.case import Gates
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.runtime.run.engine import RunOptions
from evalc.runtime.run.finish import FinishedRun
from evalc.runtime.run.gates import Limits
from evalc.runtime.run.run import run_suites
from evalc.runtime.store.redact import Redactor
from evalc.runtime.store.runs import agent_folders
from tests.runtime.test_run_suite import Echo, case, suite


class Named(Echo):
    """An agent of this name."""

    def __init__(self, endpoint: str, **options: Any) -> None:
        super().__init__(**options)
        self.endpoint = endpoint


def run(folder: Path, *suites: Any, agents: Any, **options: Any) -> FinishedRun:
    return asyncio.run(run_suites(suites, agents, RunOptions(output_dir=folder, **options)))


@pytest.mark.parametrize("concurrency", [1, 3])
def test_suite_by_suite_and_agent_by_agent(tmp_path: Path, concurrency: int) -> None:
    suites = [suite(case(1), case(2), tool=tool) for tool in ("t", "u")]
    finished = run(tmp_path, *suites, agents=[Named("a"), Named("b", jitter=True)], concurrency=concurrency)
    assert [(each.result.tool_name, each.result.agent_endpoint) for each in finished.suites] == [
        ("t", "a"),
        ("t", "b"),
        ("u", "a"),
        ("u", "b"),
    ]
    assert (finished.agents, finished.summary.total_cases) == (("a", "b"), 8)
    assert all([made.id for made in each.cases()] == ["s/c1", "s/c2"] for each in finished.suites)


def test_limits_and_gates_are_those_of_all(tmp_path: Path) -> None:
    failing = suite(case(1, contains=("z",)), case(2))
    finished = run(tmp_path, failing, agents=[Named("a"), Named("b")], limits=Limits(max_fail=2))
    assert [each.result.summary.total_cases for each in finished.suites] == [2, 1]
    assert [bool(each.result.stopped) for each in finished.suites] == [False, True]
    paid = [Named("a", cost=1.0), Named("b", cost=1.0)]
    spent = run(tmp_path, suite(case(1), case(2)), agents=paid, limits=Limits(max_cost=3))
    assert [each.result.summary.total_cases for each in spent.suites] == [2, 1]
    gated = run(tmp_path, failing, agents=[Named("a"), Named("b")], gates=Gates(min_pass_rate=0.5))
    assert [(gate.value, gate.passed) for gate in gated.gates] == [(0.5, True)]


def test_rubrics_are_held_back_for_each_agent_alone(tmp_path: Path) -> None:
    checked, rubric = suite(case(1, message="a")), suite(case(2), tier="rubric")
    silent = ScriptedAgent(default="b")
    finished = run(tmp_path, checked, rubric, agents=[silent, Named("echo")])
    of_rubrics = [each.result for each in finished.suites if each.result.tier == "rubric"]
    assert [(result.summary.total_cases, result.summary.skipped) for result in of_rubrics] == [(0, 1), (1, 0)]


def test_no_secret_is_in_the_name_of_a_folder(tmp_path: Path) -> None:
    agents = [Named("python:x:secret-qwertz"), Named("b")]
    finished = run(tmp_path, suite(case(1)), agents=agents, redactor=Redactor(("secret-qwertz",)))
    written = [file for file in finished.folder.rglob("*") if file.is_file()]
    assert len(written) == 3
    assert not any("qwertz" in str(file) or b"qwertz" in file.read_bytes() for file in written)
    alike = [Named("x:secret-qwertz"), Named("x:other-qwertz")]
    with pytest.raises(UsageError, match="results call two agents"):
        run(tmp_path, suite(case(1)), agents=alike, redactor=Redactor(("secret-qwertz", "other-qwertz")))


def test_folders_are_distinguished_even_if_case_and_signs_are_not() -> None:
    names = ["http://a/b", "http://a-b", "HTTP://A/B", "天", "x"]
    folders = agent_folders(names)
    assert len({folder.casefold() for folder in folders.values()}) == len(names)
    assert folders["x"] == "x"
    assert all(folder.replace("-", "").isalnum() and folder.isascii() for folder in folders.values())
