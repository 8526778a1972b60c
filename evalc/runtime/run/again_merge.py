"""Merges the runs of all shards into one: every case once, from its shard's journal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.terminal import first_of
from evalc.model.suite import Suite
from evalc.runtime.run.engine import NOBODY, Observer, RunOptions
from evalc.runtime.run.finish import Ending, FinishedRun, finish_run
from evalc.runtime.run.run import journaled_suites, new_journal
from evalc.runtime.store.baseline import find_baseline
from evalc.runtime.store.journal import Entry, Header, Journal, JournaledCases, Line, read_journal
from evalc.runtime.store.resume import PastRun, checked_otherwise, checks_of, differences, not_compared
from evalc.runtime.store.scope import CaseFilter, Scope, Shard

_MOST_NAMED: Final = 5
_TURN: Final = 256
"""After how many cases Ctrl-C gets its turn."""


class Part(NamedTuple):
    """The run of one shard: where it is, what was run, its cases, and how they were chosen."""

    run: PastRun
    header: Header
    cases: JournaledCases
    selection: CaseFilter

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"`{self.run.folder}`"


def read_parts(runs: Sequence[PastRun]) -> Sequence[Part]:
    """The parts, known to be of the same run."""
    parts: list[Part] = []
    for run in runs:
        header, cases = read_journal(run.folder)
        part = Part(run, header, cases, _selection_in(header, run))
        twin = next((other for other in parts if other.header.run_id == part.header.run_id), None)
        if twin is not None:
            raise UsageError(f"{part.name} and {twin.name} are the same run")
        if parts and (changes := "; ".join(differences(_as_whole(parts[0].header), _as_whole(header)))):
            raise UsageError(f"{part.name} is not a part of the same run as {parts[0].name}: {changes}")
        parts.append(part)
    return parts


def _selection_in(header: Header, run: PastRun) -> CaseFilter:
    try:
        return msgspec.convert(header.flags.get("wanted") or {}, CaseFilter)
    except msgspec.ValidationError as error:
        raise UsageError(f"the journal of `{run.folder}` says nothing usable about its cases: {error}") from None


def _as_whole(header: Header) -> Header:
    """The header without what is each shard's own: how many cases it has."""
    return msgspec.structs.replace(
        header, suites=tuple(msgspec.structs.replace(suite, cases=0) for suite in header.suites)
    )


async def merge_suites(
    suites: Sequence[Suite], parts: Sequence[Part], options: RunOptions, *, observer: Observer = NOBODY
) -> FinishedRun:
    """Put the parts together, and judge what came of them as one run.

    Raises:
        UsageError: a case is in no part or in several, a part is not of these suites, or the run cannot be begun.
        OSError: a result could not be written.
    """
    first = parts[0].header
    agents = first.agents or (first.agent_endpoint,)
    baseline = find_baseline(
        options.baseline,
        options.output_dir,
        suites,
        agents=agents,
        accepted=options.accepted,
        scope=Scope.of(_flags_of(first)),
    )
    if first.agents:
        suites = [msgspec.structs.replace(suite, agent=agent) for suite in suites for agent in agents]
    header = _header_of(suites, first, options)
    for part in parts:
        changes = "; ".join(differences(_as_whole(part.header), _as_whole(header)))
        if changes:
            raise UsageError(f"{part.name} cannot be merged: {changes}")
    _refuse_holes(suites, parts)
    journal = new_journal(header, options)
    observer.run_started(sum(suite.size for suite in suites), 0)
    try:
        stopped: dict[int, str] = {}
        for number, suite in enumerate(suites):
            observer.suite_started(suite)
            reason = await _merge_suite(suite, number, parts, journal, observer)
            if reason is not None:
                stopped[number] = reason
        ending = Ending(
            baseline=baseline,
            registry=options.registry,
            redactor=options.redactor,
            gates=options.gates,
            stopped=stopped,
            warnings=(
                *not_compared([part.header for part in parts], suites),
                *checked_otherwise((checks_of(part.header) for part in parts), options.run_id),
                *_unreadable(parts),
            ),
        )
        return finish_run(suites, journal, ending)
    finally:
        journal.close()


def _header_of(suites: Sequence[Suite], first: Header, options: RunOptions) -> Header:
    """The header of the whole run: as the parts were run, of the suites as they are."""
    return msgspec.structs.replace(
        first,
        run_id=options.run_id,
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        suites=journaled_suites(suites, options.root),
        flags=_flags_of(first),
    )


