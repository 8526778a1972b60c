"""Formats one file, or says why it cannot be formatted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import final

import msgspec

from evalc.base.files import read_beginning
from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.document_kind import is_meant_as_eval, kind_of_document
from evalc.dsl.format import Unformattable, format_text
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import beginning_of, read_source


@final
class FormattedFile(msgspec.Struct, frozen=True, kw_only=True):
    """An eval file before and after. `had_mark` says that its text began with a byte order mark."""

    source: Source
    text: str
    had_mark: bool = False

    @property
    def changed(self) -> bool:
        """Whether the file was not in the canonical style."""
        return self.had_mark or self.text != self.source.text


Rewrite = Callable[[Source], str]
"""Makes the text that is formatted of the one which was read."""


def format_file(
    path: Path, problems: Diagnostics, *, named: bool, rewrite: Rewrite | None = None
) -> FormattedFile | None:
    """The file at a path, formatted; None if it is not to be touched.

    `named` says that the user named it: then it is a problem when it cannot be formatted. A file that a search came
    upon is passed over, unless it was probably meant as an eval file.
    """
    own = Diagnostics()
    source = read_source(path, own.add)
    if source is None or own.has_errors:
        if named or is_meant_as_eval(path.name, beginning_of(path)):
            problems.extend(own)
        return None
    text = format_source(source, problems, named=named, rewrite=rewrite)
    return None if text is None else FormattedFile(source=source, text=text, had_mark=_begins_with_mark(path))


def format_source(source: Source, problems: Diagnostics, *, named: bool, rewrite: Rewrite | None = None) -> str | None:
    """A text in the canonical style; None if it is not to be touched, see `format_file`."""
    own = Diagnostics()
    documents = read_yaml(source, lambda span, finding: own.add(source, span, finding))
    if own.has_errors:
        if named or is_meant_as_eval(Path(source.name).name, source.text):
            problems.extend(own)
        return None
    if not any(kind_of_document(document) for document in documents):
        if named:
            problems.add(source, Span(0, 0), Finding("EV640", path=source.name))
        return None
    try:
        return format_text(source.text if rewrite is None else rewrite(source))
    except Unformattable as refusal:
        problems.add(source, Span(0, 0), Finding("EV650", reason=refusal.reason))
        return None


def _begins_with_mark(path: Path) -> bool:
    return read_beginning(path, 3) == b"\xef\xbb\xbf"
