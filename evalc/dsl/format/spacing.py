"""Puts canonical quotes and spaces into the lines of YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from evalc.base.source import Span
from evalc.dsl.nodes import Mapping, Node, Scalar, stretch
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
            yield from _behind_keys(text, node)
            parts = [part for pair in node.pairs for part in pair]
            entries = [Span(key.start, max(key.end, value.end)) for key, value in node.pairs]
        else:
            parts = list(node.items)
            entries = [Span(item.start, item.end) for item in node.items]
        if text[node.start : node.start + 1] in ("[", "{"):
            yield from _between(text, node, entries)
        pending += ((part, flow) for part in parts)


def _behind_keys(text: str, mapping: Mapping) -> Iterator[_Edit]:
    for key, value in mapping.pairs:
        if value.start > key.end and _COLON.fullmatch(text, key.end, value.start):
            yield _Edit(Span(key.end, value.start), ": ")


def _between(text: str, node: Mapping | SequenceNode, entries: Sequence[Span]) -> Iterator[_Edit]:
    """The spaces inside the brackets of a flow collection, and after its commas."""
    for one, other in pairwise(entries):
        if _COMMA.fullmatch(text, one.end, other.start):
            yield _Edit(Span(one.end, other.start), ", ")
    if not entries and _SPACES.fullmatch(text, node.start + 1, node.end - 1):
        yield _Edit(Span(node.start + 1, node.end - 1), "")
    if entries and _SPACES.fullmatch(text, node.start + 1, entries[0].start):
        yield _Edit(Span(node.start + 1, entries[0].start), "")
    if entries and _SPACES.fullmatch(text, entries[-1].end, node.end - 1):
        yield _Edit(Span(entries[-1].end, node.end - 1), "")


def _quotes(text: str, scalar: Scalar, *, in_flow: bool) -> Iterator[_Edit]:
    """The canonical quotes of a quoted text on one line, or of a text that some readers need quoted."""
    raw = text[scalar.start : scalar.end]
    if in_flow and scalar.style == "plain" and "?" in raw and raw == scalar.text and not scalar.tag:
        yield _Edit(Span(scalar.start, scalar.end), _in_quotes(raw))
    if scalar.style not in ("single", "double") or raw[:1] not in ("'", '"') or "\n" in raw:
        return
    value = scalar.text
    if not scalar.tag and reads_plain(value, in_flow=in_flow) and _stands_apart(text, scalar.end):
        yield _Edit(Span(scalar.start, scalar.end), value)
    elif raw[0] == '"' and "\\" in raw and _ONLY_QUOTES_ESCAPED.fullmatch(raw):
        yield _Edit(Span(scalar.start, scalar.end), _in_quotes(value))


def _in_quotes(value: str) -> str:
    """A text of one line in the quotes that need the fewest escapes."""
    return "'" + value.replace("'", "''") + "'" if '"' in value or "\\" in value else f'"{value}"'


def reads_plain(value: str, *, in_flow: bool) -> bool:
    """Whether every reader of YAML takes the text for itself without quotes."""
    pattern = _PLAIN_IN_FLOW if in_flow else _PLAIN
    if pattern.fullmatch(value) is None or value.lower() in _WORDS_OF_YAML:
        return False
    return kind_of(Scalar(stretch(0, len(value)), value, "plain")) == "str"


def _stands_apart(text: str, end: int) -> bool:
    """Whether the characters after a quoted text are clearly not a part of it (`{"a":1}`)."""
    return text[end : end + 1] != ":" or text[end + 1 : end + 2] in (" ", "\t", "\n", "")
