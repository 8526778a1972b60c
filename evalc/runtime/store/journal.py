"""Journals finished cases, a line each, and reads them back in any order: the only store of a run.

The first line is a header: what was run, and with which options. Then comes a line per case, as the cases finish or are
skipped. In memory there is one number a case, the offset of its line. A journal whose last line is torn is complete up
to there. Who writes holds a lock on the file, which the system releases when the process ends, however it does.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, Self, TypeVar, final

import msgspec

from evalc.base.errors import MachineError, UsageError, not_writable
from evalc.base.files import lock, make_folder, open_regular, refuse_link_out, write_atomic
from evalc.model.answer import ToolMode
from evalc.model.json import UNREADABLE, short_hash
from evalc.model.result import CaseDetails, CaseResult, SkippedCase, Status
from evalc.runtime.checks import Note
from evalc.runtime.store.redact import NO_SECRETS, Redactor, encoded, redacted

FILE_NAME: Final = "journal.jsonl"
VERSION: Final = 1

T = TypeVar("T")

CaseNumbers = tuple[int, int]
"""A case by the numbers of its suite and of itself in that, from 0."""

_SKIPPED: Final = 1 << 63
"""Set in the offset of a line that says that its case was not sent."""


Asked = Mapping[str, Any]
"""The settings that decide what is sent and how answers are read, by their names; secret values are hashes."""


class JournaledSuite(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A suite as the header names it; a run may only be finished with a suite of the same hash.

    `suite` is its name, which journals of earlier versions do not have. `agent` is what it was run against, in a run of
    several agents, where a suite is listed once for each agent.
    `copied_hash` is of what was in the files and skills that its cases give to agents; None if they give none.
    `origin` is its file as the run was given it, `file` the path from the project's folder; `also` are the other paths
    of that file, where links within the project lead to it.
    """

    tool_name: str
    suite: str | None = None
    tier: str
    file_hash: str
    copied_hash: str | None = None
    origin: str
    cases: int
    agent: str | None = None
    file: str | None = None
    also: tuple[str, ...] = ()


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first line of a journal.

    Of a run of several agents `agent_endpoint` lists them. `flags` are those of the command line that began the run,
    for the run that resumes it; `rescored_from` is the run whose answers were checked again.
    """

    journal: int = VERSION
    run_id: str
    timestamp: str
    agent_endpoint: str
    options: dict[str, Any]
    flags: dict[str, Any] = {}
    rescored_from: str | None = None
    suites: tuple[JournaledSuite, ...]

    @property
    def asked(self) -> Asked | None:
        """How agents, judges and the player were asked; None if an earlier evalc began the run and did not keep it."""
        asked = self.options.get("asked")
        return asked if isinstance(asked, dict) else None

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of a run of several, in their order; none if there was one."""
        return tuple(dict.fromkeys(suite.agent for suite in self.suites if suite.agent is not None))


class RecordedAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer of one attempt at a case, so that it can be checked again."""

    duration_ms: float
    tool_mode: ToolMode | None
    error: str | msgspec.UnsetType = msgspec.UNSET
    timed_out: bool | msgspec.UnsetType = msgspec.UNSET
    details: CaseDetails

    @classmethod
    def of(cls, result: CaseResult, tool_mode: ToolMode | None) -> Self:
        """The answer that a case of one attempt was given."""
        return cls(
            duration_ms=result.duration_ms,
            tool_mode=tool_mode,
            error=result.error,
            timed_out=result.timed_out,
            details=result.details,
        )


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A case's line as it is read back: the result stays as bytes until someone asks."""

    suite: int
    case: int
    result: msgspec.Raw
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None
    sent: str | None = None  # a hash of what was sent to the agent
    tool_mode: ToolMode | None = None  # how the tools of the answer were used; None if there was no answer
    struck: bool = False  # whether secrets were struck out of the answer, so that it is not what the checks read
    answers: tuple[RecordedAnswer, ...] = ()  # of a repeated case, what each attempt brought

    @property
    def passed(self) -> bool:
        """Whether the result's `passed` is true."""
        return _OUTCOME.decode(self.result).passed

    @property
    def status(self) -> Status:
        """The result's `status`."""
        return _OUTCOME.decode(self.result).status


