"""Sends a run to an OTLP receiver as spans: one of the run, below it its suites, below those their cases.

Results of an exported run say when a case was asked and answered. Those of a run that was exported only once it was
resumed say how long a case took: such cases follow one another. Spans are sent in batches, each within a bounded time;
a failure never fails the run.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Final, final
from urllib.parse import urlsplit

import msgspec
import requests
from msgspec import UNSET
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from evalc import __version__
from evalc.base import PROVIDERS
from evalc.model.result import AssertionResult, CaseDetails, CaseResult, Outcome, RunSummary, SuiteResult, Summary
from evalc.model.suite import key_of
from evalc.report import ReportedSuite
from evalc.runtime.agents.trace import names_of, span_id_of, trace_id_of

# --- attributes ------------------------------------------------------------------------------------------------------


Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value]

_LONGEST_TEXT: Final = 20_000
_LONGEST_NAME: Final = 200
_MOST_CALLS: Final = 100

_MODELS: Final = (*PROVIDERS, "local")
"""The prefix before the model in the names of agents that are models."""

_LABELS: Final[Mapping[Outcome, str]] = {"passed": "pass", "failed": "fail", "skipped": "skipped", "error": "error"}


def of_run(run_id: str, summary: RunSummary) -> Attributes:
    """Attributes of the run as a whole."""
    return _known({"evalc.run_id": run_id, "evalc.suites": summary.suites, **_totals(summary)})


def of_suite(result: SuiteResult) -> Attributes:
    """Attributes of a suite; it is a success if no case of it failed."""
    status = "aborted" if result.stopped else "failure" if result.summary.failed else "success"
    return _known(
        {
            "test.suite.name": str(key_of(result)),
            "test.suite.run.status": status,
            "evalc.suite": key_of(result).name,
            "evalc.tool": result.tool_name,
            "evalc.tier": result.tier,
            "evalc.agent": result.agent_endpoint,
            "evalc.judges": result.judges,
            "evalc.warnings": (*result.staleness_warnings, *result.warnings),
            "evalc.regressions": len(result.regressions),
            "evalc.cost_usd": result.summary.estimated_cost_usd,
            **_totals(result.summary),
        }
    )


def of_agent(endpoint: str) -> Attributes:
    """Attributes of an agent: a model for its next turn in a chat, any other agent to do its work."""
    url = endpoint
    asked: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": endpoint}
    provider, _, model = endpoint.partition(":")
    if provider in _MODELS:
        model, _, url = model.partition(" at ")
        asked = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    if url.startswith(("http://", "https://")):
        parts = urlsplit(url)
        asked["server.address"] = parts.hostname
        asked["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    return _known(asked)


def of_case(case: CaseResult, *, content: bool) -> Attributes:
    """Attributes of a case; what was sent and answered is its `content`."""
    details = case.details
    place = None if case.place is UNSET else case.place
    usage: Mapping[str, int | float] = details.usage or {}
    return _known(
        {
            "test.case.name": case.id,
            "test.case.result.status": "pass" if case.passed else "fail",
            "error.type": "timeout" if case.timed_out is True else "_OTHER" if case.status == "error" else None,
            "code.file.path": place and place.file,
            "code.line.number": place and place.line,
            "gen_ai.usage.input_tokens": usage.get("inputTokens"),
            "gen_ai.usage.output_tokens": usage.get("outputTokens"),
            "gen_ai.response.finish_reasons": (details.finish_reason,) if details.finish_reason else None,
            "gen_ai.response.model": details.model or None,
            "evalc.status": case.status,
            "evalc.score": case.score,
            "evalc.cost_usd": usage.get("costUsd"),
            "evalc.duration_ms": case.duration_ms,
            "evalc.assertions.run": case.assertions_run,
            "evalc.assertions.skipped": case.assertions_skipped,
            "evalc.tools_called": tuple(name[:_LONGEST_NAME] for name in details.tools_called[:_MOST_CALLS]),
            "evalc.tags": case.tags,
            "evalc.variant": case.variant,
            "evalc.attempts": len(case.attempts) if case.attempts else None,
            "evalc.not_attempted": case.not_attempted,
            "evalc.flaky": case.flaky,
            **(_content(details) if content else {}),
        }
    )


def evaluations(case: CaseResult, *, content: bool) -> Iterator[Attributes]:
    """The attributes of each `gen_ai.evaluation.result`: of the case, of its criteria, of its assertions.

    An explanation quotes the answer, so that it is part of the content.
    """
    yield _evaluation("case", case.score, case.status, case.error if content else None)
    for criterion in case.criteria:
        reason = criterion.judged.reason if criterion.judged and content else None
        label = "unscored" if criterion.score is None else criterion.scored_by
        yield _evaluation(criterion.name, criterion.score, label, reason)
    for assertion in case.assertions:
        yield _assertion(assertion, content=content)


def _assertion(assertion: AssertionResult, *, content: bool) -> Attributes:
    """An assertion is named by its place in the case, since that stays the same whether or not it holds."""
    judged = assertion.judged
    measured = assertion.outcome in ("passed", "failed")
    score = judged.score if judged else float(assertion.outcome == "passed") if measured else None
    explanation = assertion.message or (judged and judged.reason)
    more = {
        "evalc.check": assertion.field,
        "evalc.max_score": judged and judged.max_score,
        "error.type": "_OTHER" if assertion.outcome == "error" else None,
    }
    name = assertion.at.removeprefix("/expect/").removeprefix("/")
    return {**_evaluation(name, score, _LABELS[assertion.outcome], explanation if content else None), **_known(more)}


def _evaluation(name: str, score: float | None, label: str | None, explanation: object) -> Attributes:
    return _known(
        {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": None if score is None else float(score),
            "gen_ai.evaluation.score.label": label,
            "gen_ai.evaluation.explanation": explanation,
        }
    )


def _totals(summary: Summary | RunSummary) -> dict[str, Any]:
    return {
        "evalc.cases.total": summary.total_cases,
        "evalc.cases.passed": summary.passed,
        "evalc.cases.failed": summary.failed,
        "evalc.cases.errors": summary.errors,
        "evalc.cases.unverified": summary.unverified,
        "evalc.cases.skipped": summary.skipped,
        "evalc.score": summary.score,
    }


def _content(details: CaseDetails) -> dict[str, Any]:
    """The request and the answer, as JSON in the form that the conventions have for it."""
    sent = [(message.role, message.content) for message in details.messages or ()]
    if details.message:
        sent.append(("user", details.message))
    answered = details.response
    if details.turns is not UNSET and details.turns:
        *before, last = details.turns
        sent = [said for turn in before for said in (("user", turn.message), ("assistant", turn.response))]
        sent.append(("user", last.message))
        answered = last.response
    parts = [] if answered is None else [_text(answered)]
    calls = [_call(call) for call in details.tool_calls[:_MOST_CALLS]]
    answer = {"role": "assistant", "parts": [*parts, *calls], "finish_reason": details.finish_reason or "stop"}
    return {
        "gen_ai.input.messages": _json([{"role": role, "parts": [_text(text)]} for role, text in sent]),
        "gen_ai.output.messages": _json([answer]) if answer["parts"] else None,
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text[:_LONGEST_TEXT]}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    params = call.get("params")
    written = _json(params)
    return {
        "type": "tool_call",
        "name": str(call.get("name", ""))[:_LONGEST_NAME],
        "arguments": params if len(written) <= _LONGEST_TEXT else written[:_LONGEST_TEXT],
    }


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _known(values: Mapping[str, Any]) -> dict[str, Value]:
    """The attributes that have a value. OTLP has no integer of more than 64 bits, and agents say what they like."""
    return {
        name: (
            value[:_LONGEST_TEXT]
            if isinstance(value, str) and not name.endswith(".messages")
            else float(value)
            if isinstance(value, int) and not -(2**63) <= value < 2**63
            else value
        )
        for name, value in values.items()
        if value is not None and value is not UNSET and value != ()
    }


# --- spans -----------------------------------------------------------------------------------------------------------


_SCOPE: Final = InstrumentationScope("evalc", __version__)
_EVALUATION: Final = "gen_ai.evaluation.result"


def spans_of(
    run_id: str, summary: RunSummary, suites: Sequence[ReportedSuite], *, content: bool
) -> Iterator[ReadableSpan]:
    """The spans, each after those below it, in one trace whose id is that of the run without its dashes.

    The ids of spans follow from the run and the names of what they represent: a resumed run has the same, and agents
    have been given them.
    """
    spans = _Spans(run_id, content)
    root = spans.context("run")
    start = end = min((_nanoseconds(suite.result.timestamp) for suite in suites), default=0)
    for suite in suites:
        for span in spans.of_suite(suite, root, end):
            end = max(end, span.end_time or end)
            yield span
    yield spans.span("evalc run", root, None, (start, end), of_run(run_id, summary), failed=summary.failed)


def _times(case: CaseResult, otherwise: int) -> tuple[int, int]:
    """The first and the last moment of a case; where its result does not say, as long as it took from another on."""
    if case.started_at is UNSET or case.ended_at is UNSET:
        return otherwise, otherwise + round(case.duration_ms * 1_000_000)
    return _nanoseconds(case.started_at), _nanoseconds(case.ended_at)


def _nanoseconds(moment: str) -> int:
    """A moment in nanoseconds since 1970, of whole microseconds: a float knows no more."""
    return round(datetime.fromisoformat(moment).timestamp() * 1_000_000) * 1_000


class _Spans:
    def __init__(self, run_id: str, content: bool) -> None:
        self._run_id = run_id
        self._content = content
        ours = Resource({"service.name": "evalc", "service.version": __version__})
        self._resource = ours.merge(OTELResourceDetector().detect())

    def context(self, *names: str) -> SpanContext:
        """The identity of the span of what is so named."""
        trace_id, span_id = trace_id_of(self._run_id), span_id_of(self._run_id, *names)
        return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    def of_suite(self, suite: ReportedSuite, root: SpanContext, start: int) -> Iterator[ReadableSpan]:
        """The spans of a suite's cases, then its own."""
        result = suite.result
        names = names_of(result.agent_endpoint, key_of(result))
        context = self.context(*names)
        agent = of_agent(result.agent_endpoint)
        whole: tuple[int, int] | None = None
        for case in suite.cases:
            times = _times(case, start if whole is None else whole[1])
            whole = times if whole is None else (min(whole[0], times[0]), max(whole[1], times[1]))
            yield self._of_case(case, agent, self.context(*names, case.id), context, times)
        name = f"evalc suite {key_of(result)}"
        yield self.span(name, context, root, whole or (start, start), of_suite(result), failed=result.summary.failed)

    def _of_case(
        self, case: CaseResult, agent: Attributes, context: SpanContext, parent: SpanContext, times: tuple[int, int]
    ) -> ReadableSpan:
        """The span of a case: of the agent's work on it, which the evaluations are about."""
        asked = agent.get("gen_ai.request.model") or agent.get("gen_ai.agent.name")
        events = (Event(_EVALUATION, attributes, times[1]) for attributes in evaluations(case, content=self._content))
        return self.span(
            f"{agent['gen_ai.operation.name']} {asked}",
            context,
            parent,
            times,
            {**agent, **of_case(case, content=self._content)},
            kind=SpanKind.CLIENT if "server.address" in agent or "gen_ai.request.model" in agent else SpanKind.INTERNAL,
            failed=not case.passed,
            events=tuple(events),
        )

    def span(
        self,
        name: str,
        context: SpanContext,
        parent: SpanContext | None,
        times: tuple[int, int],
        attributes: Attributes,
        *,
        failed: bool | int,
        kind: SpanKind = SpanKind.INTERNAL,
        events: tuple[Event, ...] = (),
    ) -> ReadableSpan:
        """A span that has ended; `times` are its first and last moment in nanoseconds since 1970."""
        return ReadableSpan(
            name=name,
            context=context,
            parent=parent,
            resource=self._resource,
            attributes=attributes,
            events=events,
            kind=kind,
            status=Status(StatusCode.ERROR if failed else StatusCode.UNSET),
            start_time=times[0],
            end_time=times[1],
            instrumentation_scope=_SCOPE,
        )


