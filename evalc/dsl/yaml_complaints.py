"""Turns the errors of YAML's scanner and parser into findings at the place that must change.

libyaml and PyYAML's own parser word the same complaint a little differently ("did not find expected ',' or ']'",
"expected ',' or ']', but got ':'"), so the rules look for the words that both use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, final

import msgspec

from evalc.base.source import Source, Span
from evalc.base.terminal import counted
from evalc.diagnostics import Finding, Fix
from evalc.dsl.quoting import (
    as_item,
    check_around,
    check_in_quotes,
    in_quotes,
    quoted_line,
    rewritten_item,
    template_in_quotes,
    text_in_quotes,
)


@final
class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """A parser's complaint, in its words, the offsets that go with them, and where the parser was.

    `brackets` and `blocks` are the starts of the flow and of the block collections still open, outermost first;
    `quoted` is the last text in quotes that it read, if any.
    """

    source: Source
    problem: str
    at: int
    context: str
    context_at: int
    brackets: tuple[int, ...]
    blocks: tuple[int, ...]
    quoted: Span | None = None

    @property
    def text(self) -> str:
        """The text of the source."""
        return self.source.text

    @property
    def is_of_sign(self) -> bool:
        """Whether it is about a character that begins nothing."""
        return "start any token" in self.problem

    @property
    def is_of_name(self) -> bool:
        """Whether it is about an alias or an anchor."""
        return _any(self.context, "an alias", "an anchor")

    def line(self, at: int | None = None) -> tuple[str, int]:
        """The line of a place, by default of its own, and how far in the place is."""
        position = self.source.position(self.at if at is None else at)
        return self.source.line(position.line), position.column - 1


_Explained = tuple[Span, Finding]
_REST: Final = re.compile(r"[^\r\n]*")
_ESCAPE: Final = re.compile(r"\\(?:x.{0,2}|u.{0,4}|U.{0,8}|.)?", re.DOTALL)
_KEY: Final = re.compile(r"\s*(?:- +)*(?:[^\s'\"#\[\]{}][^'\"#\[\]{}]*?|'[^'\r\n]*'|\"[^\"\r\n]*\"):(?:[ \t]+|$)")
_DASH_WITHOUT_SPACE: Final = re.compile(r"-[^\W\d_]")
_DASHES: Final = re.compile(r"\s*(?:- +)*")
_NEXT_ENTRY: Final = re.compile(r"[\r\n] *(?:- +\S|[A-Za-z_][\w-]*:(?:[ \t]|[\r\n]))")
_BRACKET: Final = re.compile(r"[\[\]\r\n]")
_TO_COMMENT: Final = re.compile(
    r"""
    [\[{]
    (?>
        (?<=[\[{,:\s]) (?> "(?:[^"\\\r\n]|\\.)*" | '(?:[^'\r\n]|'')*' )
        | (?<![\ \t])\#
        | [^\#\r\n]
    )*+
    (\#[^\r\n]*)
    """,
    re.VERBOSE,
)
_LAST_ITEM: Final = re.compile(r"(?:[\[{,]|:[ \t])[ \t]*((?:[^\s\[\]{},\"':]|:(?!\s))(?:[^\[\]{},\"\r\n:]|:(?!\s))*)\Z")
_CUT_REST: Final = re.compile(r"#[^\s\[\]{},][^\[\]{},\r\n]*")
_ITEM_REST: Final = re.compile(r"[^,\]\r\n]*")


def explained(complaint: Complaint) -> _Explained:
    """The finding and its place."""
    for rule in _RULES:
        if (found := rule(complaint)) is not None:
            return found
    return _one(complaint.at), Finding("EV100")


def _one(at: int) -> Span:
    return Span(at, at + 1)


def _tab(complaint: Complaint) -> _Explained | None:
    text = complaint.text
    if text.startswith("\t", complaint.at) and (complaint.is_of_sign or "tab" in complaint.problem):
        end = complaint.at + len(text[complaint.at :]) - len(text[complaint.at :].lstrip("\t"))
        return Span(complaint.at, end), Finding("EV101")
    return None


def _template(complaint: Complaint) -> _Explained | None:
    """A `{{` that YAML took for two brackets, and that has brought the error about."""
    text = complaint.text
    for start in complaint.brackets:
        if text.startswith("{{", start):
            raw = _rest_of_line(text, start)
            end = start + len(raw)
            fix = template_in_quotes(complaint.source, start, end)
            return Span(start, end), Finding("EV118", fix=fix, quoted=quoted_line(raw))
    return None


def _check(complaint: Complaint) -> _Explained | None:
    """A check that lacks quotes: `>= 5`, `is {"a": [1]}`, and `at items[*].price > 0` in brackets."""
    places = (complaint.at, complaint.context_at)
    checks = (check_around(complaint.source, at, reversed(complaint.brackets)) for at in places)
    check = next((check for check in checks if check is not None), None)
    return None if check is None else (check, without_quotes(complaint.source, check))


def without_quotes(source: Source, check: Span) -> Finding:
    """The finding for a check that YAML takes apart."""
    raw = source.text[slice(*check)]
    in_flow = not source.text.endswith("- ", 0, check.start)
    fix, quoted = in_quotes(source, *check, sure=True), quoted_line(raw)
    if raw[0] in ">|!&*%@`":
        return Finding("EV106", fix=fix, character=raw[0], quoted=quoted)
    return Finding("EV130" if in_flow else "EV120", fix=fix, quoted=quoted)


def _behind_quote(complaint: Complaint) -> _Explained | None:
    """A sign directly behind a text in quotes: more of the text is meant, not the beginning of another."""
    at = complaint.context_at if complaint.is_of_name else complaint.at
    if not (complaint.is_of_name or complaint.is_of_sign) or not complaint.text.endswith(("'", '"'), 0, at):
        return None
    return _bracket(complaint) or _behind_value(complaint, at)


def _behind_value(complaint: Complaint, at: int) -> _Explained:
    line, column = complaint.line(at)
    raw = line[column:].rstrip()
    finding = _check_meant(complaint.source, at - column, line) or Finding("EV109", quoted=_requoted(line))
    return Span(at, at + max(len(raw), 1)), finding


def _check_meant(source: Source, start: int, line: str) -> Finding | None:
    """The finding about an item that is a check in other words: `- "Paris" is in the answer`; None for any other."""
    from evalc.dsl.meant import meant_by  # noqa: PLC0415 - for start-up: its patterns are for mistakes

    dashes = _DASHES.match(line)
    if dashes is None or "-" not in dashes[0]:
        return None
    raw = line[dashes.end() :].rstrip()
    meant = meant_by(raw)
    if meant is None:
        return None
    item = as_item(meant.line)
    fix = rewritten_item(source, start + dashes.end(), start + dashes.end() + len(raw), item)
    return Finding("EV109", fix=fix, quoted="", line=item)


def _reserved(complaint: Complaint) -> _Explained | None:
    return _reserved_at(complaint) if complaint.is_of_sign else None


def _reserved_at(complaint: Complaint) -> _Explained:
    """A character with which no text begins unless it is in quotes."""
    at, raw = complaint.at, _rest_of_line(complaint.text, complaint.at)
    fix = text_in_quotes(complaint.source, at, at + len(raw))
    return _one(at), Finding("EV106", fix=fix, character=complaint.text[at : at + 1], quoted=quoted_line(raw))


def _colon(complaint: Complaint) -> _Explained | None:
    if "mapping values are not allowed" not in complaint.problem:
        return None
    line, column = complaint.line()
    raw = _value_of(line)
    # A line with only `key: value` is not at fault itself: the line before it is, or its indentation.
    if ":" not in raw or len(line) - len(raw) > column:
        return _one(complaint.at), Finding("EV102")
    start = complaint.at - column + line.rindex(raw)
    fix = text_in_quotes(complaint.source, start, start + len(raw))
    return _one(complaint.at), Finding("EV102", fix=fix, quoted=quoted_line(raw))


def _quote(complaint: Complaint) -> _Explained | None:
    if "quoted scalar" not in complaint.context or not _any(complaint.problem, "end of stream", "document"):
        return None
    at = complaint.context_at
    return _one(at), Finding("EV103", quote=complaint.text[at : at + 1])


def _runaway_quote(complaint: Complaint) -> _Explained | None:
    """A quote that the opening quote of another text has closed, lines below: what follows that is no YAML."""
    if complaint.quoted is None:
        return None
    start, end = complaint.quoted
    text = complaint.text
    opened, closed, at = (complaint.source.position(each).line for each in (start, end, complaint.at))
    if opened == closed or closed != at:
        return None
    seems_to_open = text[end - 2] in " \t\r\n[({,:=-" and text[end : end + 1] not in {"", " ", "\t", "\r", "\n"}
    if seems_to_open or _NEXT_ENTRY.search(text, start, end):
        return _one(start), Finding("EV103", quote=text[start])
    return None


def _escape(complaint: Complaint) -> _Explained | None:
    if "quoted scalar" not in complaint.context:
        return None
    start = max(complaint.text.rfind("\\", complaint.context_at, complaint.at + 1), complaint.context_at)
    match = _ESCAPE.match(complaint.text, start)
    written = match[0].rstrip("\"'\r\n ") if match is not None else ""
    finding = Finding("EV107", escape=written or "\\", of_code_point=written[1:2] in {"u", "U"})
    return Span(start, start + max(len(written), 1)), finding


def _bracket(complaint: Complaint) -> _Explained | None:
    """An open bracket: closed nowhere, or something on its line that is not allowed inside it."""
    if not complaint.brackets:
        return None
    text, opening = complaint.text, complaint.brackets[-1]
    bracket, behind = text[opening : opening + 1], text[complaint.at : complaint.at + 1]
    closing = "}" if bracket == "{" else "]"
    if behind in {"]", "}"}:
        return _one(complaint.at), Finding("EV126", bracket=behind, opening=bracket)
    first, here = (complaint.source.position(at).line for at in (opening, complaint.at))
    if complaint.at >= len(text.rstrip()) or first != here:
        comment = _TO_COMMENT.match(text, opening)
        item = None if comment is None else _cut_item(text, opening, comment.start(1))
        if item is not None:
            fix = in_quotes(complaint.source, *item)
            return item, Finding("EV156", fix=fix, quoted=quoted_line(text[item.start : item.end]))
        hides = comment is not None and closing in comment[1]
        return _one(opening), Finding("EV104", bracket=bracket, closing=closing, before_comment=hides)
    if behind == "[" and (item := _item_with_brackets(text, opening, complaint.at)) is not None:
        fix = check_in_quotes(complaint.source, *item)
        return item, Finding("EV130", fix=fix, quoted=quoted_line(text[item.start : item.end]))
    return _one(complaint.at), Finding("EV125", closing=closing)


def _cut_item(text: str, opening: int, hash_at: int) -> Span | None:
    """The item in brackets that a `#` without a space after it cuts off, like the bracket after it."""
    before = _LAST_ITEM.search(text, opening, hash_at)
    behind = _CUT_REST.match(text, hash_at)
    return None if before is None or behind is None else Span(before.start(1), hash_at + len(behind[0].rstrip()))


def _item_with_brackets(text: str, opening: int, at: int) -> Span | None:
    """The item of `[tools called [a], ...]` whose inner list YAML cannot read."""
    before = max(text.rfind(",", opening, at), opening) + 1
    depth = 0
    for match in _BRACKET.finditer(text, at):
        depth += {"[": 1, "]": -1}.get(match[0], 0)
        if match[0] in "\r\n":
            return None
        if depth == 0:
            rest = _ITEM_REST.match(text, match.end())
            end = match.end() if rest is None else rest.end()
            start = before + len(text[before:at]) - len(text[before:at].lstrip())
            return Span(start, start + len(text[start:end].rstrip())) if start < at else None
    return None


def _simple_key(complaint: Complaint) -> _Explained | None:
    if "simple key" not in complaint.context:
        return None
    text, at = complaint.text, complaint.context_at
    raw = _rest_of_line(text, at)
    is_item = _DASH_WITHOUT_SPACE.match(raw) is not None
    fix = Fix.of(text, at, at + 1, "- ") if is_item else None
    return Span(at, at + len(raw)), Finding("EV108", fix=fix, line=f"- {raw[1:]}" if is_item else "")


def _anchor(complaint: Complaint) -> _Explained | None:
    if not complaint.is_of_name:
        return None
    text, at, sign = complaint.text, complaint.context_at, "*" if "alias" in complaint.context else "&"
    raw = _rest_of_line(text, at)
    if raw.startswith("* ") and not text[text.rfind("\n", 0, at) + 1 : at].strip():
        return _one(at), Finding("EV124", fix=Fix.of(text, at, at + 1, "-"), sign=sign, quoted="", line=f"-{raw[1:]}")
    fix = text_in_quotes(complaint.source, at, at + len(raw))
    return _one(at), Finding("EV124", fix=fix, sign=sign, quoted=quoted_line(raw))


def _block_header(complaint: Complaint) -> _Explained | None:
    return (_one(complaint.at), Finding("EV123")) if "block scalar" in complaint.context else None


def _tag(complaint: Complaint) -> _Explained | None:
    if not _any(complaint.context + complaint.problem, "tag"):
        return None
    start = complaint.context_at
    if not complaint.text.startswith("!", start):
        return _one(complaint.at), Finding("EV100")
    raw = _rest_of_line(complaint.text, start).split(" ")[0]
    return Span(start, start + len(raw)), Finding("EV116", tag=raw)


def _stray_bracket(complaint: Complaint) -> _Explained | None:
    found = complaint.text[complaint.at : complaint.at + 1]
    return (_one(complaint.at), Finding("EV126", bracket=found, opening="")) if found in {"]", "}"} else None


def _indentation(complaint: Complaint) -> _Explained | None:
    """Something that does not fit into its block: after a value on its line, or on a line of its own."""
    if not _any(complaint.context + complaint.problem, "block mapping", "block collection", "document start"):
        return None
    line, indent = complaint.line()
    if line[:indent].strip() not in {"", "-"}:
        return _behind_value(complaint, complaint.at)
    raw = line[indent:].rstrip()
    span = Span(complaint.at, complaint.at + max(len(raw), 1))
    is_item = raw.startswith("-")
    known = _indents(complaint, indent, is_item=is_item)
    found, others = ("", "") if indent not in known else ("a list item", "keys") if is_item else ("a key", "list items")
    *first, last = known or (0,)
    listed = f"{', '.join(map(str, first))} or {counted(last, 'space')}" if first else counted(last, "space")
    listed = listed if known else ""
    return span, Finding("EV105", found=found, others=others, spaces=counted(indent, "space"), known=listed)


def _indents(complaint: Complaint, indent: int, *, is_item: bool) -> tuple[int, ...]:
    """How far the blocks around a line are indented, and the line before it.

    A key nearly below the one behind a dash can only belong to that.
    """
    source = complaint.source
    line = source.position(complaint.at).line
    indents = {source.position(start).column - 1 for start in complaint.blocks}
    above = next((text for at in range(line - 1, 0, -1) if (text := source.line(at)).strip()), None)
    if complaint.blocks and above is not None:
        indents.add(len(above) - len(above.lstrip()))
        first = _DASHES.match(above)
        if first is not None and "-" in first[0] and not is_item and abs(first.end() - indent) == 1:
            return (first.end(),)
    return tuple(sorted(indents))


def _misplaced(complaint: Complaint) -> _Explained | None:
    """A `-` or another sign where a value was expected: as text it has to be quoted."""
    if not _any(complaint.problem, "entries are not allowed", "node content", "keys are not allowed"):
        return None
    character = complaint.text[complaint.at : complaint.at + 1]
    return None if character in {"", "\r", "\n", "."} else _reserved_at(complaint)


_RULES: Final[tuple[Callable[[Complaint], _Explained | None], ...]] = (
    _tab,
    _runaway_quote,
    _template,
    _check,
    _behind_quote,
    _reserved,
    _colon,
    _quote,
    _escape,
    _block_header,
    _anchor,
    _tag,
    _bracket,
    _simple_key,
    _stray_bracket,
    _indentation,
    _misplaced,
)


def _any(text: str, *words: str) -> bool:
    return any(word in text for word in words)


def _rest_of_line(text: str, start: int) -> str:
    match = _REST.match(text, start)
    return match[0].rstrip() if match is not None else ""


def _value_of(line: str) -> str:
    """The part of a line behind its key or its dashes."""
    key = _KEY.match(line) or _DASHES.match(line)
    return line[key.end() if key is not None else 0 :].rstrip()


_CLOSES: Final = re.compile(r"""(["'])[^"']*\S\1\s""")
"""A text in quotes, and more behind it: `"Paris" or "Rome"`, which is not one text in quotes."""


def _requoted(line: str) -> str:
    """The value of a line, quoted whole; quotes around it are not meant as part of the text."""
    raw = _value_of(line)
    is_in_quotes = len(raw) > 2 and raw[0] == raw[-1] and raw[0] in "\"'" and not _CLOSES.match(raw)
    return quoted_line(raw[1:-1] if is_in_quotes else raw)
