"""Runs at a real OTLP receiver: what comes, what does not, and receivers that do not take it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from evalc.extras.otel import SECONDS, Exporter, of_agent
from evalc.model.result import AssertionResult, CaseDetails, CriterionResult, JudgedScore, RunSummary, SuiteResult
from evalc.report import ReportedSuite
from evalc.runtime.run.finish import summarize_run
from tests.cli.conftest import Invoke, invoke, project
from tests.report.results import case, suite
from tests.report.runs import every_status
from tests.support.servers import (
    Behaviour,
    Exchange,
    Server,
    answers,
    answers_bytes,
    closes,
    drips,
    drips_headers,
    floods,
    hangs,
    serving,
    talks_garbage,
)

__all__ = ["invoke", "project"]

RUN_ID: Final = "01a200e6-7046-7eeb-9a38-ddbabec8cf21"
SECRET: Final = "s3cret-token-of-the-agent"
OK: Final = answers_bytes(b"", headers={"Content-Type": "application/x-protobuf"})


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT", "HEADERS", "TRACES_ENDPOINT", "COMPRESSION"):
        monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{name}", raising=False)


@contextmanager
def receiving(behaviour: Behaviour = OK) -> Iterator[tuple[str, Server]]:
    """A receiver, and its base URL."""
    with serving(behaviour) as server:
        yield server.url.removesuffix("/chat"), server


def spans_at(server: Server) -> list[Span]:
    found: list[Span] = []
    for request in server.requests:
        assert (request.method, request.path) == ("POST", "/v1/traces")
        sent = ExportTraceServiceRequest.FromString(request.body)
        found += [span for resource in sent.resource_spans for scope in resource.scope_spans for span in scope.spans]
    return found


def plain(attributes: Any) -> dict[str, Any]:
    return {each.key: value_of(each.value) for each in attributes}


def value_of(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    assert kind is not None
    return [value_of(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def evaluations_of(span: Span) -> dict[str, dict[str, Any]]:
    assert {event.name for event in span.events} == {"gen_ai.evaluation.result"}
    return {found["gen_ai.evaluation.name"]: found for found in (plain(event.attributes) for event in span.events)}


def exported(*suites: SuiteResult) -> tuple[str, RunSummary, tuple[ReportedSuite, ...]]:
    return RUN_ID, summarize_run(suites), tuple(map(ReportedSuite.of, suites))


def test_a_run_is_a_trace(invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TOKEN", SECRET)
    (project / "evalc.toml").write_text('secrets = ["AGENT_TOKEN"]\n')
    answer = {
        "response": f"Paris is sunny, says {SECRET}",
        "toolCalls": [{"name": f"get_weather_{SECRET}"}],
        "usage": {"inputTokens": 12, "outputTokens": 3, "costUsd": 0.5},
    }
    with serving(answers(answer)) as agent, receiving() as (url, receiver):
        outcome = invoke("run", "--agent", agent.url, "--otel", url)
    assert (outcome.code, "OpenTelemetry" in outcome.out) == (1, False)
    assert all(SECRET.encode() not in request.body for request in receiver.requests)
    assert all(b"sunny" not in request.body and b"weather in" not in request.body for request in receiver.requests)

    of_case, of_suite, of_run = spans_at(receiver)
    (folder,) = (path for path in (project / "evals" / "results").iterdir() if path.is_dir())
    assert {span.trace_id for span in (of_case, of_suite, of_run)} == {uuid.UUID(folder.name).bytes}
    assert (of_run.parent_span_id, of_suite.parent_span_id, of_case.parent_span_id) == (
        b"",
        of_run.span_id,
        of_suite.span_id,
    )
    (result,) = (json.loads(path.read_text()) for path in folder.glob("*.json"))
    (case_,) = result["cases"]
    assert [span.start_time_unix_nano for span in (of_case, of_suite)] == [since_1970(case_["startedAt"])] * 2
    assert [span.end_time_unix_nano for span in (of_case, of_suite, of_run)] == [since_1970(case_["endedAt"])] * 3
    assert of_run.start_time_unix_nano == since_1970(result["timestamp"])
    assert (of_run.name, of_suite.name) == ("evalc run", "evalc suite weather.labeled")
    assert (of_case.name, of_case.kind) == (f"invoke_agent {agent.url}", Span.SPAN_KIND_CLIENT)
    assert of_case.status.code == of_suite.status.code == of_run.status.code == Status.STATUS_CODE_ERROR
    known = plain(of_case.attributes)
    assert known == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent.url,
        "server.address": "127.0.0.1",
        "server.port": int(agent.url.split(":")[2].split("/")[0]),
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "test.case.name": "weather/paris",
        "test.case.result.status": "fail",
        "code.file.path": "evals/weather.eval.yaml",
        "code.line.number": known["code.line.number"],
        "evalc.status": "failed",
        "evalc.score": 1.0,
        "evalc.cost_usd": 0.5,
        "evalc.duration_ms": case_["durationMs"],
        "evalc.assertions.run": 2,
        "evalc.assertions.skipped": 0,
        "evalc.tools_called": ["get_weather_***"],
    }
    assert {name: found["gen_ai.evaluation.score.label"] for name, found in evaluations_of(of_case).items()} == {
        "case": "failed",
        "clarity": "linked",
        "responseContains/0": "pass",
        "toolsCalled": "fail",
    }
    assert plain(of_suite.attributes)["test.suite.run.status"] == "failure"
    assert plain(of_run.attributes)["evalc.cases.failed"] == 1


def test_content_is_exported_where_that_is_configured(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", SECRET)
    answer = {"response": f"Rome is sunny, {SECRET}", "toolCalls": [{"name": "look", "params": {"at": [1]}}]}
    with serving(answers(answer)) as agent, receiving() as (url, receiver):
        (project / "evalc.toml").write_text(f'secrets = ["AGENT_TOKEN"]\notel = "{url}/"\notel_content = true\n')
        invoke("run", "--agent", agent.url)
    assert all(SECRET.encode() not in request.body for request in receiver.requests)
    of_case = spans_at(receiver)[0]
    known = plain(of_case.attributes)
    assert json.loads(known["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "What is the weather in Paris?"}]}
    ]
    assert json.loads(known["gen_ai.output.messages"]) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "Rome is sunny, ***"},
                {"type": "tool_call", "name": "look", "arguments": {"at": [1]}},
            ],
            "finish_reason": "stop",
        }
    ]
    assert "Paris" in evaluations_of(of_case)["responseContains/0"]["gen_ai.evaluation.explanation"]


def test_no_explanation_without_content() -> None:
    said = AssertionResult(
        at="/rubric/0",
        outcome="failed",
        field="rubric",
        message="private words",
        judged=JudgedScore(score=2, max_score=5, reason="private words"),
    )
    broken = AssertionResult(at="/expect/checks/0", outcome="error", field="matches", message="private words")
    criterion = CriterionResult(
        name="tone", weight=1, score=0.4, scored_by="judge", judged=JudgedScore(score=2, max_score=5, reason="private")
    )
    judged = msgspec.structs.replace(
        case("w/a", "private", status="error", error="agent: private", assertions=(said, broken)), criteria=(criterion,)
    )
    with receiving() as (url, receiver):
        assert Exporter(url).export(*exported(suite(judged))) is None
        found = evaluations_of(spans_at(receiver)[0])
        assert b"private" not in receiver.requests[0].body
        assert Exporter(url, content=True).export(*exported(suite(judged))) is None
        assert receiver.requests[1].body.count(b"private words") == 2
    assert found == {
        "case": {"gen_ai.evaluation.name": "case", "gen_ai.evaluation.score.label": "error"},
        "tone": {
            "gen_ai.evaluation.name": "tone",
            "gen_ai.evaluation.score.value": 0.4,
            "gen_ai.evaluation.score.label": "judge",
        },
        "rubric/0": {
            "gen_ai.evaluation.name": "rubric/0",
            "gen_ai.evaluation.score.value": 2.0,
            "gen_ai.evaluation.score.label": "fail",
            "evalc.check": "rubric",
            "evalc.max_score": 5,
        },
        "checks/0": {
            "gen_ai.evaluation.name": "checks/0",
            "gen_ai.evaluation.score.label": "error",
            "evalc.check": "matches",
            "error.type": "_OTHER",
        },
    }


def test_every_status_has_its_span() -> None:
    with receiving() as (url, receiver):
        assert Exporter(url).export(*exported(every_status())) is None
    cases = {plain(span.attributes)["test.case.name"]: span for span in spans_at(receiver)[:-2]}
    assert {name: plain(span.attributes)["evalc.status"] for name, span in cases.items()} == {
        "w/passed": "passed",
        "w/failed|1": "failed",
        "w/slow": "failed",
        "w/error": "error",
        "w/unverified": "unverified",
        "w/expected": "expected-failure",
        "w/unexpected": "unexpected-pass",
        "w/flaky": "failed",
    }
    errors = {name: plain(span.attributes).get("error.type") for name, span in cases.items()}
    assert {name: error for name, error in errors.items() if error} == {"w/slow": "timeout", "w/error": "_OTHER"}
    assert {name for name, span in cases.items() if span.status.code == Status.STATUS_CODE_UNSET} == {
        "w/passed",
        "w/unverified",
        "w/expected",
    }


def since_1970(moment: str) -> int:
    """A moment in nanoseconds."""
    return round(datetime.fromisoformat(moment).timestamp() * 1_000_000) * 1_000


def test_cases_without_a_moment_stand_one_behind_the_other_and_come_in_batches() -> None:
    many = suite(*(case(f"w/{number}", duration=10) for number in range(250)))
    other = suite(case("w/0", duration=10), tool="other")
    with receiving() as (url, receiver):
        assert Exporter(url).export(*exported(many, other)) is None
    spans = spans_at(receiver)
    assert len(receiver.requests) == 3
    assert len({span.span_id for span in spans}) == len(spans) == 250 + 1 + 1 + 1 + 1
    cases = [span for span in spans if "test.case.name" in plain(span.attributes)]
    assert all(before.end_time_unix_nano == after.start_time_unix_nano for before, after in pairwise(cases))
    run = spans[-1]
    assert (run.start_time_unix_nano, run.end_time_unix_nano) == (
        cases[0].start_time_unix_nano,
        cases[-1].end_time_unix_nano,
    )
    assert run.end_time_unix_nano - run.start_time_unix_nano == 251 * 10_000_000


def test_odd_values_of_agents_do_not_spoil_the_batch() -> None:
    details = CaseDetails(
        response="\x00\x1b[31m" + "x" * 1_000_000,
        tool_calls=({"name": 1, "params": {"a": "y" * 1_000_000}}, *({"name": "z"},) * 1_000),
        tools_called=("t" * 1_000_000,) * 1_000,
        usage={"inputTokens": 10**30, "outputTokens": 1},
    )
    hostile = msgspec.structs.replace(case("w/hostile"), details=details)
    with receiving() as (url, receiver):
        assert Exporter(url, content=True).export(*exported(suite(hostile))) is None
    known = plain(spans_at(receiver)[0].attributes)
    assert known["gen_ai.usage.input_tokens"] == 1e30
    assert len(json.loads(known["gen_ai.output.messages"])[0]["parts"]) == 101
    assert len(receiver.requests[0].body) < 200_000


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (
            "openai:gpt-x",
            {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-x"},
        ),
        (
            "anthropic:c:1 at https://models.test/v1",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "anthropic",
                "gen_ai.request.model": "c:1",
                "server.address": "models.test",
                "server.port": 443,
            },
        ),
        ("demo", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "demo"}),
        (
            "command:cat a at http://b",
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "command:cat a at http://b"},
        ),
    ],
)
def test_who_was_asked(endpoint: str, expected: Mapping[str, object]) -> None:
    assert of_agent(endpoint) == expected


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (hangs, "the receiver did not answer in time"),
        (drips_headers, "the receiver did not answer in time"),
        (closes, "the receiver cannot be reached (ConnectionError)"),
        (talks_garbage, "the receiver cannot be reached (ConnectionError)"),
        (answers_bytes(SECRET.encode(), status=500), "the receiver answered 500"),
        (answers_bytes(b"", status=503), "the receiver answered 503"),
        (answers_bytes(b"", status=302, headers={"Location": "/login"}), "the receiver answered 302"),
    ],
)
def test_a_receiver_that_does_not_take_it(
    behaviour: Behaviour, why: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with receiving(behaviour) as (url, _):
        warning = Exporter(url, seconds=0.3).export(*exported(every_status()))
    assert warning == f"the run was not exported to OpenTelemetry: {why}"
    assert (caplog.text, capfd.readouterr()) == ("", ("", ""))


@pytest.mark.parametrize("behaviour", [drips, floods])
def test_an_answer_without_end_is_not_read(behaviour: Behaviour) -> None:
    with receiving(behaviour) as (url, _):
        assert Exporter(url).export(*exported(every_status())) is None


def test_a_failed_export_fails_no_run(invoke: Invoke) -> None:
    with receiving(answers_bytes(b"", status=500)) as (url, _):
        outcome = invoke("run", "--agent", "demo", "--otel", url)
    assert (outcome.code, "rror" in outcome.err) == (0, False)
    assert "the run was not exported to OpenTelemetry: the receiver answered 500" in outcome.out


def test_a_receiver_that_drips_keeps_no_interrupt_waiting(project: Path) -> None:
    asked = threading.Event()

    async def drips_then(exchange: Exchange) -> None:
        asked.set()
        await drips_headers(exchange)

    with receiving(drips_then) as (url, _):
        command = [sys.executable, "-m", "evalc", "run", "--agent", "demo", "--otel", url]
        with subprocess.Popen(command, cwd=project, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert asked.wait(30)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)  # not only once the time for the export is up
        assert process.returncode == 130


def test_a_receiver_that_is_not_there() -> None:
    with receiving() as (url, _):
        pass  # nobody listens there any more
    warning = Exporter(url, seconds=0.3).export(*exported(every_status()))
    assert warning == ("the run was not exported to OpenTelemetry: the receiver cannot be reached (ConnectionError)")


def test_the_environment_counts(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=of-the-receiver")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=ci")
    with receiving() as (url, receiver):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        assert invoke("run", "--agent", "demo").code == 0
        assert receiver.requests == []
        assert invoke("run", "--agent", "demo", "--otel", "env").code == 0
    (request,) = receiver.requests
    assert request.headers["x-api-key"] == "of-the-receiver"
    (sent,) = ExportTraceServiceRequest.FromString(request.body).resource_spans
    resource: list[KeyValue] = list(sent.resource.attributes)
    assert plain(resource)["deployment.environment.name"] == "ci"
    assert plain(resource)["service.name"] == "evalc"


def test_a_resumed_run_is_the_same_trace_and_no_journal_names_the_receiver(invoke: Invoke, project: Path) -> None:
    with receiving() as (url, receiver):
        invoke("run", "--agent", "demo", "--otel", url)
        (journal,) = project.glob("evals/results/*/journal.jsonl")
        assert url.encode() not in journal.read_bytes()
        assert invoke("run", "--resume", "latest").code == 0
        assert len(receiver.requests) == 1
        assert invoke("run", "--resume", "latest", "--otel", url).code == 0
    first, second = ([span.span_id for span in spans_at(Server(requests=[each]))] for each in receiver.requests)
    assert first == second


@pytest.mark.parametrize(
    "url", ["localhost:4318", "ftp://a", "http://me:pw@a", "http://a?key=1", "http://a#b", "http://", "http://a b"]
)
def test_a_receiver_that_is_no_plain_url(invoke: Invoke, url: str) -> None:
    outcome = invoke("run", "--agent", "demo", "--otel", url)
    assert (outcome.code, outcome.err) == (
        2,
        "error: `--otel` must be a URL without user, query and fragment, or `env`\n",
    )
