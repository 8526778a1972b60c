"""Runs on a real Ray cluster on this machine: what they leave behind, and what happens when workers are lost."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.agents import Agent, AgentRequest, AgentResponse, Session
from evalc.base.errors import EngineError, UsageError
from evalc.extras import ray as ray_engine
from evalc.model.suite import LocatedCase
from evalc.runtime.run.case import with_places
from evalc.runtime.store.journal import CaseRun
from tests.extras.test_otel import plain, receiving, spans_at
from tests.support.steady import steady_results

ray = pytest.importorskip("ray")

SUITE = "suite: many\neval:\n  criteria: [x]\n  test_cases:\n" + "".join(
    f'    - {{name: case_{n}, message: "Question {n}", repeat: {1 + n % 2}, validate: [contains "{n}" for x]}}\n'
    for n in range(40)
)
ANSWERS = """
import asyncio, os, signal, time
from pathlib import Path

HERE = Path(__file__).parent
(HERE / f"process-{os.getpid()}").touch()

def answer(message):
    with (HERE / "asked.txt").open("a") as asked:
        asked.write(f"{os.getpid()} {time.time()} {message}\\n")
    return "no" if message.endswith("7") else {"response": message, "usage": {"costUsd": 0.1}}

async def dies_once(message):
    while len(list(HERE.glob("process-*"))) < 3:
        await asyncio.sleep(0.01)  # the test and one worker are there, and the other may start late
    if message == "Question 20" and not (HERE / "died").exists():
        (HERE / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(message)

def dies(message):
    if message == "Question 5":
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(message)

async def blocks(message):
    if message == "Question 5":
        time.sleep(3600)
    return answer(message)

def slow(message):
    time.sleep(0.05)
    return answer(message)

def traced(message):
    from opentelemetry.trace import get_current_span
    with (HERE / "traced.txt").open("a") as traced:
        traced.write(f"{get_current_span().get_span_context().span_id:016x}\\n")
    return answer(message)
"""


PATIENCE_MS = 600_000
"""How long a case may take that waits for a worker to start, on a machine with much to do."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two CPUs, and so two workers."""
    ray.init(address="local", num_cpus=2, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "answers", raising=False)
    (tmp_path / "evalc.toml").write_text("")
    (tmp_path / "many.eval.yaml").write_text(SUITE)
    (tmp_path / "answers.py").write_text(ANSWERS)
    return tmp_path


def run(agent: str | Agent, **flags: Any) -> evalc.Run:
    return evalc.run("many.eval.yaml", agent=agent, **{"engine": "ray", "concurrency": 4, **flags})


def asked(project: Path) -> list[tuple[int, float, str]]:
    """The requests: a process, a time, a message."""
    lines = (line.split(" ", 2) for line in (project / "asked.txt").read_text().splitlines())
    return [(int(process), float(when), message) for process, when, message in lines]


@pytest.mark.usefixtures("cluster")
def test_two_workers_one_of_them_killed_leave_what_one_process_leaves(project: Path) -> None:
    run("python:answers:answer", engine="local", output_dir="local")
    (project / "asked.txt").unlink()
    finished = run("python:answers:dies_once", output_dir="ray", timeout_ms=PATIENCE_MS)
    assert (project / "died").exists()
    assert finished.exit_code == 1
    ours, theirs = steady_results("ray"), steady_results("local")
    assert [result.pop("agentEndpoint") for result in ours.values()] == ["python:answers:dies_once"]
    assert [result.pop("agentEndpoint") for result in theirs.values()] == ["python:answers:answer"]
    assert ours == theirs
    # Of the two workers, the killed one may have answered nothing.
    assert len([*project.glob("process-*")]) >= 3


@pytest.mark.usefixtures("cluster")
def test_a_case_that_kills_every_worker_ends_in_error_and_no_other_does(project: Path) -> None:
    finished = run("python:answers:dies")
    cases = {case.id: case for suite in finished.suites for case in suite.cases}
    assert [name for name, case in cases.items() if case.status == "error"] == ["many/case_5"]
    assert "the case was lost with its worker 3 times: its process ended" in str(cases["many/case_5"].error)
    assert finished.exit_code == 3


@pytest.mark.usefixtures("cluster")
def test_an_agent_that_blocks_its_worker_holds_nothing_up(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "_PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(ray_engine, "_BEAT_SECONDS", 0.1)
    finished = run("python:answers:blocks", timeout_ms=300)
    cases = {case.id: case for suite in finished.suites for case in suite.cases}
    assert [name for name, case in cases.items() if case.status == "error"] == ["many/case_5"]
    assert str(cases["many/case_5"].error).endswith("3 times: an agent blocks its event loop")


@pytest.mark.usefixtures("cluster")
def test_without_any_worker_the_run_ends_and_keeps_what_was_finished(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def placed(run: CaseRun, located: LocatedCase) -> CaseRun:
        # The first case has ended; from now on no worker can be replaced.
        monkeypatch.setattr(ray_engine, "__version__", "0.0.0")
        return with_places(run, located)

    monkeypatch.setattr(ray_engine, "with_places", placed)
    monkeypatch.setattr(ray_engine, "_BEAT_SECONDS", 0.1)
    with pytest.raises(EngineError, match=rf"^the cluster has evalc {evalc.__version__}, and this is evalc 0\.0\.0$"):
        run("python:answers:dies")
    monkeypatch.undo()
    monkeypatch.chdir(project)
    resumed = evalc.run(resume="latest")
    assert resumed.summary.total_cases == 40
    assert resumed.summary.errors == 1
    assert any("the run was resumed: " in warning for warning in resumed.finished.warnings)


@pytest.mark.usefixtures("cluster")
def test_the_run_alone_decides_when_to_stop(project: Path) -> None:
    finished = run("python:answers:answer", maxfail=2)
    assert finished.summary.failed == 2
    assert finished.summary.total_cases < 40  # how many are under way then is up to the cluster
    assert finished.summary.total_cases + finished.summary.skipped == 40
    for suite in run("python:answers:answer", max_cost=1).suites:
        assert 0 < sum(case.details.usage["costUsd"] for case in suite.cases if case.details.usage) < 1.01


@pytest.mark.usefixtures("cluster")
def test_all_workers_share_the_rate_of_an_agent(project: Path) -> None:
    (project / "evalc.toml").write_text("[agents.paced]\nuse = 'python:answers:answer'\nrpm = 1200\n")
    run("paced", concurrency=20, keywords="case_1 or case_2 or case_3")
    times = sorted(when for _, when, _ in asked(project))
    assert len(times) > 30
    assert times[-1] - times[0] >= 0.7 * (len(times) - 1) * 60 / 1200


class Shouting:
    """An agent that a program makes, with state of its own."""

    endpoint = "shouting"

    def __init__(self, mark: object) -> None:
        self.mark = mark

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        return AgentResponse(response=f"{request.message}{self.mark}")


@pytest.mark.usefixtures("cluster")
def test_workers_give_agents_the_spans_of_their_cases(project: Path) -> None:
    with receiving() as (url, receiver):
        run("python:answers:traced", otel=url)
    cases = [span for span in spans_at(receiver) if "test.case.name" in plain(span.attributes)]
    assert {span.span_id.hex() for span in cases} == {*(project / "traced.txt").read_text().split()}
    assert len(cases) == 40


@pytest.mark.usefixtures("cluster")
def test_an_agent_of_the_caller_is_sent_to_the_workers(project: Path) -> None:
    assert run(Shouting("!")).summary.passed == 40
    with pytest.raises(UsageError, match=r"^`shouting` or a judge cannot be sent to the workers of a cluster: .*lock"):
        run(Shouting(threading.Lock()))


@pytest.mark.usefixtures("cluster")
def test_a_cluster_without_a_free_cpu(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def ready(self) -> None: ...

    monkeypatch.setattr(ray_engine, "_START_SECONDS", 1.0)
    busy: Any = ray.remote(num_cpus=2)(Busy).remote()
    ray.get(busy.ready.remote())
    try:
        with pytest.raises(
            UsageError, match=r"^no worker of the cluster was ready within 1 s: does it have a free CPU\?$"
        ):
            run("demo")
    finally:
        ray.kill(busy)
    assert not (project / "evals").exists()
