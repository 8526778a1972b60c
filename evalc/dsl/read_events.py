"""Reads any YAML into nodes, from the events of libyaml or of PyYAML's own parser.

The constructor keeps what a compiler of untrusted files needs and a loader throws away: offsets, styles, keys
written twice. It never recurses, continues after whatever can be skipped, and keeps to its limits while it reads.
Places are computed from `mark.index` alone; the lines and columns of marks are not used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, final

import msgspec
import yaml
from yaml import events

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding
from evalc.dsl.nodes import (
    FORBIDDEN,
    Mapping,
    Node,
    Report,
    Scalar,
    Sequence,
    Style,
    YamlLimits,
    behind,
    has_forbidden,
    one_or_many,
    stretch,
)
from evalc.dsl.quoting import TEMPLATE, cut_off, quoted_line, template_in_quotes, unquoted_line

_EventParser: Callable[[str], Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's parser; where PyYAML is built without it, PyYAML's own, some fifteen times slower."""
_Event = Any
"""An event of the parser. PyYAML's types call every mark optional; those of a parser's events are always there."""

_STYLES: Final[dict[str | None, Style]] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}

_NAMES_TO_COMPARE: Final = 200  # with an unknown alias

_READ_AGAIN: Final = 5_000_000
"""How many characters may be read again, in total, to continue after texts that only lack their quotes."""

_TAG_PREFIX: Final = "tag:yaml.org,2002:"
_SCALAR_TAGS: Final = frozenset({"!!str", "!!int", "!!float", "!!bool", "!!null"})
_CORE_TAGS: Final = _SCALAR_TAGS | {"!!seq", "!!map"}

_TEARS: Final = frozenset(("EV103", "EV104", "EV107", "EV109", "EV125", "EV126", "EV130"))
"""The findings about a value that is torn: what is below it is read as if it were whole."""
_ASTRAY: Final = frozenset(("EV101", "EV105"))
"""The findings about the indentation of a line, which is left out with what may be its own."""
_HIDDEN: Final = frozenset(("EV102", "EV106", "EV120", "EV124", "EV130", "EV156"))
"""The findings about a text that lacks quotes: what follows it is read as if it had them."""

_ESCAPES: Final = {"\x00": r"\0", "\x85": r"\N", "\u2028": r"\L", "\u2029": r"\P"}
_TAG: Final = re.compile(r"!<[^>]*>|![^\s,\[\]{}]*")
_BLOCK_HEADER: Final = re.compile(r"[|>][-+0-9]*")
_ENTRY: Final = re.compile(
    r"""
    [ ]*(?:-[ ]+)*(?P<key>)
    (?:(?: [^\s"'\#\[\]{},&*!|>%@`-] [^\#\[\]{}\r\n]*? | "[^"\r\n]*" | '[^'\r\n]*' ):[ ]+)?
    """,
    re.VERBOSE,
)
"""The part before the value of a line: dashes, and a key, which begins at the group."""
_REST: Final = r"(?P<rest>(?P<entry>-(?=\s|\Z)|[\w\"'.][^\r\n]*?:(?=\s|\Z)|---|\.\.\.)?[^\r\n]*)"
_FOLLOWING: Final = re.compile(rf"(?P<indent>[ ]*){_REST}")
_LOST_LINE: Final = re.compile(rf"^(?P<indent>[ \t]*){_REST}", re.MULTILINE)
_COMPLETE: Final = re.compile(
    r"""
    (?: (?:-[ \t]+)* (?:[^\s\#].*?:[ \t]+)?
        (?: [^\s\#|>&!\[{"'-](?:(?:(?!:[ \t]).)*[^:\s])? | \[[^\[\]]*\] | \{[^{}]*\} | "[^"]*" | '[^']*' )
    )? \s* (?:\#.*)?
    """,
    re.VERBOSE,
)
"""A line without lines of its own below it: no key without its value, nothing open."""
_ITEM_WITH_KEY: Final = re.compile(r"(?P<dash>-[ \t]+)[^\s\"'\[{#].*?:(?:\s|\Z)")
_OPEN_KEY: Final = re.compile(
    r"^(?P<indent>[ ]*(?:-[ ]+)*)[^\s#-][^\r\n#]*:[ \t]*(?:#.*)?\r?\n(?:[ \t\r]*(?:#.*)?\n)*\Z", re.MULTILINE
)
"""A key without its value, at the end of what precedes a line."""
_PROPERTIES: Final = re.compile(r"(?:[&!][^\s,\[\]{}]*|#[^\r\n]*|\s+)*")


