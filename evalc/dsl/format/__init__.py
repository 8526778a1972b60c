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
from collections.abc import Sequence
from typing import Final, final

from evalc.base.source import Source, Span
from evalc.dsl.format.layout import laid_out, spaced
from evalc.dsl.nodes import Mapping, Node, Scalar, YamlLimits, children_of
from evalc.dsl.nodes import Sequence as SequenceNode
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import kind_of


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
