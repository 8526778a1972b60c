"""Writes YAML with comments, as people write it.

Checks are a line each, and one alone is in brackets if it needs no quotes there. Texts of several lines are literal,
long ones are folded unless they are data, small lists and mappings are on one line, quotes are used where YAML needs
them. The result is in the style of `evalc fmt`, and was read back: it means what was to be written. What other programs
may read is read back by ruamel.yaml, which shares no code with evalc's reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from textwrap import TextWrapper
from typing import Any, Final, final

import msgspec

from evalc.base.source import Source, Span
from evalc.dsl.format.layout import in_quotes, reads_plain
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain

_WIDEST: Final = 120
"""Columns of a line, unless it is one text that is not folded."""
_LONGEST_FOLDED: Final = 1000
_LINES: Final = ("validate", "criteria")
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
_ODD: Final = r"\x0b-\x1f\x7f-\x9f\ufeff\u2028\u2029\ud800-\udfff"
_BLOCK: Final = re.compile(rf"[^\s{_ODD}][^\x00-\x08{_ODD}]*")
_SPACE_AT_END: Final = re.compile(r"[ \t](?:\n|\Z)|\n\n\Z")
_ONE_LINE: Final = re.compile(rf"[^\x00-\x0a{_ODD}]*")
_ODD_IN_JSON: Final = re.compile(r"[\x7f-\x9f\ufeff\u2028\u2029]")
_HALF: Final = re.compile(r"[\ud800-\udfff]")

Data = Any
"""Texts, numbers, booleans, None, mappings with text keys, sequences, and `Noted` in place of any value in these.

