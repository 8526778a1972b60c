"""Sends spans to an OTLP receiver in batches, each within a bounded time. A failure never fails the run."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Final, final

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from evalc.report.otel.spans import ExportedRun, spans_of

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
    """Sends runs to a receiver.

    The variables `OTEL_EXPORTER_OTLP_*` count, except for the time: libraries do not agree on its unit.

    Args:
        url: the receiver's base URL; None for what `OTEL_EXPORTER_OTLP_ENDPOINT` says.
        content: whether what was sent and answered is exported.
        seconds: how long a batch may take, with all attempts at sending it and to the last byte of its answer.
    """

    def __init__(self, url: str | None, *, content: bool = False, seconds: float = SECONDS) -> None:
        self.content = content
        self._endpoint = None if url is None else url.rstrip("/").removesuffix(_PATH) + _PATH
        self._seconds = seconds
        self._taken = 0
        self._batch_began = 0.0
        self._is_late = threading.Event()

    def export(self, run: ExportedRun) -> str | None:
        """Send the run. A batch that is not taken is the last that is sent.

        Returns:
            A warning where not all of it was taken; None if it was.
        """
        refusal = self._within_time(run)
        return None if refusal is None else f"the run was not exported to OpenTelemetry: {refusal}"

    def _within_time(self, run: ExportedRun) -> str | None:
        """Why not all of it was taken. A receiver that answers a byte at a time is abandoned with its thread."""
        began = self._batch_began = time.monotonic()
        refusals: SimpleQueue[str | None] = SimpleQueue()
        threading.Thread(target=lambda: refusals.put(self._sent(run)), name="evalc-export", daemon=True).start()
        while True:
            of_all = began + _SECONDS_IN_ALL + _SECONDS_A_BATCH * self._taken
            left = min(of_all, self._batch_began + self._seconds + _SLACK_SECONDS) - time.monotonic()
            if left <= 0:
                self._is_late.set()
                return "the receiver did not answer in time"
            with suppress(Empty):
                return refusals.get(timeout=left)

    def _sent(self, run: ExportedRun) -> str | None:
        try:
            return self._send(spans_of(run))
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
