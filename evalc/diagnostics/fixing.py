"""Applies the fixes of a source, and finds the suggestions that would not help. Both check the result again."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Final, NamedTuple, final

from evalc.base.source import Source
from evalc.diagnostics import Edit, Problem, Severity

Check = Callable[[Source], Sequence[Problem]]
"""Finds every problem of a source."""

Selects = Callable[[Problem], bool]
"""Whether a problem is to be fixed."""

_ROUNDS: Final = 10
_ATTEMPTS: Final = 10
_LINE_END: Final = re.compile(r"[\r\n]")
_ITEM_END: Final = re.compile(r"[,\]}]")
_HOLDS_NO_ITEMS: Final = re.compile(
    r"""\{\{[^{}\r\n]*\}\}|(?<=[\s\[{,:])(?:'(?:[^'\r\n]|'')*'|"(?:[^"\\\r\n]|\\.)*")(?=[\s\]},:])"""
)
"""A template, or a text in quotes: no sign in it belongs to the list around it."""
_MOST_TRIALS: Final = 100
"""How many suggestions of a source are tried alone; further ones are not made."""

_BETWEEN_LINES: Final = frozenset({"EV402", "EV412", "EV422", "EV503"})
"""The codes of errors in sound lines that do not fit their case: they speak of what was meant, not of an edit."""
_ENDS_THE_FILE: Final = frozenset(f"EV{number}" for number in (*range(100, 110), 123, 124, 125, 126, 127, 130))
"""The codes of syntax errors after which a file is not read."""


class Fixed(NamedTuple):
    """A text with fixes in it, and how many."""

    text: str
    fixes: int


@final
class _Round:
    """A source with everything that is wrong with it, after some fixes."""

    def __init__(self, source: Source, problems: Sequence[Problem], fixes: int = 0) -> None:
        self.source = source
        self.problems = problems
        self.fixes = fixes

    @cached_property
    def errors(self) -> list[Problem]:
        """The errors, except those between lines, and an error that ends the file."""
        return [each for each in self.problems if _is_error(each.code, each.severity) and not ends_the_file(each)]

    @cached_property
    def codes(self) -> _CodesByStart:
        """The codes of all problems."""
        return _CodesByStart(self.source, self.problems)

    @cached_property
    def error_codes(self) -> _CodesByStart:
        """The codes of these errors."""
        return _CodesByStart(self.source, self.errors)

    @cached_property
    def broken(self) -> int | None:
        """The place of the first syntax error that ends the reading of the file."""
        return min((problem.span.start for problem in self.problems if ends_the_file(problem)), default=None)


class _Proposal(NamedTuple):
    """An edit that is tried, and its problem."""

    edit: Edit
    problem: Problem
    is_safe: bool

    @property
    def reveals(self) -> bool:
        """Whether evalc can then read what the problem kept it from reading, with the problems in that."""
        return self.problem.code in {"EV201", "EV640"} or ends_the_file(self.problem)


def fixed(
    source: Source, problems: Sequence[Problem], check: Check, *, selected: Selects, unsafe: bool = False
) -> Fixed:
    """The text of the source with every selected problem fixed that can be, until nothing is left to fix.

    A fix is given up if a new problem would replace it; all of them are when the text could not be read as
    YAML in the end.

    Args:
        source: the source as it is.
        problems: what is wrong with it, all of it.
        check: finds the problems of a source that would take its place.
        selected: whether a problem is to be fixed.
        unsafe: whether fixes are made that a reader has to look at.
    """
    done = _Round(source, problems)
    for _ in range(_ROUNDS):
        proposals = [each for each in _proposals(filter(selected, done.problems)) if unsafe or each.is_safe]
        step = _next(done, check, proposals)
        if step is None:
            break
        done = step
    return Fixed(source.text, 0) if done.broken is not None else Fixed(done.source.text, done.fixes)


def ends_the_file(problem: Problem) -> bool:
    """Whether it is a syntax error after which a file is not read, unless it only lacks quotes."""
    return problem.code in _ENDS_THE_FILE


def _is_error(code: str, severity: Severity) -> bool:
    return severity == "error" and code not in _BETWEEN_LINES


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that are in order and do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join([*pieces, text[at:]])


