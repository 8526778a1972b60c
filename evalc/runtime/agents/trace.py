"""Trace contexts (W3C) of an exported run: the ids of its spans, and the span of a case as agents are given it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Final
from urllib.parse import quote

from evalc.model.answer import TraceContext
from evalc.model.suite import SuiteKey

_LONGEST_MEMBER: Final = 4096
"""Bytes of a member of `baggage` that receivers take."""


def trace_id_of(run_id: str) -> int:
    """The id of a run's trace: the run's own, which is a UUID unless someone has renamed the folder."""
    try:
        return int(run_id.replace("-", ""), 16) & (1 << 128) - 1
    except ValueError:
        return int.from_bytes(blake2b(run_id.encode(), digest_size=16).digest())


def span_id_of(run_id: str, *names: str) -> int:
    """The id of the span of what is so named; a resumed run has the same."""
    return int.from_bytes(blake2b("\0".join((run_id, *names)).encode(errors="replace"), digest_size=8).digest())


def names_of(agent: str, suite: SuiteKey, *case: str) -> tuple[str, ...]:
    """The names of a suite's span, or of a case's, as the run's results call them."""
    return ("suite", agent, *suite, *case)


def context_of(run_id: str, agent: str, suite: SuiteKey, case: str) -> TraceContext:
    """The context of a case's span, with the ids of the run and the case as baggage."""
    members = {"evalc.run_id": run_id, "evalc.case_id": case}
    written = (f"{name}={quote(value, errors='replace')}" for name, value in members.items())
    span = span_id_of(run_id, *names_of(agent, suite, case))
    return TraceContext(
        traceparent=f"00-{trace_id_of(run_id):032x}-{span:016x}-01",
        baggage=",".join(member for member in written if len(member) <= _LONGEST_MEMBER),
    )


def environment_of(context: TraceContext) -> Mapping[str, str]:
    """The environment of a program that goes on with the trace, by OpenTelemetry's names of variables."""
    return {**os.environ, **{name.upper(): value for name, value in context._asdict().items()}}


@contextmanager
def within(context: TraceContext) -> Iterator[None]:
    """Let spans that code in this process begins stand below that of the case."""
    try:
        # Not before: hardly a run is exported, and a cluster's workers need no OpenTelemetry.
        from opentelemetry import context as current  # noqa: PLC0415
        from opentelemetry.baggage.propagation import W3CBaggagePropagator  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415
    except ImportError:
        yield
        return
    carrier = context._asdict()
    of_span = TraceContextTextMapPropagator().extract(carrier, current.get_current())
    token = current.attach(W3CBaggagePropagator().extract(carrier, of_span))
    try:
        yield
    finally:
        current.detach(token)
