"""Formats eval files in the canonical style.

What is normalised:

- indentation: two columns a level; the items of a list are two columns inside the key that they belong to; one
  space after `-`, after the `:` of a key and after the commas of a flow collection and none inside its brackets
- the bodies of block scalars are two columns inside their key, unless their header says otherwise
- comments on lines of their own are at the column of what they are about: the next entry, or, after
  the last entry of a block, at the column of that block
- test cases have a blank line between them once one of the two takes several lines; elsewhere at most one blank line
  in a row, none at the beginning and the end
- quotes that nothing needs are removed; a text in double quotes that escapes only quotes and backslashes is
  written in single quotes, so that a one-line check reads as it is parsed: `'contains "a: b"'`
- no spaces at the ends of lines, one line break at the end of the file, the line breaks of the file's first line
  everywhere, no byte order mark

What stays: every comment, letter by letter; the order of keys; long lines; the inside of texts; flow or block style;
anchors, aliases, merge keys, tags and documents; the columns of comments after values.

The formatter edits the text rather than writing the data anew, so what it does not know it does not touch. Formatting
is idempotent, and what a text means is compared before and after: a text that would change is not given back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, final

import msgspec

from evalc.base.files import read_beginning
from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_suite import build_shared_file, build_suite
from evalc.dsl.document_kind import Kind, is_meant_as_eval, kind_of_document
from evalc.dsl.format.layout import laid_out, spaced
from evalc.dsl.nodes import Mapping, Node, Scalar, YamlLimits, children_of
from evalc.dsl.nodes import Sequence as SequenceNode
from evalc.dsl.quoting import quoted_line
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import kind_of
from evalc.dsl.sources import beginning_of, read_source
from evalc.dsl.tree import CheckLeaf, Str
from evalc.grammar.read_check import read_check
from evalc.grammar.write_check import AS_TEMPLATES, line_of, linked_to


def same_documents(ours: Sequence[Node | None], theirs: Sequence[Node | None]) -> bool:
    """Whether two lists of documents hold the same texts of the same kinds in the same order.

    Stricter than the values' equality: `1.50` and `1.5` differ, since a text may be expected in their place.
    """
    pending: list[tuple[Sequence[Node | None], Sequence[Node | None]]] = [(ours, theirs)]
    seen: set[tuple[int, int]] = set()  # aliases: what was compared once is not compared again
    while pending:
        left, right = pending.pop()
        if len(left) != len(right):
            return False
        for one, other in zip(left, right, strict=True):
            match one, other:
                case Scalar(), Scalar():
                    if one.text != other.text or kind_of(one) != kind_of(other):
                        return False
                case (Mapping() as here, Mapping() as there) | (SequenceNode() as here, SequenceNode() as there):
                    if (id(here), id(there)) not in seen:
                        seen.add((id(here), id(there)))
                        pending.append(([*children_of(here)], [*children_of(there)]))
                case None, None:
                    pass
                case _:
                    return False
    return True


_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_PASSES: Final = 3
_BOM: Final = "\ufeff".encode()


@final
class Unformattable(Exception):
    """The formatter would change what the text means, or does not come to rest: a defect of the formatter."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def format_text(text: str, limits: YamlLimits | None = None) -> str:
    """The text in the canonical style. It must be YAML without errors, within the limits of the reader.

    Raises:
        Unformattable: the text cannot be formatted without changing what it means.
    """
    first_break = _LINE_BREAK.search(text)
    lines_end = "\n" if first_break is None else first_break[0]
    original = _LINE_BREAK.sub("\n", text)
    before = nodes = _read(original, limits)
    formatted = original
    for _ in range(_PASSES):
        earlier = formatted
        for edit in (spaced, laid_out):
            edited = edit(formatted, nodes)
            if edited != formatted:
                formatted, nodes = edited, _read(edited, limits)
        if formatted == earlier:
            break
    else:
        raise Unformattable("does not come to rest")
    if not same_documents(before, nodes):
        raise Unformattable("would change what the file means")
    return formatted if lines_end == "\n" else formatted.replace("\n", lines_end)


def _read(text: str, limits: YamlLimits | None) -> Sequence[Node | None]:
    broken: list[Span] = []
    documents = read_yaml(Source("", text), lambda span, _finding: broken.append(span), limits or YamlLimits())
    if broken:
        raise Unformattable("would not give sound YAML")
    return documents


# --- files -----------------------------------------------------------------------------------------------------------


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
    return None if text is None else FormattedFile(source=source, text=text, had_mark=read_beginning(path, 3) == _BOM)


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


# --- words -----------------------------------------------------------------------------------------------------------


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
