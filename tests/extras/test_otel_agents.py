"""Agents of an exported run are given the span of their case, so that their own spans stand below it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import evalc
from tests.cli.conftest import Invoke, invoke, project
from tests.extras.test_otel import RUN_ID, plain, receiving, spans_at
from tests.support.servers import Server, answers, answers_bytes, echoes, in_turn, serving

__all__ = ["invoke", "project"]

SUITES = """\
suite: flights
eval:
  test_cases:
    - {name: rome, turns: [{say: to Rome}, {say: and back}], validate: [contains "o"]}
    - {name: oslo, message: to Oslo, repeat: 2, validate: [contains "Oslo"]}
---
suite: hotels
eval:
  test_cases:
    - {name: "ö, 50%", message: in Oslo, validate: [contains "Oslo"]}
"""


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRACEPARENT", "BAGGAGE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def suites(project: Path) -> Path:
    (project / "evals" / "weather.eval.yaml").write_text(SUITES)
    return project


def by_id(server: Server) -> Mapping[str, Span]:
    """The spans of cases that a receiver has got, by the ids of the cases."""
    named = ((plain(span.attributes).get("test.case.name"), span) for span in spans_at(server))
    return {name: span for name, span in named if name is not None}


def parent_of(span: Span) -> str:
    """The header that names a span as the parent."""
    return f"00-{span.trace_id.hex()}-{span.span_id.hex()}-01"


def test_an_agent_behind_a_url_is_given_the_span_and_the_ids(invoke: Invoke, suites: Path) -> None:
    busy = answers_bytes(b"", status=503, headers={"Retry-After": "0"})
    with serving(in_turn([busy, echoes])) as agent, receiving() as (url, receiver):
        outcome = invoke("run", "--agent", agent.url, "--otel", url)
    assert outcome.code == 0, outcome.out
    spans = by_id(receiver)
    run = spans_at(receiver)[-1]
    given = [(request.headers["traceparent"], request.headers["baggage"]) for request in agent.requests]
    ids = ["flights/rome", "flights/rome", "flights/rome", "flights/oslo", "flights/oslo", "hotels/ö, 50%"]
    assert [parent for parent, _ in given] == [parent_of(spans[name]) for name in ids]
    assert all(span.trace_id == run.trace_id for span in spans.values())
    (folder,) = (path for path in (suites / "evals" / "results").iterdir() if path.is_dir())
    assert {members for _, members in given} == {
        f"evalc.run_id={folder.name},evalc.case_id={written}"
        for written in ("flights/rome", "flights/oslo", "hotels/%C3%B6%2C%2050%25")
    }
    assert all(b"Rome" not in f"{parent}{members}".encode() for parent, members in given)


def test_each_of_several_agents_is_given_its_own_spans(invoke: Invoke, suites: Path) -> None:
    with serving(echoes) as one, serving(echoes) as other, receiving() as (url, receiver):
        assert invoke("run", "--agent", one.url, "--agent", other.url, "--otel", url).code == 0
    for agent in (one, other):
        spans = [span for span in spans_at(receiver) if plain(span.attributes).get("gen_ai.agent.name") == agent.url]
        assert len(spans) == 3
        assert {request.headers["traceparent"] for request in agent.requests} == set(map(parent_of, spans))


def test_a_run_that_is_not_exported_says_nothing_of_itself(invoke: Invoke, suites: Path) -> None:
    with serving(echoes) as agent:
        assert invoke("run", "--agent", agent.url).code == 0
    assert not {"traceparent", "baggage"} & {name for request in agent.requests for name in request.headers}
    (result,) = (json.loads(path.read_text()) for path in suites.glob("evals/results/*/flights.*.json"))
    assert not {"startedAt", "endedAt"} & result["cases"][0].keys()


def test_configured_headers_win_and_no_other_host_is_given_any(invoke: Invoke, suites: Path) -> None:
    (suites / "evalc.toml").write_text('[agent]\nredirects = 1\nheaders = { Traceparent = "mine" }\n')
    with serving(echoes) as elsewhere, receiving() as (url, _):
        away = answers_bytes(b"", status=307, headers={"Location": elsewhere.url})
        with serving(away) as agent:
            assert invoke("run", "--agent", agent.url, "--otel", url).code == 0
    assert {request.headers["traceparent"] for request in agent.requests} == {"mine"}
    assert all("evalc.case_id" in request.headers["baggage"] for request in agent.requests)
    assert elsewhere.requests
    assert not {"traceparent", "baggage"} & {name for request in elsewhere.requests for name in request.headers}


def test_no_provider_judge_or_player_is_given_any(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(
        "suite: played\neval:\n  criteria: ['clarity (1): Clear']\n  test_cases:\n"
        "    - {name: rome, user: {goal: Go to Rome, max_turns: 1}, validate: [non-empty]}\n"
    )
    reply = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Rome"}}]}
    said = {"goal": "Go to Rome", "say": "To Rome, please.", "facts": [], "done": False}
    with (
        serving(answers(reply)) as provider,
        serving(answers({"score": 1})) as judge,
        serving(answers({"response": json.dumps(said)})) as player,
        receiving() as (url, receiver),
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        flags = ("--agent", "openai:m", "--judge", judge.url, "--user", player.url, "--otel", url)
        outcome = invoke("run", *flags)
    assert outcome.code == 0, outcome.out
    assert list(by_id(receiver)) == ["played/rome"]
    for server in (provider, judge, player):
        assert server.requests
        assert not {"traceparent", "baggage"} & {name for request in server.requests for name in request.headers}


def test_a_program_has_it_in_its_environment(invoke: Invoke, suites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEPARENT", "of whoever runs evalc")
    monkeypatch.setenv("OTHER", "kept")
    (suites / "agent.py").write_text(
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    with open('given.txt', 'a') as given:\n"
        "        print(os.environ['TRACEPARENT'], os.environ['BAGGAGE'], os.environ['OTHER'], file=given)\n"
        "    print(json.dumps({'response': json.loads(line)['message']}), flush=True)\n"
    )
    with receiving() as (url, receiver):
        assert invoke("run", "--agent", "command:python3 agent.py", "--otel", url).code == 0
    spans = by_id(receiver)
    given = [line.split() for line in (suites / "given.txt").read_text().splitlines()]
    ids = ["flights/rome", "flights/rome", "flights/oslo", "flights/oslo", "hotels/ö, 50%"]
    assert [parent for parent, _, _ in given] == [parent_of(spans[name]) for name in ids]
    assert all(members.startswith("evalc.run_id=") and other == "kept" for _, members, other in given)


@pytest.fixture
def traced() -> Iterator[tuple[trace.Tracer, InMemorySpanExporter]]:
    """A tracer of an agent in this process, and what it has exported."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider.get_tracer("agent"), exporter
    provider.shutdown()


