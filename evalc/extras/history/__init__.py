"""Keeps an SQLite index of all runs in the output folder, and reads entries by time.

The files are the truth. The index follows them whenever it is asked, and is made anew where it is missing, broken or of
another version; if it cannot be used at all, one in memory takes its place.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Self, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.files import LeadsOut, refuse_link_out
from evalc.model.reports import HistoryEntry, Measure, PastCriterion, Trend, TrendPoint
from evalc.model.result import SuiteResult
from evalc.model.suite import KnownSuites, SuiteKey, SuiteRecord, key_of
from evalc.runtime.store.runs import age, began_at, has_results, read_result, result_files, run_folders

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class _Summary(msgspec.Struct, frozen=True, rename="camel"):
    total_cases: _Count
    passed: _Count
    errors: _Count = 0
    score: Measure | None = None
    estimated_cost_usd: Measure | None = None
    total_duration_ms: Measure | None = None
    criteria: tuple[PastCriterion, ...] = ()


class _Result(msgspec.Struct, frozen=True, rename="camel"):
    """The part of an EvalSuiteResult that the history needs."""

    tool_name: str
    tier: str
    summary: _Summary
    suite: str | None = None
    run_id: str | None = None
    timestamp: str | None = None
    agent_endpoint: str = ""
    selected: Any = None
    stopped: str | None = None
    rescored_from: str | None = None


def read_entry(folder: Path, file: str) -> HistoryEntry | None:
    """The entry of a file in a run's folder; None if it is not the result of a suite."""
    try:
        return _entry(folder, file, read_result(folder / file, _Result))
    except (UsageError, OSError):
        return None


def _entry(folder: Path, file: str, result: _Result) -> HistoryEntry:
    """The entry; its suite is empty where the result does not name it, until it is asked for."""
    began = _began(folder, result.timestamp)
    summary = result.summary
    return HistoryEntry(
        run=folder.name,
        file=file,
        run_id=result.run_id or folder.name,
        timestamp=began.isoformat(timespec="seconds").replace("+00:00", "Z"),
        began=(began_at(folder.name) if result.run_id == folder.name else None) or began.timestamp(),
        suite=result.suite or "",
        tool_name=result.tool_name,
        tier=result.tier,
        agent_endpoint=result.agent_endpoint,
        total_cases=summary.total_cases,
        passed=summary.passed,
        errors=summary.errors,
        score=summary.score,
        estimated_cost_usd=summary.estimated_cost_usd,
        total_duration_ms=summary.total_duration_ms,
        criteria={criterion.name: criterion.score for criterion in summary.criteria},
        partial=result.selected is not None or result.stopped is not None,
        rescored=result.rescored_from is not None,
    )


def _began(folder: Path, timestamp: str | None) -> datetime:
    """When a run began: by its result, where that has a time; else by the name of its folder, or the folder's time."""
    with contextlib.suppress(ValueError, OverflowError):
        parsed = datetime.fromisoformat(timestamp or "")
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    with contextlib.suppress(ValueError, OverflowError):  # an id may name a time that no calendar has
        return datetime.fromtimestamp(age(folder)[0], UTC)
    return datetime.fromtimestamp(folder.stat().st_mtime, UTC)


FILE_NAME: Final = "history.db"
_FILES: Final = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm")
VERSION: Final = 3

PATIENCE_S: Final = 5.0
"""How long another process may hold the index."""
_BETWEEN_TRIES_S: Final = 0.01

_TABLES: Final = (
    """CREATE TABLE files (
        run TEXT NOT NULL, file TEXT NOT NULL, modified_ns INTEGER NOT NULL, size INTEGER NOT NULL,
        began REAL, tool TEXT, tier TEXT, suite TEXT, entry TEXT,
        PRIMARY KEY (run, file)
    ) WITHOUT ROWID""",
    "CREATE INDEX files_by_time ON files (began)",
    f"PRAGMA user_version = {VERSION}",
)
"""A file that is not the result of a suite has a row without an entry, so that it is not read each time."""


_Stamp = tuple[int, int]
"""The time of the last change and the size of a file, by which it is seen whether the file has changed."""
_Key = tuple[str, str]
"""The name of a run's folder and the path of a file in it."""


