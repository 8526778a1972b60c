"""Decides which problems are reported, and how severe they are: by policies, and by `# evalc: ignore[EV501]` comments.

The rule: a policy decides over every finding of a `check`, except those that kept a file from being read (EV1xx,
EV60x to EV62x, EV684): nobody knows what they hide, so they are always errors. When files are compiled or run, it
decides over warnings, and over errors of meaning that do not block: the suite can be lowered all the same.

A comment at the end of a line silences the warnings that start on that line; on a line of its own, those of the next
line that is not a comment; as `ignore-file` above the first key, those of the file. Errors that block, since the suite
cannot be lowered, are never silenced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, final

import msgspec

from evalc.base.source import Source, Span, is_within
from evalc.diagnostics import Diagnostics, Finding, Problem, Severity
from evalc.diagnostics.near import as_code, did_you_mean, nearest

if TYPE_CHECKING:
    from evalc.diagnostics.catalogue import Entry

Level = Literal["error", "warning", "off"]

_UNREAD: Final = ("EV1", "EV60", "EV61", "EV62", "EV684")
_STRICT: Final = ("EV158", "EV159", "EV5", "EV619", "EV695", "EV7")


class BadSelector(ValueError):
    """A text that selects nothing that it may select; the message says why."""


def selector(text: str) -> str:
    """A code, or the beginning of some (`EV5`, `EV`), in capitals.

    Raises:
        BadSelector: when no code begins so.
    """
    prefix = text.strip().upper()
    if not prefix.startswith("EV") or not any(code.startswith(prefix) for code in codes()):
        near = did_you_mean(as_code(prefix), codes())
        raise BadSelector(f"`{text}` is not a code{': ' + near if near else '; `evalc explain` lists them all'}")
    return prefix


def silencer(text: str) -> str:
    """A selector of findings at least one of which may be left out of a report.

    Raises:
        BadSelector: there are none.
    """
    prefix = selector(text)
    if prefix.startswith(_UNREAD):
        raise BadSelector(f"`{text}` cannot be ignored: nobody knows what an error of this kind hides")
    return prefix


def selects(selectors: Iterable[str], code: str) -> int:
    """How closely the selectors name a code: the length of the longest that it begins with, 0 for none."""
    return max((len(prefix) for prefix in selectors if code.startswith(prefix)), default=0)


@cache
def codes() -> tuple[str, ...]:
    """Every code there is."""
    from evalc.diagnostics.catalogue import entries  # noqa: PLC0415 - only where somebody names codes

    return tuple(entries())


@final
class Selection(msgspec.Struct, frozen=True):
    """Codes to report, all without any, and codes to leave out; of the two, the closer match wins."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, code: str) -> bool:
        """Whether a finding with this code is reported."""
        chosen = selects(self.select, code) if self.select else 1
        return chosen > selects(self.ignore, code)


@final
class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Decides which problems are reported, and with which severity."""

    # warnings of the families EV5xx and EV7xx (checks and gates that decide nothing) are errors, and so are EV619 and
    # what a schema says in vain (EV158, EV159, EV695)
    strict: bool = False
    selections: tuple[Selection, ...] = ()  # what is reported has to be taken by each of them
    # levels of codes; the selector that names a code closest wins, over `strict` too
    severities: tuple[tuple[str, Level], ...] = ()
    # patterns of files, as in a `.gitignore`, each with what is left out there
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    root: Path = Path()  # the folder that the patterns count from

    def reported(self, problems: Sequence[Problem], *, errors_stay: bool) -> tuple[Problem, ...]:
        """The problems that are reported, each with the severity that it has under the policy.

        Args:
            problems: what was found, each with the severity of its finding.
            errors_stay: whether errors that block stay errors, whatever the policy says.
        """
        judged = (self._judged(problem, errors_stay=errors_stay) for problem in problems)
        return tuple(problem for problem in judged if problem is not None)

    def _judged(self, problem: Problem, *, errors_stay: bool) -> Problem | None:
        code = problem.code
        if problem.severity == "error" and ((errors_stay and problem.finding.entry.blocks) or code.startswith(_UNREAD)):
            return problem
        level = self._level(code, problem.severity)
        if level == "off" or not all(selection.takes(code) for selection in self.selections):
            return None
        if self.per_file and selects(self._left_out_of(problem.source.name), code):
            return None
        return problem if level == problem.severity else msgspec.structs.replace(problem, severity=level)

    def _level(self, code: str, default: Severity) -> Level:
        named = [(len(prefix), level) for prefix, level in self.severities if code.startswith(prefix)]
        if named:
            return max(named)[1]
        return "error" if self.strict and code.startswith(_STRICT) else default

    def _left_out_of(self, name: str) -> tuple[str, ...]:
        path = os.path.relpath(os.path.abspath(name), self.root)  # noqa: PTH100 - links stay as they are written
        # What of a name is not UTF-8 no pattern can name either.
        return _left_out(self.per_file, Path(path).as_posix().encode(errors="replace").decode())


@cache
def _left_out(per_file: tuple[tuple[str, tuple[str, ...]], ...], path: str) -> tuple[str, ...]:
    """The codes ignored in the file at `path`, by all the patterns that it matches."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - only if there are such patterns

    if path.startswith("../"):
        return ()
    matching = (left_out for pattern, left_out in per_file if GitIgnoreSpec.from_lines([pattern]).match_file(path))
    return tuple(prefix for left_out in matching for prefix in left_out)


Texts = Callable[[Source], Iterable[Span]]
"""Finds the stretches of a YAML source that are texts, in which a `#` begins no comment."""


_MARK: Final = "evalc: ignore"


