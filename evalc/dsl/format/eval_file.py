"""Formats one file, or says why it cannot be formatted; the one-line checks in it are written in canonical words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, final

import msgspec

from evalc.base.files import read_beginning
from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_suite import build_shared_file, build_suite
from evalc.dsl.document_kind import Kind, is_meant_as_eval, kind_of_document
from evalc.dsl.format import Unformattable, format_text
from evalc.dsl.nodes import Mapping
from evalc.dsl.quoting import quoted_line
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.sources import beginning_of, read_source
from evalc.dsl.tree import CheckLeaf, Str
from evalc.grammar.read_check import read_check
from evalc.grammar.write_check import AS_TEMPLATES, line_of, linked_to


def canonical(source: Source) -> str:
    """The text with its one-line checks in canonical words; one which no other line says stays as it is."""
    text = source.text
    for start, end, line in sorted(set(_edits(source)), reverse=True):
        text = f"{text[:start]}{quoted_line(line)}{text[end:]}"
    return text


def _edits(source: Source) -> Iterator[tuple[int, int, str]]:
    """The stretches of checks that have another line, each with it."""
    for document in read_yaml(source):
        kind = kind_of_document(document)
        if kind is None or not isinstance(document, Mapping):
            continue
        problems = Diagnostics()
        shared = kind is Kind.SHARED
        built = (
            build_shared_file(source, document, problems) if shared else build_suite(source, document, kind, problems)
        )
        for text in _written(built):
            line = _canonical_line(text.value)
            if line not in (None, text.value) and "\n" not in source.text[text.span.start : text.span.end]:
                yield text.span.start, text.span.end, str(line)


def _written(part: Any) -> Iterator[Str]:
    """The texts of the one-line checks in a part of a document."""
    match part:
        case CheckLeaf(line=str() as line):
            yield Str(part.at, line)
        case tuple() | list():
            for each in part:
                yield from _written(each)
        case dict():
            yield from _written(list(part.values()))
        case msgspec.Struct():
            yield from _written([getattr(part, name) for name in part.__struct_fields__])
        case _:
            return


def _canonical_line(written: str) -> str | None:
    """The canonical line of a check, if it says the same; None if nothing does."""
    read = read_check(written).node
    line = None if read is None else line_of(read.check, AS_TEMPLATES, str)
    if read is None or line is None:
        return None
    again = read_check(line).node
    if again is None or again.check != read.check:
        return None
    return line if read.criterion is None else linked_to(line, read.criterion.value)


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
