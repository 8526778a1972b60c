"""From a run's journal to its EvalSuiteResult files: summed up and stitched in source order, a case at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from evalc.atomic import write_atomic
from evalc.model.case import Criterion
from evalc.model.codec import short_hash
from evalc.model.result import PASSING, CriterionResult, SkippedCase, Status, Summary
from evalc.model.suite import Suite
from evalc.runtime.checks.verdict import Note
from evalc.runtime.journal import Entry
from evalc.runtime.score import SuiteScore

MOST_WARNINGS: Final = 100
"""The distinct warnings that a suite lists; the rest are counted."""

_LONGEST_SLUG: Final = 100
_NO_CASES: Final = b'\n  "cases": []'
_NONE_SKIPPED: Final = b'\n  "skipped": []'


class _Tally(msgspec.Struct, frozen=True, rename="camel"):
    """What a summary needs of a case's result."""

    id: str
    passed: bool
    status: Status
    duration_ms: float
    assertions_skipped: int
    flaky: bool = False
    criteria: tuple[CriterionResult, ...] = ()


class SuiteTotals(NamedTuple):
    """What the cases of a suite add up to."""

    summary: Summary
    warnings: tuple[str, ...]
    regressions: tuple[str, ...]
    new_passes: tuple[str, ...]


def sum_up(
    entries: Iterable[Entry],
    criteria: Sequence[Criterion] | None,
    baseline: Mapping[str, bool] | None,
    *,
    skipped: int = 0,
) -> SuiteTotals:
    """Add up the cases, in the order given.

    `baseline` says which ids passed before, `skipped` how many cases were not run.
    """
    sums = _Sums(criteria, baseline or {})
    decoder = msgspec.json.Decoder(_Tally)
    for entry in entries:
        sums.add(entry, decoder.decode(entry.result))
    return sums.totals(skipped)


@final
class _Sums:
    """The sums so far."""

    def __init__(self, criteria: Sequence[Criterion] | None, baseline: Mapping[str, bool]) -> None:
        self._baseline = baseline
        self._score = SuiteScore(criteria)
        self._statuses: Counter[Status] = Counter()
        self._notes: Counter[Note] = Counter()
        self._flaky = 0
        self._skipped_assertions = 0
        self._duration_ms = 0.0
        self._cost_usd: float | None = None
        self._regressions: list[str] = []
        self._new_passes: list[str] = []

    def add(self, entry: Entry, case: _Tally) -> None:
        self._statuses[case.status] += 1
        self._notes.update(entry.notes)
        self._flaky += case.flaky
        self._skipped_assertions += case.assertions_skipped
        self._duration_ms += case.duration_ms
        if entry.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + entry.cost_usd
        if case.criteria:
            self._score.add(case.criteria)
        before = self._baseline.get(case.id)
        if before is not None and before != case.passed:
            (self._new_passes if case.passed else self._regressions).append(case.id)

    def totals(self, skipped: int) -> SuiteTotals:
        total = self._statuses.total()
        passed = sum(count for status, count in self._statuses.items() if status in PASSING)
        summary = Summary(
            total_cases=total,
            passed=passed,
            failed=total - passed,
            skipped_assertions=self._skipped_assertions,
            total_duration_ms=round(self._duration_ms, 3),
            estimated_cost_usd=msgspec.UNSET if self._cost_usd is None else round(self._cost_usd, 12),
            errors=self._statuses["error"],
            unverified=self._statuses["unverified"],
            expected_failures=self._statuses["expected-failure"],
            unexpected_passes=self._statuses["unexpected-pass"],
            flaky=self._flaky,
            skipped=skipped,
            score=self._score.score(),
            scored_weight=self._score.scored_weight(),
            criteria=self._score.summaries(),
        )
        return SuiteTotals(summary, self._warnings(), tuple(self._regressions), tuple(self._new_passes))

    def _warnings(self) -> tuple[str, ...]:
        listed = [
            f"{note.fact}: {count} {'assertion' if count == 1 else 'assertions'} {note.effect}"
            for note, count in list(self._notes.items())[:MOST_WARNINGS]
        ]
        more = len(self._notes) - len(listed)
        return (*listed, f"and {more} more warnings of this kind") if more else tuple(listed)


def write_result(path: Path, result: bytes, cases: Iterable[Entry], skipped: Iterable[SkippedCase] = ()) -> None:
    """Write a SuiteResult, given as JSON without its cases, and put the cases in their places on the way.

    Raises:
        OSError: the file cannot be written; nothing is left of it then.
    """
    try:
        write_atomic(path, _stitched(result, cases, skipped))
    except OSError as error:
        if error.strerror is None:  # not the system's: the entries cannot be had
            raise
        message = f"the result cannot be written: {error.strerror}; its cases are in the journal beside it"
        raise OSError(error.errno, message, str(path)) from error


def _stitched(result: bytes, cases: Iterable[Entry], skipped: Iterable[SkippedCase]) -> Iterator[bytes]:
    """The file, by pieces. The keys are found by their lines: a line end inside a text would be escaped."""
    head, cases_key, rest = _pretty(result).partition(_NO_CASES)
    middle, skipped_key, tail = rest.partition(_NONE_SKIPPED)
    yield head + cases_key[:-1]
    yield from _items(bytes(entry.result) for entry in cases)
    yield middle + skipped_key[:-1]
    yield from _items(map(msgspec.json.encode, skipped))
    yield tail + b"\n"


def _items(records: Iterable[bytes]) -> Iterator[bytes]:
    """The items of a list of the file, and the bracket that ends it."""
    separator = b"\n    "
    for record in records:
        yield separator + _pretty(record).replace(b"\n", b"\n    ")
        separator = b",\n    "
    yield b"]" if separator == b"\n    " else b"\n  ]"


def _pretty(encoded: bytes) -> bytes:
    return msgspec.json.format(encoded, indent=2)


def file_names(suites: Sequence[Suite]) -> list[str]:
    """`<tool>.<tier>.json` for each suite; tools whose names come to the same slug are told apart by a hash."""
    slugs = [_slug(suite.tool_name) for suite in suites]
    plain = [f"{slug}.{_slug(suite.tier)}.json" for slug, suite in zip(slugs, suites, strict=True)]
    taken = Counter(name.casefold() for name in plain)
    return [
        name if taken[name.casefold()] == 1 else f"{slug}-{short_hash(suite.tool_name)}.{_slug(suite.tier)}.json"
        for name, slug, suite in zip(plain, slugs, suites, strict=True)
    ]


def _slug(name: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:_LONGEST_SLUG]
    return slug or f"tool-{short_hash(name)}"
