"""Reads TOML and JSON texts, with what is wrong with them, and the places of their keys and values.

The standard library's readers give no positions, so a scan goes over the same text again. It follows the two formats
just far enough to know tables, lists, keys and values apart, and never refuses a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from evalc.base.json_fault import fault_of
from evalc.base.source import Span

Language = Literal["TOML", "JSON"]

Keys = tuple[str | int, ...]
"""The way from the top of a text to a value: names of tables, and indices of lists."""

_TOO_MANY_DIGITS: Final = "a number has too many digits"

_TOKEN: Final = re.compile(
    r"""
    \"{3}(?:[^\\]|\\.)*?\"{3,5} | '{3}.*?'{3,5}      # TOML's texts of several lines
    | "(?:[^"\\\n]|\\.)*" | '[^'\n]*'
    | \#[^\n]*
    | [\[\]{},:=.\n]
    | [^\s\[\]{},:=.\#"']+
    | \S
    """,
    re.VERBOSE | re.DOTALL,
)
_DEEPEST: Final = 16
"""Tables and lists further in are passed over: no setting is so deep, and paths to them would grow with them."""


class NotValid(Exception):
    """The text is not valid TOML or JSON: why, and at which offset."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.what = what
        self.at = at


def decode(text: str, language: Language) -> Any:
    """The values of the text.

    Raises:
        NotValid: when it is not of the language.
    """
    try:
        return _from_toml(text) if language == "TOML" else _from_json(text)
    except RecursionError:
        raise NotValid("it is nested too deeply", 0) from None


def _from_toml(text: str) -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415 - for start-up: only if there is such a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_fault(text, str(error)) from None
    except ValueError:
        raise NotValid(_TOO_MANY_DIGITS, 0) from None


def _toml_fault(text: str, message: str) -> NotValid:
    """Take the place out of tomllib's message: `... (at line 3, column 5)`, or `(at end of document)`."""
    words, _, where = message.partition(" (at ")
    what = next((ours for theirs, ours in _TOML_WORDS if words.startswith(theirs)), "this is not TOML")
    numbers = re.fullmatch(r"line (\d+), column (\d+)\)", where)
    if numbers is None:
        return NotValid(what, len(text.rstrip()))
    # tomllib reads CRLF as LF, and counts lines by LF alone.
    lines = text.split("\n")[: int(numbers[1]) - 1]
    return NotValid(what, sum(len(line) + 1 for line in lines) + int(numbers[2]) - 1)


_TOML_WORDS: Final = (
    ("Expected '=' after a key", "a `=` is expected after the key"),
    ("Expected newline or end of document", "the line should end after the value"),
    ("Expected ']'", "a `]` is expected here"),
    ("Expected ']]'", "`]]` is expected here"),
    ("Invalid initial character for a key part", "a key is expected here"),
    ("Invalid statement", "a key or a table is expected here"),
    ("Invalid value", "a value is expected here; put texts in quotes"),
    ("Invalid date or datetime", "this is not a date"),
    ("Cannot overwrite a value", "this key is set already"),
    ("Cannot declare", "this table is declared already"),
    ("Cannot redefine", "this key is set already"),
    ("Cannot mutate immutable namespace", "this table is complete already"),
    ("Duplicate inline table key", "this key is set already"),
    ("Unclosed inline table", "this table is never closed"),
    ("Unclosed array", "this list is never closed"),
    ("Unterminated string", "this text is never closed"),
    ("Unescaped '\\' in a string", "a `\\` in double quotes begins an escape; write two, or use single quotes"),
    ("Illegal character", "this character is not allowed here"),
    ("Found invalid character", "this character is not allowed here"),
    ("Invalid hex value", "this escape is not a character"),
    ("Escaped character is not a Unicode scalar value", "this escape is not a character"),
    ('Expected "\'"', "this text is never closed"),
)
"""Messages of tomllib and our words for them, whatever its version."""


def _from_json(text: str) -> Any:
    def no_number(name: str) -> Any:
        raise NotValid(f"{name} is not a JSON number", text.find(name))

    try:
        return json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        fault = fault_of(error, text)
        raise NotValid(fault.found, fault.start) from None
    except ValueError:
        raise NotValid(_TOO_MANY_DIGITS, 0) from None


class KeyPlace(NamedTuple):
    """The places of a key and its value.

    The key of a list's item is the item itself; the value of a table that only a header or a dotted key names is empty.
    """

    key: Span
    value: Span


class KeyPlaces(NamedTuple):
    """The place of every key and item, and the keys that are repeated."""

    places: dict[Keys, KeyPlace]
    repeated: list[tuple[Keys, Span]]


def locate(text: str, language: Language) -> KeyPlaces:
    """Find every key and value of the text."""
    scan = _Scan(toml=language == "TOML")
    for mark in _TOKEN.finditer(text):
        if not mark[0].startswith("#"):
            scan.take(mark[0], Span(*mark.span()))
    return KeyPlaces(scan.places, scan.repeated)


class _Open:
    """A table or list that is being read."""

    def __init__(self, path: Keys, *, is_list: bool) -> None:
        self.path = path
        self.is_list = is_list
        self.index = 0
        self.key: list[tuple[str, Span]] = []
        self.in_value = is_list

    def entry(self) -> Keys:
        """The path of the value that is being read."""
        return (*self.path, self.index) if self.is_list else (*self.path, *(name for name, _ in self.key))

    def next(self) -> None:
        """Go on to the next entry."""
        self.index += 1
        self.key = []
        self.in_value = self.is_list


class _Scan:
    """The state of a scan: what is open, the innermost last."""

    def __init__(self, *, toml: bool) -> None:
        self.places: dict[Keys, KeyPlace] = {}
        self.repeated: list[tuple[Keys, Span]] = []
        self._assigns = "=" if toml else ":"
        self._toml = toml
        # A TOML file is a table whose entries end with their lines; a JSON text is one value, as a list's item is.
        self._open = [_Open((), is_list=not toml)]
        self._in_header = False
        self._passed_over = 0

    def take(self, mark: str, span: Span) -> None:
        """Go on by one token."""
        if self._passed_over:
            self._passed_over += (mark in ("[", "{")) - (mark in ("]", "}"))
            return
        inner = self._open[-1]
        if self._toml and len(self._open) == 1 and self._take_line_structure(mark, span, inner):
            return
        if mark == "\n":
            return
        if mark == ",":
            inner.next()
        elif mark in ("]", "}"):
            if len(self._open) > 1:
                self._open.pop()
                if self._open[-1].entry() in self.places:
                    self._value(span, self._open[-1])
        elif mark == self._assigns and not inner.in_value:
            inner.in_value = True
        elif not inner.in_value:
            _take_name(mark, span, inner)
        elif mark in ("[", "{"):
            self._value(span, inner)
            if len(self._open) < _DEEPEST:
                path = () if not self._toml and len(self._open) == 1 else inner.entry()
                self._open.append(_Open(path, is_list=mark == "["))
            else:
                self._passed_over = 1
        else:
            self._value(span, inner)

    def _take_line_structure(self, mark: str, span: Span, top: _Open) -> bool:
        """Take what has a meaning only at the top of a TOML file: line ends and headers of tables."""
        if mark == "\n":
            if self._in_header:
                self._enter_table(top)
            top.next()
            return True
        if mark == "[" and not top.key and not top.in_value:
            if not self._in_header:
                self._in_header = True
                top.path = ()
            return True
        if self._in_header:
            if mark == "]":
                self._enter_table(top)
            else:
                _take_name(mark, span, top)
            return True
        return False

    def _enter_table(self, top: _Open) -> None:
        for path, span in _prefixes(top):
            self.places.setdefault(path, KeyPlace(span, Span(span.end, span.end)))
        top.path = top.entry()
        top.key = []
        self._in_header = False

    def _value(self, span: Span, inner: _Open) -> None:
        """Record that a value begins, or continues with another token (`1.5`, a date)."""
        if not self._toml and len(self._open) == 1:
            return  # the whole of a JSON text
        path = inner.entry()
        known = self.places.get(path)
        key = span if inner.is_list else inner.key[-1][1] if inner.key else span
        if known is None:
            for prefix, at in _prefixes(inner):
                self.places.setdefault(prefix, KeyPlace(at, Span(at.end, at.end)))
            self.places[path] = KeyPlace(key, span)
        elif known.key == key or inner.is_list:
            self.places[path] = KeyPlace(known.key, Span(known.value.start, span.end))
        elif not self._toml:
            self.repeated.append((path, key))


def _take_name(mark: str, span: Span, table: _Open) -> None:
    if mark != "." and len(table.key) < _DEEPEST:
        table.key.append((_name(mark), span))


def _prefixes(table: _Open) -> Iterator[tuple[Keys, Span]]:
    """The tables that a dotted key names on the way, and its last part."""
    path = table.path
    for name, span in table.key:
        path = (*path, name)
        yield path, span


def _name(mark: str) -> str:
    if mark.startswith("'"):
        return mark[1:-1]
    if not mark.startswith('"'):
        return mark
    try:
        return msgspec.json.decode(mark, type=str)
    except msgspec.DecodeError:
        return mark[1:-1]
