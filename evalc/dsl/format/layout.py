"""Puts every line at its canonical column, with canonical quotes, spaces and blank lines.

YAML's block structure is known from the columns at which lines begin, once it is known which lines only continue
a text or a flow collection. So this goes through the lines once, with a stack of the levels that are open.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.source import Span
from evalc.dsl.nodes import Mapping, Node, Scalar, children_of, fields_of, nodes_of, stretch
from evalc.dsl.nodes import Sequence as SequenceNode
from evalc.dsl.scalars import kind_of

_COLON: Final = re.compile(r"[ \t]*:[ \t]+")
_COMMA: Final = re.compile(r"[ \t]*,[ \t]*")
_SPACES: Final = re.compile(r"[ \t]+")

# Stricter than YAML: what begins with a letter or `(`, and has nothing that any reader of YAML could take for syntax.
_ODD: Final = r"\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029"
_PLAIN: Final = re.compile(rf"[A-Za-z_(](?:[^{_ODD}:#]|:(?![ \t]|$)|(?<![ \t])#)*(?<![ \t:])")
_PLAIN_IN_FLOW: Final = re.compile(rf"[A-Za-z_](?:[^{_ODD}:#{{}}\[\],&*!|>?'%@`]|(?<![ \t])#)*(?<![ \t])")
_WORDS_OF_YAML: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML 1.1 or 1.2 does not read as a text: such a text keeps its quotes."""

_ONLY_QUOTES_ESCAPED: Final = re.compile(r'"(?:[^"\\\r\n]|\\["\\])*"')
_GOES_ON: Final = re.compile(r":(?![ \t\n]|\Z)")
"""Behind a text in quotes, a colon that without them may be a part of the text (`{"a":1}`)."""


class _Edit(NamedTuple):
    span: Span
    text: str


def spaced(text: str, documents: Sequence[Node | None]) -> str:
    """The text with every edit made that its nodes ask for; the nodes are those of this very text."""
    edits = sorted({edit for edit in _edits(text, documents) if text[slice(*edit.span)] != edit.text})
    pieces: list[str] = []
    done = 0
    for span, replacement in edits:
        if span.start < done:
            continue
        pieces += (text[done : span.start], replacement)
        done = span.end
    return "".join((*pieces, text[done:]))


def _edits(text: str, documents: Sequence[Node | None]) -> Iterator[_Edit]:
    pending: list[tuple[Node, bool]] = [(document, False) for document in documents if document is not None]
    seen: set[int] = set()  # an alias is the node of its anchor
    while pending:
        node, in_flow = pending.pop()
        if isinstance(node, Scalar):
            yield from _quotes(text, node, in_flow=in_flow)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        flow = in_flow or text[node.start : node.start + 1] in ("[", "{")
        if isinstance(node, Mapping):
            for key, value in node.pairs:
                if value.start > key.end and _COLON.fullmatch(text, key.end, value.start):
                    yield _Edit(Span(key.end, value.start), ": ")
            entries = [Span(key.start, max(key.end, value.end)) for key, value in node.pairs]
        else:
            entries = [Span(item.start, item.end) for item in node.items]
        if text[node.start : node.start + 1] in ("[", "{"):
            yield from _between(text, node, entries)
        pending += ((part, flow) for part in children_of(node))


def _between(text: str, node: Mapping | SequenceNode, entries: Sequence[Span]) -> Iterator[_Edit]:
    """The spaces inside the brackets of a flow collection, and after its commas."""
    ends = [node.start + 1, *(entry.end for entry in entries)]
    starts = [*(entry.start for entry in entries), node.end - 1]
    for index, (end, start) in enumerate(zip(ends, starts, strict=True)):
        is_inside = index in (0, len(entries))
        if (_SPACES if is_inside else _COMMA).fullmatch(text, end, start):
            yield _Edit(Span(end, start), "" if is_inside else ", ")