The values of keys may be `Anchored`.
"""


@final
class Noted(msgspec.Struct, frozen=True):
    """A value with comments, each a line, above its entry; a collection with comments gets several lines."""

    value: Data
    comments: tuple[str, ...] = ()


@final
class Anchored(msgspec.Struct, frozen=True):
    """The value of a key that has a name, or an alias for what has it."""

    value: Data
    name: str
    is_alias: bool = False


class NotWritable(ValueError):
    """The data hold what YAML cannot: half of a surrogate pair, a number that is not finite, an object."""


def write_yaml(data: Mapping[str, Data], *, head: Sequence[str] = (), for_others: bool = True) -> str:
    """The YAML of a mapping, with `head` as comments above it; `for_others` where other programs may read it.

    Raises:
        NotWritable: the data hold what YAML cannot.
    """
    lines = [f"# {comment}" for comment in map(_one_line, head) if comment]
    if data:
        _write_entries(data, 0, lines)
    else:
        lines.append("{}")
    text = "".join(f"{line}\n" for line in lines)
    if _HALF.search(text):
        raise NotWritable("a text holds half of a surrogate pair")
    if (_read_elsewhere(text) if for_others else _read_back(text)) != _bare(data):
        raise NotWritable("what was written reads differently")
    return text


def _write_entries(data: Mapping[str, Data], column: int, out: list[str]) -> None:
    for key, value in data.items():
        out += _comments(value, column)
        _write(f"{' ' * column}{_scalar(key, in_flow=False)}:", _without_comments(value), column, out, key)


def _write_items(data: Sequence[Data], column: int, out: list[str], *, apart: bool) -> None:
    """Write the items of a list; `apart` puts a blank line between two of which one takes several lines."""
    was_long = False
    for index, item in enumerate(data):
        written: list[str] = []
        _write(f"{' ' * column}-", _without_comments(item), column, written)
        is_long = len(written) > 1
        if apart and index and (is_long or was_long):
            out.append("")
        was_long = is_long
        out += _comments(item, column)
        out += written


def _write(before: str, value: Data, column: int, out: list[str], key: str | None = None) -> None:
    """Write a value behind its key, or behind the dash of an item, which `before` ends in."""
    if isinstance(value, Anchored):
        if value.is_alias:
            out.append(f"{before} *{value.name}")
        else:
            _write(f"{before} &{value.name}", value.value, column, out, key)
    elif isinstance(value, str):
        header, body = _block(value, len(before), column + 2, is_item=key is None)
        out.append(f"{before} {header}")
        out += body
    elif not isinstance(value, Mapping | list | tuple) or not value or _fits_behind(before, value, key):
        out.append(f"{before} {_flow(value)}")
    elif key in _LINES and (lines := _in_brackets(value)) and len(f"{before} {lines}") <= _WIDEST:
        out.append(f"{before} {lines}")
    else:
        inside: list[str] = []
        if isinstance(value, Mapping):
            _write_entries(value, column + 2, inside)
        else:
            _write_items(value, column + 2, inside, apart=key == "test_cases")
        if key is not None:
            out.append(before)
        else:  # the first entry stands behind the dash, and its comments above that
            first = next(index for index, line in enumerate(inside) if not line.lstrip().startswith("#"))
            out += (line[2:] for line in inside[:first])
            inside = [f"{before} {inside[first][column + 2 :]}", *inside[first + 1 :]]
        out += inside


def _block(text: str, behind: int, column: int, *, is_item: bool) -> tuple[str, Iterator[str]]:
    """A text as it begins behind its key or dash, and the lines below."""
    lines: list[str] = []
    header = ""
    if _BLOCK.fullmatch(text) and not _SPACE_AT_END.search(text):
        if "\n" in text:
            header, lines = "|" if text.endswith("\n") else "|-", text.removesuffix("\n").split("\n")
        elif not is_item and behind + len(text) >= _WIDEST and len(text) <= _LONGEST_FOLDED and text[0] not in "{[":
            # It is for reading: a document or data on one line stays on one.
            folded = TextWrapper(max(_WIDEST - column, 60), break_long_words=False, break_on_hyphens=False).wrap(text)
            if len(folded) > 1 and " ".join(folded) == text:
                header, lines = ">-", folded
    return header or _scalar(text, in_flow=False), (f"{' ' * column}{line}" if line else "" for line in lines)


def _flow(value: Data) -> str:
    """A value on one line."""
    match value:
        case str():
            return _scalar(value, in_flow=True)
        case Mapping():
            return f"{{{', '.join(f'{_scalar(key, in_flow=True)}: {_flow(each)}' for key, each in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_flow, value))}]"
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return int.__repr__(value)
        case float() if isfinite(value):
            return float.__repr__(value)
        case float():
            raise NotWritable(f"`{value}` is no number of YAML's")
        case _:
            raise NotWritable(f"a `{type(value).__name__}` is no value of YAML's")


def _scalar(text: str, *, in_flow: bool) -> str:
    """A text on one line, in the quotes that it needs."""
    if reads_plain(text, in_flow=in_flow):
        return text
    if _ONE_LINE.fullmatch(text):
        return in_quotes(text)
    return _ODD_IN_JSON.sub(lambda odd: f"\\u{ord(odd[0]):04x}", json.dumps(text, ensure_ascii=False))


def _comments(value: Data, column: int) -> Iterator[str]:
    comments = filter(None, map(_one_line, value.comments)) if isinstance(value, Noted) else ()
    return (f"{' ' * column}# {comment}" for comment in comments)


def _one_line(comment: str) -> str:
    """A comment without what would end it, or what YAML does not allow in it."""
    return "".join(character if character.isprintable() else " " for character in comment).strip()


def _without_comments(value: Data) -> Data:
    return value.value if isinstance(value, Noted) else value


def _fits_behind(before: str, data: Mapping[str, Data] | Sequence[Data], key: str | None) -> bool:
    """Whether a collection without comments and checks is small enough for the line of its key or dash."""
    if key in _LINES or (key is None and isinstance(data, Mapping) and len(data) == 1):
        return False  # an item with one key is on one line without braces
    if not isinstance(data, Mapping):
        if any(isinstance(item, Mapping) for item in data):
            return False  # a list of records has a line for each
        texts = [item for item in data if isinstance(item, str)]
        if any(reads_plain(each, in_flow=False) and not reads_plain(each, in_flow=True) for each in texts):
            return False  # there it would need quotes
    try:
        written = json.dumps(data, ensure_ascii=False)
    except TypeError:  # there are comments in it
        return False
    shallow = written.count("[") + written.count("{") <= 3
    if not shallow or "\\n" in written or f'"{_LINES[0]}": [' in written:
        return False
    return len(before) + 1 + len(_flow(data)) <= _WIDEST


def _in_brackets(data: Mapping[str, Data] | Sequence[Data]) -> str:
    """A list of one line that needs no quotes, or of names alone, without comments; empty for any other."""
    if isinstance(data, Mapping) or any(isinstance(item, Noted) and item.comments for item in data):
        return ""
    lines = [*map(_without_comments, data)]
    if not all(isinstance(line, str) and reads_plain(line, in_flow=True) for line in lines):
        return ""
    return f"[{', '.join(lines)}]" if len(lines) == 1 or all(map(_NAME.fullmatch, lines)) else ""


def _bare(data: Data) -> Data:
    """The data without their comments, as they read back."""
    match data:
        case Noted() | Anchored():
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
    return to_plain(documents[0]) if len(documents) == 1 and not broken else None


def _read_elsewhere(text: str) -> object:
    """The text as ruamel.yaml reads it, by YAML 1.2; None if it cannot."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - for start-up: slow to import
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - as above

    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    try:
        return reader.load(text)
    except YAMLError:
        return None