class _Outcome(msgspec.Struct, frozen=True):
    passed: bool
    status: Status


_OUTCOME: Final = msgspec.json.Decoder(_Outcome)


class SkippedLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The line of a case that was not sent."""

    suite: int
    case: int
    skipped: SkippedCase


class _WholeLine(Entry, frozen=True, kw_only=True, rename="camel"):
    """A case's line as a run needs it that is gone on with: with every part in it as it has to be."""

    result: CaseResult | msgspec.UnsetType = msgspec.UNSET  # type: ignore[assignment] # decoded, too
    skipped: SkippedCase | msgspec.UnsetType = msgspec.UNSET

    def is_of(self, sizes: Sequence[int]) -> bool:
        """Whether its case exists, in suites of these sizes."""
        says = (self.result is not msgspec.UNSET) != (self.skipped is not msgspec.UNSET)
        return says and 0 <= self.suite < len(sizes) and 0 <= self.case < sizes[self.suite]


class _AnyLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The place of a line, and whether its case was skipped."""

    suite: int
    case: int
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    skipped: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Named(msgspec.Struct, frozen=True):
    """The id in a result or in the record of a skipped case."""

    id: str


class Line(NamedTuple):
    """The line of a case: the case's number and id, whether it was skipped, and the line's JSON."""

    case: int
    id: str
    is_skipped: bool
    json: bytes

    def read(self) -> Entry | SkippedLine:
        """Decode the line."""
        if self.is_skipped:
            return msgspec.json.decode(self.json, type=SkippedLine)
        return msgspec.json.decode(self.json, type=Entry)


@final
class JournaledCases:
    """Where the line of each case begins; 0 means that a case has none, since the header is there."""

    def __init__(self, path: Path, offsets: list[array[int]]) -> None:
        self.path = path
        self.unreadable = 0  # how many lines hold no case that can be read
        self._offsets = offsets

    @classmethod
    def none_of(cls, path: Path, header: Header) -> JournaledCases:
        """Those of a journal that has its header and no more."""
        return cls(path, [array("Q", bytes(8 * suite.cases)) for suite in header.suites])

    def add(self, suite: int, case: int, offset: int, *, skipped: bool) -> None:
        """Note where the line of a case begins."""
        offsets = self._offsets[suite]
        while len(offsets) <= case:
            offsets.append(0)
        offsets[case] = offset | _SKIPPED if skipped else offset

    def has(self, suite: int, case: int) -> bool:
        """Whether the case has its line."""
        return case < len(self._offsets[suite]) and self._offsets[suite][case] != 0

    def count(self, suite: int) -> int:
        """How many cases of a suite have a line."""
        return sum(1 for offset in self._offsets[suite] if offset)

    def count_skipped(self, suite: int) -> int:
        """How many cases of a suite were skipped."""
        return sum(1 for offset in self._offsets[suite] if offset & _SKIPPED)

    def forget_stopped(self) -> None:
        """Forget the lines of cases that the run stopped before, so that a run which is resumed has them before it."""
        decoder = msgspec.json.Decoder(SkippedLine)
        for suite, offsets in enumerate(self._offsets):
            skipped = [decoder.decode(line) for line in self._lines(suite, "skipped")]
            for line in skipped:
                if line.skipped.stopped:
                    offsets[line.case] = 0

    def forget_errors(self) -> frozenset[CaseNumbers]:
        """Forget the lines of cases that ended in error, so that they are run again; which these are."""
        broken = frozenset(
            (suite, entry.case)
            for suite in range(len(self._offsets))
            for entry in self.entries(suite)
            if entry.status == "error"
        )
        for suite, case in broken:
            self._offsets[suite][case] = 0
        return broken

    def entries(self, suite: int) -> Iterator[Entry]:
        """The finished cases of a suite in source order."""
        return self._decoded(suite, "finished", msgspec.json.Decoder(Entry))

    def entry(self, suite: int, case: int) -> Entry | None:
        """The line of one case; None if it was skipped or has none."""
        offset = self._offsets[suite][case]
        if not offset or offset & _SKIPPED:
            return None
        return msgspec.json.decode(self._line(offset), type=Entry)

    def skipped(self, suite: int) -> Iterator[SkippedCase]:
        """The skipped cases of a suite in source order."""
        return (line.skipped for line in self._decoded(suite, "skipped", msgspec.json.Decoder(SkippedLine)))

    def ids(self, suite: int) -> Iterator[tuple[int, str]]:
        """The cases of a suite that have a line, in source order: their numbers and ids."""
        return ((line.case, line.id) for line in self.lines(suite))

    def lines(self, suite: int) -> Iterator[Line]:
        """The lines of a suite's cases, in source order."""
        decoder, named = msgspec.json.Decoder(_AnyLine), msgspec.json.Decoder(_Named)
        for text in self._lines(suite, "any"):
            line = decoder.decode(text)
            is_skipped = line.result is msgspec.UNSET
            record = line.skipped if is_skipped else line.result
            if record is not msgspec.UNSET:
                yield Line(line.case, named.decode(record).id, is_skipped, text)

    def _decoded(
        self, suite: int, kind: Literal["finished", "skipped"], decoder: msgspec.json.Decoder[T]
    ) -> Iterator[T]:
        try:
            yield from map(decoder.decode, self._lines(suite, kind))
        except UNREADABLE as error:
            raise changed_by_others(self.path) from error

    def _line(self, offset: int) -> bytes:
        with open_regular(self.path) as file:
            file.seek(offset)
            return file.readline()

    def _lines(self, suite: int, kind: Literal["finished", "skipped", "any"]) -> Iterator[bytes]:
        with open_regular(self.path) as file:
            for offset in self._offsets[suite]:
                if offset and (kind == "any" or (kind == "skipped") == bool(offset & _SKIPPED)):
                    file.seek(offset & ~_SKIPPED)
                    yield file.readline()


