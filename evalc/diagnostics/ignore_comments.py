"""Reads the ignore comments of a source, and reports those that cannot be read or ignore nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, final

import msgspec

from evalc.base.source import Source, Span
from evalc.diagnostics.catalogue import Entry, entries
from evalc.diagnostics.near import as_code, nearest
from evalc.diagnostics.policy import codes
from evalc.diagnostics.problem import Diagnostics, Finding, Problem

_COMMENT: Final = re.compile(
    r"(?:(?<=[ \t\r\n])|(?<![\s\S]))#[ \t]*evalc: ignore(?P<file>-file)?(?![\w-])"
    r"(?P<listed>[ \t]*\[(?P<names>[^\]\r\n]*)(?P<closed>\])?)?"
)
_CODE: Final = re.compile(r"EV[0-9]{0,3}")
_NAME: Final = re.compile(r"[^\s,]+")
_PREAMBLE: Final = re.compile(r"(?:(?:---|%[^\r\n#]*)?[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z))*")


@final
class _Ignored(msgspec.Struct, kw_only=True):
    """One name of a comment, or all of a comment without names: what it ignores, and whether there was any."""

    name: str
    span: Span
    of_file: bool
    used: bool = False

    def covers(self, code: str) -> bool:
        return code.startswith(self.name)


@final
class IgnoreComments(msgspec.Struct, kw_only=True):
    """The ignore comments of one source: those of the file, and those of each line."""

    source: Source
    of_file: dict[str, _Ignored] = msgspec.field(default_factory=dict)
    of_line: dict[int, dict[str, _Ignored]] = msgspec.field(default_factory=dict)
    repeated: list[_Ignored] = msgspec.field(default_factory=list)

    @classmethod
    def of(cls, source: Source, texts: Iterable[Span], problems: Diagnostics) -> IgnoreComments:
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
            ignored = _read(source, match, problems)
            if not match["file"]:
                comments._take_in(ignored, comments.of_line.setdefault(lines.meant(at), {}))
            elif preamble is not None and at < preamble.end():
                comments._take_in(ignored, comments.of_file)
            else:
                problems.add(source, Span(*match.span()), Finding("EV683"))
        return comments

    def _take_in(self, ignored: Iterable[_Ignored], known: dict[str, _Ignored]) -> None:
        """Add to those that are known by name; a second one of a name has nothing left to ignore."""
        for each in ignored:
            if known.setdefault(each.name, each) is not each:
                self.repeated.append(each)

    def take(self, problem: Problem) -> bool:
        """Whether some comment ignores the problem; every comment that does counts as used."""
        covering = [
            ignored
            for known in (self.of_line.get(problem.start.line, {}), self.of_file)
            for ignored in known.values()
            if ignored.covers(problem.code)
        ]
        for ignored in covering:
            ignored.used = True
        return bool(covering)

    def report_unused(self, problems: Diagnostics) -> None:
        """Report every name that ignored nothing."""
        of_lines = (ignored for line in self.of_line.values() for ignored in line.values())
        for ignored in (*self.of_file.values(), *of_lines, *self.repeated):
            if not ignored.used:
                problems.add(self.source, ignored.span, Finding("EV680", name=ignored.name, of_file=ignored.of_file))


def _read(source: Source, match: re.Match[str], problems: Diagnostics) -> Iterator[_Ignored]:
    """What one comment ignores."""
    whole = Span(*match.span())
    of_file = match["file"] is not None
    if not match["listed"]:
        yield _Ignored(name="", span=whole, of_file=of_file)
        return
    names = list(_NAME.finditer(match["names"]))
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
            yield _Ignored(name=code, span=span, of_file=of_file)


def _fault(code: str, written: str) -> Finding | None:
    """Why a name in a comment can ignore nothing."""
    named = _named(code) if _CODE.fullmatch(code) else ()
    if not named:
        return Finding("EV682", name=written, meant=nearest(as_code(written), codes()))
    may_be_ignored = any(entry.severity == "warning" or not entry.blocks for entry in named)
    return None if may_be_ignored else Finding("EV681", name=code)


@cache
def _named(beginning: str) -> tuple[Entry, ...]:
    """The entries whose codes begin so."""
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