def without_idle_suggestions(problems: Iterable[Problem], check: Check) -> tuple[Problem, ...]:
    """The problems, without suggestions that would leave as many errors as before, or bring new ones about.

    Each suggestion is tried on the text of its file, which is then checked as if it were the file.
    """
    problems = tuple(problems)
    offering = [problem for problem in problems if problem.source.first_line == 1 and problem.fix is not None]
    idle: set[int] = set()
    for given in dict.fromkeys(problem.source for problem in offering):
        ours = [problem for problem in offering if problem.source is given]
        source = given.with_text(given.text)  # of a suite in Python the edits are of its YAML
        idle |= {id(problem) for problem in _idle(ours, _Round(source, check(source)), check)}
    return tuple(problem.without_suggestion() if id(problem) in idle else problem for problem in problems)


def _idle(problems: Sequence[Problem], before: _Round, check: Check) -> Iterator[Problem]:
    """Those of the problems of a source whose suggestions do not help.

    Suggestions on different lines are tried together, as long as all of those help; the others are tried alone.
    """
    by_line: dict[int, _Proposal] = {}
    alone: list[_Proposal] = []
    for each in _proposals(problems):
        line = before.source.position(each.edit.start).line
        (alone.append if line in by_line else partial(by_line.setdefault, line))(each)
    together = list(by_line.values())
    for _ in range(_ATTEMPTS):
        harmful = _tried(together, before, check)
        if not harmful:
            break
        alone += [each for each in together if each.edit in harmful]
        together = [each for each in together if each.edit not in harmful]
    else:
        alone += together
    for tried, each in enumerate(alone):
        if tried >= _MOST_TRIALS or _tried([each], before, check):
            yield each.problem


def _tried(proposals: Sequence[_Proposal], before: _Round, check: Check) -> Collection[Edit]:
    """The edits that do harm if all of them are made."""
    apart = _apart(proposals)
    if len(apart) < len(proposals):
        return [each.edit for each in proposals]
    return _harmful(apart, before, _made(apart, before, check)) if apart else ()


def _made(proposals: Sequence[_Proposal], before: _Round, check: Check) -> _Round:
    """The source with the edits made, checked again."""
    after = before.source.with_text(applied(before.source.text, [each.edit for each in proposals]))
    return _Round(after, check(after), before.fixes + len(proposals))


def _proposals(problems: Iterable[Problem]) -> list[_Proposal]:
    return [_Proposal(fix.edit, problem, fix.is_safe) for problem in problems if (fix := problem.fix) is not None]


def _next(before: _Round, check: Check, proposals: Iterable[_Proposal]) -> _Round | None:
    """One step: all edits that do not overlap, without those that do harm; None if there are none."""
    proposals = _apart(proposals)
    for _ in range(_ATTEMPTS):
        if not proposals:
            return None
        after = _made(proposals, before, check)
        harmful = frozenset(_harmful(proposals, before, after))
        if not harmful:
            return after
        proposals = [each for each in proposals if each.edit not in harmful]
    return None


def _apart(proposals: Iterable[_Proposal]) -> list[_Proposal]:
    """The proposals in order; of two that overlap, the first."""
    kept: list[_Proposal] = []
    for each in sorted(proposals, key=lambda each: each.edit):
        if not kept or each.edit.start >= kept[-1].edit.end:
            kept.append(each)
    return kept


def _harmful(proposals: Sequence[_Proposal], before: _Round, after: _Round) -> Collection[Edit]:
    """The edits that do not cure what they should, or bring something new about."""
    edits = [each.edit for each in proposals]
    shifts = list(accumulate((len(edit.text) - (edit.end - edit.start) for edit in edits), initial=0))
    moved = [_Moved(*each, after.source) for each in zip(proposals, shifts, strict=False)]
    twice = _keys_written_twice(after.problems)
    hopeless = _CodesByStart(after.source, [problem for problem in after.errors if problem.fix is None])
    harmful = [
        each.edit
        for each in moved
        if not _cures(each, before, after)
        or (each.line, each.edit.text) in twice
        or (each.proposal.is_safe and _spoils(each, after, hopeless))
    ]
    if harmful:
        return harmful
    behind = 0 if before.broken is None else bisect_right(edits, before.broken, key=lambda edit: edit.start)
    if after.broken is None or (before.broken is not None and after.broken > before.broken + shifts[behind]):
        return _with_errors_elsewhere(moved, before, after)  # the file can be read as far as before
    line = after.source.position(after.broken).line
    return [each.edit for each in moved if each.line == line] or edits