def _quotes(text: str, scalar: Scalar, *, in_flow: bool) -> Iterator[_Edit]:
    """The canonical quotes of a quoted text on one line, or of a text that some readers need quoted."""
    raw = text[scalar.start : scalar.end]
    if in_flow and scalar.style == "plain" and "?" in raw and raw == scalar.text and not scalar.tag:
        yield _Edit(Span(scalar.start, scalar.end), in_quotes(raw))
    if scalar.style not in ("single", "double") or raw[:1] not in ("'", '"') or "\n" in raw:
        return
    value = scalar.text
    if not scalar.tag and reads_plain(value, in_flow=in_flow) and not _GOES_ON.match(text, scalar.end):
        yield _Edit(Span(scalar.start, scalar.end), value)
    elif raw[0] == '"' and "\\" in raw and _ONLY_QUOTES_ESCAPED.fullmatch(raw):
        yield _Edit(Span(scalar.start, scalar.end), in_quotes(value))


def in_quotes(value: str) -> str:
    """A text of one line in the quotes that need the fewest escapes."""
    return "'" + value.replace("'", "''") + "'" if '"' in value or "\\" in value else f'"{value}"'


def reads_plain(value: str, *, in_flow: bool) -> bool:
    """Whether every reader of YAML takes the text for itself without quotes."""
    pattern = _PLAIN_IN_FLOW if in_flow else _PLAIN
    if pattern.fullmatch(value) is None or value.lower() in _WORDS_OF_YAML:
        return False
    return kind_of(Scalar(stretch(0, len(value)), value, "plain")) == "str"


_STEP: Final = 2
_INDICATOR: Final = re.compile(r"([-?:])(?=[ \t]|$)[ \t]*")
_MARKER: Final = re.compile(r"(?:---|\.\.\.)(?=[ \t]|$)|%")
_PROPERTIES: Final = re.compile(r"(?:[&!][^ \t]*[ \t]+)*")
_HEADER: Final = re.compile(r"[|>](?:[+-]?(?P<digit>[1-9])|(?P<before>[1-9])[+-]?)?[+-]?")
_COMMENT_BEHIND: Final = re.compile(r"(?:^|[ \t])#.*")


def laid_out(text: str, documents: Sequence[Node | None]) -> str:
    """The text with its lines at their columns; the nodes are those of this very text, whose breaks are LF."""
    facts = _Facts.of(text, documents)
    layout = _Layout(facts)
    for number in range(len(facts.lines)):
        layout.take(number)
    layout.finish()
    result = "\n".join(_without_extra_blanks(layout.out, facts))
    return result if facts.ends_open or not result else result + "\n"


# --- what the nodes say about the lines ------------------------------------------------------------------------------


