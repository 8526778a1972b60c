"""An open text, and its places as the protocol counts them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import final
from urllib.parse import quote

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from evalc.base.source import Position, Source, Span
from evalc.lsp.cases import CaseSpans

_BYTES_A_UNIT = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@final
class Encoding:
    """How a client counts the characters of a line: in units of UTF-8, UTF-16 or UTF-32."""

    def __init__(self, name: str = "utf-16") -> None:
        self._codec, self._size = _BYTES_A_UNIT[name]
        self._counts_characters = name == "utf-32"

    def units(self, text: str) -> int:
        """How many units a text takes."""
        if self._counts_characters or text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._size

    def characters(self, line: str, units: int) -> int:
        """How many characters of a line so many units take; a character that they end in is left out."""
        if self._counts_characters or line.isascii():
            return min(units, len(line))
        data = line.encode(self._codec, "surrogatepass")[: units * self._size]
        return len(data.decode(self._codec, "ignore"))


@final
class Document:
    """A text that an editor has open.

    Attributes:
        uri: its address, as the editor writes it.
        path: its file.
        version: the editor's number of this state of the text.
        source: the text; its name is the path.
        cases: the places of its cases, once the text has been read as a whole.
        edited: from where to where it is another since it was checked; None if it is not.
    """

    def __init__(self, uri: str, text: str, version: int, encoding: Encoding) -> None:
        self.uri = uri
        self.path = path_of(uri)
        self.version = version
        self.source = Source(str(self.path), text)
        self.cases: CaseSpans | None = None
        self.edited: Span | None = None
        self._encoding = encoding

    def change(self, changes: list[lsp.TextDocumentContentChangeEvent], version: int) -> None:
        """Take over what was typed, one change after the other."""
        for change in changes:
            text = change.text
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = self.offset(change.range.start), self.offset(change.range.end)
                end = max(start, end)
                self._note(start, end, text)
                text = self.source.text[:start] + text + self.source.text[end:]
            else:
                self.cases = None
                self.edited = Span(0, len(text))
            self.source = Source(self.source.name, text)
        self.version = version

    def _note(self, start: int, end: int, text: str) -> None:
        """Keep account of what has been edited since the last check."""
        if self.cases is not None:
            self.cases.edited(start, end, text)
        delta = len(text) - (end - start)
        if self.edited is None:
            self.edited = Span(start, start + len(text))
        else:
            first, last = self.edited
            behind = last + delta if start <= last else start + len(text)
            self.edited = Span(min(first, start), max(behind, start + len(text)))

    def offset(self, position: lsp.Position) -> int:
        """The offset of a place of the protocol."""
        line = self.source.line(position.line + 1)
        column = self._encoding.characters(line, position.character)
        return self.source.offset(Position(position.line + 1, column + 1))

    def range_of(self, span: Span) -> lsp.Range:
        """A stretch of the text, as the protocol has it."""
        return range_in(self.source, span, self._encoding)

    @property
    def whole(self) -> lsp.Range:
        """All of the text."""
        return self.range_of(Span(0, len(self.source.text)))


def range_in(source: Source, span: Span, encoding: Encoding) -> lsp.Range:
    """A stretch of a source, as the protocol has it."""
    return lsp.Range(_position(source, span.start, encoding), _position(source, span.end, encoding))


def _position(source: Source, offset: int, encoding: Encoding) -> lsp.Position:
    line, column = source.position(offset)
    return lsp.Position(line - 1, encoding.units(source.line(line)[: column - 1]))


def path_of(uri: str) -> Path:
    """The file of an address; for any other address, a name in the working folder."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else Path(quote(uri, safe=""))


def uri_of(path: Path | str) -> str:
    """The address of a file."""
    return Path(os.path.abspath(path)).as_uri()  # noqa: PTH100 - which takes no `..` out