def changed_by_others(path: Path) -> MachineError:
    """The error for a journal in which the lines that were written are not there any more."""
    return MachineError(f"something else, such as the agent, has changed the run's journal `{path}`")


def read_header(path: Path) -> Header | None:
    """The header of a journal; None if it was not written to its end, so that nothing was run.

    Raises:
        UsageError: it cannot be read, or is not a journal of this version.
    """
    try:
        with open_regular(path) as file:
            return parsed_header(file.readline(), path)
    except OSError as error:
        raise UsageError(f"the run's journal `{path}` cannot be read: {error.strerror}") from error


def read_journal(folder: Path) -> tuple[Header, JournaledCases]:
    """The header and the cases of the journal of a run, which is no longer written.

    Raises:
        UsageError: there is no whole header.
    """
    path = folder / FILE_NAME
    if (header := read_header(path)) is None:
        raise UsageError(f"the run `{folder.name}` has no answers: it ended before its journal began")
    with open_regular(path) as file:
        file.readline()
        return header, read_cases(path, header, file)[0]


def parsed_header(line: bytes, path: Path) -> Header | None:
    """The header that is a journal's first line; None if that is torn.

    Raises:
        UsageError: it is not a journal of this version.
    """
    if not line.endswith(b"\n"):
        return None
    try:
        header = msgspec.json.decode(line, type=Header)
    except UNREADABLE as error:
        raise UsageError(f"`{path}` is not the journal of a run: {error}") from error
    if header.journal != VERSION:
        raise UsageError(f"the journal `{path}` is of version {header.journal}, and only {VERSION} can be read")
    return header


def read_cases(path: Path, header: Header, lines: BinaryIO) -> tuple[JournaledCases, int]:
    """The cases, and where the last whole line ends; `lines` is the open file, after its header.

    A line in which no case can be read, as a power cut may leave it, is passed over and counted: its case has no line.
    """
    cases = JournaledCases.none_of(path, header)
    decoder = msgspec.json.Decoder(_WholeLine)
    sizes = [suite.cases for suite in header.suites]
    end = lines.tell()
    for line in lines:
        if not line.endswith(b"\n"):
            break
        try:
            read = decoder.decode(line)
        except UNREADABLE:
            read = None
        if read is not None and read.is_of(sizes):
            cases.add(read.suite, read.case, end, skipped=read.skipped is not msgspec.UNSET)
        else:
            cases.unreadable += 1
        end += len(line)
    return cases, end


