"""Renders problems: for people with the line, the caret under it and what to do, or as a unified diff of the fixes.

For programs: as a JSON array, as annotations of GitHub Actions, and as SARIF 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from evalc import __version__
from evalc.base.source import Source
from evalc.base.terminal import (
    SCHEMA,
    Color,
    annotation,
    artifact_location,
    cells,
    counted,
    fitted,
    message_text,
    painted,
    sound,
    visible,
)
from evalc.diagnostics import Problem

if TYPE_CHECKING:
    from evalc.diagnostics.catalogue import Entry

_CONTEXT: Final = 3
_DIFF_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CUT: Final = "..."
_TAB: Final = "    "


def render_text(problems: Iterable[Problem], *, color: bool = False, width: int = 120, breaks: bool = False) -> str:
    """Every problem with its source line, an empty line between two, a line end at the end.

    Args:
        problems: what was found, in the order in which to show it.
        color: whether to use ANSI colours.
        width: columns to show of a long source line; the rest of it is cut away around the place.
        breaks: whether longer sentences are broken between words.
    """
    room = width if breaks else sys.maxsize
    return "\n".join("".join(f"{line}\n" for line in _lines(problem, color, width, room)) for problem in problems)


Tried = Literal["nothing", "sure fixes", "all fixes"]
"""The fixes that have been tried."""


def summary_line(problems: Sequence[Problem], *, tried: Tried = "nothing") -> str:
    """How much was found: `3 errors, 1 warning in 2 files`, and how much of it fixes would cure that were not tried."""
    offered = [problem.fix for problem in problems] if tried != "all fixes" else []
    sure = sum(fix is not None and fix.is_safe for fix in offered) if tried == "nothing" else 0
    more = sum(fix is not None and not fix.is_safe for fix in offered)
    errors = sum(problem.severity == "error" for problem in problems)
    counts = [_counted(errors, "error"), _counted(len(problems) - errors, "warning")]
    files = _counted(len({problem.source.name for problem in problems}), "file")
    fixes = [
        f"{sure} fixable with `evalc check --fix`" if sure else "",
        f"{more}{' more' if sure else ' fixable'} with `--fix --unsafe-fixes`" if more else "",
    ]
    fix = f" ({', '.join(filter(None, fixes))})" if any(fixes) else ""
    return f"{', '.join(filter(None, counts))} in {files}{fix}"


def _counted(count: int, noun: str) -> str:
    return counted(count, noun) if count else ""


def _lines(problem: Problem, color: bool, width: int, room: int) -> Iterator[str]:
    severity_color: Color = "red" if problem.severity == "error" else "yellow"
    line, column = problem.start
    number = str(line)
    margin = " " * len(number)
    bar = painted("|", "blue", on=color)
    finding = problem.finding

    head = painted(f"{problem.severity}[{problem.code}]", severity_color, on=color)
    yield from fitted(f"{head}: {painted(visible(finding.message()), 'bold', on=color)}", room)
    yield f"{margin}{painted('-->', 'blue', on=color)} {visible(problem.source.name)}:{line}:{column}"
    if problem.source.text:
        excerpt = _excerpt(problem, column, max(width - len(number) - 3, 20))
        carets = painted(f"{'^' * excerpt.caret_cells} {visible(finding.label())}".rstrip(), severity_color, on=color)
        yield f"{margin} {bar}"
        yield f"{painted(number, 'blue', on=color)} {bar} {excerpt.text}".rstrip()
        yield f"{margin} {bar} {' ' * excerpt.caret_at}{carets}"
    lead = f"{margin} {painted('=', 'blue', on=color)} "
    if problem.note:
        yield from fitted(f"{lead}{painted('note', 'cyan', on=color)}: {visible(problem.note)}", room)
    text = finding.help()
    if text:
        first, *rest = f"{text} (evalc explain {problem.code})".split("\n")
        yield from fitted(f"{lead}{painted('help', 'cyan', on=color)}: {visible(first)}", room)
        # Lines of YAML to write instead are not broken.
        yield from (f"{margin}         {visible(line)}".rstrip() for line in rest)


class _Excerpt(NamedTuple):
    """An excerpt of a source line, and the columns of the carets under it."""

    text: str
    caret_at: int
    caret_cells: int


def _excerpt(problem: Problem, column: int, width: int) -> _Excerpt:
    """The part of the line around the problem that fits into `width` columns.

    Only the neighbourhood of the span is ever looked at, because a line may be as long as a file.
    """
    text, at = problem.source.shown_at(problem.span.start)
    line_start = at - (column - 1)
    start = max(line_start, at - width)
    before = _shown(text[start:at])
    after = _shown(re.split(r"[\r\n]", text[at : at + width + 1], maxsplit=1)[0])
    span_length = min(problem.span.end - problem.span.start, len(after))

    cut_left = start > line_start
    cut_right = len(after) > width
    room = width - cells("".join(before)) - cells("".join(after))
    if cut_left or cut_right or room < 0:
        before, cut_left = _fitted_before(before, after, width, cut_left)
        after, cut_right = _fitted_after(after, width - cells("".join(before)) - len(_CUT) * cut_left, cut_right)
    left = _CUT * cut_left + "".join(before)
    marked = "".join(after[: max(span_length, 0)])
    return _Excerpt(
        text=left + "".join(after) + _CUT * cut_right,
        caret_at=cells(left),
        caret_cells=max(cells(marked.rstrip()), 1),
    )


def _shown(text: str) -> list[str]:
    """The visible form of each character of the text."""
    return [_TAB if character == "\t" else visible(character) for character in text]


def _fitted_before(before: list[str], after: list[str], width: int, cut: bool) -> tuple[list[str], bool]:
    """The end of the text before the place: half of the width, more if less than that follows."""
    allowed = width - len(_CUT) - min(cells("".join(after)), width // 2)
    taken = 0
    for count, shown in enumerate(reversed(before)):
        taken += cells(shown)
        if taken > allowed:
            return before[len(before) - count :], True
    return before, cut


def _fitted_after(after: list[str], width: int, cut: bool) -> tuple[list[str], bool]:
    """The beginning of the text from the place on."""
    if not cut and cells("".join(after)) <= width:
        return after, False
    taken = len(_CUT)
    for count, shown in enumerate(after):
        taken += cells(shown)
        if taken > width:
            return after[:count], True
    return after, cut


# --- fixes as a diff -------------------------------------------------------------------------------------------------


def render_diff(name: str, before: str, after: str) -> str:
    """The unified diff of two texts of as many lines; empty if they are equal."""
    old, new = _DIFF_LINE.findall(before), _DIFF_LINE.findall(after)
    changed = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    if not changed:
        return ""
    hunks = (line for first, last in _hunks(changed, len(old)) for line in _hunk(old, new, first, last))
    return "".join([f"--- {name}\n", f"+++ {name}\n", *hunks])


def _hunks(changed: list[int], lines: int) -> Iterator[tuple[int, int]]:
    """The stretches of lines that are shown: each change with its neighbours, together where they meet."""
    first = last = -1
    for number in changed:
        if last >= 0 and number - _CONTEXT > last:
            yield first, last
            last = -1
        if last < 0:
            first = max(number - _CONTEXT, 0)
        last = min(number + _CONTEXT + 1, lines)
    yield first, last


def _hunk(old: list[str], new: list[str], first: int, last: int) -> Iterator[str]:
    yield f"@@ -{first + 1},{last - first} +{first + 1},{last - first} @@\n"
    for is_same, numbers in groupby(range(first, last), lambda at: old[at] == new[at]):
        stretch = [*numbers]
        yield from (_diff_line(" " if is_same else "-", old[at]) for at in stretch)
        yield from (_diff_line("+", new[at]) for at in stretch if not is_same)


def _diff_line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line[-1] in "\r\n" else f"{sign}{line}\n\\ No newline at end of file\n"


def render_json(problems: Iterable[Problem]) -> str:
    """The problems as a JSON array with a line end. Lines and columns count from 1, columns in code points.

    Only ASCII is written: names and texts of files may hold lone surrogates, which UTF-8 cannot.
    """
    objects = ",\n  ".join(json.dumps(_as_object(problem)) for problem in problems)
    return f"[\n  {objects}\n]\n" if objects else "[]\n"


def _as_object(problem: Problem) -> dict[str, Any]:
    start, end = problem.start, problem.end
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.finding.message(),
        "file": problem.source.name,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "help": _joined(_joined(problem.finding.label(), problem.note), problem.finding.help()),
        "fixable": (fix := problem.fix) is not None and fix.is_safe,
    }


def _joined(label: str, text: str) -> str:
    """Both as sentences in a row; a question keeps its mark."""
    if not (label and text):
        return label or text
    return f"{label} {text}" if label[-1] in ".?!:" else f"{label}. {text}"


# --- GitHub Actions --------------------------------------------------------------------------------------------------


def render_github(problems: Iterable[Problem]) -> str:
    """One workflow command a problem, a line each."""
    return "".join(f"{_as_command(problem)}\n" for problem in problems)


def _as_command(problem: Problem) -> str:
    start, end = problem.start, problem.end
    properties = {
        "file": Path(problem.source.name).as_posix(),
        "line": str(start.line),
        "endLine": str(end.line),
        "col": str(start.column),
        "endColumn": str(end.column),
        "title": problem.code,
    }
    *said, advice = _said(problem)
    return annotation(problem.severity, properties, filter(None, (*said, *advice.split("\n"))))


def _said(problem: Problem) -> tuple[str, str, str, str]:
    """The message, and advice."""
    finding = problem.finding
    return finding.message(), finding.label(), problem.note, finding.help()


# --- SARIF -----------------------------------------------------------------------------------------------------------


def render_sarif(problems: Sequence[Problem]) -> str:
    """One run with all problems, and a rule for each of their codes; a JSON document with a line end, in ASCII."""
    rules = sorted({problem.code: problem.finding.entry for problem in problems}.items())
    index = {code: at for at, (code, _) in enumerate(rules)}
    times: Counter[str] = Counter()
    run = {
        "tool": {"driver": {"name": "evalc", "version": __version__, "rules": [_rule(entry) for _, entry in rules]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, index[problem.code], times) for problem in problems],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": entry.summary},
        "fullDescription": {"text": " ".join(entry.why.split()) or entry.summary},
        "help": {"text": entry.explanation(), "markdown": _markdown(entry)},
        "defaultConfiguration": {"level": entry.severity},
    }


def _markdown(entry: Entry) -> str:
    blocks = [f"**{entry.summary}**", entry.why]
    for title, text in (("Example", entry.example), ("Cure", entry.cure)):
        if text:
            blocks.append(f"{title}:\n\n````\n{text}````")
    return "\n\n".join(filter(None, blocks))


def _result(problem: Problem, rule_index: int, times: Counter[str]) -> dict[str, Any]:
    location = artifact_location(problem.source.name)
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule_index,
        "level": problem.severity,
        "message": {"text": message_text("\n".join(filter(None, _said(problem))))},
        "locations": [
            {"physicalLocation": {"artifactLocation": location, "region": _region(problem.source, *problem.span)}}
        ],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(problem, location["uri"], times)},
    }
    fix = problem.fix
    if fix is not None and fix.is_safe:
        replacement = {
            "deletedRegion": _region(problem.source, fix.edit.start, fix.edit.end),
            "insertedContent": {"text": sound(fix.edit.text)},
        }
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": location, "replacements": [replacement]}]}]
    return result


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    first, last = source.position(start), source.position(end)
    return {
        "startLine": first.line,
        "startColumn": first.column,
        "endLine": last.line,
        "endColumn": last.column,
    }


def _fingerprint(problem: Problem, uri: str, times: Counter[str]) -> str:
    """The same for the same problem after lines above it have come or gone: its line's text, not its number."""
    line = problem.source.line(problem.start.line).strip()
    content = f"{problem.code}\n{uri}\n{line}"
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    times[digest] += 1
    return f"{digest}:{times[digest]}"