def mentions_ignoring(source: Source) -> bool:
    """Whether there may be such comments in a source; JSON has no comments."""
    return not source.name.lower().endswith(".json") and _MARK in source.text


def silenced(problems: Sequence[Problem], complete: Iterable[Source], texts: Texts) -> Sequence[Problem]:
    """The problems without the warnings that comments ask to ignore, and with those about the comments themselves.

    Args:
        problems: what was found.
        complete: the sources that were checked completely: no error prevented that.
        texts: the places of the texts of a source; asked only about sources that mention ignore comments.
    """
    sources = {problem.source: False for problem in problems} | dict.fromkeys(complete, True)
    mentioning = [source for source in sources if mentions_ignoring(source)]
    if not mentioning:
        return problems
    kept = Diagnostics()
    comments = {source: _IgnoreComments(source, texts(source), kept) for source in mentioning}
    for problem in problems:
        silencing = comments.get(problem.source)
        if silencing is None or _blocks(problem) or not silencing.take(problem):
            kept.extend((problem,))
    for source in mentioning:
        if sources[source]:
            comments[source].report_unused(kept)
    return tuple(kept)


def _blocks(problem: Problem) -> bool:
    return problem.severity == "error" and problem.finding.entry.blocks


# --- the comments ----------------------------------------------------------------------------------------------------

_COMMENT: Final = (
    r"(?:(?<=[ \t\r\n])|(?<![\s\S]))#[ \t]*evalc: ignore(?P<file>-file)?(?![\w-])"
    r"(?P<listed>[ \t]*\[(?P<names>[^\]\r\n]*)(?P<closed>\])?)?"
)
_CODE: Final = r"EV[0-9]{0,3}"
_NAME: Final = r"[^\s,]+"
_PREAMBLE: Final = r"(?:(?:---|%[^\r\n#]*)?[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z))*"


@final
class _Ignored(msgspec.Struct):
    """One name of a comment, or all of a comment without names: what it ignores, and whether there was any."""

    name: str
    span: Span
    line: int | None  # the line that it is about; None for all of the file
    used: bool = False


@final
class _IgnoreComments:
    """The ignore comments of one source; what cannot be meant is reported."""

    def __init__(self, source: Source, texts: Iterable[Span], problems: Diagnostics) -> None:
        self._source = source
        self._all: list[_Ignored] = []
        self._by_line: dict[int | None, dict[str, _Ignored]] = {}
        inside = sorted(texts)
        preamble = re.match(_PREAMBLE, source.text)
        lines = _LinesMeant(source)
        for match in re.finditer(_COMMENT, source.text):
            at = match.start()
            if is_within(at, inside):
                continue
            if match["file"] and (preamble is None or at >= preamble.end()):
                problems.add(source, Span(*match.span()), Finding("EV683"))
                continue
            line = None if match["file"] else lines.meant(at)
            for name, span in _read(source, match, problems):
                ignored = _Ignored(name, span, line)
                self._all.append(ignored)
                # A second one of a name has nothing left to ignore.
                self._by_line.setdefault(line, {}).setdefault(name, ignored)

    def take(self, problem: Problem) -> bool:
        """Whether some comment ignores the problem; every comment that does counts as used."""
        known = (*self._by_line.get(problem.start.line, {}).values(), *self._by_line.get(None, {}).values())
        covering = [ignored for ignored in known if problem.code.startswith(ignored.name)]
        for ignored in covering:
            ignored.used = True
        return bool(covering)

    def report_unused(self, problems: Diagnostics) -> None:
        """Report every name that ignored nothing."""
        for ignored in self._all:
            if not ignored.used:
                where = "in this file" if ignored.line is None else "on this line"
                problems.add(self._source, ignored.span, Finding("EV680", name=ignored.name, where=where))


def _read(source: Source, match: re.Match[str], problems: Diagnostics) -> Iterator[tuple[str, Span]]:
    """Read one comment: its names with their places."""
    whole = Span(*match.span())
    if not match["listed"]:
        yield "", whole
        return
    names = list(re.finditer(_NAME, match["names"]))
    if not names or not match["closed"]:
        problems.add(source, whole, Finding("EV682", name=""))
        return
    for name in names:
        code = name[0].upper()
        start = match.start("names") + name.start()
        span = Span(start, start + len(code))
        fault = _fault(code, name[0])
        if fault is not None:
            problems.add(source, span, fault)
        else:
            yield code, span


def _fault(code: str, written: str) -> Finding | None:
    """Why a name in a comment can ignore nothing."""
    named = _named(code) if re.fullmatch(_CODE, code) else ()
    if not named:
        return Finding("EV682", name=written, meant=nearest(as_code(written), codes()))
    may_be_ignored = any(entry.severity == "warning" or not entry.blocks for entry in named)
    return None if may_be_ignored else Finding("EV681", name=code)


@cache
def _named(beginning: str) -> tuple[Entry, ...]:
    """The entries whose codes begin so."""
    from evalc.diagnostics.catalogue import entries  # noqa: PLC0415 - as above

    return tuple(entry for code, entry in entries().items() if code.startswith(beginning))


@final
class _LinesMeant:
    """The line that each comment of a source is about; asked from the top of the source to its end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._below_comments = 0

    def meant(self, at: int) -> int:
        """The comment's own line, or, if it is alone on its line, the next line that is not a comment."""
        line = self._source.position(at).line
        if not self._is_comment(line):
            return line
        if line >= self._below_comments:  # else the comment is one of a block whose end is known
            following = line + 1
            while self._is_comment(following):
                following += 1
            self._below_comments = following
        return self._below_comments

    def _is_comment(self, line: int) -> bool:
        return self._source.line(line).lstrip().startswith("#")