@final
class Index:
    """An open index. `warning` says why it is not the one on disk."""

    def __init__(self, output_dir: Path, connection: sqlite3.Connection, warning: str | None = None) -> None:
        self.warning = warning
        self._output_dir = output_dir
        self._connection = connection

    @classmethod
    def open(cls, output_dir: Path, *, patience_s: float = PATIENCE_S) -> Self:
        """Open the index of an output folder, made anew where it is broken.

        Raises:
            sqlite3.Error: it cannot be opened, or another process holds it for too long.
        """
        try:
            for name in _FILES:
                refuse_link_out(output_dir / name)
            return cls(output_dir, _connected(str(output_dir / FILE_NAME), patience_s))
        except LeadsOut as error:
            raise sqlite3.OperationalError(error.strerror) from None
        except sqlite3.OperationalError:  # locked, read-only, a folder: it may be sound
            raise
        except sqlite3.DatabaseError:
            _remove(output_dir)
            return cls(output_dir, _connected(str(output_dir / FILE_NAME), patience_s))

    @classmethod
    def followed(cls, output_dir: Path, *, rebuild: bool = False, patience_s: float = PATIENCE_S) -> Self:
        """The index as the files are now: that on disk, else one in memory. `rebuild` makes it anew."""
        if rebuild:
            _remove(output_dir)
        try:
            index = cls.open(output_dir, patience_s=patience_s)
            try:
                index.follow()
            except BaseException:
                index.close()
                raise
        except sqlite3.OperationalError as error:
            index = cls(output_dir, _connected(":memory:", 0))
            if output_dir.is_dir():
                file = output_dir / FILE_NAME
                index.warning = f"the index `{file}` cannot be used, so all results are read: {error}"
            index.follow()
        except sqlite3.DatabaseError:
            if rebuild:
                raise
            return cls.followed(output_dir, rebuild=True, patience_s=patience_s)
        return index

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def put(self, rows: Mapping[_Key, tuple[_Stamp, HistoryEntry | None]], gone: Sequence[_Key] = ()) -> None:
        """Write entries, in place of those that the files had before, and forget those of files that are gone."""
        written = []
        for key, (stamp, entry) in rows.items():
            columns: tuple[object, ...] = (None,) * 5
            if entry is not None:
                text = msgspec.json.encode(entry).decode()
                columns = (entry.began, entry.tool_name, entry.tier, entry.suite or None, text)
            written.append((*key, *stamp, *columns))
        with _transaction(self._connection):
            self._connection.executemany("DELETE FROM files WHERE run = ? AND file = ?", gone)
            self._connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", written)

    def follow(self) -> None:
        """Read the files that are new or have changed, forget those that are gone."""
        found = self._connection.execute("SELECT run, file, modified_ns, size FROM files")
        known = {(run, file): (modified, size) for run, file, modified, size in found}
        there = dict(_stamps(self._output_dir))
        rows = {
            key: (stamp, read_entry(self._output_dir / key[0], key[1]))
            for key, stamp in there.items()
            if known.get(key) != stamp
        }
        gone = [key for key in known if key not in there]
        if rows or gone:
            self.put(rows, gone)

    def entries(self, suite: str | None = None) -> Iterator[HistoryEntry]:
        """The entries, the newest first: all, or those of a suite: its name or its tool, with `.TIER` or without."""
        named = "SELECT tool FROM files WHERE :suite IN (suite, tool, suite || '.' || tier, tool || '.' || tier)"
        only = "" if suite is None else f"AND tool IN ({named})"
        found = self._connection.execute(
            f"SELECT entry, run, file FROM files WHERE entry IS NOT NULL {only} ORDER BY began DESC, run DESC, file",  # noqa: S608 - either of two texts
            {} if suite is None else {"suite": suite},
        )
        decoder = msgspec.json.Decoder(HistoryEntry)
        for text, run, file in found:
            try:
                entry = decoder.decode(text)
            except msgspec.MsgspecError:  # the row is broken, and the result has all of it
                if (read := read_entry(self._output_dir / run, file)) is None:
                    continue
                entry = read
            key = self.suite_of(entry)
            if suite is None or suite in {key.name, str(key), entry.tool_name, f"{entry.tool_name}.{entry.tier}"}:
                yield msgspec.structs.replace(entry, suite=key.name)

    def suite_of(self, record: SuiteRecord) -> SuiteKey:
        """The suite of a result or an entry: as it is named in any result, where this one does not name it."""
        return self._named.key_of(record) or key_of(record)

    @cached_property
    def _named(self) -> KnownSuites:
        found = self._connection.execute("SELECT DISTINCT suite, tier, tool FROM files WHERE suite IS NOT NULL")
        return KnownSuites((SuiteKey(name, tier), tool) for name, tier, tool in found)

    def strangers(self) -> int:
        """How many JSON files in the folders of runs are not results of suites."""
        (count,) = self._connection.execute("SELECT count(*) FROM files WHERE entry IS NULL").fetchone()
        return int(count)


