"""Writes YAML with comments, as people write it. The only module that uses ruamel.

Texts of several lines are block scalars, small lists and mappings are on one line, quotes are used where YAML needs
them. The result is in the style of `evalc fmt`, and was read back: it means what was to be written.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString, SingleQuotedScalarString

from evalc.base.source import Source, Span
from evalc.dsl.format import Unformattable, format_text
from evalc.dsl.format.layout import reads_plain
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain

_WIDTH: Final = 1_000_000  # no text is folded
_ON_ONE_LINE: Final = 88
_ODD: Final = r"\x0b-\x1f\x7f-\x9f\ufeff\u2028\u2029\ud800-\udfff"
_BLOCK: Final = re.compile(rf"[^\s{_ODD}][^\x00-\x08{_ODD}]*")
_SPACE_AT_END: Final = re.compile(r"[ \t](?:\n|\Z)|\n\n\Z")
_SINGLE: Final = re.compile(rf"[^\x00-\x0a{_ODD}]*")

Data = Any
"""Texts, numbers, booleans, None, mappings with text keys, sequences, and `Noted` in place of any value in these."""


@final
class Noted(msgspec.Struct, frozen=True):
    """A value with comments, each a line, above its entry; a collection with comments gets several lines."""

    value: Data
    comments: tuple[str, ...] = ()


class NotWritable(ValueError):
    """The data hold what YAML cannot: half of a surrogate pair, a number that is not finite."""


def write_yaml(data: Mapping[str, Data], *, head: Sequence[str] = ()) -> str:
    """The YAML of a mapping, with `head` as comments above it.

    Raises:
        NotWritable: the data hold what YAML cannot.
    """
    yaml = YAML()
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    out = io.StringIO()
    try:
        yaml.dump(_built(data, column=0), out)
        text = format_text("".join(f"# {_one_line(line)}\n" for line in head if line) + out.getvalue())
    except (ValueError, YAMLError, Unformattable) as error:
        raise NotWritable(str(error)) from error
    if _read_back(text) != _bare(data):
        raise NotWritable("what was written reads differently")
    return text


def _built(data: Data, column: int, *, in_flow: bool = False) -> Any:
    """The data as ruamel writes them in our style, in a collection whose entries are at `column`."""
    match data:
        case Noted():
            return _built(data.value, column, in_flow=in_flow)
        case str():
            return _scalar(data, in_flow=in_flow)
        case Mapping():
            mapping = CommentedMap()
            flow = in_flow or _fits_on_a_line(data)
            for key, value in data.items():
                mapping[_scalar(key, in_flow=True)] = _built(value, column + 2, in_flow=flow)
                _comment(mapping, key, value, column)
            if flow:
                mapping.fa.set_flow_style()
            return mapping
        case list() | tuple():
            sequence = CommentedSeq()
            flow = in_flow or _fits_on_a_line(data)
            for index, value in enumerate(data):
                sequence.append(_built(value, column + 2, in_flow=flow))
                _comment(sequence, index, value, column)
            if flow:
                sequence.fa.set_flow_style()
            return sequence
        case _:
            return data


def _comment(collection: CommentedMap | CommentedSeq, key: str | int, value: Data, column: int) -> None:
    lines = "\n".join(filter(None, map(_one_line, value.comments))) if isinstance(value, Noted) else ""
    if lines:
        collection.yaml_set_comment_before_after_key(key, before=lines, indent=column)


def _one_line(comment: str) -> str:
    """A comment without what would end it, or what YAML does not allow in it."""
    return "".join(character if character.isprintable() else " " for character in comment).strip()


def _scalar(text: str, *, in_flow: bool) -> Any:
    if reads_plain(text, in_flow=in_flow):
        return text
    if "\n" in text and not in_flow and _BLOCK.fullmatch(text) and not _SPACE_AT_END.search(text):
        return LiteralScalarString(text)
    if text and _SINGLE.fullmatch(text) and ('"' in text or "\\" in text):
        return SingleQuotedScalarString(text)
    return DoubleQuotedScalarString(text)


def _fits_on_a_line(data: Data) -> bool:
    """Whether a collection without comments is small enough for one line."""
    if not data:
        return True
    if not isinstance(data, Mapping) and any(isinstance(item, Mapping) for item in data):
        return False  # a list of records has a line for each
    try:
        written = json.dumps(data, ensure_ascii=False)
    except TypeError:  # there are comments in it
        return False
    shallow = written.count("[") + written.count("{") <= 3
    return shallow and len(written) <= _ON_ONE_LINE and "\\n" not in written


def _bare(data: Data) -> Data:
    """The data without their comments, as they read back."""
    match data:
        case Noted():
            return _bare(data.value)
        case Mapping():
            return {key: _bare(value) for key, value in data.items()}
        case list() | tuple():
            return [_bare(value) for value in data]
        case _:
            return data


def _read_back(text: str) -> object:
    broken: list[Span] = []
    documents = read_yaml(Source("", text), lambda span, _finding: broken.append(span))
    root = documents[0] if len(documents) == 1 and not broken else None
    return None if root is None else to_plain(root, lambda span, _finding: broken.append(span))
