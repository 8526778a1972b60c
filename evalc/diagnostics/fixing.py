"""Applies the certain fixes of a source. Each one is proved by checking the result again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, final

from evalc.diagnostics.catalogue.syntax_yaml import DuplicateKey
from evalc.diagnostics.fixes import Edit, edit_for
from evalc.diagnostics.problem import Problem
from evalc.source import Source

Check = Callable[[Source], Sequence[Problem]]
"""Finds every problem of a source."""

Wanted = Callable[[Problem], bool]
"""Whether a problem is to be fixed."""

EditOf = Callable[[Problem], Edit | None]
"""Finds the edit that cures a problem, if there is one."""

_ROUNDS: Final = 10
_ATTEMPTS: Final = 10

_ENDS_THE_FILE: Final = frozenset(f"EV{number}" for number in (*range(100, 110), 123, 124, 125, 126, 127, 130))
"""The codes of syntax errors after which a file is not read."""


class Fixed(NamedTuple):
    """A text with fixes in it, and how many."""

    text: str
    fixes: int


class _Round(NamedTuple):
    source: Source
    problems: Sequence[Problem]
    fixes: int


def fixed(
    source: Source, problems: Sequence[Problem], check: Check, *, wanted: Wanted, edit_of: EditOf = edit_for
) -> Fixed:
    """The text of the source with every wanted problem fixed that can be, until nothing is left to fix.

    A fix is given up if a new problem would replace it; all of them are when the text could not be read as
    YAML in the end.

    Args:
        source: the source as it is.
        problems: what is wrong with it, all of it.
        check: finds the problems of a source that would take its place.
        wanted: whether a problem is to be fixed.
        edit_of: finds the edit that cures a problem.
    """
    done = _Round(source, problems, 0)
    for _ in range(_ROUNDS):
        step = _round(done, check, [*_edits(done.problems, wanted, edit_of)])
        if step is None:
            break
        done = _Round(step.source, step.problems, done.fixes + step.fixes)
    if done.fixes and _broken_at(done.problems) is not None:
        return Fixed(source.text, 0)
    return Fixed(done.source.text, done.fixes)


def ends_the_file(problem: Problem) -> bool:
    """Whether it is a syntax error after which a file is not read, unless it only lacks quotes."""
    return problem.code in _ENDS_THE_FILE


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that are in order and do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join([*pieces, text[at:]])


def _edits(problems: Iterable[Problem], wanted: Wanted, edit_of: EditOf) -> Iterator[Edit]:
    return (edit for problem in problems if wanted(problem) and (edit := edit_of(problem)) is not None)


def _round(before: _Round, check: Check, edits: Iterable[Edit]) -> _Round | None:
    """One step: all edits that do not overlap, without those that do harm; None if there are none."""
    edits = _apart(edits)
    for _ in range(_ATTEMPTS):
        if not edits:
            return None
        after = Source(before.source.name, applied(before.source.text, edits))
        problems = check(after)
        harmful = frozenset(_harmful(edits, before, after, problems))
        if not harmful:
            return _Round(after, problems, len(edits))
        edits = [edit for edit in edits if edit not in harmful]
    return None


def _apart(edits: Iterable[Edit]) -> list[Edit]:
    """The edits in order; of two that overlap, the first."""
    kept: list[Edit] = []
    for edit in sorted(edits):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def _harmful(edits: Sequence[Edit], before: _Round, after: Source, problems: Sequence[Problem]) -> Collection[Edit]:
    """The edits that do not cure what they should, or bring something new about."""
    shifts = list(accumulate((len(edit.text) - (edit.end - edit.start) for edit in edits), initial=0))
    was = _CodesByStart(before.source, before.problems)
    now = _CodesByStart(after, problems)
    moved = list(zip(edits, shifts[:-1], strict=True))
    twice = _keys_written_twice(problems)
    harmful = [
        edit
        for edit, shift in moved
        if not now.within(edit.start + shift, len(edit.text)) < was.within(edit.start, edit.end - edit.start)
        or (after.position(edit.start + shift).line, edit.text) in twice
    ]
    if harmful:
        return harmful
    broken = _broken_at(problems)
    broken_before = _broken_at(before.problems)
    if broken is None:
        return ()
    behind = 0 if broken_before is None else bisect_right(edits, broken_before, key=lambda edit: edit.start)
    if broken_before is not None and broken > broken_before + shifts[behind]:
        return ()  # the file can be read further than before
    line = after.position(broken).line
    return [edit for edit, shift in moved if after.position(edit.start + shift).line == line] or edits


@final
class _CodesByStart:
    """The codes of a source's problems, to be asked for by where the problems start."""

    def __init__(self, source: Source, problems: Sequence[Problem]) -> None:
        here = sorted((problem.span.start, problem.code) for problem in problems if problem.source.name == source.name)
        self._starts = [start for start, _ in here]
        self._codes = [code for _, code in here]

    def within(self, start: int, length: int) -> Counter[str]:
        """The codes that start in a stretch, or on the quote before it."""
        first = bisect_left(self._starts, start - 1)
        return Counter(self._codes[first : bisect_left(self._starts, start + length)])


def _keys_written_twice(problems: Iterable[Problem]) -> set[tuple[int, str]]:
    """The lines of the keys that are repeated in a mapping, each with its key."""
    return {
        (line, problem.finding.key)
        for problem in problems
        if isinstance(problem.finding, DuplicateKey)
        for line in (problem.start.line, problem.finding.first_line)
    }


def _broken_at(problems: Iterable[Problem]) -> int | None:
    """The place of the first syntax error that ends the reading of the file."""
    return min((problem.span.start for problem in problems if ends_the_file(problem)), default=None)
