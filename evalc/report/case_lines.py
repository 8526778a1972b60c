"""The lines of a case in the console summary: how it ended, and why, beside its source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET

from evalc.base.terminal import Color, cells, padded, shortened, visible
from evalc.model.json import values_at
from evalc.model.result import PASSING, CaseResult, Outcome, Status, TextFinding
from evalc.model.suite import Place
from evalc.report.reported import SourceLines, response_of, transcript
from evalc.report.words import Reason, Writer, milliseconds, reasons

_LONGEST_SEARCHED: Final = 20_000
_LONGEST_ALIGNED: Final = 5_000
_LEAST_ALIKE: Final = 60.0

Kind = Literal["found", "nearest", "differs"]


class Highlight(NamedTuple):
    """A stretch of a text of one line: the response, with nothing in it that a terminal would obey.

    `kind` is what it is: forbidden and `found`, `nearest` to what was not found, or from where it `differs`.
    """

    text: str
    start: int
    end: int
    kind: Kind


def highlight(finding: TextFinding | None, response: str | None) -> Highlight | None:
    """The part of the response that a finding is about; None if there is none to show."""
    if finding is None or not response:
        return None
    text = visible(response[:_LONGEST_SEARCHED])
    begin, end = 0, len(text)
    if finding.path is not None:
        value = _value_at(response, finding.path)
        if value is None or text.count(value) != 1:
            return None
        begin = text.index(value)
        end = begin + len(value)
    part = _part(finding, text[begin:end])
    return None if part is None else Highlight(text, begin + part.start, begin + part.end, part.kind)


def _value_at(response: str, path: str) -> str | None:
    """The text of a place in a JSON response as the response writes it; None if it is not a text or not found."""
    try:
        value = next(values_at(json.loads(response), path), None)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, str) or not value:
        return None
    spellings = (json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1])
    return next((visible(written) for written in spellings if written in response), None)


def _part(finding: TextFinding, text: str) -> Highlight | None:
    sought = visible(finding.text)
    match finding.kind:
        case "forbidden":
            start = text.find(sought) if sought else -1
            return Highlight(text, start, start + len(sought), "found") if start >= 0 else None
        case "missing":
            return _nearest(sought, text)
        case "differs":
            pairs = enumerate(zip(sought, text, strict=False))
            common = next((at for at, (one, other) in pairs if one != other), min(len(sought), len(text)))
            return Highlight(text, common, common + 1, "differs")


def _nearest(sought: str, text: str) -> Highlight | None:
    from rapidfuzz.fuzz import partial_ratio_alignment  # noqa: PLC0415 - for start-up: only if a text is missing

    near = partial_ratio_alignment(sought, text[:_LONGEST_ALIGNED], score_cutoff=_LEAST_ALIKE)
    if near is None or near.dest_start == near.dest_end:
        return None
    return Highlight(text, near.dest_start, near.dest_end, "nearest")


_MOST_REASONS: Final = 5
_WIDEST_PART: Final = 76
_MOST_RESPONSE_LINES: Final = 3
_LONGEST_QUOTED: Final = 200
"""The characters of a response that a message may quote whole."""
_RESPONSE_MARGIN: Final = "      response: "
_MARKED: Final[dict[Kind, tuple[str, Color]]] = {
    "found": ("found here", "red"),
    "nearest": ("nearest", "yellow"),
    "differs": ("differs from here", "red"),
}
_STATUS_OF_OUTCOME: Final[dict[Outcome, Status]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "skipped": "unverified",
}


_SYNTAX: Final = re.compile(r"""[\[\]{},]|"(?:[^"\\]|\\.)*"|(?<![\w])'(?:[^']|'')*'""")
"""Matches brackets and commas of flow collections, and texts in quotes, where they are not."""
_TYPE_OR_RULE: Final = re.compile(r"[ \t-]*(?P<key>type|rule):[ \t]*")


