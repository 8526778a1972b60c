"""What is known of each case, as a table: those that need looking at first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, final

from evalc.base.terminal import Screen, cells, padded, painted, shortened, visible
from evalc.model.result import CaseResult
from evalc.model.suite import CaseKey
from evalc.report.words import main_reason, symbols_of

_LEAST_ROWS = 5
_WIDEST_ID = 50


class _Row(NamedTuple):
    """A case, how it ended when it was last run, and whether it says something else now."""

    key: CaseKey
    result: CaseResult | None
    is_old: bool


@final
class Board:
    """The cases of the watched files."""

    def __init__(self) -> None:
        self._digests: dict[CaseKey, str] = {}
        self._results: dict[CaseKey, tuple[CaseResult, str]] = {}

    def look(self, digests: Mapping[CaseKey, str]) -> Mapping[CaseKey, str]:
        """Take over the cases as they are now; the ones that were there before."""
        before, self._digests = self._digests, dict(digests)
        return before

    def note(self, results: Mapping[CaseKey, CaseResult]) -> None:
        """Take over how cases ended."""
        for key, result in results.items():
            if key in self._digests:
                self._results[key] = (result, self._digests[key])

    @property
    def known(self) -> tuple[CaseKey, ...]:
        """Every case, in source order."""
        return tuple(self._digests)

    def _rows(self) -> list[_Row]:
        rows = []
        for key, digest in self._digests.items():
            result, then = self._results.get(key, (None, digest))
            rows.append(_Row(key, result, then != digest))
        return rows

    def lines(self, screen: Screen, height: int) -> Iterator[str]:
        """The table, no longer than so many lines, and the counts below it."""
        rows = sorted(self._rows(), key=_urgency)
        ran = [row for row in rows if row.result is not None]
        shown = ran[: max(height - 2, _LEAST_ROWS)]
        width = min(max((cells(visible(row.key.id)) for row in shown), default=0), _WIDEST_ID)
        for row in shown:
            yield _line(row, screen, width)
        if len(ran) > len(shown):
            yield f"  and {len(ran) - len(shown)} more"
        yield _counts(rows)


def _urgency(row: _Row) -> int:
    if row.result is None:
        return 3
    return 2 if row.result.passed and not row.is_old else int(row.is_old)


def _line(row: _Row, screen: Screen, width: int) -> str:
    assert row.result is not None  # noqa: S101 - for the type checker: others have no line
    result = row.result
    mark = painted(symbols_of(screen).marks[result.status], "green" if result.passed else "red", on=screen.color)
    score = "" if result.score is None else f"{result.score:.2f}"
    reason = main_reason(result)
    said = (
        "changed since"
        if row.is_old
        else ""
        if result.passed or reason is None
        else reason.in_short(symbols_of(screen).ellipsis)
    )
    name = padded(shortened(visible(row.key.id), width), width)
    room = max(screen.width - width - 12, 20)
    return f"  {mark} {name}  {score:<4}  {shortened(said, room)}".rstrip()


def _counts(rows: Sequence[_Row]) -> str:
    passed = sum(row.result is not None and row.result.passed for row in rows)
    others = sum(row.result is not None for row in rows) - passed
    idle = len(rows) - passed - others
    parts = [f"{passed} passed" if passed else "", f"{others} did not pass" if others else ""]
    parts.append(f"{idle} not run yet" if idle else "")
    return ", ".join(filter(None, parts)) or "no cases"