def agents_of(tracer: trace.Tracer) -> Mapping[str, Any]:
    """Agents that trace their work."""

    def answer(message: str) -> str:
        with tracer.start_as_current_span(message, attributes={"case": str(baggage.get_baggage("evalc.case_id"))}):
            return message

    async def answer_later(message: str) -> str:
        return answer(message)

    def hand_over(message: str) -> Any:
        return answer_later(message)

    class Desk:
        def run(self, message: str) -> str:
            return answer(message)

    return {"function": answer, "async": answer_later, "awaitable": hand_over, "class": Desk}


@pytest.mark.parametrize("kind", ["function", "async", "awaitable", "class"])
def test_spans_of_an_agent_in_python_stand_below_the_span_of_their_case(
    kind: str, suites: Path, traced: tuple[trace.Tracer, InMemorySpanExporter]
) -> None:
    tracer, exporter = traced
    with receiving() as (url, receiver), tracer.start_as_current_span("of the caller"):
        evalc.run("evals", agent=agents_of(tracer)[kind], otel=url, concurrency=3)
        assert trace.get_current_span().get_span_context().span_id != 0
        assert baggage.get_all() == {}
    spans = by_id(receiver)
    begun: list[ReadableSpan] = [span for span in exporter.get_finished_spans() if span.name != "of the caller"]
    assert sorted(span.name for span in begun) == ["and back", "in Oslo", "to Oslo", "to Oslo", "to Rome"]
    for span in begun:
        assert span.attributes is not None
        case = spans[str(span.attributes["case"])]
        assert span.context is not None
        assert span.parent is not None
        assert span.context.trace_id.to_bytes(16) == case.trace_id
        assert span.parent.span_id.to_bytes(8) == case.span_id
        assert case.start_time_unix_nano <= int(span.start_time or 0)
        assert int(span.end_time or 0) <= case.end_time_unix_nano


