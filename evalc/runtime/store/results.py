"""Sums up the cases of a suite, and writes its EvalSuiteResult file from the journal, a case at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.files import make_folder, write_atomic
from evalc.base.terminal import counted
from evalc.compare.totals import Classified, Flips, RepeatedCases, Slices, SuiteScore
from evalc.model.case import Criterion
from evalc.model.result import PASSING, CriterionResult, LabelResult, Significance, SkippedCase, Status, Summary
from evalc.runtime.checks import Note
from evalc.runtime.store.baseline import PastSuite
from evalc.runtime.store.journal import Entry

MOST_WARNINGS: Final = 100
"""The distinct warnings that a suite lists; the rest are counted."""

_NO_CASES: Final = b'\n  "cases": []'
_NONE_SKIPPED: Final = b'\n  "skipped": []'


class _Details(msgspec.Struct, frozen=True, rename="camel"):
    judge_usage: dict[str, int | float] = {}


class _Attempt(msgspec.Struct, frozen=True):
    status: Status


class _Tally(msgspec.Struct, frozen=True, rename="camel"):
    """The part of a case's result that a summary needs."""

    id: str
    passed: bool
    status: Status
    duration_ms: float
    assertions_skipped: int
    flaky: bool = False
    case_hash: str | None = None
    criteria: tuple[CriterionResult, ...] = ()
    details: _Details = _Details()
    attempts: tuple[_Attempt, ...] = ()
    tags: tuple[str, ...] = ()
    not_attempted: int = 0
    label: LabelResult | None = None


class Since(NamedTuple):
    """The ids of the cases that are not as they were in the baseline."""

    # those that passed and fail now, or of which nothing is verified any more: these are `lapsed`
    regressions: tuple[str, ...]
    new_passes: tuple[str, ...]  # those that failed and pass now
    came: tuple[str, ...]  # those that the baseline does not have; of these `came_failing` fail
    came_failing: tuple[str, ...]
    changed: tuple[str, ...]  # those that are another case under the same id
    went: tuple[str, ...]  # those that the baseline has and the suite no longer has
    lapsed: tuple[str, ...]


class SuiteTotals(NamedTuple):
    """The totals of the cases of a suite. `since` and `significance` are None without a baseline."""

    summary: Summary
    warnings: tuple[str, ...]
    since: Since | None
    significance: Significance | None


def sum_up(
    entries: Iterable[Entry],
    criteria: Sequence[Criterion] | None,
    baseline: PastSuite | None,
    *,
    skipped: int = 0,
    not_run: Iterable[SkippedCase] = (),
) -> SuiteTotals:
    """Add up the cases, in the order given; `skipped` is how many cases were not run, and `not_run` names them."""
    sums = _Sums(criteria, baseline)
    decoder = msgspec.json.Decoder(_Tally)
    for entry in entries:
        sums.add(entry, decoder.decode(entry.result))
    sums.leave_out(not_run)
    return sums.totals(skipped)


@final
class _Sums:
    def __init__(self, criteria: Sequence[Criterion] | None, baseline: PastSuite | None) -> None:
        self._comparing = None if baseline is None else _Comparing(baseline)
        self._score = SuiteScore(criteria)
        self._statuses: Counter[Status] = Counter()
        self._notes: Counter[Note] = Counter()
        self._flaky = 0
        self._repeated = RepeatedCases()
        self._classified = Classified()
        self._slices = Slices()
        self._skipped_assertions = 0
        self._duration_ms = 0.0
        self._cost_usd: float | None = None
        self._judge_cost_usd: float | None = None

    def add(self, entry: Entry, case: _Tally) -> None:
        self._statuses[case.status] += 1
        if entry.notes:
            self._notes.update(entry.notes)
        self._flaky += case.flaky
        self._skipped_assertions += case.assertions_skipped
        self._duration_ms += case.duration_ms
        if entry.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + entry.cost_usd
        if (judging := case.details.judge_usage.get("costUsd")) is not None:
            self._judge_cost_usd = (self._judge_cost_usd or 0.0) + judging
        if case.attempts:
            statuses = tuple(attempt.status for attempt in case.attempts)
            self._repeated.add(statuses, cut_short=bool(case.not_attempted))
        if case.label is not None:
            self._classified.add(case.label.expected, case.label.predicted)
        if case.tags:
            self._slices.add(case.tags, passed=case.passed, error=case.status == "error")
        if case.criteria:
            self._score.add(case.criteria)
        if self._comparing is not None:
            self._comparing.add(case)

    def leave_out(self, not_run: Iterable[SkippedCase]) -> None:
        if self._comparing is not None:
            self._comparing.met.update(case.id for case in not_run)

    def totals(self, skipped: int) -> SuiteTotals:
        total = self._statuses.total()
        passed = sum(count for status, count in self._statuses.items() if status in PASSING)
        summary = Summary(
            total_cases=total,
            passed=passed,
            failed=total - passed,
            skipped_assertions=self._skipped_assertions,
            total_duration_ms=round(self._duration_ms, 3),
            estimated_cost_usd=_known(self._cost_usd),
            judge_cost_usd=_known(self._judge_cost_usd),
            errors=self._statuses["error"],
            unverified=self._statuses["unverified"],
            expected_failures=self._statuses["expected-failure"],
            unexpected_passes=self._statuses["unexpected-pass"],
            flaky=self._flaky,
            skipped=skipped,
            score=self._score.score(),
            scored_weight=self._score.scored_weight(),
            criteria=self._score.summaries(),
            repeats=self._repeated.summaries() or msgspec.UNSET,
            cut_short=self._repeated.cut_short or msgspec.UNSET,
            labels=self._classified.summary() or msgspec.UNSET,
            slices=self._slices.summaries(total) or msgspec.UNSET,
        )
        return SuiteTotals(
            summary=summary,
            warnings=self._warnings(),
            since=None if self._comparing is None else self._comparing.since(),
            significance=None if self._comparing is None else self._comparing.flips.significance(),
        )

    def _warnings(self) -> tuple[str, ...]:
        listed = [
            f"{note.fact}: {counted(count, 'assertion')} {note.effect}"
            for note, count in list(self._notes.items())[:MOST_WARNINGS]
        ]
        more = len(self._notes) - len(listed)
        counted_only = (f"and {more} more warnings of this kind",) if more else ()
        return (*listed, *counted_only, *filter(None, (self._repeated.warning(),)))