def read_events(source: Source, report: Report, limits: YamlLimits) -> list[Node | None]:
    """The documents of a YAML text, as `read_yaml` gives them, whatever the text."""
    return _Constructor(source, report, limits).documents()


@final
class _Open(msgspec.Struct):
    """A collection whose end has not come: its items so far (keys and values in turn for a mapping)."""

    start: int
    flow: bool
    mapping: bool
    anchor: str | None
    items: list[Node] = msgspec.field(default_factory=list)
    end: int = -1  # where the last item ends, if that item is elsewhere (an alias)
    end_of: int = -1  # how many items there were then
    extra_weight: int = 0  # nodes below the items themselves
    height: int = 1  # levels from here to the deepest leaf, expanded

    def last_end(self) -> int:
        if self.end_of == len(self.items):
            return self.end
        return self.items[-1].end if self.items else self.start


@final
class _Anchored(msgspec.Struct, frozen=True):
    node: Node
    weight: int
    height: int


@final
class _Constructor:
    def __init__(self, source: Source, report: Report, limits: YamlLimits) -> None:
        self._source = source
        self._text = source.text
        self._report = report
        self._limits = limits
        self._mask: _Mask | None = None
        self._given = ""  # what the parser gets
        self._hidden: list[Span] = []  # what is masked in it since it lacks quotes
        self._torn: list[Span] = []  # what is masked in it since nobody knows where it ends
        self._lost: dict[int, int] = {}  # where lines begin that are left out of it, by the ends of what precedes them
        self._resumed: set[int] = set()  # where lines begin that are read on with
        self._read_again = 0
        self._begin()

    def _begin(self) -> None:
        self._documents: list[Node | None] = []
        self._root: list[Node] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored | None] = {}  # None while the anchored collection is open
        self._expanded = 0
        self._lost_end = -1  # where the last alias of nothing ends

    def documents(self) -> list[Node | None]:
        self._given = self._readable()
        while not self._is_read():
            self._begin()
        return self._documents

    def _is_read(self) -> bool:
        """Read the text as far as it goes; False if it goes further now that a character of it is masked."""
        parser = _EventParser(self._given)
        try:
            self._construct(parser.get_event)
        except yaml.MarkedYAMLError as error:
            if self._explain(error):
                return False
            self._close_all()
        except (ValueError, OverflowError):  # the pure parser, on an escape or a version number beyond all bounds
            self._explain(yaml.MarkedYAMLError(problem_mark=parser.get_mark()))
            self._close_all()
        except _TooDeep:
            self._close_all()
        except _ReadAgain:
            return False
        return True

    # --- before the events ---

    def _readable(self) -> str:
        """The text that the parser gets: of the same length, without what YAML forbids or templates would spoil."""
        text = self._text
        if text.startswith("\ufeff"):  # a second byte order mark: marks would be one off
            self._report(Span(0, 1), _forbidden("\ufeff", 1))
            text = " " + text[1:]
        if has_forbidden(text):
            forbidden = re.compile(FORBIDDEN)
            places: dict[str, list[int]] = {}
            for match in forbidden.finditer(text):
                places.setdefault(match[0], []).append(match.start())
            for character, at in places.items():
                self._report(Span(at[0], at[0] + 1), _forbidden(character, len(at)))
            text = forbidden.sub("\ufffd", text)
        self._mask = _Mask.of(text)
        return text if self._mask is None else self._mask.masked

    # --- the events ---

    def _construct(self, next_event: Callable[[], _Event | None]) -> None:
        handlers: dict[type[events.Event], Callable[..., list[Node]]] = {
            events.DocumentStartEvent: self._document_start,
            events.DocumentEndEvent: self._document_end,
            events.MappingStartEvent: self._collection_start,
            events.SequenceStartEvent: self._collection_start,
            events.MappingEndEvent: self._collection_end,
            events.SequenceEndEvent: self._collection_end,
            events.AliasEvent: self._alias,
            **dict.fromkeys((events.StreamStartEvent, events.StreamEndEvent), lambda _: self._root),
        }
        scalar_event: Any = events.ScalarEvent
        careful = self._mask is not None  # what is masked is not ASCII
        items = self._root
        while (event := next_event()) is not None:
            if type(event) is not scalar_event:
                items = handlers[type(event)](event)
                continue
            text, style = event.value, event.style
            odd = careful and (not text.isascii() or event.end_mark.index in self._lost)
            if style in {"|", ">"} or event.anchor or event.tag or odd:
                self._scalar(event, items)
            else:
                at = stretch(event.start_mark.index, event.end_mark.index)
                items.append(Scalar(at, text, _STYLES[style]))

    def _document_start(self, _event: _Event) -> list[Node]:
        self._root = []
        self._anchors = {}
        self._expanded = 0
        return self._root

    def _document_end(self, _event: _Event) -> list[Node]:
        match self._root:
            case [] | [Scalar(text="", style="plain", tag="")]:
                self._documents.append(None)
            case [node, *_]:
                self._documents.append(node)
        self._root = []
        return self._root

    def _items(self) -> list[Node]:
        return self._open[-1].items if self._open else self._root

    # --- scalars ---

    def _scalar(self, event: _Event, items: list[Node]) -> None:
        """A scalar that is not simply its event: with an anchor, a tag, a style of its own or templates about."""
        start, end = event.start_mark.index, event.end_mark.index
        text, style = event.value, _STYLES[event.style]
        if (event.anchor or event.tag) and (properties := _PROPERTIES.match(self._text, start, end)) is not None:
            start = properties.end()
        if style in {"literal", "folded"}:
            end = _block_end(self._text, start, end)
        elif style == "plain" and self._is_spoiled(text, start, end):
            template = self._template(start, end)
            if template.end > end:
                items.append(template)
                return
        if self._mask is not None and style == "double":
            text = self._mask.unescaped(text)
            for half in self._mask.halves(start, end):
                self._report(half, Finding("EV129", escape=self._text[half.start : half.end]))
                style = "hole"
        elif self._mask is not None:
            text = self._mask.unmasked(text)
        if any(torn.start == start for torn in self._torn) or (style == "plain" and end in self._lost):
            style = "hole"
        tag = self._tag(event.tag, event.start_mark.index, end, _SCALAR_TAGS) if event.tag else ""
        if event.tag and not tag and event.tag.startswith("!"):
            style = "hole"  # what is behind such a tag may be a part of a text
        scalar = Scalar(stretch(start, end), text, style, tag)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(scalar, 1, 0)
        items.append(scalar)

    def _is_spoiled(self, text: str, start: int, end: int) -> bool:
        """Whether YAML would have read a plain scalar otherwise, and nobody has said so yet."""
        if self._mask is None or any(start <= hidden.start < end for hidden in self._hidden):
            return False
        return self._mask.spoils(text, flow=bool(self._open) and self._open[-1].flow)

    def _tag(self, tag: str, start: int, end: int, allowed: frozenset[str]) -> str:
        """The short form of a tag, empty if it is reported as not allowed here."""
        short = "!!" + tag[len(_TAG_PREFIX) :] if tag.startswith(_TAG_PREFIX) else tag
        if short in allowed:
            return short
        at = self._text.find("!", start, max(end, start + 1))
        at = max(at, start)
        written = _TAG.match(self._text, at)
        span = Span(at, written.end() if written is not None else at)
        name = self._text[span.start : span.end]
        finding: Finding = Finding("EV117", tag=name) if short in _CORE_TAGS else Finding("EV116", tag=name)
        if finding.code == "EV116":
            self._read_check_without_quotes(at)
        self._report(span, finding)
        return ""

    def _read_check_without_quotes(self, at: int) -> None:
        """Report a check such as `!contains "x"`, and begin again as if it were in quotes."""
        from evalc.dsl.quoting import check_around  # noqa: PLC0415 - for start-up: hardly a file has tags
        from evalc.dsl.yaml_complaints import without_quotes  # noqa: PLC0415 - the same

        check = check_around(self._source, at, [opened.start for opened in reversed(self._open) if opened.flow])
        if check is not None:
            self._report(check, without_quotes(self._source, check))
            if self._masked(check):
                raise _ReadAgain

    # --- collections ---

    def _collection_start(self, event: _Event) -> list[Node]:
        flow, mapping = bool(event.flow_style), isinstance(event, events.MappingStartEvent)
        # After the anchor and the tag comes the bracket, which the event includes, or the first item.
        start = event.end_mark.index - flow
        if len(self._open) >= self._limits.depth:
            self._report(Span(start, start + 1), Finding("EV610", limit=self._limits.depth))
            raise _TooDeep
        if event.tag:
            self._tag(event.tag, event.start_mark.index, start, frozenset({"!!map" if mapping else "!!seq"}))
        if event.anchor:
            self._anchors[event.anchor] = None
        opened = _Open(start, flow, mapping, event.anchor)
        self._open.append(opened)
        return opened.items

    def _collection_end(self, event: _Event) -> list[Node]:
        opened = self._open.pop()
        end = event.end_mark.index if opened.flow else opened.last_end()
        if opened.mapping and opened.flow and self._text.startswith("{{", opened.start):
            return self._close(opened, self._template(opened.start, end))
        return self._close(opened, self._collection(opened, end, cut=self._cut(opened, event)))

    def _collection(self, opened: _Open, end: int, *, cut: bool) -> Node:
        at = stretch(opened.start, end)
        if opened.mapping:
            return Mapping(at, self._pairs(opened.items), cut=cut)
        return Sequence(at, tuple(opened.items), cut=cut)

    def _cut(self, opened: _Open, ending: _Event) -> bool:
        """Whether lines are left out that may belong to a collection: within it, or right in front of it."""
        if any(opened.start < lost <= ending.end_mark.index for lost in self._lost.values()):
            return True
        return any(at <= opened.start and not self._text[at : opened.start].strip() for at in self._resumed)

    def _close(self, opened: _Open, node: Node) -> list[Node]:
        weight = len(opened.items) + opened.extra_weight
        if opened.anchor:
            self._anchors[opened.anchor] = _Anchored(node, weight + 1, opened.height)
        if not self._open:
            self._root.append(node)
            return self._root
        parent = self._open[-1]
        parent.items.append(node)
        parent.extra_weight += weight
        if parent.height <= opened.height:
            parent.height = opened.height + 1
        return parent.items

    def _close_all(self) -> None:
        """End every open collection where the text broke off; a key without its value is dropped."""
        if not self._open and not self._root:
            return
        if self._open and (items := self._items()) and isinstance(items[-1], Scalar) and not self._open[-1].mapping:
            items[-1] = Scalar(items[-1].at, items[-1].text, "hole")  # the error may have torn it
        while self._open:
            opened = self._open.pop()
            end = opened.last_end()
            if opened.mapping:
                del opened.items[len(opened.items) // 2 * 2 :]
            self._close(opened, self._collection(opened, end, cut=True))
        self._documents.append(self._root[0])

    def _template(self, start: int, end: int) -> Scalar:
        """A text with a template that needs quotes, which is reported, with what a `#` cuts off from it."""
        cut = cut_off(self._source, Scalar(stretch(start, end), "", "plain"))
        if cut is not None and "\n" not in self._text[start:end]:
            end = cut.end
        raw = self._text[start:end]
        self._report(
            Span(start, end),
            Finding("EV118", fix=template_in_quotes(self._source, start, end), quoted=quoted_line(raw)),
        )
        return Scalar(stretch(start, end), raw, "plain")

    # --- the pairs of a mapping ---

    def _pairs(self, items: list[Node]) -> tuple[tuple[Scalar, Node], ...]:
        keys = items[::2]
        names = {key.text for key in keys if type(key) is Scalar}
        if len(names) == len(keys) and "<<" not in names:
            return tuple(zip(keys, items[1::2], strict=True))  # type: ignore[arg-type]  # as many names as keys
        return self._sorted_out(list(zip(keys, items[1::2], strict=True)))

    def _sorted_out(self, pairs: list[tuple[Node, Node]]) -> tuple[tuple[Scalar, Node], ...]:
        """Pairs some of which are not pairs of a mapping for us: reported and dropped, or merged."""
        explicit: dict[str, Scalar] = {}
        kept: list[tuple[Scalar, Node]] = []
        for key, value in pairs:
            if not isinstance(key, Scalar):
                self._report(Span(key.start, key.end), Finding("EV112"))
            elif key.text in explicit:
                first = self._source.position(explicit[key.text].start).line
                self._report(Span(key.start, key.end), Finding("EV111", key=key.text, first_line=first))
            else:
                explicit[key.text] = key
                kept.append((key, value))
        if not any(_is_merge(key) for key, _ in kept):
            return tuple(kept)
        taken = set(explicit)
        merged: list[tuple[Scalar, Node]] = []
        for key, value in kept:
            if not _is_merge(key):
                merged.append((key, value))
                continue
            for pair in self._merged(value):
                if pair[0].text not in taken:
                    taken.add(pair[0].text)
                    merged.append(pair)
        return tuple(merged)

    def _merged(self, value: Node) -> Iterator[tuple[Scalar, Node]]:
        """The pairs that `<<: value` brings, those that win first."""
        for mapping in one_or_many(value):
            if isinstance(mapping, Mapping):
                alias = mapping.alias or value.alias
                brought = mapping.pairs
                yield from brought if alias is None else ((behind(alias, key), behind(alias, v)) for key, v in brought)
            elif not (isinstance(mapping, Scalar) and mapping.style == "hole"):
                self._report(Span(mapping.start, mapping.end), Finding("EV113"))

    # --- aliases ---

    def _alias(self, event: _Event) -> list[Node]:
        start, end = event.start_mark.index, event.end_mark.index
        items = self._items()
        items.append(self._resolved(event.anchor, start, end))
        if self._open:
            self._open[-1].end = end
            self._open[-1].end_of = len(items)
        return items

    def _resolved(self, name: str, start: int, end: int) -> Node:
        hole = Scalar(stretch(start, end), self._text[start:end], "hole")
        if name not in self._anchors and (self._torn or self._lost) and f"&{name}" in self._text:
            return hole  # what it names may be within what is left out
        if name not in self._anchors:
            known = tuple(islice(self._anchors, _NAMES_TO_COMPARE))
            self._report(Span(start, end), Finding("EV114", name=name, known=known))
            self._lost_end = end
            return hole
        anchored = self._anchors[name]
        if anchored is None:
            self._report(Span(start, end), Finding("EV115", name=name))
            return hole
        if len(self._open) + anchored.height > self._limits.depth:
            self._report(Span(start, end), Finding("EV610", limit=self._limits.depth))
            return hole
        within = self._expanded <= self._limits.expanded_nodes
        self._expanded += anchored.weight
        if self._expanded > self._limits.expanded_nodes:
            if within:
                self._report(Span(start, end), Finding("EV611", limit=self._limits.expanded_nodes))
            return hole
        if self._open:
            parent = self._open[-1]
            parent.extra_weight += anchored.weight - 1
            parent.height = max(parent.height, anchored.height + 1)
        return behind(Span(start, end), anchored.node)

    # --- syntax errors ---

    def _explain(self, error: yaml.MarkedYAMLError) -> bool:
        """Report a syntax error; whether the text can be read again as if the faulty part were in quotes."""
        problem_mark: Any = error.problem_mark
        context_mark: Any = error.context_mark or problem_mark
        # For start-up: most texts have no syntax error.
        from evalc.dsl.yaml_complaints import Complaint, explained  # noqa: PLC0415

        brackets = tuple(opened.start for opened in self._open if opened.flow)
        complaint = Complaint(
            source=self._source,
            problem=error.problem or "",
            at=problem_mark.index,
            context=error.context or "",
            context_at=context_mark.index,
            brackets=brackets,
            blocks=tuple(opened.start for opened in self._open if not opened.flow),
            quoted=self._last_quoted(problem_mark.index),
        )
        span, finding = explained(complaint)
        if 0 <= self._lost_end <= span.start and not self._text[self._lost_end : span.start].strip(" "):
            # `*important* note`: a text that begins with a star, which is reported as an alias of nothing
            return False
        last = len(self._text)  # libyaml's marks may be after it
        span = Span(min(span.start, last), min(span.end, last))
        if complaint.problem == _TOO_DEEP_FOR_LIBYAML:
            self._report(span, Finding("EV610", limit=self._limits.depth))
            return False
        torn = self._torn_value(span.start) if finding.code in _TEARS else None
        if torn is not None and any(torn.start <= before.start < torn.end for before in self._torn):
            return self._leave_out(torn)  # it follows from what is reported
        if finding.code in _ASTRAY and not brackets:
            line_start = self._text.rfind("\n", 0, span.start) + 1
            follows = line_start in self._resumed or "\t" in self._text[line_start : span.start]
            if finding.code == "EV101" or not follows:
                self._report(span, finding)
            return self._leave_out_lines(line_start)
        self._report(span, finding)
        if finding.code in _HIDDEN:
            return self._hide(span.start, unquoted_line(finding.fields.get("quoted", "")))
        return torn is not None and self._leave_out(torn)

    def _torn_value(self, at: int) -> Span | None:
        """The value about a place, with the lines that continue it; None where there is nothing around the value.

        It begins after the key or the dashes of its line, and ends before the next entry that is not indented more.
        """
        if not self._open or self._open[0].flow:
            return None
        text = self._text
        at = min([at, *(opened.start for opened in self._open if opened.flow)])
        line_start = text.rfind("\n", 0, at) + 1
        while not (entry := _ENTRY.match(text, line_start, at)) or not entry[0].strip():
            if line_start == 0:
                return None
            line_start = text.rfind("\n", 0, line_start - 1) + 1
        column = entry.start("key") - line_start
        end = entry.end()
        while (end := text.find("\n", end)) >= 0 and (line := _FOLLOWING.match(text, end + 1)) is not None:
            if line["entry"] is not None and len(line["indent"]) <= column:
                break
            end = line.end()
        return Span(entry.end(), entry.end() + len(text[entry.end() : end if end >= 0 else None].rstrip()))

    def _leave_out(self, torn: Span) -> bool:
        """Mask a value whose end nobody knows, so that what is below it can be read; whether that could be done."""
        self._torn.append(torn)
        return self._masked(torn)

    def _leave_out_lines(self, start: int) -> bool:
        """Read on where a line is not indented as any block is; whether that can be done.

        Lines that tabs indent are read as if each tab were a space, where all of them agree with that. Else the line
        and those that may be its own are blanked. What is around is cut, for nobody knows what belongs to it.
        """
        tabs = self._below_a_key(start)
        blanks = tabs or [Span(start, self._end_of_lost(start))]
        mask = self._mask_for_another_reading()
        if mask is None or not mask.masked[start : blanks[0].end].strip(" "):
            return False
        for blank in blanks:
            mask.blank(*blank)
        if not tabs:
            self._lost[len(self._text[:start].rstrip())] = start
        self._resumed.add(start if tabs else blanks[0].end)
        self._given = mask.masked
        return True

    def _below_a_key(self, start: int) -> list[Span]:
        """The indentation of a line below a key without its value, and of the lines that have the same tabs.

        Empty where one of these lines may belong to something else: where one is indented less but more than the key,
        or where some that are indented more have the tabs and others have none.
        """
        parent, first = _OPEN_KEY.search(self._text, 0, start), _LOST_LINE.match(self._text, start)
        if parent is None or first is None or not first["indent"].startswith("\t" * (len(parent["indent"]) + 1)):
            return []
        tabs, found, by_tabs = first["indent"], list[Span](), set[bool]()
        least = math.inf  # the column from which on lines may be below the last line with these tabs
        for line in _LOST_LINE.finditer(self._text, start):
            before, rest = line["indent"], line["rest"]
            if not rest.strip() or rest.startswith("#"):
                continue
            if before.startswith(tabs):
                found.append(Span(line.start(), line.start() + len(before)))
            elif "\t" in before:
                return []
            elif len(before) <= len(parent["indent"]):
                break
            if before == tabs:
                has_own = _COMPLETE.fullmatch(rest) is None or _ITEM_WITH_KEY.match(rest) is not None
                least = len(tabs) + 1 if has_own else math.inf
                by_tabs.clear()
                continue
            if len(before) < least or by_tabs == {not before.startswith(tabs)}:
                return []
            if not by_tabs:
                by_tabs.add(before.startswith(tabs))
                least = len(before)
        return found

    def _end_of_lost(self, start: int) -> int:
        """Where the entry begins that cannot be within the lines from a place: that of an open block, or of no block.

        What is below a line that is left out may be its own, if it is not indented less than the first such line.
        """
        blocks = set(self._blocks_before(start))
        parent = _OPEN_KEY.search(self._text, 0, start)
        least = math.inf if parent is None else len(parent["indent"]) + 1
        own = own_keys = math.inf  # the columns from which on entries, or keys, are of what is left out
        awaited = awaited_keys = math.inf
        for line in _LOST_LINE.finditer(self._text, start):
            before, rest = line["indent"], line["rest"]
            column, is_item, by_tabs = len(before), line["entry"] == "-", "\t" in before
            if not rest.strip() or rest.startswith("#"):
                continue
            if by_tabs or column >= awaited:
                own = min(own, awaited if by_tabs else column)
            awaited = math.inf
            if line.start() == start and is_item:
                own_keys = column  # an item that is indented too far has keys where those of the item before it are
            if not by_tabs and line.start() > start:
                if line["entry"] is None:
                    continue
                if column > awaited_keys and not is_item:
                    own_keys = min(own_keys, column)
                awaited_keys = math.inf
                if column < (own if is_item else min(own, own_keys)):
                    if (column, is_item) in blocks or column >= least or not column:
                        return line.start()
                    own = own_keys = math.inf
            widths = [len(before.expandtabs(width)) for width in (2, 3, 4, 8)]
            narrowest = min([width for width in widths if (width, is_item) in blocks or width >= least] or widths)
            if (item := _ITEM_WITH_KEY.match(rest)) is not None:
                own_keys = min(own_keys, narrowest + item.end("dash"))
                awaited_keys = narrowest
            if _COMPLETE.fullmatch(rest) is None:
                awaited = narrowest
        return len(self._text)

    def _blocks_before(self, start: int) -> Iterator[tuple[int, bool]]:
        """The column of each block that is open in front of a line, and whether it is a list."""
        parser = _EventParser(self._given[:start])
        opened: list[_Event] = []
        last: list[_Event] = []
        try:
            while (event := parser.get_event()) is not None:
                if isinstance(event, events.CollectionStartEvent):
                    opened.append(event)
                elif isinstance(event, events.CollectionEndEvent):
                    opened.pop()
                elif isinstance(event, events.NodeEvent):
                    last = [*opened]
        except yaml.MarkedYAMLError:
            pass
        for event in last:
            at, is_list = event.end_mark.index, isinstance(event, events.SequenceStartEvent)
            sign = self._text.rfind("-", 0, at + 1) if is_list else at
            if not event.flow_style:
                yield sign - self._text.rfind("\n", 0, sign) - 1, is_list

    def _hide(self, at: int, raw: str) -> bool:
        """Mask a raw text about a place in what the parser gets."""
        start = self._text.rfind(raw, 0, at + len(raw))
        if not start <= at < start + len(raw):  # nothing to quote
            return False
        return self._masked(Span(start, start + len(raw)))

    def _masked(self, hidden: Span) -> bool:
        """Mask a stretch in what the parser gets; whether that could be done, and may."""
        mask = self._mask_for_another_reading()
        if mask is None or not mask.hide(*hidden):
            return False
        self._hidden.append(hidden)
        self._given = mask.masked
        return True

    def _mask_for_another_reading(self) -> _Mask | None:
        """The mask of what the parser gets; None if that cannot be masked, or may not be read once more."""
        self._read_again += len(self._given)
        if self._mask is None:
            self._mask = _Mask.of(self._given, always=True)
        return self._mask if self._read_again <= _READ_AGAIN else None

    def _last_quoted(self, before: int) -> Span | None:
        """The last text in quotes that ends before the place of an error: the events may not have come to it yet."""
        scanner = _EventParser(self._given)
        last: Span | None = None
        try:
            while (token := scanner.get_token()) is not None and token.end_mark.index <= before:
                if isinstance(token, yaml.ScalarToken) and token.style in {"'", '"'}:
                    last = Span(token.start_mark.index, token.end_mark.index)
        except (yaml.MarkedYAMLError, ValueError, OverflowError):
            pass
        return last


_TOO_DEEP_FOR_LIBYAML: Final = "exceeded maximum nesting depth"
"""The error of libyaml 0.2.6 and later for a thousand brackets, before our own limit is reached."""


class _ReadAgain(Exception):
    """A stretch is masked now: what is below it is read otherwise."""


class _TooDeep(Exception):
    """The text nests deeper than the limit: reading stops there."""


def _is_merge(key: Scalar) -> bool:
    return key.text == "<<" and key.style == "plain" and not key.tag


def _block_end(text: str, start: int, end: int) -> int:
    """Where a block scalar ends: after the break of its last line, or after all of them if it keeps them (`+`)."""
    header_end = _BLOCK_HEADER.match(text, start, end)
    if header_end is not None and "+" in header_end[0]:
        return end
    body_end = len(text[start:end].rstrip("\r\n")) + start
    if body_end == end:
        return end
    return body_end + (2 if text.startswith("\r\n", body_end) else 1)


def _forbidden(character: str, times: int) -> Finding:
    escape = _ESCAPES.get(character) or (rf"\x{ord(character):02X}" if ord(character) <= 0xFF else "")
    return Finding("EV110", character=f"U+{ord(character):04X}", times=times, escape=escape)


# --- masks -----------------------------------------------------------------------------------------------------------

_HALF: Final = r"(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|U0000[dD][89a-fA-F][0-9a-fA-F]{2})"
_HIGH: Final = "([dD][89abAB][0-9a-fA-F]{2})"
_LOW: Final = "([dD][c-fC-F][0-9a-fA-F]{2})"
_ANY_HALF: Final = re.compile(rf"\\{_HALF}")
_ESCAPE: Final = re.compile(rf"\\(?:(?P<half>{_HALF})|[\s\S])")
_CODE_POINT: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_MEANINGFUL: Final = "{}[]:#,"
_MASKED: Final = _MEANINGFUL + "!>|@`%*&\"'\r\n" + "\\"
_LOST_IN_BLOCK: Final = re.compile(r":(?:\s|$)|\s#")
_LOST_IN_FLOW: Final = re.compile(r"[{}\[\],]|:(?:\s|$)|\s#")


@final
class _Mask:
    """Masks what would disturb a parser, such as templates, by text of the same length.

    To YAML `rule: {{seed:x}}` is a mapping inside a mapping and `{{#if x}}` begins a comment. The brackets and what
    else has a meaning to YAML inside `{{...}}` are therefore exchanged for private-use characters while a text is
    parsed. Plain scalars which YAML would not have read as they are meant are then known, whole and in place.

    So is the backslash of an escape for half of a character, `\\ud83d`: JSON writes one character as two of them,
    which parsers of YAML refuse, though JSON is YAML. Mask and unmask are one to one: the private characters do not
    occur in the text.
    """

    def __init__(self, text: str, first_private: int) -> None:
        private = [chr(first_private + index) for index in range(len(_MASKED))]
        self._to_private = dict(zip(_MASKED, private, strict=True))
        to_private = str.maketrans({character: self._to_private[character] for character in _MEANINGFUL})
        self._from_private = str.maketrans(dict(zip(private, _MASKED, strict=True)))
        self._brace, backslash = private[0], private[-1]
        self._any_private = re.compile(f"[{self._brace}-{backslash}]")
        pair = f"{backslash}u{_HIGH}{backslash}u{_LOW}"
        self._pair_or_half = re.compile(f"{pair}|(?P<half>{backslash}{_HALF})")
        masked = TEMPLATE.sub(lambda match: match[0].translate(to_private), text)
        if _ANY_HALF.search(text) is not None:
            masked = _ESCAPE.sub(lambda match: backslash + match["half"] if match["half"] else match[0], masked)
        self.masked = masked

    @classmethod
    def of(cls, text: str, *, always: bool = False) -> _Mask | None:
        """The mask of a text, None if it holds nothing to mask, unless it is asked for `always`."""
        if not always and TEMPLATE.search(text) is None and _ANY_HALF.search(text) is None:
            return None
        used = {ord(character) for character in set(text)}
        used |= {int(short or long, 16) for short, long in _CODE_POINT.findall(text)}
        size = len(_MASKED)
        planes = (range(0xE000, 0xF8FF - size, size), range(0xF0000, 0x10FFFD - size, size))
        for plane in planes:
            for first in plane:
                if used.isdisjoint(range(first, first + size)):
                    return cls(text, first)
        return None  # a text that uses every private character there is reads as YAML reads it

    def hide(self, start: int, end: int) -> bool:
        """Mask what has a meaning to YAML in a stretch that is not a template; False if nothing has."""
        private = "".join(self._to_private.get(character, character) for character in self.masked[start:end])
        hidden = self.masked[:start] + private + self.masked[end:]
        changed = hidden != self.masked
        self.masked = hidden
        return changed

    def blank(self, start: int, end: int) -> None:
        """Leave nothing of a stretch but its line breaks."""
        self.masked = self.masked[:start] + re.sub(r"[^\r\n]", " ", self.masked[start:end]) + self.masked[end:]

    def unmasked(self, text: str) -> str:
        """The text as it was written."""
        return text if text.isascii() else text.translate(self._from_private)

    def unescaped(self, text: str) -> str:
        """The text in double quotes as it was meant: of two halves of a character that character, of one U+FFFD."""
        return self.unmasked(self._pair_or_half.sub(_character, text))

    def halves(self, start: int, end: int) -> Iterator[Span]:
        """Where a stretch holds an escape for half of a character without the other half."""
        for match in self._pair_or_half.finditer(self.masked, start, end):
            if match["half"]:
                yield Span(*match.span())

    def spoils(self, text: str, *, flow: bool) -> bool:
        """Whether YAML would have read a plain scalar otherwise without the mask: it must be quoted."""
        if text.isascii() or self._any_private.search(text) is None:
            return False
        lost = _LOST_IN_FLOW if flow else _LOST_IN_BLOCK
        return text.startswith(self._brace) or lost.search(self.unmasked(text)) is not None


def _character(escaped: re.Match[str]) -> str:
    if escaped["half"]:
        return "\ufffd"
    return bytes.fromhex(escaped[1] + escaped[2]).decode("utf-16-be")