def test_the_spans_of_cases_are_where_their_agent_was_asked(suites: Path) -> None:
    met = threading.Barrier(3)

    def answer(message: str) -> str:
        if "back" not in message:
            met.wait(60)
        return message

    (suites / "evals" / "weather.eval.yaml").write_text(SUITES.replace(", repeat: 2", ""))
    with receiving() as (url, receiver):
        run = evalc.run("evals", agent=answer, otel=url, concurrency=3, timeout="60s")
    spans = spans_at(receiver)
    cases = by_id(receiver)
    assert max(span.start_time_unix_nano for span in cases.values()) <= min(
        span.end_time_unix_nano for span in cases.values()
    )
    assert all(
        spans[-1].start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        and span.end_time_unix_nano <= spans[-1].end_time_unix_nano
        for span in spans
    )
    assert plain(cases["flights/oslo"].attributes)["evalc.duration_ms"] == run.cases[1].duration_ms


def test_a_resumed_run_gives_what_it_has_given_before(invoke: Invoke, suites: Path) -> None:
    with serving(echoes) as agent, receiving() as (url, receiver):
        flags = ("--otel", url)
        assert invoke("run", "--agent", agent.url, *flags).code == 0
        (journal,) = suites.glob("evals/results/*/journal.jsonl")
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[:-1]))
        assert invoke("run", "--resume", "latest", *flags).code == 0
    *_, first, again = agent.requests
    assert (first.body, first.headers["traceparent"]) == (again.body, again.headers["traceparent"])
    assert first.headers["baggage"] == again.headers["baggage"]
    whole, resumed = (by_id(Server(requests=[each])) for each in receiver.requests)
    assert resumed["flights/rome"].start_time_unix_nano == whole["flights/rome"].start_time_unix_nano
    assert resumed["hotels/ö, 50%"].start_time_unix_nano > whole["hotels/ö, 50%"].end_time_unix_nano


def test_secrets_in_names_are_struck_out(invoke: Invoke, suites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cret-of-the-house"
    monkeypatch.setenv("HOUSE_TOKEN", secret)
    (suites / "evalc.toml").write_text('secrets = ["HOUSE_TOKEN"]\n')
    (suites / "evals" / "weather.eval.yaml").write_text(SUITES.replace("flights", secret))
    with serving(echoes) as agent, receiving() as (url, receiver):
        assert invoke("run", "--agent", agent.url, "--otel", url).code == 0
    spans = by_id(receiver)
    assert {request.headers["traceparent"] for request in agent.requests} == set(map(parent_of, spans.values()))
    assert all(secret not in request.headers["baggage"] for request in agent.requests)


def test_a_name_that_no_header_can_hold_is_left_out() -> None:
    from evalc.model.suite import SuiteKey
    from evalc.runtime.agents.trace import context_of

    key = SuiteKey("s", "labeled")
    assert context_of(RUN_ID, "demo", key, "é" * 2_000).baggage == f"evalc.run_id={RUN_ID}"
    assert context_of(RUN_ID, "demo", key, '"\r\n;\ud800').baggage.endswith("evalc.case_id=%22%0D%0A%3B%3F")
