"""The JSON of a run, `{runId, suites, summary}`, written a case at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import UNSET

from evalc.model.json import to_json
from evalc.model.result import RunResult
from evalc.report.reported import ReportedRun, ReportedSuite

_NO_SUITES: Final = b'"suites":['
_NO_CASES: Final = b'"cases":['
_NONE_SKIPPED: Final = b'"skipped":['
"""The lists that are filled on the way. Quotes within texts are escaped, so that no text contains one of these."""


def render(run: ReportedRun) -> Iterator[bytes]:
    """One line of JSON with a line end: the bytes that encoding the whole RunResult at once gives."""
    frame = RunResult(
        run_id=run.run_id, suites=(), summary=run.summary, gates=run.gates or UNSET, missing=run.missing or UNSET
    )
    head, key, rest = to_json(frame).partition(_NO_SUITES)
    yield head + key
    for index, suite in enumerate(run.suites):
        yield b"," if index else b""
        yield from _suite(suite)
    yield rest + b"\n"


def _suite(suite: ReportedSuite) -> Iterator[bytes]:
    frame = to_json(msgspec.structs.replace(suite.result, cases=(), skipped=()))
    head, cases_key, rest = frame.partition(_NO_CASES)
    middle, skipped_key, tail = rest.partition(_NONE_SKIPPED)
    yield head + cases_key
    yield from _items(suite.cases)
    yield middle + skipped_key
    yield from _items(suite.skipped)
    yield tail


def _items(records: Iterable[msgspec.Struct]) -> Iterator[bytes]:
    for index, record in enumerate(records):
        yield (b"," if index else b"") + to_json(record)
