"""Says in plain words what the JSON decoder complains of, at the place that must change.

The decoder's words and places are not the same in every version of Python; these are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecodeError
from typing import Any, Final, NamedTuple

NO_COMMENTS: Final = "JSON has no comments"
"""The fault of a file that is JSON with comments, as a `tsconfig.json` is."""

_WORD: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_FOREIGN_WORDS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}
_NAMED_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


class JsonFault(NamedTuple):
    """A fault of a text that should be JSON, in the stretch `[start, end)`, and its cure if there is one."""

    start: int
    end: int
    found: str
    cure: str = ""

    def position(self, text: str) -> tuple[int, int]:
        """The line and column in the text, from 1."""
        return text.count("\n", 0, self.start) + 1, self.start - text.rfind("\n", 0, self.start)

    def where(self, text: str) -> str:
        """The place, as sentences say it: `line 2, column 5`."""
        line, column = self.position(text)
        return f"line {line}, column {column}"


class RepeatedKey(ValueError):
    """An object has a key twice, of which readers of JSON take one or the other."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key `{key}` is repeated")
        self.key = key


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object, as an `object_pairs_hook` of `json`.

    Raises:
        RepeatedKey: a key is there twice.
    """
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise RepeatedKey(next(name for name in fields if names.count(name) > 1))
    return fields


def fault_of(error: JSONDecodeError, text: str) -> JsonFault:
    """The fault that the decoder found in a text."""
    return _inside_a_text(error.msg, text, error.pos) or _between_texts(error.msg, text, error.pos)


def _inside_a_text(message: str, text: str, at: int) -> JsonFault | None:
    if message.startswith("Unterminated string"):
        return JsonFault(at, at + 1, 'this `"` is never closed', "close the text on its line")
    if message.startswith("Invalid control character"):
        escape = _NAMED_ESCAPES.get(text[at], f"\\u{ord(text[at]):04x}")
        found = f"the character U+{ord(text[at]):04X} is not allowed inside a text"
        return JsonFault(at, at + 1, found, f"write `{escape}`, or close the text before it")
    if message.startswith("Invalid \\"):
        start = text.rfind("\\", 0, at + 1)
        found = f"`{text[start : start + 2]}` does not begin an escape of JSON here"
        return JsonFault(start, start + 2, found, r"write `\\` for a backslash")
    return None


def _between_texts(message: str, text: str, at: int) -> JsonFault:
    if message.startswith("Illegal trailing comma"):  # newer decoders point at the comma itself
        at += 1
    at = len(text) - len(text[at:].lstrip())
    before = text[:at].rstrip()
    if before.endswith(",") and text.startswith(("]", "}"), at):
        return JsonFault(len(before) - 1, len(before), "a comma is not allowed after the last item", "remove it")
    if at >= len(text):
        end = len(before)
        return JsonFault(end, end, "the text ends before its value does" if end else "the text is empty")
    if text.startswith("'", at):
        return JsonFault(at, at + 1, "texts must be in double quotes", "write `\"` instead of `'`")
    if text.startswith(("//", "/*", "#"), at):
        return JsonFault(at, at + 1, NO_COMMENTS, "remove it")
    if message.startswith("Extra data"):
        several = text[at] in '[{"'
        cure = "a file holds one value: put several into a list, `[..., ...]`" if several else "remove what is here"
        return JsonFault(at, at + 1, "the value has ended before this", cure)
    word = None if message.startswith("Expecting ','") else _WORD.match(text, at)
    if word is not None:
        return _misplaced_word(message, word)
    if text[at] in "]}":
        return JsonFault(at, at + 1, f"`{text[at]}` is not allowed here", "look for the bracket that it should close")
    return JsonFault(at, at + 1, _EXPECTED.get(message.split(" ")[1], "a value is expected here"))


def _misplaced_word(message: str, found: re.Match[str]) -> JsonFault:
    word = found[0]
    if message.startswith("Expecting property name"):
        return JsonFault(*found.span(), "keys must be in double quotes", f'write `"{word[:60]}"`')
    if word in _FOREIGN_WORDS:
        return JsonFault(*found.span(), f"`{word}` is not a word of JSON", f"write `{_FOREIGN_WORDS[word]}`")
    return JsonFault(*found.span(), "texts must be in double quotes", f'write `"{word[:60]}"`')


_EXPECTED: Final = {
    "','": "a comma is missing before this",
    "':'": "a colon is missing between the key and its value",
    "property": "a key in double quotes is expected here",
}
