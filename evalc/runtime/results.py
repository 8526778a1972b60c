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
from evalc.model.result import CriterionResult, Status, Summary
from evalc.model.suite import Suite
from evalc.runtime.checks.verdict import Note
from evalc.runtime.journal import Entry
from evalc.runtime.score import SuiteScore

MOST_WARNINGS: Final = 100
"""The distinct warnings that a suite lists; the rest are counted."""

_LONGEST_SLUG: Final = 100
_NO_CASES: Final = b'\n  "cases": []'


class _Tally(msgspec.Struct, frozen=True, rename="camel"):
    """What a summary needs of a case's result."""

    id: str
    passed: bool
    status: Status
    duration_ms: float
    assertions_skipped: int
    criteria: tuple[CriterionResult, ...] = ()


class SuiteTotals(NamedTuple):
    """What the cases of a suite add up to."""

    summary: Summary
    warnings: tuple[str, ...]
    regressions: tuple[str, ...]
    new_passes: tuple[str, ...]


def sum_up(
    entries: Iterable[Entry], criteria: Sequence[Criterion] | None, baseline: Mapping[str, bool] | None
) -> SuiteTotals:
    """Add up the cases, in the order given; `baseline` says which ids passed before."""
    sums = _Sums(criteria, baseline or {})
    decoder = msgspec.json.Decoder(_Tally)
    for entry in entries:
        sums.add(entry, decoder.decode(entry.result))
    return sums.totals()


@final
class _Sums:
    """The sums so far."""

    def __init__(self, criteria: Sequence[Criterion] | None, baseline: Mapping[str, bool]) -> None:
        self._baseline = baseline
        self._score = SuiteScore(criteria)
        self._statuses: Counter[str] = Counter()
        self._notes: Counter[Note] = Counter()
        self._skipped = 0
        self._duration_ms = 0.0
        self._cost_usd: float | None = None
        self._regressions: list[str] = []
        self._new_passes: list[str] = []

    def add(self, entry: Entry, case: _Tally) -> None:
        self._statuses[case.status] += 1
        self._notes.update(entry.notes)
        self._skipped += case.assertions_skipped
        self._duration_ms += case.duration_ms
        if entry.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + entry.cost_usd
        if case.criteria:
            self._score.add(case.criteria)
        before = self._baseline.get(case.id)
        if before is not None and before != case.passed:
            (self._new_passes if case.passed else self._regressions).append(case.id)

    def totals(self) -> SuiteTotals:
        errors, unverified = self._statuses["error"], self._statuses["unverified"]
        summary = Summary(
            total_cases=self._statuses.total(),
            passed=self._statuses["passed"] + unverified,
            failed=self._statuses["failed"] + errors,
            skipped_assertions=self._skipped,
            total_duration_ms=round(self._duration_ms, 3),
            estimated_cost_usd=msgspec.UNSET if self._cost_usd is None else round(self._cost_usd, 12),
            errors=errors,
            unverified=unverified,
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


def write_result(path: Path, result: bytes, cases: Iterable[Entry]) -> None:
    """Write a SuiteResult, given as JSON without its cases, and put the cases in their place on the way.

    Raises:
        OSError: the file cannot be written; nothing is left of it then.
    """
    try:
        write_atomic(path, _stitched(result, cases))
    except OSError as error:
        if error.strerror is None:  # not the system's: the entries cannot be had
            raise
        message = f"the result cannot be written: {error.strerror}; its cases are in the journal beside it"
        raise OSError(error.errno, message, str(path)) from error


def _stitched(result: bytes, cases: Iterable[Entry]) -> Iterator[bytes]:
    """The file, by pieces. The key is found by its line: a line end inside a text would be escaped."""
    head, key, tail = _pretty(result).partition(_NO_CASES)
    yield head + key[:-1]
    separator = b"\n    "
    for entry in cases:
        yield separator + _pretty(bytes(entry.result)).replace(b"\n", b"\n    ")
        separator = b",\n    "
    yield (b"]" if separator == b"\n    " else b"\n  ]") + tail + b"\n"


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
