"""Recording and replaying: the same verdicts, nobody asked, no secret on disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from evalc.base.errors import AgentError, AgentProtocolError, AgentTimeout, AgentUnavailable, MachineFailed, UsageError
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.model.case import Case, Expect, Input
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase, Suite
from evalc.runtime.agents import Agent, HttpOptions, ModelOptions, Sampling, Session
from evalc.runtime.agents.recording import RecordingAgent, ReplayAgent, ScriptedAgent
from evalc.runtime.run.engine import RunOptions
from evalc.runtime.run.run import run_suites
from evalc.runtime.store.redact import Redactor
from evalc.tools import Tool, ToolRegistry
from tests.support.asking import ask, ask_all, failure, run_out_of_time

SECRET = "secret-value-1"
REDACTOR = Redactor([SECRET])


def recording(agent: Agent, folder: Path, model: ModelOptions | None = None) -> RecordingAgent:
    return RecordingAgent(agent, folder, model=model or ModelOptions(), http=HttpOptions(), redactor=REDACTOR)


def replaying(folder: Path | str, model: ModelOptions | None = None) -> ReplayAgent:
    return ReplayAgent(str(folder), model=model or ModelOptions(), http=HttpOptions(), redactor=REDACTOR)


def case(name: str, message: str = "a", **fields: Any) -> LocatedCase:
    expect = Expect(response_contains=("a",), max_latency_ms=5_000)
    return LocatedCase(Case(id=name, description=name, input=Input(message=message), expect=expect, **fields), {})


CASES = (
    case("plain"),
    case("twin"),
    case("long", "a" * 5000),
    case("repeated", "in turn", repeat=3, require=2),
    case("refused", "unavailable"),
    case("odd", "protocol"),
    case("slow", "timeout"),
    case("buggy", "bug"),
    case("late", "hang"),
)

FAILURES: Mapping[str, BaseException] = {
    "unavailable": AgentUnavailable("HTTP 503", status=503),
    "protocol": AgentProtocolError("the answer is not JSON", "<html>"),
    "timeout": AgentTimeout("too slow"),
    "bug": ValueError("a bug of the agent's"),
}


class Moody:
    """Answers each time something else; to some messages by failing, and to one not at all."""

    endpoint = "moody"

    def __init__(self) -> None:
        self.asked = 0

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        self.asked += 1
        if request.message == "hang":
            await asyncio.sleep(3600)
        if request.message in FAILURES:
            raise FAILURES[request.message]
        text = "ab"[self.asked % 2] if request.message == "in turn" else f"{request.message} {self.asked}"
        return AgentResponse(
            response=text,
            tool_calls=(ToolCall(name="t", success=True, duration_ms=1.5, params={"n": 10**20}),),
            usage=Usage(input_tokens=1, cost_usd=0.25),
            tool_mode="stubbed",
            finish_reason="stop",
        )


def verdicts(folder: Path, agent: Agent, concurrency: int = 3) -> list[CaseResult]:
    suite = Suite(
        metadata=None, name="t", tool_name="t", tier="labeled", file_hash="h", origin="o", cases=CASES, size=len(CASES)
    )
    options = RunOptions(output_dir=folder, timeout_ms=400, concurrency=concurrency)
    finished = asyncio.run(run_suites([suite], agent, options))
    return list(finished.suites[0].cases())


def test_replayed_answers_get_the_same_verdicts(tmp_path: Path) -> None:
    live = verdicts(tmp_path / "live", recording(Moody(), tmp_path / "rec"))
    replayed = verdicts(tmp_path / "replayed", replaying(tmp_path / "rec"), concurrency=1)
    assert {result.id: result.status for result in live} == {
        "plain": "passed", "twin": "passed", "long": "passed", "repeated": live[3].status, "refused": "error",
        "odd": "error", "slow": "failed", "buggy": "error", "late": "failed",
    }  # fmt: skip
    assert live[-1].error == "timeout: no complete answer within 400 ms"
    assert [(result.id, result.status, result.error, result.details) for result in replayed] == [
        (result.id, result.status, result.error, result.details) for result in live
    ]


def only(folder: Path) -> Path:
    """The only exchange that was recorded."""
    (file,) = folder.glob("*/*-*-*.json")
    return file


def test_an_answer_takes_as_long_as_it_took(tmp_path: Path) -> None:
    ask(recording(ScriptedAgent(default="a"), tmp_path))
    exchange = json.loads(only(tmp_path).read_bytes())
    only(tmp_path).write_text(json.dumps({**exchange, "durationMs": 321.5}))
    assert ask(replaying(tmp_path)).duration_ms == 321.5
    located = LocatedCase(CASES[0].case, {})
    suite = Suite(
        metadata=None, name="t", tool_name="t", tier="labeled", file_hash="h", origin="o", cases=[located], size=1
    )
    ask(recording(ScriptedAgent(default="a"), tmp_path), "a")
    for file in tmp_path.glob("*/*-*-*.json"):
        file.write_text(json.dumps({**json.loads(file.read_bytes()), "durationMs": 321.5}))
    for timeout_ms, error in ((400, "passed"), (300, "failed")):
        options = RunOptions(output_dir=tmp_path / str(timeout_ms), timeout_ms=timeout_ms)
        (result,) = asyncio.run(run_suites([suite], replaying(tmp_path), options)).suites[0].cases()
        assert (result.status, result.duration_ms) == (error, 321.5)


def test_a_missing_recording_shows_the_nearest_and_how_it_differs(tmp_path: Path) -> None:
    ask_all(recording(ScriptedAgent(default="a"), tmp_path), "What is the weather in Paris?", "Something else")
    assert str(failure(replaying(tmp_path), "What is the weather in Lima?")).endswith(
        ".json`, which differs in `message` (`What is the weather in Paris?`)"
    )
    error = str(failure(replaying(tmp_path, ModelOptions()), "Something else!"))
    assert error.startswith(f"this was not recorded in `{tmp_path}`; the nearest is `")


def test_attempts_beyond_those_recorded_are_missing(tmp_path: Path) -> None:
    ask(recording(ScriptedAgent(default="a"), tmp_path), "x")
    with pytest.raises(AgentError, match="attempt 2 at this was not recorded"):
        ask_all(replaying(tmp_path), "x", "x")


def test_a_model_is_known_by_how_it_is_asked_and_what_it_is_offered(tmp_path: Path) -> None:
    cold = ModelOptions(sampling=Sampling(temperature=0), tools=ToolRegistry(tools={"t": Tool(name="t")}))
    ask(recording(ScriptedAgent(default="cold", endpoint="openai:m"), tmp_path, cold))
    assert ask(replaying(tmp_path, cold)).response == "cold"
    assert str(failure(replaying(tmp_path))).endswith("which differs in `model`")


def test_settings_that_are_not_sent_make_no_difference(tmp_path: Path) -> None:
    ask(recording(ScriptedAgent(default="a", endpoint="demo"), tmp_path))
    assert ask(replaying(tmp_path, ModelOptions(system="Be kind"))).response == "a"


def test_a_case_of_another_name_gets_the_answer_to_the_same(tmp_path: Path) -> None:
    async def answer(agent: Agent, name: str) -> str:
        async with agent.session() as session:
            return (await session.send(AgentRequest(message="m", case_id=name))).response

    recorded = recording(ScriptedAgent(default="a"), tmp_path)
    assert asyncio.run(answer(recorded, "before")) == "a"
    assert asyncio.run(answer(replaying(tmp_path), "after")) == "a"


def test_agents_are_kept_apart(tmp_path: Path) -> None:
    for name in ("http://a/", "http://b/"):
        ask(recording(ScriptedAgent(default=name, endpoint=name), tmp_path))
    with pytest.raises(UsageError, match="holds recordings of 2 agents; name one: `replay:"):
        replaying(tmp_path)
    folders = sorted(file.parent for file in tmp_path.glob("*/agent.json"))
    assert [ask(replaying(folder)).response for folder in folders] == ["http://a/", "http://b/"]


def test_no_secret_is_recorded_and_its_place_is_found_again(tmp_path: Path) -> None:
    message = f"my pin is {SECRET}"
    ask(recording(ScriptedAgent(default=f"so {SECRET}", endpoint=f"command:x {SECRET}"), tmp_path), message)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 2
    assert not any(SECRET.encode() in file.read_bytes() or SECRET in str(file) for file in files)
    assert ask(replaying(tmp_path), message).response == "so ***"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"case": 1}', '{"case":"","attempt":1,"sent":{},"durationMs":1}'])
def test_a_damaged_recording_is_an_error_of_its_case(tmp_path: Path, text: str) -> None:
    ask(recording(ScriptedAgent(default="a"), tmp_path))
    only(tmp_path).write_text(text)
    assert str(failure(replaying(tmp_path))).startswith("the recording `")


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no recordings, as `--record "):
        replaying(tmp_path / "nope")
    for damaged in ("{}", "\xff", '{"agent": "a", "more": ' + "[" * 100_000):
        (tmp_path / "agent.json").write_text(damaged, encoding="latin-1")
        with pytest.raises(UsageError, match="does not say whose recordings these are"):
            replaying(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="nothing can be recorded in"):
        recording(ScriptedAgent(default="a"), tmp_path / "file")


def test_an_answer_that_cannot_be_recorded_is_no_error_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = recording(ScriptedAgent(default="a"), tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evalc.runtime.agents.recording.write_atomic", full)
    with pytest.raises(MachineFailed, match=r"nothing can be recorded in `.*`: No space left on device"):
        ask(recorded)


def test_an_interrupted_request_is_not_recorded(tmp_path: Path) -> None:
    run_out_of_time(recording(Moody(), tmp_path), message="hang")  # without a deadline, as at an interruption
    assert not list(tmp_path.glob("*/*-*-*.json"))