@final
class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about each line, collected before any is moved.

    Attributes:
        lines: the lines without their breaks.
        starts: the offset of each line.
        continues: lines that continue a text or a flow collection, with the line that it begins on.
        blocks: block scalars by the line of their header: the header's offset and the last line of the body.
        in_text: lines whose break is part of a text.
        cases: the first lines of test cases, each with the last line of the previous case (-1: there is none).
        ends_open: whether the text ends in a block scalar that a last line break would change.
    """

    lines: tuple[str, ...]
    starts: tuple[int, ...]
    continues: dict[int, int]
    blocks: dict[int, _Block]
    in_text: frozenset[int]
    cases: frozenset[int]
    ends_open: bool

    @classmethod
    def of(cls, text: str, documents: Sequence[Node | None]) -> _Facts:
        lines = tuple(text.split("\n"))
        starts = tuple(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))

        def line_of(offset: int) -> int:
            return bisect_right(starts, offset) - 1

        continues: dict[int, int] = {}
        blocks: dict[int, _Block] = {}
        in_text: set[int] = set()
        ends_open = False
        for node in nodes_of(documents):
            first, last = line_of(node.start), line_of(max(node.end - 1, node.start))
            if isinstance(node, Scalar) and node.style in ("literal", "folded"):
                blocks[first] = _Block(node.start, last)
                in_text.update(range(first + 1, last + (text[node.end - 1 : node.end] == "\n")))
                ends_open |= node.end == len(text) and not text.endswith("\n")
            elif first != last and (isinstance(node, Scalar) or text[node.start] in "[{"):
                for number in range(first + 1, last + 1):
                    continues[number] = min(continues.get(number, first), first)
                if isinstance(node, Scalar):
                    in_text.update(range(first, last))
        cases = frozenset(_cases_to_set_apart(documents, text, line_of))
        return cls(
            lines=lines,
            starts=starts,
            continues=continues,
            blocks=blocks,
            in_text=frozenset(in_text),
            cases=cases,
            ends_open=ends_open,
        )


class _Block(NamedTuple):
    """A block scalar: the offset of its header, and the last line of its body."""

    header: int
    last: int


def _cases_to_set_apart(documents: Sequence[Node | None], text: str, line_of: Callable[[int], int]) -> Iterator[int]:
    """The first lines of the test cases that get a blank line in front: where one of the two is of several lines."""
    for document in documents:
        cases = _test_cases(document)
        if cases is None or text[cases.start : cases.start + 1] == "[":
            continue
        for one, other in pairwise(cases.items):
            several = any(line_of(case.start) != line_of(max(case.start, case.end - 1)) for case in (one, other))
            if several and one.end <= other.start:
                yield line_of(other.start)


def _test_cases(document: Node | None) -> SequenceNode | None:
    node: Node | None = document
    for _ in range(2):
        if not isinstance(node, Mapping):
            return None
        values = fields_of(node)
        cases = values.get("test_cases")
        if isinstance(cases, SequenceNode):
            return cases
        node = values.get("eval")
    return None


# --- line by line ----------------------------------------------------------------------------------------------------


@final
class _Level(msgspec.Struct, frozen=True):
    """An open block collection: the column that its entries had, and the column that they get."""

    old: int
    new: int
    is_list: bool


@final
class _Line(msgspec.Struct):
    """A line of the result, and the line it was (-1 for a new line)."""

    text: str
    number: int


@final
class _Layout(msgspec.Struct):
    facts: _Facts
    out: list[_Line] = []
    _levels: list[_Level] = []
    _waiting: list[int] = []  # comments and blank lines, until what follows them is known
    _shifts: dict[int, int] = {}  # by how much each line was moved
    _awaits_value: bool = False  # whether the last entry was a key or a dash without a value
    _body_until: int = -1

    def take(self, number: int) -> None:
        line = self.facts.lines[number]
        stripped = line.strip(" \t")
        if number <= self._body_until:
            return
        if number in self.facts.continues:
            self._settle(None)
            self._continue(number, line)
        elif not stripped or stripped.startswith("#"):
            self._waiting.append(number)
        elif _MARKER.match(line):
            self._settle(None)
            self._levels.clear()
            self._put(line, number)
            self._awaits_value = False
            if number in self.facts.blocks:
                self._body(number, self.facts.blocks[number].header - self.facts.starts[number])
        else:
            self._entry(number, line)

    def finish(self) -> None:
        """Put the comments that no entry follows."""
        self._settle(None)

    def _entry(self, number: int, line: str) -> None:
        """A line on which an entry of a block collection begins, or several one in another."""
        column = at = _indent(line)
        before = list(self._levels)
        level: _Level | None = None
        written = ""
        while (indicator := _INDICATOR.match(line, at)) is not None:  # `-`, and the rare `? key` and `: value`
            level = self._enter(at, is_list=indicator[1] == "-")
            written = (written or " " * level.new) + f"{indicator[1]} "
            at = indicator.end()
        if line[at : at + 1] not in ("", "#"):  # else the indicator has its item on the lines below
            level = self._enter(at, is_list=False)
            written = written or " " * level.new
        assert level is not None, "an entry is no blank line and no comment"  # noqa: S101
        self._settle((column, before))
        self._shifts[number] = len(written) - at
        self._awaits_value = _awaits_value(line[at:])
        self._put(written + line[at:], number)
        if number in self.facts.blocks:
            self._body(number, at)

    def _enter(self, column: int, *, is_list: bool) -> _Level:
        """The level of an entry at a column; levels further right are closed, a new one is opened where it must be."""
        levels = self._levels
        while levels and levels[-1].old > column:
            levels.pop()
        if not is_list and levels and levels[-1].is_list and levels[-1].old == column:
            levels.pop()  # a list that was at the column of its key
        if levels and levels[-1].old == column and levels[-1].is_list == is_list:
            return levels[-1]
        level = _Level(column, levels[-1].new + _STEP if levels else 0, is_list)
        levels.append(level)
        return level

    def _continue(self, number: int, line: str) -> None:
        """A line that continues a text or a flow collection moves with the line that this begins on."""
        shift = self._shifts.get(self.facts.continues[number], 0)
        stripped = line.lstrip(" ")
        least = 0 if stripped[:1] in ("]", "}") or not self._levels else self._levels[-1].new + 1
        column = max(len(line) - len(stripped) + shift, least)
        self._put(" " * column + stripped if stripped else "", number)
        self._awaits_value = False

    def _body(self, number: int, content_at: int) -> None:
        """The body of a block scalar, whose header is on the line just put."""
        block = self.facts.blocks[number]
        body = self.facts.lines[number + 1 : block.last + 1]
        at_dash = self._is_item(number, block, content_at)
        levels = self._levels[:-1] if at_dash else self._levels
        parent = levels[-1] if levels else _Level(0, -_STEP if at_dash else 0, is_list=False)
        header = _HEADER.match(self.facts.lines[number], block.header - self.facts.starts[number])
        digit = None if header is None else header["digit"] or header["before"]
        indents = [_indent(line) for line in body if line.strip(" ")] or [0]
        old, new = indents[0], parent.new + _STEP
        if digit is not None:
            old = min(indents)
            new = old + parent.new - parent.old
        for offset, line in enumerate(body):
            moved = " " * max(new, 0) + line[old:] if len(line) > old else ""
            self.out.append(_Line(moved, number + 1 + offset))
        self._body_until = block.last

    def _is_item(self, number: int, block: _Block, content_at: int) -> bool:
        """Whether the scalar is itself an item of a list (`- |`), not the value of a key on this line."""
        before = self.facts.lines[number][content_at : block.header - self.facts.starts[number]]
        return _PROPERTIES.fullmatch(before) is not None

    # --- comments and blank lines ---

    def _settle(self, follows: tuple[int, list[_Level]] | None) -> None:
        """Put the waiting comments and blank lines, now that it is known what follows them.

        `follows` is the column of the entry that does, and the levels that were open before it; None for no entry.
        """
        waiting, self._waiting = self._waiting, []
        column, before = (-1, self._levels) if follows is None else follows
        new_next = next((level.new for level in reversed(self._levels) if level.old == column), 0)
        for number in waiting:
            line = self.facts.lines[number]
            stripped = line.strip(" \t")
            if not stripped:
                self._put("", number)
                continue
            at = len(line) - len(line.lstrip(" \t"))
            self._put(" " * self._column_of_comment(at, column, new_next, before) + stripped, number)

    def _column_of_comment(self, at: int, column: int, new_next: int, before: list[_Level]) -> int:
        """The new column of a comment at `at`, in front of an entry at `column` that goes to `new_next`."""
        level = next((level for level in reversed(before) if column <= level.old <= at), None)
        if level is None:
            return new_next
        if level is before[-1] and at > level.old and self._awaits_value:
            return level.new + _STEP
        return new_next if level.old == column else level.new

    def _put(self, line: str, number: int) -> None:
        self.out.append(_Line(line if number in self.facts.in_text else line.rstrip(" \t"), number))


def _awaits_value(rest: str) -> bool:
    """Whether an entry ends in a key without a value, or is a dash alone."""
    without_comment = _COMMENT_BEHIND.sub("", rest).rstrip(" \t")
    return not without_comment or without_comment.endswith(":")


# --- blank lines -----------------------------------------------------------------------------------------------------


def _without_extra_blanks(lines: Sequence[_Line], facts: _Facts) -> list[str]:
    """The lines with one blank line where there were several, none at either end, and one between test cases."""
    kept: list[_Line] = []
    for line in lines:
        if line.number in facts.cases:
            _set_apart(kept, line.text, facts)
        if line.text or _is_text(line, facts) or (kept and (kept[-1].text or _is_text(kept[-1], facts))):
            kept.append(line)
    while kept and not kept[-1].text and not _is_text(kept[-1], facts):
        kept.pop()
    return [line.text for line in kept]


def _is_text(line: _Line, facts: _Facts) -> bool:
    """Whether a line, blank as it may be, is part of a text."""
    return line.number in facts.in_text or (line.number in facts.continues and line.number - 1 in facts.in_text)


def _set_apart(kept: list[_Line], case: str, facts: _Facts) -> None:
    """Put a blank line in front of a test case and the comments that lead it, unless one is there."""
    column = _indent(case)
    at = len(kept)
    while at and kept[at - 1].text.lstrip(" ").startswith("#") and _indent(kept[at - 1].text) <= column:
        if kept[at - 1].number in facts.in_text:
            break
        at -= 1
    if at and kept[at - 1].text and all(line.text for line in kept[at:]):
        kept.insert(at, _Line("", -1))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