def _cures(each: _Moved, before: _Round, after: _Round) -> bool:
    """Whether there is less wrong where an edit is, and nothing new.

    A warning that an edit brings about, such as that a check repeats another, says more than the error did.
    """
    code = each.proposal.problem.code
    was = before.codes.within(*each.first, of_errors_and=code)
    return after.codes.within(*each.then, of_errors_and=code) < was


def _with_errors_elsewhere(moved: Sequence[_Moved], before: _Round, after: _Round) -> Collection[Edit]:
    """The edits on whose lines new errors are; where they are on others, half of the edits, to be tried apart.

    On other lines, what could not be read before may have errors of its own.
    """
    new = Counter(after.error_codes.codes)
    new.subtract(before.error_codes.codes)
    for each in moved:
        new.update(before.error_codes.within(*each.first))
        new.subtract(after.error_codes.within(*each.then))
    codes = {code for code, count in new.items() if count > 0}
    if not codes:
        return ()
    lines = {problem.start.line for problem in after.errors if problem.code in codes}
    harmful = [each.edit for each in moved if each.line in lines]
    if harmful or before.broken is not None or any(each.proposal.reveals for each in moved):
        return harmful
    return [each.edit for each in moved[len(moved) // 2 :]]


def _spoils(each: _Moved, after: _Round, hopeless: _CodesByStart) -> bool:
    """Whether a safe edit leaves an error in its item, or one without a fix on its line.

    There a comma or a bracket may have taken the text apart that was meant.
    """
    start, length = each.then
    line = max(after.source.text.rfind(end, 0, start) for end in "\r\n") + 1
    text = after.source.text[line : _end(_LINE_END, after.source.text, start + length)]
    if hopeless.within(line, len(text)):
        return True
    text = _HOLDS_NO_ITEMS.sub(lambda found: "x" * len(found[0]), text)
    begins = [text.rfind(sign, 0, start - line) + 1 for sign in "[{,"]
    is_in_brackets = any(begins[:2]) and not text.lstrip(" ").startswith("- ")
    begin, end = (max(begins), _end(_ITEM_END, text, start + length - line)) if is_in_brackets else (0, len(text))
    return bool(after.error_codes.within(line + begin, end - begin))


def _end(sign: re.Pattern[str], text: str, at: int) -> int:
    """Where a sign is next, or the text ends."""
    found = sign.search(text, at)
    return len(text) if found is None else found.start()


@final
class _Moved:
    """A proposal, and where it is in the text that has all of them.

    Attributes:
        first: the stretch of the text before, as a place and a length.
        then: the stretch of the text after.
        line: the line on which it then begins.
    """

    def __init__(self, proposal: _Proposal, shift: int, after: Source) -> None:
        start, end, text = self.edit = proposal.edit
        since = min(proposal.problem.span.start, start)
        self.proposal = proposal
        self.first = (since, max(end, proposal.problem.span.start + 1) - since)  # it may be where the edit ends
        self.then = (since + shift, start - since + len(text))
        self.line = after.position(start + shift).line


@final
class _CodesByStart:
    """The codes of a source's problems, to be asked for by where the problems start."""

    def __init__(self, source: Source, problems: Sequence[Problem]) -> None:
        here = sorted(
            (problem.span.start, problem.code, problem.severity)
            for problem in problems
            if problem.source.name == source.name
        )
        self._starts = [start for start, _, _ in here]
        self._severities = [severity for _, _, severity in here]
        self.codes = [code for _, code, _ in here]

    def within(self, start: int, length: int, *, of_errors_and: str = "") -> Counter[str]:
        """The codes that start in a stretch, or on the quote before it: those of errors, and one of warnings."""
        first = bisect_left(self._starts, start - 1)
        stretch = slice(first, bisect_left(self._starts, start + length))
        codes = zip(self.codes[stretch], self._severities[stretch], strict=True)
        return Counter(code for code, severity in codes if code == of_errors_and or _is_error(code, severity))


def _keys_written_twice(problems: Iterable[Problem]) -> set[tuple[int, str]]:
    """The lines of the keys that are repeated in a mapping, each with its key."""
    return {
        (line, problem.finding.fields["key"])
        for problem in problems
        if problem.code == "EV111"
        for line in (problem.start.line, problem.finding.fields["first_line"])
    }
