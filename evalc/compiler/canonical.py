"""Writes the one-line checks of an eval file in canonical words: one way for each check, whatever synonyms it had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from evalc.base.source import Source
from evalc.diagnostics import Diagnostics
from evalc.dsl.build_suite import build_shared_file, build_suite
from evalc.dsl.document_kind import Kind, kind_of_document
from evalc.dsl.nodes import Mapping
from evalc.dsl.quoting import quoted_line
from evalc.dsl.read_yaml import read_yaml
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
    for document in read_yaml(source, lambda _span, _finding: None):
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