class Columns(NamedTuple):
    """The widths of a suite's columns, and the room that ids and descriptions have together."""

    id: int
    description: int
    duration: int
    room: int

    @classmethod
    def of(cls, cases: Sequence[CaseResult], width: int) -> Columns:
        """As wide as the contents; where they are too wide together, the longer texts give way."""
        widest_id = max((cells(visible(case.id)) for case in cases), default=0)
        widest_description = max((cells(visible(case.description)) for case in cases), default=0)
        duration = max((len(milliseconds(case.duration_ms)) for case in cases), default=0)
        attempts = max((len(_attempts(case)) for case in cases), default=0)
        room = width - len("  ✓ ") - len("  ") * 2 - duration - attempts
        identity = min(widest_id, max(room // 2, room - widest_description))
        return cls(identity, min(widest_description, room - identity), duration, room)


def case_line(case: CaseResult, columns: Columns, writer: Writer) -> str:
    """How the case ended, its id and description, the time that it took."""
    mark = writer.by_status(writer.mark(case.status), case.status)
    identity = padded(writer.shortened(case.id, max(columns.id, columns.room // 2)), columns.id)
    description = writer.shortened(case.description, max(columns.room - cells(identity), 0))
    duration = milliseconds(case.duration_ms).rjust(columns.duration)
    return f"  {mark} {identity}  {padded(description, columns.description)}  {duration}{_attempts(case)}"


def _attempts(case: CaseResult) -> str:
    """How many attempts passed, where the case was repeated."""
    if case.attempts is UNSET:
        return ""
    passed = sum(attempt.status in PASSING for attempt in case.attempts)
    left_out = f", {case.not_attempted} not made" if case.not_attempted else ""
    return f"  ({passed}/{len(case.attempts)}{', flaky' if case.flaky is True else ''}{left_out})"


class SourceContext(NamedTuple):
    """Context of reasons: the lines of eval files, which must be older than the beginning of the run."""

    sources: SourceLines
    began: str


def reason_lines(
    case: CaseResult, writer: Writer, context: SourceContext | None = None, *, answers: bool = False
) -> Iterator[str]:
    """Why a case did not simply pass: its error, whatever else failed in it, and where that was authored.

    With `context`, the authored line is below its place, and below it the part of the response that is meant; with
    `answers`, the beginning of the response follows where no line shows a part of it, or all.
    """
    every = list(reasons(case))
    is_shown = False
    for reason in every[:_MOST_REASONS]:
        words = reason.in_short(writer.symbols.ellipsis)
        yield writer.by_status(f"    {writer.symbols.arrow} {words}", case.status)
        if reason.place is not None:
            yield writer.painted(f"      at {visible(str(reason.place))}", "dim")
            if context is not None:
                yield from _authored(reason.place, context, writer)
        if context is not None:
            response = response_of(case, reason.turn)
            part = highlight(reason.finding, response)
            is_shown |= response is None or part is not None or _quotes_whole(reason, response)
            if part is not None:
                yield from _marked(part, writer)
    if len(every) > _MOST_REASONS:
        yield f"    {writer.symbols.arrow} and {len(every) - _MOST_REASONS} more"
    if answers and context is not None and not is_shown:
        response = response_of(case, every[0].turn if every else None)
        yield from () if response is None else _beginning(response, writer)


def _authored(place: Place, context: SourceContext, writer: Writer) -> Iterator[str]:
    line = context.sources.line(place, context.began)
    if line is not None and line.strip():
        number = f"      {place.line} | "
        yield f"{number}{writer.shortened(line.strip(), writer.width - len(number))}"


def _quotes_whole(reason: Reason, response: str) -> bool:
    return len(response) <= _LONGEST_QUOTED and reason.message.endswith(f"but got '{visible(response)}'")


def _marked(part: Highlight, writer: Writer) -> Iterator[str]:
    """The part of the response that a reason is about, and a line that marks it."""
    label, color = _MARKED[part.kind]
    room = min(writer.width - len(_RESPONSE_MARGIN) - 2 * len(writer.symbols.ellipsis), _WIDEST_PART)
    before, marked, after = _within(part, room, writer.symbols.ellipsis)
    carets = "^" * max(cells(marked), 1)
    yield f"{_RESPONSE_MARGIN}{before}{writer.painted(marked, color)}{after}"
    indent = " " * (len(_RESPONSE_MARGIN) + cells(before))
    labelled = f"{carets} {label}"
    fits = len(indent) + len(labelled) <= writer.width
    yield f"{indent}{writer.painted(labelled if fits else carets, color)}"


def _within(part: Highlight, room: int, ellipsis: str) -> tuple[str, str, str]:
    """The marked stretch in as much of its text as has room, with what precedes and follows it."""
    whole, before = part.text[part.start : part.end], part.text[: part.start]
    marked = shortened(whole, room, ellipsis)
    left = room - cells(marked)
    after = part.text[part.end :] if marked == whole else ""
    behind = max(left // 2, left - cells(before[-left:] if left else ""))
    shown_after = shortened(after[: behind + 1], behind, ellipsis)
    shown_before = shortened(before[::-1], left - cells(shown_after), "")[::-1]
    return f"{ellipsis if shown_before != before else ''}{shown_before}", marked, shown_after


def _beginning(response: str, writer: Writer) -> Iterator[str]:
    room = writer.width - len(_RESPONSE_MARGIN)
    rest = visible(response[: _MOST_RESPONSE_LINES * room + 1]) or "(empty)"
    margin = _RESPONSE_MARGIN
    for _ in range(_MOST_RESPONSE_LINES - 1):
        line = shortened(rest, room, "")
        yield f"{margin}{line}"
        rest = rest[len(line) :]
        if not rest:
            return
        margin = " " * len(margin)
    yield f"{margin}{writer.shortened(rest, room)}"


def whole_response_lines(case: CaseResult) -> Iterator[str]:
    """The whole response, line by line as the agent wrote it; of a conversation each turn."""
    response = transcript(case)
    if response is None:
        return
    first, *others = response.splitlines() or ["(empty)"]
    if not others:
        yield f"{_RESPONSE_MARGIN}{visible(first)}"
        return
    yield _RESPONSE_MARGIN.rstrip()
    for line in (first, *others):
        yield f"        {visible(line)}".rstrip()


def assertion_lines(case: CaseResult, writer: Writer, context: SourceContext | None = None) -> Iterator[str]:
    """Every assertion that was reached: its place and the words there, else its field, as `responseContains/0`.

    A check is named once, however many assertions it comes to, unless they ended otherwise.
    """
    named: set[tuple[Place, Outcome]] = set()
    for assertion in case.assertions:
        status = _STATUS_OF_OUTCOME[assertion.outcome]
        mark = writer.by_status(writer.mark(status), status)
        place = assertion.place or _sought(case, assertion.at, context)
        if place is None:
            yield f"    {mark} {visible(assertion.at.removeprefix('/expect').removeprefix('/'))}"
            continue
        if (place, assertion.outcome) in named:
            continue
        named.add((place, assertion.outcome))
        shown = visible(str(place))
        words = writer.shortened(_words_at(place, context), writer.width - len("    ✓   ") - cells(shown))
        yield f"    {mark} {writer.painted(shown, 'dim')}  {words}".rstrip()


def _sought(case: CaseResult, at: str, context: SourceContext | None) -> Place | None:
    """Where a check was authored whose place the result does not hold."""
    if context is None or case.place is UNSET:
        return None
    return context.sources.place_of(case.place, case.id, at, context.began)


def _words_at(place: Place, context: SourceContext | None) -> str:
    """The check as it was authored at the place; nothing if that cannot be shown.

    Of a flow list it is the item alone, of a mapping with a `type` and a `rule` both.
    """
    line = None if context is None else context.sources.line(place, context.began)
    if context is None or line is None:
        return ""
    before = line[: place.column - 1]
    opened = _opened(before)
    if opened is not None:
        start = opened if line[opened] == "{" else len(before)
        return line[start : _item_end(line, start)].strip()
    pair = _TYPE_OR_RULE.fullmatch(before)
    if pair is None:
        return line[len(before) :].strip()
    beside = msgspec.structs.replace(place, line=place.line + (1 if pair["key"] == "type" else -1))
    other = (context.sources.line(beside, context.began) or "").strip().removeprefix("- ")
    pieces = [line.strip().removeprefix("- "), *([other] if other.startswith(("type:", "rule:")) else [])]
    return ", ".join(sorted(pieces, reverse=True))


def _opened(before: str) -> int | None:
    """The place of the innermost bracket of a flow collection that is still open at the end of a text."""
    opened: list[int] = []
    for found in _SYNTAX.finditer(before):
        if found[0] in ("[", "{"):
            opened.append(found.start())
        elif found[0] in ("]", "}") and opened:
            opened.pop()
    return opened[-1] if opened else None


def _item_end(line: str, start: int) -> int:
    """Where the item of a flow collection ends that starts there."""
    depth = 0
    for found in _SYNTAX.finditer(line, start):
        if found[0] in ("[", "{"):
            depth += 1
        elif found[0] in ("]", "}"):
            if depth <= 1:
                return found.end() if depth else found.start()
            depth -= 1
        elif found[0] == "," and not depth:
            return found.start()
    return len(line)
