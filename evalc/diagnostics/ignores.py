"""From `# evalc: ignore[EV501]` comments and problems to the problems that are left, and to comments that do nothing.

At the end of a line such a comment silences the warnings that start on this line; on a line of its own, those of the
next line that is no comment; as `ignore-file` above the first key, those of the file. Errors are never silenced.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from evalc.diagnostics.catalogue.ignores import ErrorNotIgnored, LateIgnoreFile, UnreadableIgnore, UnusedIgnore
from evalc.diagnostics.problem import Diagnostics, Finding, Problem
from evalc.source import Source, Span

Texts = Callable[[Source], Iterable[Span]]
"""Finds the stretches of a YAML source that are texts, in which a `#` begins no comment."""

_MARK: Final = "evalc: ignore"
_COMMENT: Final = re.compile(
    rf"(?:(?<=[ \t\r\n])|(?<![\s\S]))#[ \t]*{_MARK}(?P<file>-file)?(?![\w-])"
    r"(?P<listed>[ \t]*\[(?P<names>[^\]\r\n]*)(?P<closed>\])?)?"
)
_NAME: Final = re.compile(r"[^\s,]+")
_PREAMBLE: Final = re.compile(r"(?:(?:---|%[^\r\n#]*)?[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z))*")


def silenced(problems: Sequence[Problem], complete: Iterable[Source], texts: Texts) -> Sequence[Problem]:
    """The problems without the warnings that comments ask to ignore, and with those about the comments themselves.

    Args:
        problems: what was found.
        complete: the sources in which everything was found that there is to find: no error stood in the way.
        texts: where the texts of a source stand; asked only about sources that mention ignore comments.
    """
    sources = {problem.source: False for problem in problems} | dict.fromkeys(complete, True)
    mentioning = [source for source in sources if not source.name.endswith(".json") and _MARK in source.text]
    if not mentioning:
        return problems
    kept = Diagnostics()
    comments = {source: _Comments.of(source, texts(source), kept) for source in mentioning}
    for problem in problems:
        silencing = comments.get(problem.source)
        if silencing is None or problem.severity == "error" or not silencing.take(problem):
            kept.add(problem.source, problem.span, problem.finding)
    for source in mentioning:
        if sources[source]:
            comments[source].report_unused(kept)
    return tuple(kept)


@final
@dataclass(slots=True, kw_only=True)
class _Ignored:
    """One name of a comment, or all of a comment without names: what it ignores, and whether there was any."""

    name: str
    span: Span
    of_file: bool
    used: bool = False

    def covers(self, code: str) -> bool:
        return code.startswith(self.name)


@final
@dataclass(slots=True, kw_only=True)
class _Comments:
    """The ignore comments of one source: those of the file, and those of each line."""

    source: Source
    of_file: list[_Ignored] = field(default_factory=list)
    of_line: dict[int, list[_Ignored]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, texts: Iterable[Span], problems: Diagnostics) -> _Comments:
        """The comments of the source; what cannot be meant is reported."""
        comments = cls(source=source)
        inside = sorted(texts)
        preamble = _PREAMBLE.match(source.text)
        lines = _LinesMeant(source)
        for match in _COMMENT.finditer(source.text):
            at = match.start()
            text = bisect_right(inside, (at, len(source.text))) - 1
            if text >= 0 and at < inside[text].end:
                continue
            ignored = list(_read(source, match, problems))
            if not match["file"]:
                comments.of_line.setdefault(lines.meant(at), []).extend(ignored)
            elif preamble is not None and at < preamble.end():
                comments.of_file += ignored
            else:
                problems.add(source, Span(*match.span()), LateIgnoreFile())
        return comments

    def take(self, problem: Problem) -> bool:
        """Whether some comment ignores the problem; every one that does has been of use."""
        covering = [
            ignored
            for ignored in (*self.of_line.get(problem.start.line, ()), *self.of_file)
            if ignored.covers(problem.code)
        ]
        for ignored in covering:
            ignored.used = True
        return bool(covering)

    def report_unused(self, problems: Diagnostics) -> None:
        """Report every name that ignored nothing."""
        for ignored in (*self.of_file, *(each for line in self.of_line.values() for each in line)):
            if not ignored.used:
                problems.add(self.source, ignored.span, UnusedIgnore(name=ignored.name, of_file=ignored.of_file))


def _read(source: Source, match: re.Match[str], problems: Diagnostics) -> Iterator[_Ignored]:
    """What one comment ignores."""
    whole = Span(*match.span())
    of_file = match["file"] is not None
    if not match["listed"]:
        yield _Ignored(name="", span=whole, of_file=of_file)
        return
    names = list(_NAME.finditer(match["names"]))
    if not names or not match["closed"]:
        problems.add(source, whole, UnreadableIgnore(name="", known=()))
        return
    for name in names:
        code = name[0].upper()
        start = match.start("names") + name.start()
        span = Span(start, start + len(code))
        fault = _fault(code, name[0])
        if fault is not None:
            problems.add(source, span, fault)
        else:
            yield _Ignored(name=code, span=span, of_file=of_file)


def _fault(code: str, written: str) -> Finding | None:
    """Why a name in a comment can ignore nothing."""
    # Deferred, because the catalogue is wanted only where there are ignore comments.
    from evalc.diagnostics.catalogue.index import findings  # noqa: PLC0415

    known = findings()
    severities = {entry.severity for name, entry in known.items() if name.startswith(code)}
    if not severities or not code.startswith("EV"):
        return UnreadableIgnore(name=written, known=tuple(known))
    return None if "warning" in severities else ErrorNotIgnored(name=code)


@final
class _LinesMeant:
    """The line that each comment of a source is about; asked from the top of the source to its end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._below_comments = 0

    def meant(self, at: int) -> int:
        """The comment's own line, or the next one that is no comment where it stands alone."""
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
