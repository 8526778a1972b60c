"""Makes spans of a run: one for the run, below it its suites, below those their cases.

Results say how long a case took, not when: the cases of a run follow one another from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from typing import Final, NamedTuple

from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from evalc import __version__
from evalc.model.result import CaseResult, RunSummary
from evalc.model.suite import key_of
from evalc.report.otel.attributes import Attributes, evaluations, of_agent, of_case, of_run, of_suite
from evalc.report.reported import ReportedSuite

_SCOPE: Final = InstrumentationScope("evalc", __version__)
_EVALUATION: Final = "gen_ai.evaluation.result"


class ExportedRun(NamedTuple):
    """What of a run is exported. `content` says whether what was sent and answered is part of it."""

    run_id: str
    summary: RunSummary
    suites: tuple[ReportedSuite, ...]
    content: bool


def spans_of(run: ExportedRun) -> Iterator[ReadableSpan]:
    """The spans, each after those below it, in one trace whose id is that of the run without its dashes.

    The ids of spans follow from the run and the names of what they represent: a resumed run has the same.
    """
    spans = _Spans(run.run_id, run.content)
    root = spans.context("run")
    start = end = min((_nanoseconds(suite.result.timestamp) for suite in run.suites), default=0)
    for suite in run.suites:
        for span in spans.of_suite(suite, root, end):
            end = max(end, span.end_time or end)
            yield span
    yield spans.span("evalc run", root, None, (start, end), of_run(run.run_id, run.summary), failed=run.summary.failed)


class _Spans:
    """Makes the spans of one run."""

    def __init__(self, run_id: str, content: bool) -> None:
        self._run_id = run_id
        self._content = content
        ours = Resource({"service.name": "evalc", "service.version": __version__})
        self._resource = ours.merge(OTELResourceDetector().detect())

    def context(self, *names: str) -> SpanContext:
        """The identity of the span of what is so named."""
        try:
            trace_id = int(self._run_id.replace("-", ""), 16) & (1 << 128) - 1
        except ValueError:  # a folder that someone has renamed
            trace_id = int.from_bytes(blake2b(self._run_id.encode(), digest_size=16).digest())
        named = "\0".join((self._run_id, *names)).encode()
        span_id = int.from_bytes(blake2b(named, digest_size=8).digest())
        return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    def of_suite(self, suite: ReportedSuite, root: SpanContext, start: int) -> Iterator[ReadableSpan]:
        """The spans of a suite's cases, then its own."""
        result = suite.result
        names = ("suite", result.agent_endpoint, *key_of(result))
        context = self.context(*names)
        agent = of_agent(result.agent_endpoint)
        end = start
        for case in suite.cases:
            began, end = end, end + round(case.duration_ms * 1_000_000)
            yield self._of_case(case, agent, self.context(*names, case.id), context, (began, end))
        name = f"evalc suite {key_of(result)}"
        yield self.span(name, context, root, (start, end), of_suite(result), failed=result.summary.failed)

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


def _nanoseconds(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000) * 1_000_000
