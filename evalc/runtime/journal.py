"""From finished cases to a journal on disk, a line each, and back in any order: the only store of a run.

The first line is a header: what was run, and with which options. Then comes a line a case, as the cases finish or are
skipped. In memory there is one number a case, the offset of its line. A journal whose last line is torn is complete up
to there.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.errors import UsageError
from evalc.model.result import CaseDetails, CaseResult, SkippedCase
from evalc.runtime.checks.verdict import Note
from evalc.runtime.run_case import CaseRun
from evalc.runtime.written import Redactor, encoded, redacted

FILE_NAME: Final = "journal.jsonl"
VERSION: Final = 1

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)


class JournaledSuite(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A suite as the header names it; a run may only be finished with a suite of the same hash."""

    tool_name: str
    tier: str
    file_hash: str
    origin: str
    cases: int


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first line of a journal."""

    journal: int = VERSION
    run_id: str
    timestamp: str
    agent_endpoint: str
    options: dict[str, Any]
    suites: tuple[JournaledSuite, ...]


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A case's line as it is read back: the result stays as bytes until someone asks."""

    suite: int
    case: int
    result: msgspec.Raw
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None


class _Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A case's line as it is written."""

    suite: int
    case: int
    result: CaseResult
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None


class _SkippedLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The line of a case that was not sent."""

    suite: int
    case: int
    skipped: SkippedCase


@final
class Journal:
    """An open journal. Every line is one write to the end of the file, so that a kill tears at most the last."""

    def __init__(self, path: Path, header: Header, redactor: Redactor | None = None) -> None:
        """Create the file.

        Raises:
            UsageError: it cannot be created.
        """
        self.path = path
        self._redactor = redactor
        # 0 stands for a case without a line: the header is there.
        self._offsets = [array("Q", bytes(8 * suite.cases)) for suite in header.suites]
        self._skipped = [array("Q") for _ in header.suites]
        self._end = 0
        try:
            self._file = os.open(path, _CREATE, 0o666)
        except OSError as error:
            raise UsageError(f"the run's journal `{path}` cannot be created: {error.strerror}") from error
        self._write(redacted(header, encoded(header), redactor)[1])

    def append(self, suite: int, case: int, run: CaseRun) -> CaseResult:
        """Write a case's line and return its result as written, without secrets.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = _Line(suite=suite, case=case, result=run.result, notes=run.notes, cost_usd=run.cost_usd)
        line, json = redacted(*_encoded(line), self._redactor)
        offsets = self._offsets[suite]
        while len(offsets) <= case:
            offsets.append(0)
        offset = self._end
        self._write(json)
        offsets[case] = offset
        return line.result

    def skip(self, suite: int, case: int, skipped: SkippedCase) -> SkippedCase:
        """Write the line of a case that is not run, and return the record as written. Called in source order.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = _SkippedLine(suite=suite, case=case, skipped=skipped)
        line, json = redacted(line, encoded(line), self._redactor)
        offset = self._end
        self._write(json)
        self._skipped[suite].append(offset)
        return line.skipped

    def entries(self, suite: int) -> Iterator[Entry]:
        """The finished cases of a suite in source order."""
        decoder = msgspec.json.Decoder(Entry)
        return map(decoder.decode, self._lines(self._offsets[suite]))

    def skipped(self, suite: int) -> Iterator[SkippedCase]:
        """The skipped cases of a suite in source order."""
        decoder = msgspec.json.Decoder(_SkippedLine)
        return (decoder.decode(line).skipped for line in self._lines(self._skipped[suite]))

    def count_skipped(self, suite: int) -> int:
        """How many cases of a suite were skipped."""
        return len(self._skipped[suite])

    def _lines(self, offsets: Iterable[int]) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            for offset in offsets:
                if offset:
                    file.seek(offset)
                    yield file.readline()

    def close(self) -> None:
        """Write no more; what was written can still be read."""
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        unwritten = memoryview(line + b"\n")
        length = len(unwritten)
        try:
            while unwritten:
                unwritten = unwritten[os.write(self._file, unwritten) :]
        except OSError as error:
            os.ftruncate(self._file, self._end)
            message = f"the run's journal cannot be written: {error.strerror}"
            raise OSError(error.errno, message, str(self.path)) from error
        self._end += length


def _encoded(line: _Line) -> tuple[_Line, bytes]:
    """The line and its JSON; where an agent sent what cannot be written at all, another line that says so."""
    try:
        return line, encoded(line)
    except Exception as error:  # whatever an agent sent, its case must not be lost
        line = _unwritable(line, error)
        return line, encoded(line)


def _unwritable(line: _Line, error: Exception) -> _Line:
    """The last resort: the case ends in error, without its details."""
    result = msgspec.structs.replace(
        line.result,
        passed=False,
        status="error",
        score=None,
        criteria=(),
        error=f"agent: its answer cannot be written as JSON: {type(error).__name__}",
        flaky=msgspec.UNSET,
        details=CaseDetails(),
        assertions=(),
        attempts=msgspec.UNSET,
    )
    return _Line(suite=line.suite, case=line.case, result=result)