# --- sending ---------------------------------------------------------------------------------------------------------


SECONDS: Final = 5.0
_SECONDS_IN_ALL: Final = 30.0
_SECONDS_A_BATCH: Final = 0.2
"""How long all of it may take: so long, and so much longer for each batch that was taken."""
_SLACK_SECONDS: Final = 1.0
"""How much longer than it should a batch may take: the library, which ends in time, says why."""
_BATCH: Final = 100
_PATH: Final = "/v1/traces"
_LOGGER: Final = logging.getLogger(OTLPSpanExporter.__module__)


@final
class Exporter:
    """Sends runs to a receiver: to its base URL, else to what `OTEL_EXPORTER_OTLP_ENDPOINT` says.

    Other variables `OTEL_EXPORTER_OTLP_*` count too, except for the time, whose unit libraries do not agree on: a batch
    may take `seconds`, with all attempts at sending it and to the last byte of its answer. What was sent and answered
    is exported as its `content`.
    """

    def __init__(self, url: str | None, *, content: bool = False, seconds: float = SECONDS) -> None:
        self._content = content
        self._endpoint = None if url is None else url.rstrip("/").removesuffix(_PATH) + _PATH
        self._seconds = seconds
        self._taken = 0
        self._batch_began = 0.0
        self._is_late = threading.Event()

    def export(self, run_id: str, summary: RunSummary, suites: Sequence[ReportedSuite]) -> str | None:
        """Send a run. A batch that is not taken is the last that is sent.

        Returns:
            A warning where not all of it was taken; None if it was.
        """
        refusal = self._within_time(spans_of(run_id, summary, suites, content=self._content))
        return None if refusal is None else f"the run was not exported to OpenTelemetry: {refusal}"

    def _within_time(self, spans: Iterator[ReadableSpan]) -> str | None:
        """Why not all of it was taken. A receiver that answers a byte at a time is abandoned with its thread."""
        began = self._batch_began = time.monotonic()
        refusals: SimpleQueue[str | None] = SimpleQueue()
        threading.Thread(target=lambda: refusals.put(self._sent(spans)), name="evalc-export", daemon=True).start()
        while True:
            of_all = began + _SECONDS_IN_ALL + _SECONDS_A_BATCH * self._taken
            left = min(of_all, self._batch_began + self._seconds + _SLACK_SECONDS) - time.monotonic()
            if left <= 0:
                self._is_late.set()
                return "the receiver did not answer in time"
            with suppress(Empty):
                return refusals.get(timeout=left)

    def _sent(self, spans: Iterator[ReadableSpan]) -> str | None:
        try:
            return self._send(spans)
        except Exception as error:  # of a library, or of a journal that is gone: the run itself is finished
            return type(error).__name__

    def _send(self, spans: Iterator[ReadableSpan]) -> str | None:
        """Why not all of the spans were taken; None if they were."""
        with _Session() as session, _silent():
            exporter = OTLPSpanExporter(self._endpoint, timeout=self._seconds, session=session)
            while (batch := list(islice(spans, _BATCH))) and not self._is_late.is_set():
                self._batch_began = time.monotonic()
                if exporter.export(batch) is not SpanExportResult.SUCCESS or session.refusal:
                    return session.refusal or "a part of it cannot be encoded, or is too large"
                self._taken += 1
        return None


class _Session(requests.Session):
    """Sends requests, and keeps why the last was not taken. Bodies of answers, which may never end, are not read."""

    refusal: str | None = None

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request."""
        try:
            response = super().send(request, **{**options, "stream": True})
        except requests.Timeout:
            self.refusal = "the receiver did not answer in time"
            raise
        except requests.RequestException as error:  # its text holds the whole URL
            self.refusal = f"the receiver cannot be reached ({type(error).__name__})"
            raise
        # The exporter takes a redirect, which it does not follow, for a success.
        self.refusal = (
            None if response.ok and not response.is_redirect else f"the receiver answered {response.status_code}"
        )
        response.close()
        return response


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the exporter from logging what the warning says, with whatever the receiver says about it."""
    before = _LOGGER.disabled
    _LOGGER.disabled = True
    try:
        yield
    finally:
        _LOGGER.disabled = before