def kept_snapshot(header: Header) -> object:
    """The snapshot that a run was checked with; None if it had none, or where secrets were struck out of it."""
    snapshot = header.options.get("snapshot")
    return snapshot if data_hash(snapshot) == header.options.get("snapshotHash") else None


def data_hash(data: object) -> str | None:
    """Identifies a seed manifest or a snapshot; None if there is none."""
    return None if data is None else short_hash(json.dumps(data, default=repr))


_PIECE: Final = 1 << 20
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class CaseRun(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A case that was run, as its line says it behind the numbers of its suite and itself.

    The fields are those of `Entry`; `unreachable` says that the agent could not be reached, in any attempt.
    """

    result: CaseResult
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None
    sent: str | None = None
    tool_mode: ToolMode | None = None
    struck: bool = False
    answers: tuple[RecordedAnswer, ...] = ()
    unreachable: bool = False


@final
class Journal:
    """An open journal. Every line is one write to the end of the file, so that a kill tears at most the last."""

    def __init__(self, path: Path, header: Header, redactor: Redactor = NO_SECRETS) -> None:
        """Create the file."""
        self._open(path, os.O_EXCL, redactor)
        try:
            self._begin(header)
        except BaseException:
            self.close()
            path.unlink()  # nothing was run, so that it is no run to go on with
            raise

    @classmethod
    def resumed(
        cls,
        path: Path,
        header: Header,
        redactor: Redactor = NO_SECRETS,
        *,
        check: Callable[[Header], None],
        retry_errors: bool = False,
    ) -> Journal:
        """Open the file of a run that did not end, to go on with it; a torn last line is cut off.

        `check` is given the header that is there, and raises where the run is another one. Where not even the header
        was written, nothing was run, and `header` begins the journal. With `retry_errors` the cases that ended in error
        are to be run again; their lines stay, and later ones count.
        """
        journal = cls.__new__(cls)
        journal._open(path, 0, redactor)
        try:
            journal._go_on(header, check)
            if retry_errors:
                journal.retried = journal.cases.forget_errors()
        except BaseException:
            journal.close()
            raise
        return journal

    def _open(self, path: Path, flags: int, redactor: Redactor) -> None:
        try:
            refuse_link_out(path)
            self._file = os.open(path, _FLAGS | flags, 0o666)
        except OSError as error:
            done = "created" if flags & os.O_EXCL else "opened"
            raise not_writable(f"the run's journal `{path}` cannot be {done}", error) from error
        self.path = path
        self.retried: frozenset[CaseNumbers] = frozenset()  # the cases that ended in error before, and are run again
        self.warning: str | None = None  # which says that something else has changed the file, if that was made good
        self._redactor = redactor
        self._end = 0
        if not lock(self._file):
            self.close()
            raise UsageError(f"another process is at work on this run: it writes `{path}`")

    def _begin(self, header: Header) -> None:
        self.header, json = redacted(header, encoded(header), self._redactor)
        self.cases = JournaledCases.none_of(self.path, self.header)
        self._write(json)

    def _go_on(self, header: Header, check: Callable[[Header], None]) -> None:
        with open_regular(self.path) as lines:
            found = parsed_header(lines.readline(), self.path)
            if found is None:
                with self._named():
                    os.ftruncate(self._file, 0)
                self._begin(header)
                return
            check(found)
            self.header = found
            self.cases, self._end = read_cases(self.path, found, lines)
            self.cases.forget_stopped()
        with self._named():
            os.ftruncate(self._file, self._end)

    def append(self, suite: int, case: int, run: CaseRun) -> CaseResult:
        """Write a case's line and return its result as written, without secrets.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        try:
            json = encoded(run)
        except Exception as error:  # whatever an agent sent, its case must not be lost
            run = _unwritable(run, error)
            json = encoded(run)
        written, struck = redacted(run, json, self._redactor)
        if struck is not json and _answers_of(written) != _answers_of(run):
            struck = encoded(msgspec.structs.replace(written, struck=True))
        offset = self._write(b'{"suite":%d,"case":%d,%b' % (suite, case, struck[1:]))
        self.cases.add(suite, case, offset, skipped=False)
        return written.result

    def keep(self, suite: int, case: int, entry: Entry) -> CaseResult:
        """Write the line of another journal unchanged, and return its result.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = msgspec.structs.replace(entry, suite=suite, case=case)
        line, json = redacted(line, encoded(line), self._redactor)
        self.cases.add(suite, case, self._write(json), skipped=False)
        return msgspec.json.decode(line.result, type=CaseResult)

    def skip(self, suite: int, case: int, skipped: SkippedCase) -> SkippedCase:
        """Write the line of a case that is not run, and return the record as written.

        Raises:
            OSError: the line could not be written; the journal then ends with the line before.
        """
        line = SkippedLine(suite=suite, case=case, skipped=skipped)
        line, json = redacted(line, encoded(line), self._redactor)
        self.cases.add(suite, case, self._write(json), skipped=True)
        return line.skipped

    def close(self) -> None:
        """Write no more; what was written can still be read, unless its folder's folder is gone, too."""
        if self.path.parent.parent.exists():  # who removes all results, as `evalc watch` does, wants none
            with suppress(OSError):
                self.restore()
        os.close(self._file)

    def restore(self) -> None:
        """Write the file again, from what is open of it, if something else has removed or replaced it.

        Raises:
            OSError: it cannot be written.
        """
        with suppress(FileNotFoundError):
            if os.path.samestat(os.lstat(self.path), os.fstat(self._file)):
                return
        make_folder(self.path.parent)
        if self.path.is_symlink():  # through which another file would be written
            self.path.unlink()
        with os.fdopen(self._file, "rb", closefd=False) as kept:
            kept.seek(0)
            write_atomic(self.path, iter(partial(kept.read, _PIECE), b""))
        self.warning = (
            f"something else, such as the agent, had removed the run's journal `{self.path}`: it was restored"
        )

    def _write(self, line: bytes) -> int:
        """Write a line; where it begins."""
        if (size := os.fstat(self._file).st_size) != self._end:
            self._go_behind_others(size)
        unwritten = memoryview(line + b"\n")
        length = len(unwritten)
        try:
            while unwritten:
                unwritten = unwritten[os.write(self._file, unwritten) :]
        except OSError:
            with self._named():
                os.ftruncate(self._file, self._end)
                raise
        self._end += length
        return self._end - length

    def _go_behind_others(self, size: int) -> None:
        """Let the next line begin behind what something else has written to the file, which has this size now.

        Raises:
            MachineError: something else has cut off lines.
        """
        if size < self._end:
            raise changed_by_others(self.path)
        self.warning = f"something else, such as the agent, has written to the run's journal `{self.path}`"
        os.lseek(self._file, size - 1, os.SEEK_SET)
        if os.read(self._file, 1) != b"\n":
            with self._named():
                os.write(self._file, b"\n")
        self._end = os.fstat(self._file).st_size

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in the error where it cannot be changed."""
        try:
            yield
        except OSError as error:
            message = f"the run's journal cannot be written: {error.strerror}"
            raise OSError(error.errno, message, str(self.path)) from error


def _unwritable(run: CaseRun, error: Exception) -> CaseRun:
    """The last resort: the case ends in error, without its details."""
    result = msgspec.structs.replace(
        run.result,
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
    return CaseRun(result, sent=run.sent)


def _answers_of(run: CaseRun) -> tuple[object, ...]:
    """The parts of the answers that checks and judges of the case read."""
    attempts = [answer.details for answer in run.answers] or [run.result.details]
    return tuple((details.response, details.tool_calls, details.turns, details.written) for details in attempts)