def _known(cost: float | None) -> float | msgspec.UnsetType:
    """The money spent, if that is known and its sum is a number."""
    return msgspec.UNSET if cost is None or not isfinite(cost) else round(cost, 12)


@final
class _Comparing:
    """The comparison with the baseline so far.

    `flips` are the verdicts of the cases that ran in both; `met` are those that the suite still has.
    """

    def __init__(self, baseline: PastSuite) -> None:
        self.flips = Flips()
        self._baseline = baseline
        self._regressions: list[str] = []
        self._lapsed: list[str] = []
        self._new_passes: list[str] = []
        self._came: list[str] = []
        self._came_failing: list[str] = []
        self._changed: list[str] = []
        self.met: set[str] = set()

    def add(self, case: _Tally) -> None:
        id_ = case.id
        before = self._baseline.passed.get(id_)
        if before is None:
            self._came.append(id_)
            if not case.passed:
                self._came_failing.append(id_)
            return
        self.met.add(id_)
        digest = self._baseline.digests.get(id_)
        if digest is not None and case.case_hash is not None and digest != case.case_hash:
            self._changed.append(id_)
        if case.status == "unverified" and id_ not in self._baseline.unverified:  # which is no verdict on the agent
            if before:
                self._lapsed.append(id_)
                self._regressions.append(id_)
            return
        self.flips.add(before, case.passed, error=case.status == "error" or id_ in self._baseline.errors)
        if before != case.passed:
            (self._new_passes if case.passed else self._regressions).append(id_)

    def since(self) -> Since:
        return Since(
            regressions=tuple(self._regressions),
            new_passes=tuple(self._new_passes),
            came=tuple(self._came),
            came_failing=tuple(self._came_failing),
            changed=tuple(self._changed),
            went=tuple(id_ for id_ in self._baseline.passed if id_ not in self.met),
            lapsed=tuple(self._lapsed),
        )


def write_result(path: Path, result: bytes, cases: Iterable[Entry], skipped: Iterable[SkippedCase] = ()) -> None:
    """Write a SuiteResult, given as JSON without its cases, and put the cases in their places on the way.

    Raises:
        OSError: the file cannot be written; nothing is left of it then.
    """
    try:
        make_folder(path.parent)
        write_atomic(path, _stitched(result, cases, skipped))
    except OSError as error:
        if error.strerror is None:  # not the system's: the entries cannot be had
            raise
        message = f"the result cannot be written: {error.strerror}; its cases are in the journal beside it"
        raise OSError(error.errno, message, str(path)) from error


def _stitched(result: bytes, cases: Iterable[Entry], skipped: Iterable[SkippedCase]) -> Iterator[bytes]:
    """The file, by pieces. The keys are found by their lines: a line end inside a text would be escaped."""
    head, cases_key, rest = msgspec.json.format(result, indent=2).partition(_NO_CASES)
    middle, skipped_key, tail = rest.partition(_NONE_SKIPPED)
    return chain(
        (head + cases_key[:-1],),
        _items(map(_RESULT, cases)),
        (middle + skipped_key[:-1],),
        _items(map(msgspec.json.encode, skipped)),
        (tail + b"\n",),
    )


_RESULT: Final = attrgetter("result")


def _items(records: Iterator[bytes]) -> Iterable[bytes]:
    """The items of a list of the file, and the bracket that ends it."""
    for first in records:
        return chain((_item(first, b"\n    "),), map(_item, records), (b"\n  ]",))
    return (b"]",)


def _item(record: bytes, before: bytes = b",\n    ") -> bytes:
    return before + msgspec.json.format(record, indent=2).replace(b"\n", b"\n    ")