def _remove(output_dir: Path) -> None:
    """Remove the index. A process that has it open keeps its copy, and the result files have all of it."""
    for name in _FILES:
        with contextlib.suppress(OSError):
            (output_dir / name).unlink()


def _connected(path: str, patience_s: float) -> sqlite3.Connection:
    """A connection to a database that has the tables of this version.

    Raises:
        sqlite3.Error: there is no index.
    """
    connection = sqlite3.connect(path, timeout=patience_s, isolation_level=None)
    try:
        if _version(connection) != VERSION:
            _set_journal_mode(connection, patience_s)
            with _transaction(connection):
                if _version(connection) != VERSION:  # else another process was faster
                    connection.execute("DROP TABLE IF EXISTS files")
                    for statement in _TABLES:
                        connection.execute(statement)
        connection.execute("PRAGMA synchronous = NORMAL")  # a row that a power cut takes is read from its file again
        connection.execute("SELECT run, file, modified_ns, size, began, tool, tier, suite, entry FROM files LIMIT 1")
    except BaseException:
        connection.close()
        raise
    return connection


def _set_journal_mode(connection: sqlite3.Connection, patience_s: float) -> None:
    """Let readers and a writer not wait for each other.

    SQLite does not wait for another process that is changing the mode, so that is done here.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(_BETWEEN_TRIES_S)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. The lock is taken at once, since SQLite does not wait for a lock that is requested halfway."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        yield


def _stamps(output_dir: Path) -> Iterator[tuple[_Key, _Stamp]]:
    """The files in the folders of runs that may be results. Runners write no names that are not texts."""
    for folder in run_folders(output_dir, has_results):
        for file in result_files(folder):
            key = folder.name, file.relative_to(folder).as_posix()
            if all(name == name.encode(errors="replace").decode() for name in key):
                with contextlib.suppress(OSError):  # it is gone by now
                    status = file.stat()
                    yield key, (status.st_mtime_ns, status.st_size)


def trends_beside(suites: Iterable[SuiteResult], output_dir: Path) -> tuple[Trend, ...]:
    """The courses of these suites, as far as they have two runs in the output folder, for a report that plots them.

    A report never fails by that: there are no trends if the history cannot be read.
    """
    suites = tuple(suites)
    try:
        with Index.followed(output_dir) as index:
            agents = {(index.suite_of(suite), suite.agent_endpoint) for suite in suites}
            names = dict.fromkeys(str(key) for key, _ in agents)
            trends = trends_of(chain.from_iterable(map(index.entries, names)))
    except (sqlite3.Error, OSError):
        return ()
    included = agents | {(key, None) for key, _ in agents}
    there = (trend for trend in trends if len(trend.points) > 1)
    return tuple(trend for trend in there if (key_of(trend), trend.agent_endpoint) in included)


def trends_of(entries: Iterable[HistoryEntry]) -> tuple[Trend, ...]:
    """The course of each suite, the suites in the order in which the entries, newest first, name them.

    Runs of a part of the cases are left out: their pass rate is not that of the suite. A suite that several agents
    have run has a course for each of them: they are as different as suites are.
    """
    by_suite: dict[SuiteKey, dict[str, list[HistoryEntry]]] = {}
    for entry in entries:
        if not entry.partial:
            by_suite.setdefault(key_of(entry), {}).setdefault(entry.agent_endpoint, []).append(entry)
    return tuple(
        _trend(runs, agent if len(by_agent) > 1 else None)
        for by_agent in by_suite.values()
        for agent, runs in by_agent.items()
    )


def _trend(newest_first: Sequence[HistoryEntry], agent: str | None) -> Trend:
    runs = newest_first[::-1]
    return Trend(
        suite=runs[0].suite,
        tool_name=runs[0].tool_name,
        tier=runs[0].tier,
        agent_endpoint=agent,
        criteria=tuple(dict.fromkeys(name for run in runs for name in run.criteria)),
        points=tuple(
            TrendPoint(
                run=run.run,
                timestamp=run.timestamp,
                pass_rate=run.passed / run.total_cases if run.total_cases else None,
                score=run.score,
                criteria=run.criteria,
            )
            for run in runs
        ),
    )
