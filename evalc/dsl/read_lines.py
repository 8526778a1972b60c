"""Reads YAML of the usual form line by line, which is fast; gives None for any other text.

Files of many cases are written by programs, or as plainly as by one: a key, a dash, a value on each line. Such a line
one regular expression reads, in a fraction of the time that the events of a YAML parser take. It knows the part of
YAML that cannot be meant otherwise: whatever is odd (an anchor, a tag, a text over several lines, a mistake) makes the
whole text the business of `read_yaml`. A law holds that both read the same.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final, final

import msgspec

from evalc.dsl.nodes import BITS, END, Keep, KeepItems, Mapping, Node, Scalar, Sequence, stretch

# What is repeated has a bound, for each time takes memory while the rest of its line is tried.
_KEY: Final = r"[A-Za-z_][\w.-]{0,99}"
_DOUBLE: Final = r'"[^"\\\n]*(?:\\["\\bfnrt][^"\\\n]*){0,999}"'
_SINGLE: Final = r"'[^'\n]*(?:''[^'\n]*){0,99}'"
_PLAIN: Final = (
    r"(?:[^\ \n\-?:,\[\]{}\#&*!|>'\"%@`]|-(?=\w))"  # no character that means something to YAML where it is the first
    r"[^\n:\#]*(?:(?::(?=[^\ \n])|(?<=[^\ ])\#)[^\n:\#]*){0,99}(?<!\ )"
)
_IN_FLOW: Final = rf"(?:[A-Za-z0-9_./(][^\n:\#,\[\]{{}}?\"']*(?<!\ )|{_DOUBLE}|{_SINGLE})"
_PAIR: Final = rf"{_KEY}:\ +{_IN_FLOW}"

_LINE: Final = re.compile(
    rf"""
    (?P<indent>\ *)
    (?:
        (?P<dash>-\ +)?
        (?:(?P<key>{_KEY}):(?=[\ \n])\ *)?
        (?:
            (?P<plain>{_PLAIN})
            | (?P<quoted>{_DOUBLE}|{_SINGLE})
            | (?P<mapping>\{{\ *(?:{_PAIR}(?:\ *,\ *{_PAIR}){{0,99}}\ *)?\}})
            | (?P<sequence>\[\ *(?:{_IN_FLOW}(?:\ *,\ *{_IN_FLOW}){{0,99}}\ *)?\])
            | (?P<block>\|-?(?=\n))
        )?
        \ *(?:(?<=\ )\#[^\n}}]*)?  # no comment may begin inside a template
        | \#[^\n]*
        | (?P<odd>[^\n]*)
    )
    \n
    """,
    re.VERBOSE | re.ASCII,
)
_FLOW_PART: Final = re.compile(rf"(?:({_KEY}):\ +)?({_IN_FLOW})", re.VERBOSE | re.ASCII)
_TWICE: Final = stretch(1, 1)
"""Times the start of a text, plus its length, is its stretch."""
_PIECE: Final = 50
"""How many items of a list are given together the form in which they are kept: one by one would take longer."""
_DEEPEST_KEPT: Final = 3
"""How many collections are at most around a list whose items may be kept in another form, the file among them."""
_INDENT: Final = re.compile(r"\ +(?=[^\ \n])")
_WHITE_LINE: Final = re.compile(r"\ +\n")


def read_lines(text: str, *, depth: int, keep: KeepItems | None = None) -> Node | None:
    """The one document of a text that YAML's parser would read without a complaint, and forbids no character of.

    None if it is not of the usual form, or nests deeper than `depth` levels. Items of lists are kept as `keep` has it.
    """
    if not text.endswith("\n") or "\t" in text or "\r" in text:  # white space and line ends with rules of their own
        return None
    try:
        return _Lines(text, depth, keep).document()
    except _Unusual:
        return None


class _Unusual(Exception):
    """A line is not of the usual form."""


class _Open(msgspec.Struct, gc=False):
    """A block collection whose end has not come, and the column of its keys or dashes."""

    indent: int
    start: int
    items: list[Node] | None  # of a list
    pairs: dict[str, tuple[Scalar, Node]] | None  # of a mapping
    key: Scalar | None = None  # its last one, if the value is yet to come
    keep: Keep | None = None  # the form in which its items are kept
    kept: int = 0  # how many of them have that form

    def add(self, node: Node) -> None:
        """Take in an item, or the value of the last key."""
        key, pairs = self.key, self.pairs
        if key is not None and pairs is not None:
            pairs[key.text] = (key, node)
            self.key = None
        elif self.items is not None:
            self.items.append(node)

    def node(self) -> Node:
        """The collection, at its end."""
        if self.key is not None:
            self.end_key(self.key)
        if self.pairs is not None:
            pairs = tuple(self.pairs.values())
            return Mapping(self.start << BITS | pairs[-1][1].at & END, pairs)
        if self.keep is not None:
            self.keep_items()
        items = tuple(self.items or ())
        return Sequence(self.start << BITS | items[-1].at & END, items)

    def keep_items(self) -> None:
        """Give the last items of a list the form in which they are kept."""
        if self.items is not None and self.keep is not None:
            self.items[self.kept :] = map(self.keep, self.items[self.kept :])
            self.kept = len(self.items)

    def end_key(self, key: Scalar) -> None:
        """Give the last key its value, which is empty."""
        behind = key.end + 1  # the colon
        self.add(Scalar(stretch(behind, behind), "", "plain"))


@final
class _Lines:
    """The collections that are open as the lines go by; the outermost holds the document, as the value of a key."""

    def __init__(self, text: str, depth: int, keep: KeepItems | None) -> None:
        self._text = text
        self._depth = depth
        self._keep = keep
        self._document = _Open(-1, 0, None, {}, Scalar(0, "", "hole"))
        self._open = [self._document]
        self._keys: dict[str, str] = {}  # so that what is asked of a key is answered by its identity

    def document(self) -> Node | None:
        opened, keys = self._open, self._keys
        behind = 0  # the last line of a block
        for line in _LINE.finditer(self._text):
            begin, kind = line.start(), line.lastgroup
            if kind == "indent" or begin < behind:  # an empty line, a comment, or a text that is read
                continue
            indent, dash, key, plain = line.group(1, 2, 3, 4)
            column = len(indent)
            at = begin + column
            top = opened[-1]
            if column != top.indent or top.key is not None or (top.items is None) is (dash is not None):
                top = self._entered(column, at, dashed=dash is not None)
            if dash is not None:
                at += len(dash)
                if key is not None:
                    top = self._begun(at - begin, at, mapping=True)
                elif plain is not None and top.items is not None:
                    top.items.append(Scalar(at * _TWICE + len(plain), plain, "plain"))
                    continue
            if key is not None and top.pairs is not None:
                if key in top.pairs:
                    raise _Unusual
                key = keys.setdefault(key, key)
                name = Scalar(at * _TWICE + len(key), key, "plain")
                if plain is not None:  # most lines; the others may take their time
                    at = line.start(4)
                    top.pairs[key] = (name, Scalar(at * _TWICE + len(plain), plain, "plain"))
                    continue
                top.key = name
            elif dash is None or kind == "dash":
                raise _Unusual
            if kind == "block":
                block = self._block(line.start(kind), line.end(), line[kind])
                top.add(block)
                behind = block.end
            elif kind is not None and kind != "key":
                top.add(self._on_one_line(line[kind], *line.span(kind)))
        while len(opened) > 1:
            self._close()
        return self._document.pairs[""][1] if self._document.pairs else None

    # --- collections of blocks ---

    def _entered(self, column: int, at: int, *, dashed: bool) -> _Open:
        """The collection that an entry belongs to; the entry may begin it, and end others."""
        top = self._open[-1]
        if top.key is not None and (column > top.indent or (dashed and column == top.indent)):
            # If dashes are right below their key, libyaml says that the list begins after the first.
            return self._begun(column, at + (column == top.indent), mapping=not dashed)
        while column < top.indent or (column == top.indent and (top.items is None) is dashed):
            top = self._close()
        if column != top.indent:
            raise _Unusual
        if top.key is not None:
            top.end_key(top.key)
        return top

    def _begun(self, column: int, start: int, *, mapping: bool) -> _Open:
        """A collection that begins."""
        if len(self._open) > self._depth:
            raise _Unusual
        if mapping:
            begun = _Open(column, start, None, {})
        else:
            begun = _Open(column, start, [], None, None, self._form_of_items())
        self._open.append(begun)
        return begun

    def _form_of_items(self) -> Keep | None:
        """The form in which the items of a list that begins are kept; None: as they are read."""
        if self._keep is None or len(self._open) > _DEEPEST_KEPT:
            return None
        way = [each.key.text for each in self._open[1:] if each.key is not None]
        return self._keep(way, self._open[1].pairs or ()) if way else None

    def _close(self) -> _Open:
        """End the innermost collection; the one around it, which takes it in."""
        node = self._open.pop().node()
        outer = self._open[-1]
        outer.add(node)
        if outer.keep is not None and outer.items is not None and not len(outer.items) % _PIECE:
            outer.keep_items()
        return outer

    # --- values ---

    def _on_one_line(self, token: str, start: int, end: int) -> Node:
        """A text in quotes or without, or what brackets hold."""
        if token[0] not in "[{":
            return _scalar(token, start)
        if len(self._open) > self._depth:
            raise _Unusual
        parts = _FLOW_PART.finditer(self._text, start + 1, end - 1)
        if token[0] == "[":
            return Sequence(stretch(start, end), tuple([_scalar(part[2], part.start(2)) for part in parts]))
        pairs: dict[str, tuple[Scalar, Node]] = {}
        for part in parts:
            key, value = part.group(1, 2)
            if key in pairs:
                raise _Unusual
            key = self._keys.setdefault(key, key)
            at = part.start(1)
            pairs[key] = (Scalar(at * _TWICE + len(key), key, "plain"), _scalar(value, part.start(2)))
        return Mapping(start << BITS | end, tuple(pairs.values()))

    def _block(self, start: int, at: int, header: str) -> Scalar:
        """The text below `|`: all lines that are indented at least as the first one is."""
        first = _INDENT.match(self._text, at)
        if first is None or len(first[0]) <= self._open[-1].indent:
            raise _Unusual
        indent = len(first[0])
        body = _body(indent).match(self._text, at)
        if body is None or _WHITE_LINE.match(self._text, body.end()):
            raise _Unusual
        written = body[0].rstrip("\n")
        text = "\n".join([line[indent:] for line in written.split("\n")])
        return Scalar(stretch(start, at + len(written) + 1), text if header == "|-" else text + "\n", "literal")


def _scalar(token: str, start: int) -> Scalar:
    """A text on one line, in quotes or not."""
    at = start * _TWICE + len(token)
    match token[0]:
        case "'":
            return Scalar(at, token[1:-1].replace("''", "'"), "single")
        case '"':
            return Scalar(at, json.loads(token) if "\\" in token else token[1:-1], "double")
        case _:
            return Scalar(at, token, "plain")


@lru_cache
def _body(indent: int) -> re.Pattern[str]:
    """The lines of a block that are indented so far, and empty ones."""
    return re.compile(rf"(?:\ {{{indent}}}\ *[^\ \n][^\n]*\n|\n)+", re.VERBOSE)