def _flags_of(first: Header) -> dict[str, Any]:
    """The flags of the whole run: those of a part, less what made it one."""
    of_shards = frozenset(("shard", "durations_of"))
    selection = {name: value for name, value in (first.flags.get("wanted") or {}).items() if name not in of_shards}
    return {**first.flags, "wanted": selection}


# --- cases -----------------------------------------------------------------------------------------------------------


@final
class _Heads:
    """The next case of each part, in a suite whose cases all parts have in the same order."""

    def __init__(self, suite: int, parts: Sequence[Part]) -> None:
        self._lines = [part.cases.lines(suite) for part in parts]
        self._parts = parts
        self._heads: dict[str, list[tuple[int, Line]]] = {}
        for number in range(len(parts)):
            self._advance(number)

    def take(self, identity: str) -> Sequence[tuple[Part, Line]]:
        """The parts that have the case next, with its line there."""
        taken = self._heads.pop(identity, [])
        for number, _ in taken:
            self._advance(number)
        return [(self._parts[number], line) for number, line in taken]

    def left(self) -> Iterator[tuple[Part, str]]:
        """The cases that nobody has asked for."""
        return ((self._parts[number], name) for name, heads in self._heads.items() for number, _ in heads)

    def _advance(self, number: int) -> None:
        line = next(self._lines[number], None)
        if line is not None:
            self._heads.setdefault(line.id, []).append((number, line))


def _refuse_holes(suites: Sequence[Suite], parts: Sequence[Part]) -> None:
    """Hold that every case is in exactly one part, before anything is written."""
    for number, suite in enumerate(suites):
        heads = _Heads(number, parts)
        for located in suite.cases:
            identity = located.case.id
            found = heads.take(identity)
            if len(found) > 1:
                (one, _), (other, _), *_ = found
                raise UsageError(f"{one.name} and {other.name} both have the case `{identity}` of {_title(suite)}")
            if not found:
                raise UsageError(_missing(suite, number, identity, parts))
        for part, identity in heads.left():
            raise UsageError(
                f"{part.name} has the case `{identity}`, which {_title(suite)} does not have, or elsewhere"
            )


def _title(suite: Suite) -> str:
    return f"the suite {suite.title}"


def _missing(suite: Suite, number: int, identity: str, parts: Sequence[Part]) -> str:
    """Why a case is in no part: a shard is missing or did not end, or no reason is known."""
    what = f"no part has the case `{identity}` of {_title(suite)}"
    absent = _absent_shards(parts)
    if absent:
        named = first_of(absent, _MOST_NAMED)
        subject = f"the shard {named} is" if len(absent) == 1 else f"the shards {named} are"
        return f"{subject} missing: {what}"
    for part in parts:
        if part.cases.count(number) < part.header.suites[number].cases:
            return f"{part.name} did not end: {what}; finish it with `evalc run --resume {part.run.folder}`"
    return what


def _absent_shards(parts: Sequence[Part]) -> Sequence[str]:
    """The missing shards, as `3/16`; none if the parts are not shards of one number."""
    shards = {part.selection.shard for part in parts}
    numbers = {0 if shard is None else shard.of for shard in shards}
    if None in shards or len(numbers) != 1:
        return ()
    (of,) = numbers
    return [str(shard) for number in range(1, of + 1) if (shard := Shard(number, of)) not in shards]


async def _merge_suite(
    suite: Suite, number: int, parts: Sequence[Part], journal: Journal, observer: Observer
) -> str | None:
    """Write the lines of the suite's cases; why not all of them ran, if a part was stopped."""
    heads = _Heads(number, parts)
    reason: str | None = None
    for index, located in enumerate(suite.cases):
        if index % _TURN == 0:
            await asyncio.sleep(0)
        ((_, line),) = heads.take(located.case.id)
        said = line.read()
        if isinstance(said, Entry):
            result = journal.keep(number, index, said)
            observer.case_finished(suite, result)
            continue
        skipped = journal.skip(number, index, said.skipped)
        if skipped.stopped:
            reason = skipped.reason.removeprefix("not run: ")
        observer.case_skipped(suite, skipped)
    return reason


def _unreadable(parts: Sequence[Part]) -> tuple[str, ...]:
    """The warning that lines of a part cannot be read: their cases were run again."""
    return tuple(
        f"{part.cases.unreadable} of the lines of {part.name} cannot be read" for part in parts if part.cases.unreadable
    )
