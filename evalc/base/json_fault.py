"""Says in plain words what the JSON decoder complains of, at the place that must change.

The decoder's words and places are not the same in every version of Python; these are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
    return _described(error.msg, text, error.pos)


def _described(message: str, text: str, at: int) -> JsonFault:
    """The fault, by the decoder's message and the text at its offset."""
    for inside, rule in _INSIDE_A_TEXT:
        if message.startswith(inside):
            return rule(text, at)
    if message.startswith("Illegal trailing comma"):  # newer decoders point at the comma itself
        at = len(text) - len(text[at + 1 :].lstrip())
    at = len(text) - len(text[at:].lstrip())
    for between in _BETWEEN:
        if (found := between(message, text, at)) is not None:
            return found
    return JsonFault(*_one(at), found=_EXPECTED.get(message.split(" ")[1], "a value is expected here"))


def _one(at: int) -> tuple[int, int]:
    return at, at + 1


# --- inside a text ---------------------------------------------------------------------------------------------------


def _unclosed(_text: str, at: int) -> JsonFault:
    return JsonFault(*_one(at), found='this `"` is never closed', cure="close the text on its line")


def _control(text: str, at: int) -> JsonFault:
    escape = _NAMED_ESCAPES.get(text[at], f"\\u{ord(text[at]):04x}")
    found = f"the character U+{ord(text[at]):04X} is not allowed inside a text"
    return JsonFault(*_one(at), found=found, cure=f"write `{escape}`, or close the text before it")


def _escape(text: str, at: int) -> JsonFault:
    start = text.rfind("\\", 0, at + 1)
    found = f"`{text[start : start + 2]}` does not begin an escape of JSON here"
    return JsonFault(start, start + 2, found=found, cure=r"write `\\` for a backslash")


_INSIDE_A_TEXT: Final[tuple[tuple[str, Callable[[str, int], JsonFault]], ...]] = (
    ("Unterminated string", _unclosed),
    ("Invalid control character", _control),
    ("Invalid \\", _escape),
)


# --- between texts ---------------------------------------------------------------------------------------------------


def _trailing_comma(_message: str, text: str, at: int) -> JsonFault | None:
    before = text[:at].rstrip()
    if not before.endswith(",") or text[at : at + 1] not in {"]", "}"}:
        return None
    return JsonFault(*_one(len(before) - 1), found="a comma is not allowed after the last item", cure="remove it")


def _truncated(_message: str, text: str, at: int) -> JsonFault | None:
    if at < len(text):
        return None
    end = len(text.rstrip())
    return JsonFault(end, end, found="the text ends before its value does" if end else "the text is empty")


def _foreign(_message: str, text: str, at: int) -> JsonFault | None:
    if text.startswith("'", at):
        return JsonFault(*_one(at), found="texts must be in double quotes", cure="write `\"` instead of `'`")
    if text.startswith(("//", "/*", "#"), at):
        return JsonFault(*_one(at), found=NO_COMMENTS, cure="remove it")
    return None


def _behind_the_end(message: str, text: str, at: int) -> JsonFault | None:
    if not message.startswith("Extra data"):
        return None
    several = text[at] in '[{"'
    cure = "a file holds one value: put several into a list, `[..., ...]`" if several else "remove what is here"
    return JsonFault(*_one(at), found="the value has ended before this", cure=cure)


def _word(message: str, text: str, at: int) -> JsonFault | None:
    match = _WORD.match(text, at)
    if match is None or message.startswith("Expecting ','"):
        return None
    word = match[0]
    span = (at, match.end())
    if message.startswith("Expecting property name"):
        return JsonFault(*span, found="keys must be in double quotes", cure=f'write `"{word[:60]}"`')
    if word in _FOREIGN_WORDS:
        return JsonFault(*span, found=f"`{word}` is not a word of JSON", cure=f"write `{_FOREIGN_WORDS[word]}`")
    return JsonFault(*span, found="texts must be in double quotes", cure=f'write `"{word[:60]}"`')


def _wrong_bracket(_message: str, text: str, at: int) -> JsonFault | None:
    if text[at] not in "]}":
        return None
    return JsonFault(
        *_one(at), found=f"`{text[at]}` is not allowed here", cure="look for the bracket that it should close"
    )


_BETWEEN: Final = (_trailing_comma, _truncated, _foreign, _behind_the_end, _word, _wrong_bracket)

_EXPECTED: Final = {
    "','": "a comma is missing before this",
    "':'": "a colon is missing between the key and its value",
    "property": "a key in double quotes is expected here",
}
