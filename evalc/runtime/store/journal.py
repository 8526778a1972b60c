"""Journals finished cases, a line each, and reads them back in any order: the only store of a run.

The first line is a header: what was run, and with which options. Then comes a line a case, as the cases finish or are
skipped. In memory there is one number a case, the offset of its line. A journal whose last line is torn is complete up
to there. Who writes holds a lock on the file, which the system releases when the process ends, however it does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import open_regular, refuse_link_out
from evalc.model.answer import ToolMode
from evalc.model.result import CaseDetails, CaseResult, SkippedCase
from evalc.runtime.checks.verdict import Note
from evalc.runtime.run.run_case import CaseRun
from evalc.runtime.store.journaled import (
    Entry,
    Header,
    JournaledCases,
    RecordedAnswer,
    SkippedLine,
    parsed_header,
    read_cases,
)
from evalc.runtime.store.written import Redactor, encoded, redacted

if sys.platform != "win32":
    import fcntl

_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
_REOPEN: Final = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)


class _Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A case's line as it is written."""

    suite: int
    case: int
    result: CaseResult
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None
    sent: str | None = None
    tool_mode: ToolMode | None = None
    struck: bool = False
    answers: tuple[RecordedAnswer, ...] = ()


@final
class Journal:
    """An open journal. Every line is one write to the end of the file, so that a kill tears at most the last."""

    def __init__(self, path: Path, header: Header, redactor: Redactor | None = None) -> None:
        """Create the file.

        Raises:
            UsageError: it cannot be created.
        """
        try:
            refuse_link_out(path)
            file = os.open(path, _CREATE, 0o666)
        except OSError as error:
            raise UsageError(f"the run's journal `{path}` cannot be created: {error.strerror}") from error
        self._open(path, file, redactor)
        try:
            self._begin(header)
        except BaseException:
            self.close()
            raise

    @classmethod
    def resumed(
        cls, path: Path, header: Header, redactor: Redactor | None = None, *, check: Callable[[Header], None]
    ) -> Journal:
        """Open the file of a run that did not end, to go on with it; a torn last line is cut off.

        `check` is given the header that is there, and raises where the run is another one. Where not even the header
        was written, nothing was run, and `header` begins the journal.

        Raises:
            UsageError: it cannot be opened, is not a journal, or another process writes it.
        """
        try:
            refuse_link_out(path)
            file = os.open(path, _REOPEN)
        except OSError as error:
            raise UsageError(f"the run's journal `{path}` cannot be opened: {error.strerror}") from error
        journal = cls.__new__(cls)
        journal._open(path, file, redactor)
        try:
            journal._go_on(header, check)
        except BaseException:
            journal.close()
            raise
        return journal

    def _open(self, path: Path, file: int, redactor: Redactor | None) -> None:
        self.path = path
        self._file = file
        self._redactor = redactor
        self._end = 0
        try:
            _lock(file, path)
        except BaseException:
            self.close()
            raise

    def _begin(self, header: Header) -> None:
        self.header, json = redacted(header, encoded(header), self._redactor)
        self.cases = JournaledCases.none_of(self.path, self.header)
        self._write(json)

    def _go_on(self, header: Header, check: Callable[[Header], None]) -> None:
        with open_regular(self.path) as lines:
            found = parsed_header(lines.readline(), self.path)
            if found is None:
                os.ftruncate(self._file, 0)
                self._begin(header)
                return
            check(found)
            self.header = found
            self.cases, self._end = read_cases(self.path, found, lines)
            self.cases.forget_stopped()
        os.ftruncate(self._file, self._end)

    def append(self, suite: int, case: int, run: CaseRun, *, sent: str | None = None) -> CaseResult:
        """Write a case's line and return its result as written, without secrets. `sent` is a hash of what was asked.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = _Line(
            suite=suite,
            case=case,
            result=run.result,
            notes=run.notes,
            cost_usd=run.cost_usd,
            sent=sent,
            tool_mode=run.tool_mode,
            answers=tuple(map(_answer, run.attempts)),
        )
        whole, json = _encoded(line)
        written, struck = redacted(whole, json, self._redactor)
        if struck is not json and _answers_of(written) != _answers_of(whole):
            written = msgspec.structs.replace(written, struck=True)
            struck = encoded(written)
        self._put(suite, case, struck)
        return written.result

    def keep(self, suite: int, case: int, entry: Entry) -> CaseResult:
        """Write the line of another journal unchanged, and return its result.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = msgspec.structs.replace(entry, suite=suite, case=case)
        line, json = redacted(line, encoded(line), self._redactor)
        self._put(suite, case, json)
        return msgspec.json.decode(line.result, type=CaseResult)

    def skip(self, suite: int, case: int, skipped: SkippedCase) -> SkippedCase:
        """Write the line of a case that is not run, and return the record as written.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = SkippedLine(suite=suite, case=case, skipped=skipped)
        line, json = redacted(line, encoded(line), self._redactor)
        self._put(suite, case, json, skipped=True)
        return line.skipped

    def close(self) -> None:
        """Write no more; what was written can still be read."""
        os.close(self._file)

    def _put(self, suite: int, case: int, json: bytes, *, skipped: bool = False) -> None:
        offset = self._end
        self._write(json)
        self.cases.add(suite, case, offset, skipped=skipped)

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
    return _Line(suite=line.suite, case=line.case, result=result, sent=line.sent)


def _answer(run: CaseRun) -> RecordedAnswer:
    result = run.result
    return RecordedAnswer(
        duration_ms=result.duration_ms,
        tool_mode=run.tool_mode,
        error=result.error,
        timed_out=result.timed_out,
        details=result.details,
    )


def _answers_of(line: _Line) -> tuple[object, ...]:
    """What the checks of the line's case read."""
    attempts = [answer.details for answer in line.answers] or [line.result.details]
    return tuple((details.response, details.tool_calls, details.turns) for details in attempts)


def _lock(file: int, path: Path) -> None:
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process is at work on this run: it writes `{path}`") from None
        except OSError:  # some network file systems have no locks
            return
